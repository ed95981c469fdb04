"""What an annotation of the Web Annotation Data Model says of the passage it is about, whoever made it, and where that stands."""

import re
from enum import StrEnum
from typing import Any, Final, TypeAlias

from attrs import field, frozen

from groundkit.core.model import Span
from groundkit.core.portable import LARGEST_NUMBER, CitationProblem, CitationRefused, Flaw
from groundkit.core.result import Failure, Result, Success

#: An object as a reader of JSON gives it.
Data: TypeAlias = dict[str, Any]

POSITION: Final = "TextPositionSelector"
QUOTE: Final = "TextQuoteSelector"
STATE: Final = "TimeState"

_TARGET = "target"
_BLANKS = re.compile(r"\s+")
SELECTOR: Final = "target.selector"


#: Code points of a quotation that are printed.
_PRINTED = 60


def _shortened(text: str) -> str:
    return repr(text if len(text) <= _PRINTED else f"{text[:_PRINTED]}…")


@frozen
class Selectors:
    """What an annotation says of the passage that it is about.

    `position` is as the annotation has it, which tools fill by their own way of counting; None where there is none. So are
    `prefix` and `suffix`. `source_date` is when the resource was as meant, if one time is given.
    """

    source: str
    exact: str = field(repr=_shortened)
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


def listed(value: object) -> list[object]:
    """JSON-LD writes one of something without a list, and none as null."""
    return value if isinstance(value, list) else [] if value is None else [value]


def types_of(value: object) -> list[object]:
    return listed(value.get("type")) if isinstance(value, dict) else []


def _of_type(values: object, name: str, key: str) -> Data | None:
    """The only object of this type among one or several."""
    found = [each for each in listed(values) if isinstance(each, dict) and name in types_of(each)]
    if len(found) > 1:
        raise _Unfit(key, Flaw.TWICE, f"there are {len(found)} of type {name}")
    return found[0] if found else None


def _quoted_target(data: object) -> Data:
    targets = listed(data.get(_TARGET)) if isinstance(data, dict) else []
    quoted = [each for each in targets if isinstance(each, dict) and _is_quoted(each)]
    if not quoted:
        raise _Unfit(SELECTOR, Flaw.MISSING, f"there is no {QUOTE}")
    if len(quoted) > 1:
        raise _Unfit(_TARGET, Flaw.TWICE, f"{len(quoted)} targets are quoted, and a citation is of one")
    return quoted[0]


def _is_quoted(target: Data) -> bool:
    return any(QUOTE in types_of(each) for each in listed(target.get("selector")))


def _selected(target: Data) -> Selectors:
    quote = _of_type(target.get("selector"), QUOTE, SELECTOR) or {}
    position = _of_type(target.get("selector"), POSITION, SELECTOR)
    for each in (quote, position or {}):
        if each.get("refinedBy") is not None:
            raise _Unfit(f"{SELECTOR}.refinedBy", Flaw.UNKNOWN, "what is meant is only a part of what is quoted")
    exact = _text(quote, "exact")
    if not exact:
        raise _Unfit(f"{SELECTOR}.exact", Flaw.VALUE, "a string of at least one character is wanted")
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
    raise _Unfit(f"{SELECTOR}.{key}", Flaw.TYPE, "a string is wanted")


def _position(selector: Data) -> Span:
    start, end = (_number(selector, key) for key in ("start", "end"))
    if end <= start:
        raise _Unfit(f"{SELECTOR}.end", Flaw.MISMATCH, "it is not behind start")
    return Span(start, end)


def _number(selector: Data, key: str) -> int:
    value = selector.get(key)
    if type(value) is not int:
        raise _Unfit(f"{SELECTOR}.{key}", Flaw.TYPE, "a whole number is wanted")
    if not 0 <= value <= LARGEST_NUMBER:
        raise _Unfit(f"{SELECTOR}.{key}", Flaw.VALUE, f"it is not from 0 to {LARGEST_NUMBER}")
    return value


def _source_date(states: object) -> str | None:
    """Dates of further states are alternatives, of which one may be chosen (4.3)."""
    for state in listed(states):
        date = state.get("sourceDate") if isinstance(state, dict) and STATE in types_of(state) else None
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

    The text counts letter for letter, and where that leads nowhere with any run of white space as one blank, since a page
    shows no line breaks; prefix and suffix count as far as they are given. The data model lets a quote that stands at several
    places mean all of them; a citation is of one. Linear in the lengths.
    """
    exact, position = selectors.exact, selectors.position
    if position is not None and _stands_at(document, exact, position):
        return Success(position)
    prefix = selectors.prefix or ""
    quoted = f"{prefix}{exact}{selectors.suffix or ''}"
    at = document.find(quoted)
    if at < 0:
        return _anchored_by_words(document, selectors)
    if document.find(quoted, at + 1) >= 0:
        return Failure(NotAnchored(Places.SEVERAL))
    start = at + len(prefix)
    return Success(Span(start, start + len(exact)))


def _anchored_by_words(document: str, selectors: Selectors) -> Result[Span, NotAnchored]:
    """The same, where it does not count how wide white space is. The passage has what the text has."""
    from groundkit.core.quote_matching import Searchable, squashed

    core, within = squashed(selectors.exact), Searchable.of(document)
    if not core:
        return Failure(NotAnchored(Places.NONE))
    if selectors.position is not None and _reads_so_at(document, selectors.exact, selectors.position):
        return Success(selectors.position)
    before, after = squashed(selectors.prefix or ""), squashed(selectors.suffix or "")
    starts = {
        at + len(before) + len(gap)
        for gap in _gaps(selectors.prefix or "", selectors.exact)
        for other_gap in _gaps(selectors.exact, selectors.suffix or "")
        for _, at in zip(range(2), within.places(f"{before}{gap}{core}{other_gap}{after}"), strict=False)
    }
    if len(starts) != 1:
        return Failure(NotAnchored(Places.SEVERAL if starts else Places.NONE))
    (start,) = starts
    return Success(_with_blanks(document, selectors.exact, within.span(start, start + len(core))))


def _gaps(one: str, other: str) -> tuple[str, ...]:
    """What may stand between two neighbours. Makers that squash each for itself leave out the blank between them."""
    if one[-1:].isspace() or other[:1].isspace():
        return (" ",)
    return ("", " ") if one and other else ("",)


def _reads_so_at(document: str, exact: str, position: Span) -> bool:
    inside = 0 <= position.start < position.end <= len(document)
    return inside and _one_blank(document[position.start : position.end]) == _one_blank(exact)


def _one_blank(text: str) -> str:
    return _BLANKS.sub(" ", text)


def _with_blanks(document: str, exact: str, span: Span) -> Span:
    """The span with the white space beside it, where the quotation begins or ends with some."""
    start, end = span.start, span.end
    while exact[0].isspace() and start and document[start - 1].isspace():
        start -= 1
    while exact[-1].isspace() and end < len(document) and document[end].isspace():
        end += 1
    return Span(start, end)
