"""What extractors there are: the built-in ones whose library is installed, those of entry points, those a user added.

No library of theirs is imported here, and what is wrong with one is said of that one alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from attrs import frozen

from groundkit.core.extraction import ONE_OF_YOUR_OWN, ExtractorMissing
from groundkit.core.kinds import Kind, Loader
from groundkit.core.ports import ActiveExtractor

if TYPE_CHECKING:
    from groundkit.core.ports import Extractor

#: Packages offer extractors under this entry point group: a class or function that makes one when called, or one ready made.
ENTRY_POINTS = "groundkit.extractors"


def _pdf() -> Extractor:
    from groundkit.adapters.pdf import PdfExtractor

    return PdfExtractor()


def _html() -> Extractor:
    from groundkit.adapters.html import HtmlExtractor

    return HtmlExtractor()


@frozen
class Offer:
    """An extractor that is there if a distribution is installed, in this version at least; `extra` installs it."""

    media_types: frozenset[str]
    distribution: str
    at_least: tuple[int, ...]
    extra: str
    make: Callable[[], Extractor]


BUILT_IN = (
    Offer(frozenset({"application/pdf"}), "pypdf", (7, 1), "pdf", _pdf),
    Offer(frozenset({"text/html", "application/xhtml+xml"}), "beautifulsoup4", (4, 13), "html", _html),
)


@frozen
class Found:
    """Extractors, the first for a media type first; by media type, what is broken and nothing is asked before, and what is
    missing."""

    extractors: tuple[tuple[frozenset[str], ActiveExtractor], ...]
    broken: Mapping[str, ExtractorMissing]
    missing: Mapping[str, ExtractorMissing]

    def missing_for(self, media_type: str) -> ExtractorMissing:
        lacking = f"no extractor that reads {media_type} is at work here; {ONE_OF_YOUR_OWN}"
        return self.missing.get(media_type, ExtractorMissing(media_type, lacking))


@frozen
class Offered:
    """Extractors of entry points, and what cannot be loaded, by media type."""

    extractors: tuple[Extractor, ...]
    missing: Mapping[str, ExtractorMissing]


def found(theirs: Iterable[Extractor], lost: Mapping[str, ExtractorMissing], offers: Iterable[Offer]) -> Found:
    known: list[tuple[frozenset[str], ActiveExtractor]] = []
    broken: dict[str, ExtractorMissing] = {}
    missing = dict(lost)
    for each in theirs:
        described = _described(each)
        if isinstance(described, str):
            said = f"{type(each).__qualname__}: {described}"
            asked_before = {every for media_types, _ in known for every in media_types}
            broken |= {every: ExtractorMissing(every, said) for every in _claimed(each) - asked_before}
            continue
        known.append(described)
    for offer in offers:
        lacking = _lacking(offer)
        if lacking is None:
            made = offer.make()
            known.append((made.media_types, ActiveExtractor(made.identity, made)))
        else:
            command = f"pip install 'groundkit[{offer.extra}]'"
            missing |= {each: ExtractorMissing(each, lacking, command) for each in offer.media_types}
    return Found(tuple(known), broken, missing)


def suffixes_of_all(extractors: Iterable[Extractor]) -> dict[str, Kind]:
    """Those of all of them, also of broken ones: to take their files for unknown ones would remove their documents."""
    kinds: dict[str, Kind] = {}
    for each in extractors:
        kinds = _suffixes_of(each) | kinds
    return kinds


def _lacking(offer: Offer) -> str | None:
    """Why an offer cannot be taken up; None if it can. A distribution that is there and broken is found by using it."""
    from importlib import metadata

    try:
        version = metadata.version(offer.distribution) or "an unknown version"
    except metadata.PackageNotFoundError:
        return f"needs {offer.distribution}, which is not installed"
    numbers = tuple(map(int, re.findall(r"\d+", version)[: len(offer.at_least)]))
    if numbers < offer.at_least:
        return f"needs {offer.distribution} {'.'.join(map(str, offer.at_least))} or later, {version} is installed"
    return None


def of_entry_points() -> Offered:
    """What other packages offer. One that cannot be loaded is told of under its name, which is a media type by custom."""
    from importlib import metadata

    extractors: list[Extractor] = []
    missing: dict[str, ExtractorMissing] = {}
    for point in sorted(metadata.entry_points(group=ENTRY_POINTS), key=lambda each: (each.name, each.value)):
        try:
            loaded = point.load()
            made = loaded() if callable(loaded) else loaded
        except Exception as error:  # noqa: BLE001 - somebody else's code: what it does concerns those who need it
            said = f"the extractor {point.value} cannot be loaded: {type(error).__name__}: {error}"
            missing[point.name] = ExtractorMissing(point.name, said)
            continue
        if _claimed(made):
            extractors.append(made)
        else:
            said = f"the extractor {point.value} names no media types"
            missing[point.name] = ExtractorMissing(point.name, said)
    return Offered(tuple(extractors), missing)


def _described(extractor: Extractor) -> tuple[frozenset[str], ActiveExtractor] | str:
    """An extractor with its media types and identity, or what is wrong with them."""
    try:
        identity: object = extractor.identity
        media_types = frozenset(extractor.media_types)
    except Exception as error:  # noqa: BLE001 - as above
        return f"its identity cannot be told: {type(error).__name__}: {error}"
    if isinstance(identity, str) and identity.strip() and identity.isprintable():
        return media_types, ActiveExtractor(identity, extractor)
    return f"{identity!r} is no identity; it should read name/version"


def _claimed(extractor: Extractor) -> frozenset[str]:
    """The media types of an extractor of which nothing else may work."""
    try:
        return frozenset(extractor.media_types)
    except Exception:  # noqa: BLE001 - as above
        return frozenset()


def _suffixes_of(extractor: Extractor) -> dict[str, Kind]:
    """`suffixes` of an extractor, where it has any: from suffix to media type, for files that nobody else reads."""
    try:
        suffixes: Mapping[str, str] = getattr(extractor, "suffixes", {})
        return {suffix.lower(): Kind(Loader.EXTRACTOR, str(suffixes[suffix])) for suffix in suffixes}
    except Exception:  # noqa: BLE001 - as above
        return {}
