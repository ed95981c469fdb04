"""Which matrix is searched: the one that was searched last, that of a sound file, or one that is made."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from threading import Lock

from attrs import define, field

from groundkit.adapters.vectors.files import entered, name_of, put, regular, remove_all, sweep
from groundkit.adapters.vectors.format import PAGE, Unsound, opened, pieces
from groundkit.adapters.vectors.matrix import Matrix, Unusable, matrix_of
from groundkit.core.result import Failure, Result, Success
from groundkit.core.retrieval_ports import VectorKey, VectorRow, VectorSearcher
from groundkit.core.storage import StorageFailure, StorageProblem

_PROBLEMS = {
    errno.EACCES: StorageProblem.DENIED,
    errno.EPERM: StorageProblem.DENIED,
    errno.EROFS: StorageProblem.DENIED,
    errno.ELOOP: StorageProblem.FOREIGN,
    errno.ENOTDIR: StorageProblem.FOREIGN,
}


@define(eq=False)
class VectorFiles:
    """`groundkit.core.retrieval_ports.VectorIndex` in `<collection>.vectors`, made (0700) with the first matrix.

    A file is a convenience: where none can be written, or read, a matrix is made in memory, for this process. Links on the way
    to the index directory are followed, none below it.
    """

    _path: Path
    _lock: Lock = field(factory=Lock, init=False)
    _last: tuple[VectorKey, Matrix] | None = field(default=None, init=False)

    def searcher(
        self, key: VectorKey, load: Callable[[], Result[Iterable[VectorRow], StorageFailure]]
    ) -> Result[VectorSearcher, StorageFailure]:
        # Who comes second waits for the matrix instead of making it, too.
        with self._lock:
            if self._last is not None and self._last[0] == key:
                return Success(self._last[1])
            # What it holds is given back before the next one is read.
            self._last = None
            found = self._stored(key)
            if found is None:
                made = self._made(key, load)
                if isinstance(made, Failure):
                    return made
                found = made.unwrap()
            self._last = key, found
            return Success(found)

    def discard(self) -> Result[None, StorageFailure]:
        self.close()
        try:
            remove_all(self._path)
        except OSError as error:
            problem = _PROBLEMS.get(error.errno or 0, StorageProblem.FAILED)
            return Failure(StorageFailure(problem, self._path.name, error.strerror or type(error).__name__))
        return Success(None)

    def close(self) -> None:
        # The mapping ends with the last search in it.
        with self._lock:
            self._last = None

    def _stored(self, key: VectorKey) -> Matrix | None:
        digest = _digest(key)
        try:
            with entered(self._path) as directory, regular(directory, name_of(digest)) as (file, size):
                return opened(file, size, digest, key.identity.dimensions, os.pread(file, PAGE, 0))
        except (OSError, Unsound):
            return None

    def _made(
        self, key: VectorKey, load: Callable[[], Result[Iterable[VectorRow], StorageFailure]]
    ) -> Result[Matrix, StorageFailure]:
        loaded = load()
        if isinstance(loaded, Failure):
            return loaded
        try:
            matrix = matrix_of(loaded.unwrap(), key.identity.dimensions)
        except Unusable as unusable:
            return Failure(StorageFailure(StorageProblem.DAMAGED, self._path.name, str(unusable)))
        return Success(self._kept(key, matrix))

    def _kept(self, key: VectorKey, matrix: Matrix) -> Matrix:
        """The same from its file, whose memory the system can take back, or as it is where there can be no file."""
        digest = _digest(key)
        with suppress(OSError), entered(self._path, make=True) as directory:
            put(directory, name_of(digest), pieces(matrix, digest))
            sweep(directory, name_of(digest))
        return self._stored(key) or matrix


def _digest(key: VectorKey) -> bytes:
    mark, of = key.mark, key.identity
    told = [mark.generation, mark.token, of.provider, of.model, of.dimensions, of.digest]
    return hashlib.sha256(json.dumps(told).encode()).digest()
