"""Extraction in processes of its own that are killed at their limits, and its results on disk.

Names load on first use: a worker process needs the least of this.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groundkit.adapters.extraction.cache import ExtractionCache as ExtractionCache
    from groundkit.adapters.extraction.pool import WorkerPool as WorkerPool

_HOME = {
    "ExtractionCache": "groundkit.adapters.extraction.cache",
    "WorkerPool": "groundkit.adapters.extraction.pool",
}
__all__ = ["ExtractionCache", "WorkerPool"]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
