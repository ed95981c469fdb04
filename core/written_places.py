"""Places as people write them: a source, and behind it the line or the page that is meant."""

import re

from attrs import evolve, frozen

#: What a place ends in, behind its source: lines and a column, pages with their labels, a fragment.
_LINES = re.compile(
    r":(?P<colon>\d{1,12})(?:[-–](?P<to>\d{1,12})|:\d{1,12})?$"
    r"|,? (?:lines?|ll?\.) ?(?P<word>\d{1,12})(?:[-–](?P<until>\d{1,12}))?$"
    r"|#L(?P<mark>\d{1,12})(?:-L?(?P<upto>\d{1,12}))?$"
)
_PAGES = re.compile(
    r",? (?:pp?\.|pages?) ?(?P<page>\d{1,9})(?:[-–](?P<last>\d{1,9}))?(?: \([^()]{0,40}\))?$|#page=(?P<only>\d{1,9})$"
)
_WORD, _FILE_END = re.compile(r",? (?:l|page)"), re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}`?$")
_IN_WORDS = re.compile(r",?\s+(?:at\s+)?(?:lines?|ll?\.)\s?(\d{1,12})(?:\s?[-–]\s?(\d{1,12}))?\b")
_OF_PAGES = re.compile(r",\s+(?=(?:pp?\.|pages?) ?\d)")


@frozen
class WrittenPlace:
    """A source, and the first and the last line or page in it that somebody wrote behind it, if any."""

    source: str
    lines: tuple[int, int] | None = None
    pages: tuple[int, int] | None = None

    def __str__(self) -> str:
        """Where in its source: `:89`, `:89-93`, `p. 30`, `pp. 30–32`."""
        if self.pages is not None:
            first, last = self.pages
            return f"p. {first}" if first == last else f"pp. {first}–{last}"
        first, last = self.lines or (0, 0)
        return "" if self.lines is None else f":{first}" if first == last else f":{first}-{last}"


def has_place(written: str) -> bool:
    """Whether a line or a page of something stands at the end. Said in words, it is one of a file only."""
    match = _LINES.search(written) or _PAGES.search(written)
    return match is not None and (not _WORD.match(match[0]) or _FILE_END.search(written, 0, match.start()) is not None)


def places_of(written: str) -> tuple[WrittenPlace, ...]:
    """The places that may be meant: all of it as a source first, then what is left of it without what may say where."""
    found = [WrittenPlace(written)]
    found += [
        evolve(each, source=each.source[: match.start()], lines=_range(match))
        for each in found
        if (match := _LINES.search(each.source))
    ]
    found += [
        evolve(each, source=each.source[: match.start()], pages=_range(match))
        for each in found
        if (match := _PAGES.search(each.source))
    ]
    found += [evolve(each, source=each.source.partition("#")[0]) for each in found] + [
        evolve(each, source=f"{each.source}#") for each in found if "#" not in each.source
    ]
    if written.endswith((".", ",", ";")):
        found += places_of(written[:-1])
    by_source: dict[str, WrittenPlace] = {}
    for each in found:
        by_source.setdefault(each.source, each)
    return tuple(each for source, each in by_source.items() if source)


def _range(match: re.Match[str]) -> tuple[int, int]:
    numbers = [int(each) for each in match.groups() if each is not None]
    return numbers[0], max(numbers)


def sources_of(written: str) -> tuple[str, ...]:
    """The sources of these places."""
    return tuple(each.source for each in places_of(written))


def source_part(written: str) -> str:
    """The source that is most likely meant, for a message that there is none like it."""
    return next((each.source for each in places_of(written) if each.lines or each.pages), written)


def joined_places(text: str) -> str:
    """The text with `a.md:89` for `a.md, line 89` and `r.pdf p. 3` for `r.pdf, p. 3`, wherever they stand."""
    lines = _IN_WORDS.sub(lambda match: f":{match[1]}" + (f"-{match[2]}" if match[2] else ""), text)
    return _OF_PAGES.sub(" ", lines)
