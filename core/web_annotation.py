"""Citations as annotations of the W3C's Web Annotation Data Model (Recommendation of 23 February 2017), and back.

Its selectors count code points from 0, the end not included (4.2.5), as our spans do. What it has no word for stands in one member
of our own. Annotations are plain data as a reader of JSON gives it.
"""

import re
from enum import StrEnum
from typing import Any, TypeAlias

from attrs import field, frozen

from groundkit.core.model import Locator, SourceClass, Span
from groundkit.core.portable import (
    CITATION_SCHEMA,
    LARGEST_NUMBER,
    CitationProblem,
    CitationRefused,
    Flaw,
    PortableCitation,
)
from groundkit.core.result import Failure, Result, Success

Data: TypeAlias = dict[str, Any]

#: The member that holds what the data model has no word for. To readers of JSON-LD 1.1 it is one literal.
EXTENSION = "groundkit"
CONTEXT: tuple[str | Data, ...] = (
    "http://www.w3.org/ns/anno.jsonld",
    {EXTENSION: {"@id": "urn:groundkit:citation", "@type": "@json"}},
)

_TARGET = "target"
_SELECTOR = "target.selector"
_POSITION = "TextPositionSelector"
_QUOTE = "TextQuoteSelector"
_STATE = "TimeState"

#: Keys of the portable form that selectors and the state say.
_SAID = ("start", "end", "text", "before", "after", "fetched_at")


def annotation_of(portable: PortableCitation, iri: str) -> Data:
    """The citation as an annotation: what it highlights, in which state of which resource.

    `iri` names the resource and no place in it: the URL of a page, or a reference to a file, percent-encoded.
    """
    cited = portable.citation
    target: Data = {"type": "SpecificResource", "source": iri, "selector": _selectors(portable)}
    if portable.fetched_at is not None:
        target["state"] = {"type": _STATE, "sourceDate": portable.fetched_at}
    return {
        "@context": list(CONTEXT),
        "id": f"urn:groundkit:citation:{cited.document_id}:{cited.span.start}:{cited.span.end}",
        "type": "Annotation",
        "motivation": "highlighting",
        "target": target,
        EXTENSION: _extension(portable),
    }


def _selectors(portable: PortableCitation) -> list[Data]:
    cited = portable.citation
    quote = {"type": _QUOTE, "exact": portable.text, "prefix": cited.before, "suffix": cited.after}
    return [
        {"type": _POSITION, "start": cited.span.start, "end": cited.span.end},
        {key: value for key, value in quote.items() if value is not None},
    ]


def _extension(portable: PortableCitation) -> Data:
    """The keys of the portable form that stand nowhere else, in its order."""
    cited = portable.citation
    return {
        "schema": CITATION_SCHEMA,
        "collection": portable.collection,
        "source": cited.source,
        "source_class": cited.source_class.value,
        "extractor": cited.extractor,
        "incomplete": cited.incomplete,
        "document_id": cited.document_id,
        "document_digest": portable.document_digest,
        "chunk_id": cited.chunk_id,
        "chunk_start": portable.chunk_span.start,
        "chunk_end": portable.chunk_span.end,
        "digest": cited.digest,
        "occurrence": portable.occurrence,
        "occurrences": portable.occurrences,
        "locator": None if cited.locator is None else _locator(cited.locator),
    }


def _locator(locator: Locator) -> Data:
    pages = locator.pages
    keys = ("first", "last", "first_label", "last_label")
    return {
        "line": locator.line,
        "column": locator.column,
        "heading_path": list(locator.heading_path),
        "pages": None if pages is None else {key: getattr(pages, key) for key in keys},
        "anchor": locator.anchor,
    }


def is_annotation(data: object) -> bool:
    """Whether data means to be an annotation, ours or another's."""
    return isinstance(data, dict) and ("@context" in data or "Annotation" in _types(data))


