"""The sources of an ingest whose text is being extracted, while the others go on."""

from collections.abc import Callable
from typing import TypeAlias

from attrs import Factory, define

from groundkit.core.extraction import Extraction, ExtractionFailed
from groundkit.core.ports import ExtractionJob, Extractions
from groundkit.core.result import Result
from groundkit.core.versions import Origin

Ended: TypeAlias = tuple[Origin, Result[Extraction, ExtractionFailed]]


@define
class Pending:
    """Origins under way, each with its job. Workers begin with the first of them; close it."""

    _begin: Callable[[], Extractions]
    _extractions: Extractions | None = None
    _origins: dict[int, Origin] = Factory(dict)
    _begun: int = 0

    @property
    def empty(self) -> bool:
        return not self._origins

    @property
    def crowded(self) -> bool:
        """Whether one more would only wait, and hold its bytes in memory meanwhile."""
        return self._extractions is not None and not self._extractions.room()

    def start(self, origin: Origin, job: ExtractionJob) -> None:
        if self._extractions is None:
            self._extractions = self._begin()
        self._begun += 1
        self._origins[self._begun] = origin
        self._extractions.start(self._begun, job)

    def ended(self, wait: bool) -> list[Ended]:
        """What has ended since; with `wait`, at least one unless none is under way."""
        if self._extractions is None or not self._origins:
            return []
        return [(self._origins.pop(key), extracted) for key, extracted in self._extractions.finished(wait)]

    def close(self) -> None:
        if self._extractions is not None:
            self._extractions.close()
