"""Extraction for verification: one at a time, each once for the same bytes and the same identity."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from threading import TIMEOUT_MAX, Lock
from typing import TYPE_CHECKING, TypeAlias

from attrs import evolve

from groundkit.core.result import Failure, Result, Success

if TYPE_CHECKING:
    from groundkit.core.extraction import Extraction, ExtractionFailed
    from groundkit.core.ports import ExtractionJob, Extractions, Extractor, KeptExtractions

#: What is remembered in one process: so many texts, of so many code points together; the latest always is.
REMEMBERED_TEXTS = 64
REMEMBERED_CHARACTERS = 32_000_000
#: An extraction that has no time left has so many seconds.
_LEAST_SECONDS = 0.01

_Extracted: TypeAlias = "Result[str, ExtractionFailed]"
_Key: TypeAlias = tuple[object, ...]


class Memo:
    """Texts extracted lately in this process. Nothing enters it but what a verification extracted itself."""

    def __init__(self) -> None:
        self._texts: OrderedDict[_Key, _Extracted] = OrderedDict()
        self._characters = 0
        self._lock = Lock()

    def get(self, key: _Key) -> _Extracted | None:
        with self._lock:
            if key in self._texts:
                self._texts.move_to_end(key)
            return self._texts.get(key)

    def knows(self, digest: str) -> bool:
        """Whether anything is remembered of bytes with this SHA-256."""
        with self._lock:
            return any(key[0] == digest for key in self._texts)

    def put(self, key: _Key, extracted: _Extracted) -> None:
        with self._lock:
            self._characters += _length(extracted) - _length(self._texts.pop(key, None))
            self._texts[key] = extracted
            while len(self._texts) > 1 and (
                len(self._texts) > REMEMBERED_TEXTS or self._characters > REMEMBERED_CHARACTERS
            ):
                self._characters -= _length(self._texts.popitem(last=False)[1])


@cache
def process_memo() -> Memo:
    """What this process remembers, whichever collection asked."""
    return Memo()


def _key(job: ExtractionJob, digest: str) -> _Key:
    return (digest, job.identity, _token(job.extractor), job.limits)


def _token(extractor: Extractor) -> object:
    """What tells apart two extractors of one identity: they themselves, or where they cannot be compared, their class."""
    try:
        hash(extractor)
    except Exception:  # noqa: BLE001 - its own __hash__ is foreign code
        return type(extractor)
    return extractor


def _length(extracted: _Extracted | None) -> int:
    return len(extracted.unwrap()) if isinstance(extracted, Success) else 0


def _by(job: ExtractionJob, end: float | None) -> ExtractionJob:
    """The same job, done by then."""
    left = job.limits.seconds if end is None else max(end - time.monotonic(), _LEAST_SECONDS)
    return job if left >= job.limits.seconds else evolve(job, limits=evolve(job.limits, seconds=left))


def _no_turn() -> _Extracted:
    from groundkit.core.extraction import ExtractionFailed, ExtractionProblem

    return Failure(ExtractionFailed(ExtractionProblem.TIME, "other extractions took all the time there was"))


class Extracting:
    """Extracts in one worker, begun when it is first needed. Close it."""

    def __init__(self, extractions: Callable[[int], Extractions], memo: Memo) -> None:
        self._extractions = extractions
        self._memo = memo
        self._worker: list[Extractions] = []
        self._begun = 0
        self._turn = Lock()

    def expect(self, digest: str, identity: str, store: KeptExtractions | None = None) -> None:
        """Bytes with this SHA-256 are soon asked for: if they will have to be extracted, the worker may come up meanwhile."""
        if self._memo.knows(digest) or (store is not None and store.get(digest, identity) is not None):
            return
        # While somebody has the turn, the worker is at work, and need not come up.
        if self._turn.acquire(blocking=False):
            try:
                self._the_worker().prepare()
            finally:
                self._turn.release()

    def text(
        self, job: ExtractionJob, digest: str, store: KeptExtractions | None = None, within: float | None = None
    ) -> _Extracted:
        """The text of bytes with this SHA-256; `within` so many seconds, those included in which others have their turn."""
        end = None if within is None else time.monotonic() + max(within, _LEAST_SECONDS)
        if not self._turn.acquire(timeout=-1 if end is None else min(max(end - time.monotonic(), 0), TIMEOUT_MAX)):
            return _no_turn()
        try:
            known = self.remembered(job, digest, store)
            return self._text(job, _by(job, end), digest, store) if known is None else known
        finally:
            self._turn.release()

    def _text(
        self, job: ExtractionJob, hurried: ExtractionJob, digest: str, store: KeptExtractions | None
    ) -> _Extracted:
        extracted = self._extracted(hurried)
        if isinstance(extracted, Success) and store is not None:
            store.put(digest, job.identity, extracted.unwrap())
        text: _Extracted = Success(extracted.unwrap().text) if isinstance(extracted, Success) else extracted
        if isinstance(text, Success) or not text.failure().passing:
            self._memo.put(_key(job, digest), text)
        return text

    def remembered(self, job: ExtractionJob, digest: str, store: KeptExtractions | None = None) -> _Extracted | None:
        """The text, where nothing has to be extracted for it. It waits for nobody's turn."""
        known = self._memo.get(_key(job, digest))
        if known is not None or store is None:
            return known
        kept = store.get(digest, job.identity)
        if kept is None:
            return None
        text = Success(kept.text)
        self._memo.put(_key(job, digest), text)
        return text

    def _extracted(self, job: ExtractionJob) -> Result[Extraction, ExtractionFailed]:
        self._begun += 1
        try:
            self._the_worker().start(self._begun, job)
            ended = dict(self._the_worker().finished(wait=True))
        except BaseException:  # Ctrl-C: what is under way is nobody's any more, and no answer to the next job
            self._end()
            raise
        if self._begun in ended:
            return ended[self._begun]
        from groundkit.core.extraction import ExtractionFailed, ExtractionProblem

        return Failure(ExtractionFailed(ExtractionProblem.DIED, "its worker is gone"))

    def _the_worker(self) -> Extractions:
        if not self._worker:
            self._worker.append(self._extractions(1))
        return self._worker[0]

    def close(self) -> None:
        """End the worker. What comes after begins a new one."""
        with self._turn:
            self._end()

    def _end(self) -> None:
        while self._worker:
            self._worker.pop().close()
