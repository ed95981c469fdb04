"""Which quotation marks of a paragraph belong together. Apostrophes and inches are none."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from groundkit.core.markers import HIDDEN_LINK

_PAIRS = {
    "“": "”",
    "„": "“”",
    "‟": "”",
    "«": "»",
    "»": "«",
    "‹": "›",
    "›": "‹",
    "「": "」",
    "『": "』",
    "‘": "’",
    "‚": "‘’",
    '"': '"',
}
_MARK = re.compile("[" + "".join(_PAIRS) + "]")
_SIGNS = "".join(dict.fromkeys("".join(f"{opening}{closing}" for opening, closing in _PAIRS.items())))
_ANY_MARK = re.compile(f"[{_SIGNS}]")
_OPENS_BEHIND = frozenset("([{<—–-―/=:,;*_>|“„«‹「『‘‚（【、。，：" + HIDDEN_LINK)


def paired(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The quotation marks of one paragraph that belong together; those within a quotation are its own."""
    places: dict[str, list[int]] = {sign: [] for sign in _SIGNS}
    for match in _ANY_MARK.finditer(text, start, end):
        places[match[0]].append(match.start())
    at = start
    while True:
        opening = _MARK.search(text, at, end)
        if opening is None:
            return
        at = opening.end()
        if not _may_open(text, opening.start()):
            continue
        closing = _closing(text, opening.start(), places)
        if closing is not None:
            yield opening.start(), closing
            at = closing + 1


def _before(text: str, at: int) -> str:
    return text[at - 1] if at else " "


def _behind(text: str, at: int) -> str:
    return text[at + 1] if at + 1 < len(text) else " "


def _may_open(text: str, at: int) -> bool:
    sign, before, behind = text[at], _before(text, at), _behind(text, at)
    starts = before.isspace() or before in _OPENS_BEHIND
    if sign in '"‘':
        return starts and not behind.isspace()
    if sign in "»›":
        return starts and not behind.isspace()
    return True


def _closing(text: str, opening: int, places: dict[str, list[int]]) -> int | None:
    sign = text[opening]
    if sign == '"':
        return _straight(text, opening, places[sign])
    if sign == "‘":
        return _single(text, opening, places)
    if sign in "“「『":
        return _nested(opening, places[sign], places[_PAIRS[sign]])
    if sign == "‚":
        return next((at for at in _from(places, "‘’", opening) if not _behind(text, at).isalnum()), None)
    candidates = [next_place(places[each], opening) for each in _PAIRS[sign]]
    return min((at for at in candidates if at is not None), default=None)


def _from(places: dict[str, list[int]], signs: str, opening: int) -> Iterator[int]:
    """The places of some signs behind an opening mark, up to the next mark like it."""
    following = next_place(places["‚"], opening)
    at: int | None = opening
    while at is not None:
        at = min(
            (place for place in (next_place(places[sign], at) for sign in signs) if place is not None), default=None
        )
        if at is None or (following is not None and at > following):
            return
        yield at


def next_place(places: Sequence[int], at: int) -> int | None:
    """The first of some ascending places behind another."""
    number = bisect_right(places, at)
    return places[number] if number < len(places) else None


def _nested(opening: int, openings: Sequence[int], closings: Sequence[int]) -> int | None:
    """The partner of a mark whose like may stand within its quotation; the nearest closing one where they do not add up."""
    opened, closed = bisect_right(openings, opening), bisect_right(closings, opening)
    first, depth = closed, 1
    while closed < len(closings):
        while opened < len(openings) and openings[opened] < closings[closed]:
            depth += 1
            opened += 1
        depth -= 1
        if depth == 0:
            return closings[closed]
        if closed - first > 8:
            break
        closed += 1
    return closings[first] if first < len(closings) else None


def _straight(text: str, opening: int, places: Sequence[int]) -> int | None:
    """The next mark that closes. One behind a digit is an inch where another follows that closes; a new opening one says
    that this one was none."""
    number = bisect_right(places, opening)
    while number < len(places):
        at = places[number]
        closes = not _before(text, at).isspace() and not _behind(text, at).isalnum()
        opens = _may_open(text, at)
        if opens and not closes:
            return None
        following = places[number + 1] if number + 1 < len(places) else None
        inch = _before(text, at).isdigit() and following is not None and not _may_open(text, following)
        if closes and not inch:
            return at
        number += 1
    return None


def _single(text: str, opening: int, places: dict[str, list[int]]) -> int | None:
    """The next single mark that is no apostrophe; behind an s it may be one, if another follows before the next quotation."""
    closings, following = places["’"], next_place(places["‘"], opening)
    number = bisect_right(closings, opening)
    doubtful: int | None = None
    while number < len(closings) and (following is None or closings[number] < following):
        at = closings[number]
        number += 1
        if _behind(text, at).isalnum() or _before(text, at).isspace():
            continue
        if _before(text, at) in "sS" and _behind(text, at).isspace():
            doubtful = at if doubtful is None else doubtful
            continue
        return at
    return doubtful
