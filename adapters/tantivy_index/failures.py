"""The one seam for what the engine and the file system raise, and what that means here."""

import errno
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from groundkit.core.result import Failure, Result, Success
from groundkit.core.storage import LexicalFailure, LexicalProblem

T = TypeVar("T")

#: What the engine's errors say; the first that is found decides. It has one exception type for all of them.
_SAID = (
    ("LockBusy", LexicalProblem.BUSY),
    ("No space left", LexicalProblem.FULL),
    ("os error 122", LexicalProblem.FULL),
    ("Permission denied", LexicalProblem.DENIED),
    ("PermissionDenied", LexicalProblem.DENIED),
    ("Read-only file system", LexicalProblem.DENIED),
    ("Too many open files", LexicalProblem.FAILED),
    ("Cannot allocate memory", LexicalProblem.FAILED),
    ("writer was killed", LexicalProblem.FAILED),
    ("Input/output error", LexicalProblem.FAILED),
)
_ERRNO = {
    errno.ENOSPC: LexicalProblem.FULL,
    errno.EDQUOT: LexicalProblem.FULL,
    errno.EACCES: LexicalProblem.DENIED,
    errno.EPERM: LexicalProblem.DENIED,
    errno.EROFS: LexicalProblem.DENIED,
    # Something else stands where a file or a directory of the index has to be.
    errno.EISDIR: LexicalProblem.DAMAGED,
    errno.ENOTDIR: LexicalProblem.DAMAGED,
}


class Damaged(Exception):
    """What was read cannot be what was written."""


class Missing(Exception):
    """There is no such build."""


def attempt(action: Callable[[], T], written: Path | None = None) -> Result[T, LexicalFailure]:
    """The action's answer, or its failure in our words. `written` is the directory of a write."""
    try:
        return Success(action())
    except Missing as error:
        return Failure(LexicalFailure(LexicalProblem.MISSING, str(error)))
    except Damaged as error:
        return Failure(LexicalFailure(LexicalProblem.DAMAGED, str(error)))
    except OSError as error:
        return Failure(
            LexicalFailure(_ERRNO.get(error.errno or 0, LexicalProblem.FAILED), error.strerror or str(error))
        )
    except ValueError as error:
        return Failure(LexicalFailure(_problem(str(error), written), str(error)))
    except BaseException as error:
        # A panic of the engine is no `Exception`, and its type cannot be imported.
        if type(error).__name__ != "PanicException":
            raise
        return Failure(LexicalFailure(LexicalProblem.DAMAGED, f"the engine panicked: {error}"))


def _problem(said: str, written: Path | None) -> LexicalProblem:
    problem = next((each for words, each in _SAID if words in said), LexicalProblem.DAMAGED)
    if problem is LexicalProblem.FAILED and written is not None and _is_full(written):
        return LexicalProblem.FULL
    return problem


def _is_full(directory: Path) -> bool:
    """A writing thread of the engine that meets a full disk says only that it died."""
    probe = directory / ".probe"
    try:
        probe.write_bytes(bytes(1 << 20))
    except OSError as error:
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    finally:
        probe.unlink(missing_ok=True)
    return False
