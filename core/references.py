"""The entries of a text's own lists of sources: footnotes, `[1] a.md:3`, `1. a.md`."""

import re
from collections.abc import Iterator, Sequence

from attrs import field, frozen

from groundkit.core.markers import Target, leading_target, named_in, place_in
from groundkit.core.model import Span
from groundkit.core.written_places import joined_places

#: Things that one entry may name; more are looked up for nobody.
_NAMED = 24
#: Longer lines are no entries that somebody wrote.
_LONGEST = 2000

_BRACKETS = re.compile(
    r"^ {0,3}(?:[-*+] {1,3})?(?:\*\*)?\[(?P<label>\^?[^\[\]\s]{1,80})\](?:\*\*)?(?P<colon>:?)[ \t]+(?P<rest>[^\n]+)",
    re.MULTILINE,
)
_NUMBERED = re.compile(r"^ {0,3}(?P<label>\d{1,9})[.)][ \t]+(?P<rest>[^\n]+)", re.MULTILINE)
#: A line above a list that says that one follows.
_HEAD = re.compile(r"#{1,6} .*|.*:[*_]*|\*\*.*\*\*|__.*__")

_WRAPPED = re.compile(
    r"`(?P<code>[^`\n]+)`|<(?P<angle>[^<>\s]+)>|\]\((?P<link>[^()\s]+)[^()\n]*\)|(?P<url>https?://[^\s()]+)"
)
_PIECE = re.compile(r"[,;]\s+|:\s+|\s[-–—]\s|\s*[()]\s*")
_RUNS = re.compile(r"\s{2,}")
_AROUND = ".,;:()[]*_\"'“”‘’"


@frozen
class Entry:
    """An entry of a list: where its line begins, and what it may name, the likeliest first."""

    start: int
    targets: tuple[Target, ...] = field(default=())


def references(text: str, hidden: str) -> tuple[dict[str, tuple[Entry, ...]], list[Span]]:
    """The entries by label (`1`, `^a`), those that count first, and the stretch of each label in brackets.

    The first entry in brackets counts, then the last list with plain numbers. Without a colon, a line is an entry that
    names something, or stands in a list: under a head or beside another entry.
    """
    found: dict[str, list[Entry]] = {}
    matches = list(_BRACKETS.finditer(hidden))
    labels: list[Span] = []
    listed: set[int] = set()
    for number, match in enumerate(matches):
        targets = entry_targets(text[slice(*match.span("rest"))])
        if not match["colon"]:
            numbered = match["label"].removeprefix("^").isdecimal()
            if not numbered or not (targets or _stands_in_list(text, matches, number, listed)):
                continue
            listed.add(number)
        labels.append(Span(match.start("label") - 1, match.end("label") + 1))
        found.setdefault(match["label"], []).append(Entry(match.start(), targets))
    for match in reversed(list(_NUMBERED.finditer(hidden))):
        targets = entry_targets(text[slice(*match.span("rest"))])
        if targets:
            found.setdefault(match["label"], []).append(Entry(match.start(), targets))
    return {label: tuple(entries) for label, entries in found.items()}, labels


def _stands_in_list(text: str, matches: Sequence[re.Match[str]], number: int, listed: set[int]) -> bool:
    """Whether a line stands under a head or another entry, or above one with the next number."""
    match = matches[number]
    above = text[max(0, match.start() - _LONGEST) : match.start()].rstrip().rpartition("\n")[2].strip()
    if number - 1 in listed and not text[matches[number - 1].end() : match.start()].strip():
        return True
    below = matches[number + 1] if number + 1 < len(matches) else None
    follows = below is not None and below["label"] == str(int(match["label"]) + 1)
    if below is not None and follows and not text[match.end() : below.start()].strip():
        return True
    return _HEAD.fullmatch(above) is not None


def entry_targets(rest: str) -> tuple[Target, ...]:
    """What an entry may name, anywhere in it: what it begins with, what is wrapped, pieces between commas, words."""
    rest = joined_places(_RUNS.sub(" ", rest[:_LONGEST]))
    found: dict[Target, None] = {}
    for target in _targets(rest):
        found.setdefault(target)
        if len(found) == _NAMED:
            break
    return tuple(found)


def _targets(rest: str) -> Iterator[Target]:
    leading = leading_target(rest)
    if leading is not None:
        yield leading
    wrapped = [match[match.lastgroup or 0] for match in _WRAPPED.finditer(rest)]
    words = [each.strip(_AROUND) for each in rest.split()]
    for written in (*wrapped, *(each.strip(_AROUND + " ") for each in _PIECE.split(rest)), *words):
        target = place_in(written) or named_in(written)
        if target is not None:
            yield target
