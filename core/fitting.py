"""How much of a text fits into an answer of so many characters of JSON."""

import re

from groundkit.core.boundaries import Boundaries

#: What JSON writes as two characters, and as six (RFC 8259, 7). Everything else stands for itself.
_TWO, _SIX = re.compile(r'["\\\n\r\t\b\f]'), re.compile(r"[\x00-\x07\x0b\x0e-\x1f]")


def json_length(text: str) -> int:
    """Characters of a text within the quotation marks of JSON."""
    return len(text) + len(_TWO.findall(text)) + 5 * len(_SIX.findall(text))


def fitting(text: str, start: int, room: int, least: int) -> int:
    """The end of the longest stretch of `text` from `start` that takes at most `room` characters of JSON.

    It ends where a text may be cut, if there is such a place, and has `least` code points (as far as the text goes) even where
    these do not fit.
    """
    floor = min(len(text), start + least)
    if len(text) - start <= room and json_length(text[start:]) <= room:
        return len(text)
    low, high = floor, min(len(text), max(floor, start + room))
    while low < high:
        middle = (low + high + 1) // 2
        if json_length(text[start:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    if low == len(text) or low == floor:
        return low
    places = Boundaries(text)
    return next((at for at in range(low, floor, -1) if places.may_cut(at)), low)


def brief(text: str, most: int) -> str:
    """A text for display, at most so many code points."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def plain(text: str) -> str:
    """A text that UTF-8 can carry: half a surrogate pair becomes U+FFFD."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
