"""What of a passage a hit shows: the lines that say what was asked, with the words marked."""

import unicodedata
from collections.abc import Callable, Sequence
from functools import cache

import click
from attrs import frozen

from groundkit.core.query import wanted_terms
from groundkit.core.snippets import densest, places

#: Lines of a passage that a hit shows, and code points of a line.
LINES, WIDTH = 5, 400


@frozen
class Asked:
    """The terms of a query, and what turns a word into terms."""

    terms: frozenset[str]
    terms_of: Callable[[str], Sequence[str]]

    def matches(self, text: str) -> list[tuple[int, int, str]]:
        """Start, end and term of every word of the text that was asked for; in scripts without blanks, of every sign."""
        return places(text, self.terms, self.terms_of)


def asked(query: str, terms_of: Callable[[str], Sequence[str]]) -> Asked:
    """What a query looks for, as far as marking it goes."""
    remembered = cache(terms_of)
    return Asked(wanted_terms(query, terms_of), remembered)


def excerpt(text: str, wanted: Asked) -> str:
    """The run of lines that holds most of the asked terms, closest together, in a passage too long to show whole."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) <= LINES:
        return "\n".join(shortened(line, wanted) for line in lines)
    found = [frozenset(term for _, _, term in wanted.matches(line)) for line in lines]
    best = max(range(len(lines) - LINES + 1), key=lambda at: _worth(found[at : at + LINES], at))
    chosen = [shortened(line, wanted) for line in lines[best : best + LINES]]
    before, after = ["…"] * (best > 0), ["…"] * (best + LINES < len(lines))
    return "\n".join([*before, *chosen, *after])


def _worth(found: Sequence[frozenset[str]], at: int) -> tuple[int, int, int, int]:
    """Different terms; terms in one line; how near to the middle the fullest line is; the earlier the better."""
    fullest = max(range(len(found)), key=lambda line: len(found[line]))
    return (
        len(frozenset().union(*found)),
        len(found[fullest]) + sum(map(len, found)),
        -abs(fullest - len(found) // 2),
        -at,
    )


def shortened(line: str, wanted: Asked, width: int = WIDTH) -> str:
    """A long line's stretch with most of the asked terms, cut between words."""
    if len(line) <= width:
        return line
    first, last = densest(wanted.matches(line), width)
    start = max(0, min(first - max(width - (last - first), 0) // 2, len(line) - width))
    end = start + width
    start = _blank(line, start, start + width // 8) if start else 0
    end = _blank(line, end, end - width // 8) if end < len(line) else len(line)
    return f"{'…' if start else ''}{line[start:end].strip()}{'…' if end < len(line) else ''}"


def _blank(line: str, at: int, limit: int) -> int:
    """A place to cut: the blank next to `at`, looked for as far as `limit`; `at` where there is none."""
    step = 1 if limit > at else -1
    return next((place for place in range(at, limit, step) if line[place].isspace()), at)


def marked(text: str, wanted: Asked, color: bool) -> str:
    """The asked words in bold."""
    if not color:
        return text
    parts: list[str] = []
    done = 0
    for start, end, _ in wanted.matches(text):
        parts += (text[done:start], click.style(text[start:end], bold=True, fg="magenta"))
        done = end
    return "".join([*parts, text[done:]])


def wrapped(line: str, columns: int) -> list[str]:
    """The line in pieces that fit so many columns, broken at blanks where there are any."""
    pieces: list[str] = []
    while _columns(line) > columns:
        fits = _fitting(line, columns)
        blank = line.rfind(" ", 1, fits + 1)
        cut = blank if blank > 0 else fits
        pieces.append(line[:cut])
        line = line[cut:].lstrip(" ")
    return [*pieces, line]


def _columns(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(map(_width, text))


def _width(sign: str) -> int:
    if unicodedata.combining(sign):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def _fitting(text: str, columns: int) -> int:
    """How many code points fit; at least one."""
    used = 0
    for at, sign in enumerate(text):
        used += _width(sign)
        if used > columns:
            return max(at, 1)
    return len(text)
