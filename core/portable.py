"""Citations that travel: what somebody needs who has the file and nothing else."""

import re
from collections.abc import Iterator
from enum import StrEnum

from attrs import field, frozen

from groundkit.core.fingerprint import chunk_id, document_id, text_digest
from groundkit.core.model import CONTEXT, Citation, DocumentRecord, Locator, SourceClass, Span
from groundkit.core.result import Failure, Result, Success
from groundkit.core.sources import is_utf8
from groundkit.core.url_kinds import is_page

#: Grows when a key of the portable form comes, goes or changes its meaning.
CITATION_SCHEMA = 1

#: The largest whole number that every reader of JSON keeps exactly (RFC 8259, 6). No text is as long.
LARGEST_NUMBER = 2**53 - 1

_ID = re.compile(r"[0-9a-f]{32}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_COLLECTION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
#: As `Clock.now` says it.
_MOMENT = re.compile(
    r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)Z"
)


@frozen
class PortableCitation:
    """A citation with the text it cites and with what its ids can be checked against.

    `document_digest` is the SHA-256 of the whole document's text, `chunk_span` that of the chunk which `chunk_id` names: it
    holds the beginning of the citation. The text stands `occurrences` times in the document, and this is number
    `occurrence`, from 1; places that overlap count each. `fetched_at` is when a page was fetched (UTC, ISO 8601).
    """

    citation: Citation
    text: str = field(repr=False)
    document_digest: str
    chunk_span: Span
    occurrence: int
    occurrences: int
    collection: str
    fetched_at: str | None = None


