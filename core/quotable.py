"""Where a Markdown text may quote: everything in it that cannot is hidden, with every offset kept."""

import re
from bisect import bisect_right
from collections.abc import Sequence

from attrs import frozen

from groundkit.core.markers import HIDDEN, HIDDEN_LINK

LINES = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE = re.compile(r" *+(?:(?:[-+*]|\d{1,9}[.)]) *+)?(`{3,}(?=[^`\n]*$)|~{3,})", re.MULTILINE)
QUOTE_LINE = re.compile(r" {0,3}> ?")
ATTRIBUTION = re.compile(r"[ \t>]*(?:—|―|–|--(?!-))[ \t]*(?=\S)")

TAG = re.compile(r"</?[A-Za-z][^<>]{0,2000}>|<![^<>]{0,2000}>")
LINK = re.compile(r"(?<=\])\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)")
_LINK_DEFINITION = re.compile(r"^ {0,3}\[[^\[\]\n^]{1,200}\]:[ \t]*\S+[^\n]*", re.MULTILINE)


@frozen
class Block:
    """The lines of a block quotation, and where the line below it begins and ends."""

    lines: tuple[tuple[int, int], ...]
    below: tuple[int, int] | None


def without_code(text: str, lines: Sequence[tuple[int, int]]) -> tuple[str, list[Block]]:
    """The text with code and block quotations hidden, line breaks kept, and the block quotations."""
    parts: list[str] = []
    blocks: list[Block] = []
    at = _front_matter(text, lines)
    parts += (_hide(text[start:end]) for start, end in lines[:at])
    while at < len(lines):
        start, end = lines[at]
        fence = _FENCE.match(text, start, end)
        behind = at + 1
        if fence is not None:
            behind = _fence_end(text, lines, at, fence[1])
            parts += (_hide(text[slice(*line)]) for line in lines[at:behind])
        elif QUOTE_LINE.match(text, start, end):
            while behind < len(lines) and QUOTE_LINE.match(text, *lines[behind]):
                behind += 1
            named = behind < len(lines) and ATTRIBUTION.match(text, *lines[behind]) is not None
            blocks.append(Block(tuple(lines[at:behind]), lines[behind] if named else None))
            behind += named
            parts += (_hide(text[slice(*line)]) for line in lines[at:behind])
        else:
            parts.append(text[start:end])
        at = behind
    return _without_inline_code("".join(parts)), blocks


def _front_matter(text: str, lines: Sequence[tuple[int, int]]) -> int:
    """How many lines of YAML a text begins with."""
    if not lines or text[slice(*lines[0])].lstrip("\ufeff").rstrip() != "---":
        return 0
    for at, line in enumerate(lines[1:200], 1):
        if text[slice(*line)].rstrip() in ("---", "..."):
            return at + 1
    return 0


def _fence_end(text: str, lines: Sequence[tuple[int, int]], at: int, mark: str) -> int:
    """The line behind the one that closes a fence; the end where nothing does."""
    for number in range(at + 1, len(lines)):
        line = text[slice(*lines[number])].strip()
        if len(line) >= len(mark) and line == mark[0] * len(line):
            return number + 1
    return len(lines)


def _hide(stretch: str, sign: str = HIDDEN) -> str:
    return re.sub(r"[^\n]", sign, stretch)


def _without_inline_code(text: str) -> str:
    """Runs of backticks that have a partner as long in their paragraph, with all between them, hidden."""
    runs = [match.span() for match in re.finditer(r"`+", text)]
    gaps = [match.start() for match in re.finditer(r"\n[ \t]*\n", text)]
    partners: dict[tuple[int, int], list[int]] = {}
    for number, (start, end) in enumerate(runs):
        partners.setdefault((bisect_right(gaps, start), end - start), []).append(number)
    parts: list[str] = []
    done = number = 0
    while number < len(runs):
        start, end = runs[number]
        alike = partners[bisect_right(gaps, start), end - start]
        later = bisect_right(alike, number)
        if later == len(alike):
            number += 1
            continue
        closing = runs[alike[later]][1]
        parts += (text[done:start], _hide(text[start:closing]))
        done, number = closing, alike[later] + 1
    return "".join([*parts, text[done:]])


def blanked(text: str, pattern: re.Pattern[str], sign: str) -> str:
    """The text with every match of a pattern hidden, line breaks kept."""
    return pattern.sub(lambda match: _hide(match[0], sign), text)


def without_links(text: str) -> str:
    """The text with the targets of its links hidden."""
    return blanked(blanked(text, _LINK_DEFINITION, HIDDEN_LINK), LINK, HIDDEN_LINK)
