"""Cells that hold more than one value, as compact JSON: headings, places, losses, fetches. What cannot be read is damage."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from groundkit.core.model import ExtractionFacts, FetchFacts, Locator, PageRange

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groundkit.core.changes import NewDocument


class DamagedRow(ValueError):
    """A row that this program cannot have written."""


_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def list_in(cell: str, what: str) -> list[object]:
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError) as error:
        raise DamagedRow(f"{what} that are no JSON: {error}") from error
    if not isinstance(found, list):
        raise DamagedRow(f"{what} that are no list")
    return found


def heading_tree(new: NewDocument) -> tuple[dict[tuple[str, ...], int], str | None]:
    """A number for each heading path, and the cell that gives it back: title and parent's number of 1, of 2, …

    Chunks hold the numbers; the empty path is 0. A title stands once, whatever stands below it.
    """
    numbers: dict[tuple[str, ...], int] = {(): 0}
    cell: list[str | int] = []
    for counted in new.chunks:
        path = counted.chunk.locator.heading_path
        if path in numbers:
            continue
        for depth in range(1, len(path) + 1):
            if path[:depth] not in numbers:
                cell += (path[depth - 1], numbers[path[: depth - 1]])
                numbers[path[:depth]] = len(numbers)
    return numbers, _JSON.encode(cell) if cell else None


def heading_path(cell: Sequence[object], number: int) -> tuple[str, ...]:
    """The path that `heading_tree` gave this number."""
    path: list[str] = []
    while number:
        if not 0 < number <= len(cell) // 2:
            raise DamagedRow(f"there is no heading {number}")
        title, parent = cell[2 * number - 2 : 2 * number]
        if not (isinstance(title, str) and isinstance(parent, int) and parent < number):
            raise DamagedRow(f"heading {number} is no title below an earlier one")
        path.append(title)
        number = parent
    return tuple(reversed(path))


def place_cell(locator: Locator) -> str | None:
    """Pages and anchor: `[first,last,first_label,last_label,anchor]` without the empty end, or `[anchor]`, or nothing."""
    pages, anchor = locator.pages, [locator.anchor] if locator.anchor else []
    if pages is None:
        return _JSON.encode(anchor) if anchor else None
    labels = [pages.first_label, pages.last_label]
    if not (anchor or any(labels)):
        labels = []
    return _JSON.encode([pages.first, pages.last, *labels, *anchor])


def place_in(cell: str) -> tuple[PageRange | None, str]:
    """What `place_cell` put there."""
    match found := list_in(cell, "places"):
        case [str(anchor)] if anchor:
            return None, anchor
        case [int(first), int(last), *words] if _is_range(first, last) and len(words) in (0, 2, 3):
            first_label, last_label, anchor, *_ = map(_word, (*words, "", "", ""))
            return PageRange(first, last, first_label, last_label), anchor
    raise DamagedRow(f"{found} is no place")


def _is_range(first: int, last: int) -> bool:
    """JSON's true is an int to Python."""
    return not (first is True or last is True) and 1 <= first <= last


def _word(found: object) -> str:
    if not isinstance(found, str):
        raise DamagedRow(f"{found!r} is no label or anchor")
    return found


def facts_cells(facts: ExtractionFacts | None) -> tuple[bytes | None, bytes | None, int | None, str | None, int | None]:
    """Of a document: digest of its source, of its extraction, pages, losses, whether text is missing. All or none."""
    if facts is None:
        return (None, None, None, None, None)
    losses = _JSON.encode(facts.losses) if facts.losses else None
    digests = bytes.fromhex(facts.source_digest), bytes.fromhex(facts.digest)
    return (*digests, facts.pages, losses, int(facts.incomplete))


def facts_in(cells: Sequence[object]) -> ExtractionFacts | None:
    """What `facts_cells` put there."""
    match cells:
        case (None, None, None, None, None):
            return None
        case (bytes(source), bytes(digest), int(pages), losses, 0 | 1 as incomplete) if pages >= 0:
            if len(source) == len(digest) == 32:
                return ExtractionFacts(source.hex(), digest.hex(), pages, _losses(losses), bool(incomplete))
    raise DamagedRow("facts of an extraction that are not whole")


def _losses(cell: object) -> tuple[str, ...]:
    return _sentences(list_in(cell, "losses"), "losses") if isinstance(cell, str) else ()


def _sentences(found: list[object], what: str) -> tuple[str, ...]:
    sentences = tuple(each for each in found if isinstance(each, str))
    if len(sentences) < len(found):
        raise DamagedRow(f"{what} that are no sentences")
    return sentences


_WORDS = ("content_type", "charset", "charset_by", "fetched_at", "etag", "last_modified")


def fetch_cells(fetch: FetchFacts | None) -> tuple[str | None, bytes | None]:
    """Of a page: `[status,length,extractor,suspicions,words]`, and the digest that names its raw response, if that was kept."""
    if fetch is None:
        return None, None
    words = [getattr(fetch, name) for name in _WORDS]
    cell = _JSON.encode([fetch.status, fetch.length, fetch.extractor, fetch.suspicions, words])
    return cell, bytes.fromhex(fetch.kept_body) if fetch.kept_body else None


def fetch_in(cell: object, body: object) -> FetchFacts | None:
    """What `fetch_cells` put there."""
    match cell, body:
        case None, None:
            return None
        case str(), None:
            return _fetch(list_in(cell, "facts of a fetch"), "")
        case str(), bytes() if len(body) == 32:
            return _fetch(list_in(cell, "facts of a fetch"), body.hex())
    raise DamagedRow("facts of a fetch that are not whole")


def _fetch(found: list[object], body: str) -> FetchFacts:
    match found:
        case [int(status), int(length), str() | None as extractor, list(doubts), list(words)] if (
            _is_count(status) and _is_count(length) and len(words) == len(_WORDS)
        ):
            told = dict(zip(_WORDS, _sentences(words, "words of a fetch"), strict=True))
            suspicions = _sentences(doubts, "suspicions")
            return FetchFacts(status, length=length, extractor=extractor, suspicions=suspicions, kept_body=body, **told)
    raise DamagedRow("facts of a fetch that are not whole")


def _is_count(found: int) -> bool:
    """JSON's true is an int to Python."""
    return type(found) is int and found >= 0


def ports_in(cell: str) -> tuple[int, ...]:
    """Numbers of ports, as `80,443`."""
    if not re.fullmatch("[1-9][0-9]{0,4}(,[1-9][0-9]{0,4})*", cell, re.ASCII):
        raise DamagedRow(f"{cell!r} are no ports")
    return tuple(map(int, cell.split(",")))
