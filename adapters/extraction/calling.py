"""One extractor, called as it deserves: whatever it raises or gives back amiss is a failure with a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from groundkit.core.extraction import Extraction, ExtractionFailed, ExtractionProblem, Hint, checked, clean
from groundkit.core.result import Failure, Result, Success

if TYPE_CHECKING:  # a worker starts sooner without it
    from groundkit.core.ports import Extractor

#: What an extractor says of a failure is cut at so many code points.
DETAIL_LIMIT = 500


def failed(problem: ExtractionProblem, detail: str) -> Failure[ExtractionFailed]:
    """The failure, with its detail in one bounded line."""
    return Failure(ExtractionFailed(problem, " ".join(clean(detail).split())[:DETAIL_LIMIT]))


def said(error: BaseException) -> str:
    """Kind and message of an exception, also of one whose message cannot be had."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - its own __str__ is foreign code
        message = ""
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def too_much_memory(limit: int) -> str:
    return f"needed more than {limit // (1 << 20):,} MiB of memory; --memory-limit raises it"


def extracted(extractor: Extractor, identity: str, data: bytes, hint: Hint) -> Result[Extraction, ExtractionFailed]:
    """`checked(extractor.extract(data, hint))`, if the extractor still is the one of this identity.

    Raises MemoryError, and what is not an `Exception`.
    """
    try:
        active = extractor.identity
        if active != identity:
            return failed(ExtractionProblem.IDENTITY_CHANGED, f"{active} is at work, not {identity}")
        given: object = extractor.extract(data, hint)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - the seam around third-party parsers of hostile bytes
        return failed(ExtractionProblem.RAISED, said(error))
    return _sound(given)


def _sound(given: object) -> Result[Extraction, ExtractionFailed]:
    try:
        match given:
            case Extraction() | Success(Extraction()):
                return checked(given if isinstance(given, Extraction) else given.unwrap())
            case Failure(ExtractionFailed() as failure):
                return Failure(evolve(failure, detail=failed(failure.problem, failure.detail).failure().detail))
            case other:
                return broken(f"gave a {type(other).__name__} instead of an extraction")
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - its fields may hold anything
        return broken(f"gave an extraction with a wrong value in it ({said(error)})")


def broken(detail: str) -> Failure[ExtractionFailed]:
    return failed(ExtractionProblem.BROKEN_RESULT, detail)