def flat_of(data: object) -> Result[Data, CitationRefused]:
    """The portable form, still to be checked, of an annotation that `annotation_of` made.

    Refused: an annotation without our member, selectors that cannot be read, a member that says again what they say, and a
    target that is not the source which the member names. Other members are for others, and passed over.
    """
    if not isinstance(data, dict):
        return _refused("", Flaw.TYPE, "an annotation is an object")
    extension = data.get(EXTENSION)
    if not isinstance(extension, dict):
        return _refused(EXTENSION, Flaw.MISSING, "this annotation was not exported as a citation")
    again = [key for key in _SAID if key in extension]
    if again:
        return _refused(f"{EXTENSION}.{again[0]}", Flaw.UNKNOWN, "the target says this")
    found = selectors_from(data)
    return found if isinstance(found, Failure) else _joined(extension, found.unwrap())


def _joined(extension: Data, selectors: "Selectors") -> Result[Data, CitationRefused]:
    position, source = selectors.position, extension.get("source")
    if position is None:
        return _refused(_SELECTOR, Flaw.MISSING, f"there is no {_POSITION}")
    if isinstance(source, str) and not _names(selectors.source, source, extension.get("source_class")):
        return _refused("target.source", Flaw.MISMATCH, f"it is another resource than {EXTENSION}.source")
    said = (position.start, position.end, selectors.exact, selectors.prefix, selectors.suffix, selectors.source_date)
    return Success(extension | dict(zip(_SAID, said, strict=True)))


def _names(iri: str, source: str, source_class: object) -> bool:
    """Whether an IRI is that of a page, or that of a file below wherever the base is."""
    named = _percent_decoded(iri)
    if source_class == SourceClass.SNAPSHOT:
        return named == _percent_decoded(source)
    return (b"/" + named).endswith(b"/" + source.encode("utf-8", "surrogatepass"))


def _percent_decoded(iri: str) -> bytes:
    octets = iri.encode("utf-8", "surrogatepass")
    return re.sub(rb"%([0-9A-Fa-f]{2})", lambda match: bytes.fromhex(match[1].decode()), octets)


@frozen
class Selectors:
    """What an annotation says of the passage that it is about.

    `position` is as the annotation has it, which tools fill by their own way of counting; None where there is none. So are
    `prefix` and `suffix`. `source_date` is when the resource was as meant, if one time is given.
    """

    source: str
    exact: str = field(repr=False)
    prefix: str | None = field(default=None, repr=False)
    suffix: str | None = field(default=None, repr=False)
    position: Span | None = None
    source_date: str | None = None


def selectors_from(data: object) -> Result[Selectors, CitationRefused]:
    """The one quoted target of an annotation, whoever made it. Any object may be given.

    Selectors of other kinds, further states and targets that quote nothing are passed over. Refused: no `TextQuoteSelector`,
    several quoted targets, two selectors of a kind, and a selector that another one refines, since it is not the passage.
    """
    try:
        return Success(_selected(_quoted_target(data)))
    except _Unfit as unfit:
        return Failure(CitationRefused((unfit.problem,)))


class _Unfit(Exception):
    """Ends the reading of an annotation. It does not leave this module."""

    def __init__(self, key: str, flaw: Flaw, detail: str) -> None:
        super().__init__(key)
        self.problem = CitationProblem(key, flaw, detail)


def _refused(key: str, flaw: Flaw, detail: str) -> Failure[CitationRefused]:
    return Failure(CitationRefused((CitationProblem(key, flaw, detail),)))


