"""The files below one base directory: reads that are all from one open.

Everything below the base is reached part by part through directory descriptors, so no path is too long and no
directory that is swapped for a link in between leads out. No descriptor is kept from one read to the next: it would
go on naming a directory that has since been renamed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from groundkit.adapters.files.open import PASS, READ, about, descend, failure, name_bytes, read_all, why_not_opened
from groundkit.core.result import Failure, Result, Success
from groundkit.core.sources import ReadFailure, ReadProblem, ReadSource, name_refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from groundkit.adapters.files.survey import Survey
    from groundkit.core.kinds import Dispatch
    from groundkit.core.walking import Explanation, Found, WalkRequest


#: How often a file that changes while it is read is read.
TRIES = 3


class Files:
    """`SourceReader` over a directory of this machine. OSError if that cannot be opened."""

    def __init__(self, base: Path, index_directory: Path | None = None) -> None:
        self._index_directory = index_directory
        self._base = os.open(base, os.O_RDONLY | os.O_DIRECTORY)

    def close(self) -> None:
        if self._base >= 0:
            os.close(self._base)
            self._base = -1

    def read(self, source: str, limit: int) -> Result[ReadSource, ReadFailure]:
        """See `SourceReader`. A file that changes meanwhile is opened and read again, `TRIES` times in all, then it is
        `CHANGING`."""
        result = self._read_once(source, limit)
        for _ in range(TRIES - 1):
            if isinstance(result, Success) or result.failure().problem is not ReadProblem.CHANGING:
                break
            result = self._read_once(source, limit)
        return result

    def walk(self, request: WalkRequest) -> Iterator[Found]:
        """See `SourceReader`, and `Survey`."""
        return self._survey().walk(request)

    def explain(self, source: str, dispatch: Dispatch | None = None) -> Explanation:
        """See `SourceReader`, and `Survey`."""
        return self._survey().explain(source, dispatch)

    def _survey(self) -> Survey:
        # Whoever verifies citations reads files and never walks.
        from groundkit.adapters.files.survey import Survey

        return Survey(self._directory, self._index_directory)

    def _read_once(self, source: str, limit: int) -> Result[ReadSource, ReadFailure]:
        opened = self._open(source)
        if isinstance(opened, ReadFailure):
            return Failure(opened)
        try:
            return read_all(source, opened, limit)
        except OSError as error:
            return Failure(failure(source, error))
        finally:
            os.close(opened)

    def _open(self, source: str) -> int | ReadFailure:
        refused = name_refused(source)
        if refused is not None:
            return refused
        parent, _, name = source.rpartition("/")
        above = self._directory(parent, PASS)
        if isinstance(above, ReadFailure):
            return about(source, above)
        try:
            return os.open(name_bytes(name), READ, dir_fd=above)
        except OSError as error:
            return why_not_opened(above, name, source, error)
        finally:
            os.close(above)

    def _directory(self, path: str, flags: int) -> int | ReadFailure:
        """A descriptor of the base or a directory below it, which the caller closes."""
        return descend(self._base, "", path.split("/") if path else ["."], flags)
