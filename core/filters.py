"""Conditions on documents and headings, which decide before anything is ranked. ADR 0029."""

import re
from collections.abc import Callable, Iterable
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from groundkit.core.briefs import DocumentBrief


class Field(StrEnum):
    """What `field:value` may name."""

    SOURCE = "source"
    CLASS = "class"
    TYPE = "type"
    HEADING = "heading"
    AFTER = "after"
    BEFORE = "before"


@frozen
class FieldCondition:
    """One `field:value`, or with `negated` `-field:value`."""

    field: Field
    value: str
    negated: bool = False


_CLASSES = ("text", "extracted", "snapshot")
#: What people call media types.
_TYPES = {
    "markdown": "text/markdown",
    "md": "text/markdown",
    "text": "text/plain",
    "txt": "text/plain",
    "pdf": "application/pdf",
    "html": "text/html",
    "xhtml": "application/xhtml+xml",
}
_MEDIA_TYPE = re.compile(r"[\w.+-]+/[\w.+*-]+", re.ASCII)
#: A year, a month, a day, or a moment; UTC, which a `Z` may say.
_WHEN = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?Z?)?)?)?", re.ASCII | re.IGNORECASE)
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def wrong_value(condition: FieldCondition) -> str | None:
    """Why this is no condition but text like any other; None where it is one."""
    name, value = condition.field, condition.value
    said = f"{name.value}:{value} is taken as text: "
    if name is Field.CLASS and value.lower() not in _CLASSES:
        return f"{said}a class is one of {', '.join(_CLASSES)}"
    if name is Field.TYPE and _media_type(value) is None:
        return f"{said}a type is one of {', '.join(_TYPES)}, or a media type"
    if name in (Field.AFTER, Field.BEFORE) and _moment(value) is None:
        return f"{said}a date is YYYY, YYYY-MM, YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS"
    return None


def _media_type(value: str) -> str | None:
    known = _TYPES.get(value.lower())
    return known or (value.lower() if _MEDIA_TYPE.fullmatch(value) else None)


def _moment(value: str) -> str | None:
    """The beginning of a year, month, day or second as `YYYY-MM-DDTHH:MM:SSZ`; such texts sort as the moments do."""
    found = _WHEN.fullmatch(value)
    if found is None:
        return None
    year, *rest = found.groups()
    month, day, hour, minute, second = (
        int(part) if part else least for part, least in zip(rest, (1, 1, 0, 0, 0), strict=True)
    )
    if not (1 <= month <= 12 and 1 <= day <= _DAYS[month - 1] and hour < 24 and minute < 60 and second < 60):
        return None
    return f"{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"


@frozen
class Filters:
    """Conditions, ready to be asked. Of one field, any of the positive ones is enough; no negated one may hold."""

    conditions: tuple[FieldCondition, ...]
    headings: tuple[tuple[bool, tuple[str, ...]], ...]
    terms_of: Callable[[str], list[str]]

    @property
    def by_document(self) -> bool:
        return any(each.field is not Field.HEADING for each in self.conditions)

    @property
    def by_heading(self) -> bool:
        return bool(self.headings)

    def admits(self, brief: "DocumentBrief") -> bool:
        """Whether passages of this document may be given. Says nothing of headings."""
        positive: dict[Field, bool] = {}
        for each in self.conditions:
            if each.field is Field.HEADING:
                continue
            holds = _holds(each, brief)
            if each.negated:
                if holds:
                    return False
            elif each.field in (Field.AFTER, Field.BEFORE):
                # Of two bounds both have to hold.
                positive[each.field] = positive.get(each.field, True) and holds
            else:
                positive[each.field] = positive.get(each.field, False) or holds
        return all(positive.values())

    def admits_heading(self, path: tuple[str, ...]) -> bool:
        """Whether passages below these headings may be given."""
        titles = [self.terms_of(each) for each in path]
        found = [(negated, any(_stands(terms, title) for title in titles)) for negated, terms in self.headings]
        if any(negated and holds for negated, holds in found):
            return False
        wanted = [holds for negated, holds in found if not negated]
        return not wanted or any(wanted)


