"""The twin of the worker pool: every extraction at once, in the calling process, without limits."""

from collections.abc import Collection

from attrs import define, field

from groundkit.adapters.extraction.calling import broken, extracted, failed, said
from groundkit.adapters.extraction.codec import decode, encode
from groundkit.core.extraction import Extraction, ExtractionFailed, ExtractionProblem
from groundkit.core.ports import ExtractionJob
from groundkit.core.result import Failure, Result, Success


@define
class InlineExtractions:
    """`Extractions` for tests, with extractors that behave: one that hangs or ends its process does so to the caller."""

    _ended: list[tuple[int, Result[Extraction, ExtractionFailed]]] = field(factory=list, init=False)
    _closed: bool = field(default=False, init=False)

    def prepare(self) -> None:
        """It is."""

    def room(self) -> bool:
        return len(self._ended) < 2

    def start(self, key: int, job: ExtractionJob) -> None:
        self._open()
        self._ended.append((key, _outcome(job)))

    def finished(self, wait: bool) -> list[tuple[int, Result[Extraction, ExtractionFailed]]]:
        self._open()
        ended, self._ended = self._ended, []
        return ended

    def close(self) -> None:
        self._closed = True
        self._ended = []

    def _open(self) -> None:
        if self._closed:
            raise RuntimeError("these extractions are closed")


def _outcome(job: ExtractionJob) -> Result[Extraction, ExtractionFailed]:
    try:
        return _carried(extracted(job.extractor, job.identity, job.data, job.hint))
    except (MemoryError, SystemExit) as error:
        problem = ExtractionProblem.MEMORY if isinstance(error, MemoryError) else ExtractionProblem.RAISED
        return failed(problem, said(error))


def _carried(result: Result[Extraction, ExtractionFailed]) -> Result[Extraction, ExtractionFailed]:
    """The result after the journey that it would have made from a worker."""
    try:
        value = decode(encode(result.unwrap() if isinstance(result, Success) else result.failure()))
    except (TypeError, ValueError, AttributeError):
        value = None
    match value:
        case Extraction():
            return Success(value)
        case ExtractionFailed():
            return Failure(value)
        case None:
            return broken("gave an extraction with a wrong value in it")


@define
class MemoryKept:
    """`KeptExtractions` of one process."""

    _kept: dict[tuple[str, str], Extraction] = field(factory=dict, init=False)
    _prepared: bool = field(default=False, init=False)

    def prepare(self) -> None:
        self._prepared = True

    def get(self, digest: str, identity: str) -> Extraction | None:
        return self._kept.get((digest, identity))

    def put(self, digest: str, identity: str, extraction: Extraction) -> None:
        if self._prepared:
            self._kept[digest, identity] = extraction

    def retain(self, digests: Collection[str]) -> None:
        self._kept = {key: value for key, value in self._kept.items() if key[0] in digests}

    def discard(self) -> None:
        self._kept = {}
        self._prepared = False
