"""Files of citations: what stands in one, each entry by itself, so that a bad one costs no other its check."""

import json
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from attrs import frozen

from groundkit.core.portable import CitationProblem, CitationRefused, Flaw, PortableCitation
from groundkit.core.result import Failure, Result, Success
from groundkit.core.web_annotation import is_annotation
from groundkit.portable_json import citation_from, citation_from_annotation

#: Digits of the longest whole number that is read; Python itself takes a long time for long ones.
MOST_DIGITS = 20

_BOM = b"\xef\xbb\xbf"
_LINES = (".jsonl", ".ndjson")
#: Members that hold a list of citations: those of `gk verify`, `gk search`, of whoever bundles some, and of annotations.
_LISTS = ("citations", "hits", "checked", "items")
#: Two of these are still there when any one key is taken from a citation, and none is in what it may be wrapped in.
_MARKS = frozenset(("digest", "document_digest", "chunk_start"))


class Unread(StrEnum):
    """Why a file holds no citations at all."""

    NOT_UTF8 = "it is not UTF-8"
    NOT_JSON = "it is not JSON, and no line of it is a JSON object"
    TOO_DEEP = "it is nested too deeply"
    EMPTY = "it is empty"
    NO_CITATIONS = "it is JSON, but neither a citation nor a list of citations"


@frozen
class NotCitations:
    """A file in which no citation was looked for further."""

    name: str
    why: Unread

    def __str__(self) -> str:
        return f"{self.name} holds no citations: {self.why}"


@frozen
class Entry:
    """One citation of a file, or why it is refused. `where` says where it stands, for a person."""

    where: str
    found: PortableCitation | CitationRefused


@frozen
class _Unusable:
    """Stands in the place of what no citation can hold. `key` is the one it concerns, below that place."""

    key: str
    flaw: Flaw
    detail: str


def read_citations(data: bytes, name: str) -> Result[list[Entry], NotCitations]:
    """What stands in a file, in its order, whatever is in the file.

    JSON: a citation, a list of them, or an object with one in `citation` or a list in `citations`, `hits`, `checked` or
    `items`. JSON lines: any of these on each line. A citation may also be an annotation that was exported. What a name ends
    with decides which is tried first.
    """
    body = data.removeprefix(_BOM)
    named_lines = name.lower().endswith(_LINES)
    whole = _read(body)
    if named_lines or isinstance(whole, Unread):
        rows = [(number, _read(line)) for number, line in enumerate(body.split(b"\n"), 1) if line.strip()]
        if any(map(_is_object, (row for _, row in rows))) or (named_lines and not rows):
            return Success([entry for number, row in rows for entry in _entries(row, f"{name} line {number}")])
    return _of_document(whole, name)


def _read(data: bytes) -> Any:
    """A JSON value, or why it is none. The one place that turns bytes into values."""
    if not data.strip():
        return Unread.EMPTY
    try:
        return _DECODER.decode(data.decode())
    except UnicodeDecodeError:
        return Unread.NOT_UTF8
    except json.JSONDecodeError:
        return Unread.NOT_JSON
    except RecursionError:
        return Unread.TOO_DEEP


def _number(digits: str) -> int | _Unusable:
    if len(digits) <= MOST_DIGITS:
        return int(digits)
    return _Unusable("", Flaw.VALUE, f"a number of {len(digits)} digits is none of ours")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Unusable:
    """Readers differ in which of two members of a name they take, so one could show what another does not check."""
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
    return _Unusable(twice, Flaw.TWICE, "it is given more than once")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_number,
    parse_constant=lambda name: _Unusable("", Flaw.VALUE, f"{name} is no number of JSON"),
)


def _is_object(value: object) -> bool:
    return isinstance(value, dict) or (isinstance(value, _Unusable) and value.flaw is Flaw.TWICE)


def _of_document(whole: Any, name: str) -> Result[list[Entry], NotCitations]:
    if isinstance(whole, Unread):
        return Failure(NotCitations(name, whole))
    if isinstance(whole, list):
        return Success([entry for index, each in enumerate(whole) for entry in _entries(each, f"{name}[{index}]")])
    if not _is_object(whole) or (isinstance(whole, dict) and not _means_citations(whole)):
        return Failure(NotCitations(name, Unread.NO_CITATIONS))
    return Success(list(_entries(whole, name)))


def _means_citations(value: dict[str, Any]) -> bool:
    listed = any(isinstance(value.get(key), list) for key in _LISTS)
    return listed or is_annotation(value) or any(key in value for key in ("schema", "citation", *_MARKS))


def _entries(value: Any, where: str) -> Iterator[Entry]:
    """A citation, or those that an answer of ours holds."""
    lists = [key for key in _LISTS if isinstance(value.get(key), list)] if _may_wrap(value) else []
    if not lists or "citation" in value:
        yield Entry(where, _found(value))
        return
    for key in lists:
        for index, each in enumerate(value[key]):
            yield Entry(f"{where} {key}[{index}]", _found(each))


def _may_wrap(value: Any) -> bool:
    """Whether members of an object may be citations, since it is none itself, however odd."""
    return isinstance(value, dict) and not is_annotation(value) and not value.keys() & _MARKS


def _found(value: Any) -> PortableCitation | CitationRefused:
    if isinstance(value, Unread):
        return CitationRefused((CitationProblem("", Flaw.UNREADABLE, _OF_A_LINE[value]),))
    cited = value["citation"] if _may_wrap(value) and "citation" in value else value
    unusable = tuple(_unusable(cited))
    if unusable:
        return CitationRefused(unusable)
    read = citation_from_annotation(cited) if is_annotation(cited) else citation_from(cited)
    match read:
        case Success(citation):
            return citation
        case Failure(refused):
            return CitationRefused((_OF_AN_ANSWER, *refused.problems)) if _is_of_an_answer(cited) else refused


_OF_AN_ANSWER = CitationProblem(
    "",
    Flaw.MISSING,
    "it is a citation as answers of `gk search` and `gk verify` have it; `gk cite --chunk` writes it whole",
)


def _is_of_an_answer(cited: Any) -> bool:
    """Whether it lacks just what only the form that travels has."""
    return isinstance(cited, dict) and "digest" in cited and not cited.keys() & {"schema", "text", "document_digest"}


_OF_A_LINE = {why: str(why) for why in Unread} | {Unread.NOT_JSON: "it is not JSON"}


def _unusable(value: Any) -> Iterator[CitationProblem]:
    """What stands anywhere in an entry that no citation can hold. Without recursion: an entry may be as deep as it likes."""
    waiting = [("", value)]
    while waiting:
        key, each = waiting.pop()
        if isinstance(each, _Unusable):
            yield CitationProblem(".".join(filter(None, (key, each.key))), each.flaw, each.detail)
        elif isinstance(each, dict):
            waiting.extend((f"{key}.{name}" if key else name, held) for name, held in each.items() if _may_hold(held))
        elif isinstance(each, list):
            waiting.extend((f"{key}[{index}]", held) for index, held in enumerate(each) if _may_hold(held))


def _may_hold(value: Any) -> bool:
    return isinstance(value, (dict, list, _Unusable))