def _listed(value: object) -> list[object]:
    """JSON-LD writes one of something without a list, and none as null."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _types(value: object) -> list[object]:
    return _listed(value.get("type")) if isinstance(value, dict) else []


def _of_type(values: object, name: str, key: str) -> Data | None:
    """The only object of this type among one or several."""
    found = [each for each in _listed(values) if isinstance(each, dict) and name in _types(each)]
    if len(found) > 1:
        raise _Unfit(key, Flaw.TWICE, f"there are {len(found)} of type {name}")
    return found[0] if found else None


def _quoted_target(data: object) -> Data:
    targets = _listed(data.get(_TARGET)) if isinstance(data, dict) else []
    quoted = [each for each in targets if isinstance(each, dict) and _is_quoted(each)]
    if not quoted:
        raise _Unfit(_SELECTOR, Flaw.MISSING, f"there is no {_QUOTE}")
    if len(quoted) > 1:
        raise _Unfit(_TARGET, Flaw.TWICE, f"{len(quoted)} targets are quoted, and a citation is of one")
    return quoted[0]


def _is_quoted(target: Data) -> bool:
    return any(_QUOTE in _types(each) for each in _listed(target.get("selector")))


def _selected(target: Data) -> Selectors:
    quote = _of_type(target.get("selector"), _QUOTE, _SELECTOR) or {}
    position = _of_type(target.get("selector"), _POSITION, _SELECTOR)
    for each in (quote, position or {}):
        if each.get("refinedBy") is not None:
            raise _Unfit(f"{_SELECTOR}.refinedBy", Flaw.UNKNOWN, "what is meant is only a part of what is quoted")
    exact = _text(quote, "exact")
    if not exact:
        raise _Unfit(f"{_SELECTOR}.exact", Flaw.VALUE, "a string of at least one character is wanted")
    return Selectors(
        source=_iri(target.get("source")),
        exact=exact,
        prefix=_text(quote, "prefix"),
        suffix=_text(quote, "suffix"),
        position=None if position is None else _position(position),
        source_date=_source_date(target.get("state")),
    )


def _iri(source: object) -> str:
    """A resource is named by its IRI, or described by an object that has one."""
    iri = source.get("id") if isinstance(source, dict) else source
    if isinstance(iri, str):
        return iri
    raise _Unfit("target.source", Flaw.TYPE, "an IRI is wanted")


def _text(selector: Data, key: str) -> str | None:
    value = selector.get(key)
    if value is None or isinstance(value, str):
        return value
    raise _Unfit(f"{_SELECTOR}.{key}", Flaw.TYPE, "a string is wanted")


def _position(selector: Data) -> Span:
    start, end = (_number(selector, key) for key in ("start", "end"))
    if end <= start:
        raise _Unfit(f"{_SELECTOR}.end", Flaw.MISMATCH, "it is not behind start")
    return Span(start, end)


def _number(selector: Data, key: str) -> int:
    value = selector.get(key)
    if type(value) is not int:
        raise _Unfit(f"{_SELECTOR}.{key}", Flaw.TYPE, "a whole number is wanted")
    if not 0 <= value <= LARGEST_NUMBER:
        raise _Unfit(f"{_SELECTOR}.{key}", Flaw.VALUE, f"it is not from 0 to {LARGEST_NUMBER}")
    return value


def _source_date(states: object) -> str | None:
    """Dates of further states are alternatives, of which one may be chosen (4.3)."""
    for state in _listed(states):
        date = state.get("sourceDate") if isinstance(state, dict) and _STATE in _types(state) else None
        if isinstance(date, str):
            return date
    return None


class Places(StrEnum):
    """How many places of a text are as an annotation quotes them, where it is not one."""

    NONE = "none"
    SEVERAL = "several"


@frozen
class NotAnchored:
    """Selectors that do not lead to one place of a text."""

    places: Places


def _stands_at(document: str, exact: str, position: Span) -> bool:
    return position.start >= 0 and position.length == len(exact) and document.startswith(exact, position.start)


def anchored(document: str, selectors: Selectors) -> Result[Span, NotAnchored]:
    """Where the passage of an annotation stands in a text: where it says, if that is there, else where it alone is quoted.

    The text counts letter for letter; prefix and suffix as far as they are given. The data model lets a quote that stands at
    several places mean all of them; a citation is of one.
    """
    exact, position = selectors.exact, selectors.position
    if position is not None and _stands_at(document, exact, position):
        return Success(position)
    prefix = selectors.prefix or ""
    quoted = f"{prefix}{exact}{selectors.suffix or ''}"
    at = document.find(quoted)
    if at < 0:
        return Failure(NotAnchored(Places.NONE))
    if document.find(quoted, at + 1) >= 0:
        return Failure(NotAnchored(Places.SEVERAL))
    start = at + len(prefix)
    return Success(Span(start, start + len(exact)))