def filters(conditions: Iterable[FieldCondition], terms_of: Callable[[str], list[str]]) -> Filters:
    """The conditions of a query. A heading is looked for by its terms; one without any holds nowhere."""
    given = tuple(conditions)
    headings = tuple((each.negated, tuple(terms_of(each.value))) for each in given if each.field is Field.HEADING)
    return Filters(given, headings, terms_of)


def _holds(condition: FieldCondition, brief: "DocumentBrief") -> bool:
    value = condition.value
    match condition.field:
        case Field.SOURCE:
            return source_matches(value, brief.source)
        case Field.CLASS:
            return brief.source_class == value.lower()
        case Field.TYPE:
            wanted = _media_type(value) or ""
            kind = brief.media_type.lower()
            return kind.startswith(wanted[:-1]) if wanted.endswith("/*") else kind == wanted
        case Field.AFTER:
            return brief.ingested_at >= (_moment(value) or "")
        case Field.BEFORE:
            return brief.ingested_at < (_moment(value) or "")
        case Field.HEADING:
            return True


def _stands(terms: tuple[str, ...], title: list[str]) -> bool:
    size = len(terms)
    return size > 0 and any(tuple(title[at : at + size]) == terms for at in range(len(title) - size + 1))


_MAGIC = re.compile(r"[*?\[]")


def source_matches(pattern: str, source: str) -> bool:
    """Whether a source is meant by a pattern: `*` and `?` stay within a part of a path, `**` does not, `[a-c]` is one of these.

    A pattern without `/` is for the last part of a source, wherever it lies; one without signs also names a folder with all
    that lies below it. Case counts.
    """
    pattern = pattern.removeprefix("./")
    if not _MAGIC.search(pattern):
        folder = pattern.rstrip("/")
        names = {source, source.rpartition("/")[2]} if "/" not in pattern else {source}
        return folder in names or source.startswith(f"{folder}/")
    if "/" not in pattern:
        return _glob(pattern, source.rpartition("/")[2]) or ("**" in pattern and _glob(pattern, source))
    return _glob(pattern, source)


def _glob(pattern: str, text: str) -> bool:
    """All places of the pattern that the text so far may have led to, step by step: no pattern takes more than its length times
    that of the text."""
    parts = _parts_of(pattern)
    places = _onward(parts, {0}, True)
    for sign in text:
        stepped = {
            place + (parts[place] not in _RUNS) for place in places if place < len(parts) and _fits(parts[place], sign)
        }
        places = _onward(parts, stepped, sign == "/")
    return len(parts) in places


def _onward(parts: tuple[str, ...], places: set[int], between: bool) -> set[int]:
    """The places and those behind runs that may end here; `**/` only ends between two parts of a path."""
    reached, pending = set(places), list(places)
    while pending:
        place = pending.pop()
        ends = place < len(parts) and (parts[place] in ("*", "**") or (parts[place] == "**/" and between))
        if ends and place + 1 not in reached:
            reached.add(place + 1)
            pending.append(place + 1)
    return reached


_RUNS = ("*", "**", "**/")
#: Several `**/` are one, so that a pattern is never at more places than it has come past signs. A set is short, so that a `[`
#: without an end is not looked for to the end of the pattern.
_PART = re.compile(r"(?:\*\*/)+|\*{2,}|\*|\?|\[[!^]?\]?[^\]]{0,64}\]|.", re.DOTALL)


@lru_cache(maxsize=64)
def _parts_of(pattern: str) -> tuple[str, ...]:
    """Signs and letters. `**/` is also nothing at all: `a/**/b` has `a/b`."""
    return tuple(
        each[:2] + "/" * each.endswith("/") if each.startswith("**") else each for each in _PART.findall(pattern)
    )


def _fits(part: str, sign: str) -> bool:
    if part in ("**", "**/"):
        return True
    if part in ("?", "*"):
        return sign != "/"
    if len(part) > 2 and part[0] == "[" and part[-1] == "]":
        inside = part[1:-1]
        negated = inside[0] in "!^"
        return sign != "/" and _in_set(inside[negated:], sign) != negated
    return part == sign


def _in_set(inside: str, sign: str) -> bool:
    at = 0
    while at < len(inside):
        if at + 2 < len(inside) and inside[at + 1] == "-":
            if inside[at] <= sign <= inside[at + 2]:
                return True
            at += 3
        else:
            if inside[at] == sign:
                return True
            at += 1
    return False
