"""Which extractors are at work here. What there is of them is found out when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from groundkit.core.result import Failure, Result, Success

if TYPE_CHECKING:
    from groundkit.core.extraction import ExtractorMissing
    from groundkit.core.kinds import Kind, Kinds
    from groundkit.core.ports import ActiveExtractor, Extractor
    from groundkit.offers import Found, Offer, Offered


class _Suffixes(Mapping[str, "Kind"]):
    """What suffixes stand for. Entry points are looked for when one is met that nothing else knows."""

    def __init__(self, known: Mapping[str, Kind], offered: Callable[[], Mapping[str, Kind]]) -> None:
        self._known, self._offered = known, offered

    def __getitem__(self, suffix: str) -> Kind:
        return self._known[suffix] if suffix in self._known else self._offered()[suffix]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._offered(), **self._known})

    def __len__(self) -> int:
        return len({**self._offered(), **self._known})


class Registry:
    """The extractors of one collection: the added ones before those of entry points before the built-in ones."""

    def __init__(self, added: Iterable[Extractor] = (), offers: Iterable[Offer] | None = None) -> None:
        """`offers` in the place of the built-in ones."""
        self._added = tuple(added)
        self._offers = None if offers is None else tuple(offers)
        self._found: Found | None = None
        self._offered: tuple[Offered, Mapping[str, Kind]] | None = None

    @property
    def kinds(self) -> Kinds:
        from groundkit.core.kinds import KINDS

        return _Suffixes(KINDS | self._added_suffixes(), lambda: self._of_entry_points()[1])

    def reader_of(self, media_type: str) -> Result[ActiveExtractor, ExtractorMissing]:
        found = self._all()
        if media_type in found.broken:  # another one in its place would hide the fault
            return Failure(found.broken[media_type])
        for media_types, active in found.extractors:
            if media_type in media_types:
                return Success(active)
        return Failure(found.missing_for(media_type))

    def active(self, identity: str, media_type: str = "") -> ActiveExtractor | None:
        same = [each for each in self._all().extractors if each[1].identity == identity]
        reading = [active for media_types, active in same if media_type in media_types]
        return next(iter([*reading, *(active for _, active in same)]), None)

    def all_active(self) -> tuple[ActiveExtractor, ...]:
        """All that are at work here, in the order in which they are asked."""
        return tuple(active for _, active in self._all().extractors)

    def _added_suffixes(self) -> dict[str, Kind]:
        if not self._added:
            return {}
        from groundkit.offers import suffixes_of_all

        return suffixes_of_all(self._added)

    def _all(self) -> Found:
        if self._found is None:
            from groundkit.offers import BUILT_IN, found

            offered, _ = self._of_entry_points()
            offers = BUILT_IN if self._offers is None else self._offers
            self._found = found((*self._added, *offered.extractors), offered.missing, offers)
        return self._found

    def _of_entry_points(self) -> tuple[Offered, Mapping[str, Kind]]:
        """What entry points offer, and its suffixes."""
        if self._offered is None:
            from groundkit.offers import of_entry_points, suffixes_of_all

            offered = of_entry_points()
            self._offered = offered, suffixes_of_all(offered.extractors)
        return self._offered


def active_extractors() -> tuple[Extractor, ...]:
    """The extractors that are at work here without anything being added: built-in ones whose library is installed, and
    those of entry points."""
    return tuple(each.extractor for each in Registry().all_active())
