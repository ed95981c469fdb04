"""Extractors of a user, in a module that worker processes can import: one that notes what it does, and variations."""

from collections.abc import Callable, Mapping

from attrs import evolve, frozen

from groundkit.core.extraction import Anchor, Extraction, ExtractionFailed, Hint, Page
from groundkit.core.outline import Heading
from groundkit.core.ports import Extractor
from groundkit.core.result import Failure, Result, Success
from groundkit.testing.sample_extractors import MEDIA_TYPE, SUFFIX, Lines, Sample

Extracted = Result[Extraction, ExtractionFailed]


@frozen
class Counting(Sample):
    """`Lines`; each extraction leaves a line in a log."""

    log: str
    version: str = "1"

    def extract(self, data: bytes, hint: Hint) -> Extracted:
        with open(self.log, "a") as log:
            log.write(f"{len(data)}\n")
        return Lines().extract(data, hint)


@frozen
class Under:
    """Another extractor, for files of a suffix and a media type of their own, under that identity and a name."""

    suffix: str
    extractor: Extractor

    @property
    def identity(self) -> str:
        return f"{self.extractor.identity}+{self.suffix[1:]}"

    @property
    def media_type(self) -> str:
        return f"application/x-{self.suffix[1:]}"

    @property
    def media_types(self) -> frozenset[str]:
        return frozenset({self.media_type})

    @property
    def suffixes(self) -> Mapping[str, str]:
        return {self.suffix: self.media_type}

    def extract(self, data: bytes, hint: Hint) -> Extracted:
        return self.extractor.extract(data, hint)


def _heading(found: Extraction) -> Extraction:
    first: Heading = found.headings[0]
    return evolve(found, headings=(evolve(first, text=f"{first.text}, again"), *found.headings[1:]))


def _level(found: Extraction) -> Extraction:
    return evolve(found, headings=(found.headings[0], *(evolve(each, level=2) for each in found.headings[1:])))


def _page(found: Extraction) -> Extraction:
    return evolve(found, pages=(found.pages[0], *(evolve(each, start=each.start - 60) for each in found.pages[1:])))


def _label(found: Extraction) -> Extraction:
    return evolve(found, pages=tuple(Page(each.start, "xii") for each in found.pages))


def _anchor(found: Extraction) -> Extraction:
    return evolve(found, anchors=tuple(Anchor(each.start, f"{each.name}-2") for each in found.anchors))


#: What a new version may give otherwise, by name; the text stands but in the last one.
CHANGES: Mapping[str, Callable[[Extraction], Extraction]] = {
    "nothing": lambda found: found,
    "heading": _heading,
    "level": _level,
    "page": _page,
    "label": _label,
    "anchor": _anchor,
    "title": lambda found: evolve(found, title="Another title"),
    "losses": lambda found: evolve(found, losses=("one picture has no text",)),
    "incomplete": lambda found: evolve(found, losses=("page 2 is damaged",), incomplete=True),
    "text": lambda found: evolve(found, text=f"{found.text}and more\n"),
}


@frozen
class Changed(Sample):
    """`Lines` in a version of its own, that gives one thing otherwise."""

    version: str = "1"
    change: str = "nothing"

    @property
    def identity(self) -> str:
        return f"x@{self.version}"

    def extract(self, data: bytes, hint: Hint) -> Extracted:
        found = Lines().extract(data, hint)
        return found if isinstance(found, Failure) else Success(CHANGES[self.change](found.unwrap()))


@frozen
class Nameless:
    """Its identity cannot be told."""

    media: str = MEDIA_TYPE

    @property
    def identity(self) -> str:
        raise LookupError("the library has no version")

    @property
    def media_types(self) -> frozenset[str]:
        return frozenset({self.media})

    @property
    def suffixes(self) -> Mapping[str, str]:
        return {SUFFIX: MEDIA_TYPE}

    def extract(self, data: bytes, hint: Hint) -> Extracted:
        return Lines().extract(data, hint)


@frozen
class Suffixless:
    """Its suffixes cannot be told."""

    identity: str = "suffixless@1"
    media_types: frozenset[str] = frozenset({"application/x-suffixless"})

    @property
    def suffixes(self) -> Mapping[str, str]:
        raise ValueError("no suffixes")

    def extract(self, data: bytes, hint: Hint) -> Extracted:
        return Lines().extract(data, hint)


NAMELESS_PDF = Nameless("application/pdf")