def occurrence_of(document: str, span: Span) -> tuple[int, int]:
    """Which of the places with the same text a span of a document is, from 1, and how many there are. Linear."""
    cited = document[span.start : span.end]
    at = document.find(cited)
    if document.find(cited, at + 1) < 0:
        return 1, 1
    period = _period(cited)
    if period == len(cited):
        return document.count(cited, 0, span.end), document.count(cited)
    number = count = 0
    while at >= 0:
        places = _places(document, at, len(cited), period)
        count += places
        number += max(0, min(places, (span.start - at) // period + 1))
        at = document.find(cited, at + (places - 1) * period + 1)
    return number, count


def _period(text: str) -> int:
    """The smallest distance at which a text can stand twice, overlapping itself or not (Knuth, Morris and Pratt, 1977)."""
    borders = [0] * len(text)
    border = 0
    for index in range(1, len(text)):
        while border and text[index] != text[border]:
            border = borders[border - 1]
        border += text[index] == text[border]
        borders[index] = border
    return len(text) - border


def _places(document: str, at: int, length: int, period: int) -> int:
    """How many places follow one another at the distance of the period, from this one on.

    They are counted without looking at each: a line of dashes has thousands. The next place after the last of them is more than
    half the length away.
    """
    end, step = at + length, period
    while step:
        same = document[end : end + step] == document[end - period : end - period + step]
        if same and end + step <= len(document):
            end, step = end + step, step * 2
        else:
            step //= 2
    return (end - at - length) // period + 1


def portable(
    citation: Citation, record: DocumentRecord, document: str, chunk_span: Span, collection: str
) -> PortableCitation:
    """The portable form of a citation of a document, whose text it is."""
    number, count = occurrence_of(document, citation.span)
    return PortableCitation(
        citation,
        document[citation.span.start : citation.span.end],
        record.text_digest,
        chunk_span,
        number,
        count,
        collection,
        None if record.fetch is None else record.fetch.fetched_at,
    )


class Flaw(StrEnum):
    """In what way a key of a citation that came from outside cannot be taken."""

    MISSING = "missing"
    UNKNOWN = "unknown"
    TWICE = "twice"
    TYPE = "type"
    VALUE = "value"
    MISMATCH = "mismatch"
    VERSION = "version"
    UNREADABLE = "unreadable"


@frozen
class CitationProblem:
    """One thing that is wrong with a citation: which key of the portable form, "" for all of it, and what.

    The keys that contradict each other stand in `detail`. Nothing that a document says does.
    """

    key: str
    flaw: Flaw
    detail: str

    def __str__(self) -> str:
        return f"{self.key}: {self.detail}" if self.key else self.detail


#: Problems that are told one by one where all of them are told in a line.
_TOLD = 5


@frozen
class CitationRefused:
    """What cannot be taken for a citation, with every problem that was found (at least one)."""

    problems: tuple[CitationProblem, ...]

    def __str__(self) -> str:
        told = "; ".join(map(str, self.problems[:_TOLD]))
        more = len(self.problems) - _TOLD
        return f"{told}; and {more} more" if more > 0 else told


def is_collection_name(name: str) -> bool:
    """Whether a collection may be called this."""
    return _COLLECTION.fullmatch(name) is not None


def checked(given: PortableCitation) -> Result[PortableCitation, CitationRefused]:
    """The citation, if all that it says fits together, so that its ids are those of what it says.

    A source outside of its base is no problem here: looking at it is what is refused.
    """
    found = tuple(problem for check in _CHECKS for problem in check(given))
    return Failure(CitationRefused(found)) if found else Success(given)


def _value(key: str, detail: str) -> CitationProblem:
    return CitationProblem(key, Flaw.VALUE, detail)


def _mismatch(key: str, detail: str) -> CitationProblem:
    return CitationProblem(key, Flaw.MISMATCH, detail)


def _source_problems(given: PortableCitation) -> Iterator[CitationProblem]:
    source, snapshot = given.citation.source, given.citation.source_class is SourceClass.SNAPSHOT
    if not source:
        yield _value("source", "it is empty")
    elif "\0" in source:
        yield _value("source", "it holds NUL, which no path and no URL does")
    elif not is_utf8(source):
        yield _value("source", "it is not valid Unicode")
    elif snapshot and not is_page(source):
        yield _mismatch("source", "source_class is snapshot, and this is no URL of a page")
    elif not snapshot and is_page(source):
        yield _mismatch("source", f"source_class is {given.citation.source_class}, and this is the URL of a page")
    elif snapshot and _holds_secrets(source):
        yield _value("source", "it is a URL with a credential, which no page has that was ingested")
    if given.fetched_at is not None and not snapshot:
        yield _mismatch("fetched_at", f"source_class is {given.citation.source_class}, and only pages are fetched")
    elif given.fetched_at is not None and not _MOMENT.fullmatch(given.fetched_at):
        yield _value("fetched_at", "it is no time such as 2026-01-31T09:30:00Z")
    if not is_collection_name(given.collection):
        yield _value("collection", "no collection is called so: up to 64 of letters, digits, '.', '_', '-'")


def _holds_secrets(url: str) -> bool:
    """Whether this is refused as the URL of a page because of what it would give away wherever it is shown."""
    from groundkit.core.urls import UrlProblem, web_url

    made = web_url(url)
    return isinstance(made, Failure) and made.failure().problem in (UrlProblem.USERINFO, UrlProblem.CREDENTIAL)


def _span_problems(given: PortableCitation) -> Iterator[CitationProblem]:
    span, chunk = given.citation.span, given.chunk_span
    sound = _is_sound(span) and _is_sound(chunk)
    yield from _bounds(span, "start", "end")
    yield from _bounds(chunk, "chunk_start", "chunk_end")
    if sound and not chunk.start <= span.start < chunk.end:
        yield _mismatch("start", "it is not between chunk_start and chunk_end")
    if _is_sound(span) and span.length != len(given.text):
        yield _mismatch("end", f"from start to end are {span.length} code points, and text has {len(given.text)}")
    if given.citation.digest != text_digest(given.text):
        yield _mismatch("digest", "it is not the SHA-256 of text")


def _is_sound(span: Span) -> bool:
    return 0 <= span.start < span.end <= LARGEST_NUMBER


def _bounds(span: Span, start: str, end: str) -> Iterator[CitationProblem]:
    yield from _at_least(0, span.start, start)
    yield from _at_least(0, span.end, end)
    if span.end <= span.start:
        yield _mismatch(end, f"it is not behind {start}")


def _at_least(least: int, number: int, key: str) -> Iterator[CitationProblem]:
    if number < least:
        yield _value(key, f"it is less than {least}")
    elif number > LARGEST_NUMBER:
        yield _value(key, f"it is more than {LARGEST_NUMBER}")


def _id_problems(given: PortableCitation) -> Iterator[CitationProblem]:
    """An id is compared only where what it is made of can be that."""
    cited, digest = given.citation, given.document_digest
    is_document = _ID.fullmatch(cited.document_id) is not None
    if not _DIGEST.fullmatch(digest):
        yield _value("document_digest", "it is not 64 digits of 0-9 and a-f")
    elif is_document and not _is_named(cited, digest):
        yield _mismatch("document_id", "it is not the id of this source, source_class and document_digest")
    if not is_document:
        yield _value("document_id", "it is not 32 digits of 0-9 and a-f")
    if not _ID.fullmatch(cited.chunk_id):
        yield _value("chunk_id", "it is not 32 digits of 0-9 and a-f")
    elif (
        is_document and _is_sound(given.chunk_span) and cited.chunk_id != chunk_id(cited.document_id, given.chunk_span)
    ):
        yield _mismatch("chunk_id", "it is not the id of this document_id, chunk_start and chunk_end")


def _is_named(cited: Citation, digest: str) -> bool:
    # What is no Unicode has no id, and is a problem of the source.
    return not is_utf8(cited.source) or cited.document_id == document_id(cited.source, cited.source_class, digest)


def _context_problems(given: PortableCitation) -> Iterator[CitationProblem]:
    before, after, start = given.citation.before, given.citation.after, given.citation.span.start
    if before is not None and len(before) > CONTEXT:
        yield _value("before", f"it has more than {CONTEXT} code points")
    elif before is not None and start >= 0 and len(before) != min(CONTEXT, start):
        yield _mismatch("before", f"it has {len(before)} code points, and start leaves room for {min(CONTEXT, start)}")
    if after is not None and len(after) > CONTEXT:
        yield _value("after", f"it has more than {CONTEXT} code points")
    yield from _at_least(1, given.occurrence, "occurrence")
    yield from _at_least(1, given.occurrences, "occurrences")
    if given.occurrence > given.occurrences:
        yield _mismatch("occurrence", "it is more than occurrences")
    elif given.occurrence - 1 > start >= 0:
        yield _mismatch("occurrence", "there is no room for so many places up to start")


def _locator_problems(given: PortableCitation) -> Iterator[CitationProblem]:
    locator = given.citation.locator
    for key, number in () if locator is None else _locator_numbers(locator):
        yield from _at_least(1, number, f"locator.{key}")
    pages = None if locator is None else locator.pages
    if pages is not None and pages.last < pages.first:
        yield _mismatch("locator.pages.last", "it is before locator.pages.first")


def _locator_numbers(locator: Locator) -> tuple[tuple[str, int], ...]:
    numbers = (("line", locator.line), ("column", locator.column))
    pages = locator.pages
    return numbers if pages is None else (*numbers, ("pages.first", pages.first), ("pages.last", pages.last))


_CHECKS = (_source_problems, _span_problems, _id_problems, _context_problems, _locator_problems)
