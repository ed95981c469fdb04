"""In-memory twins of every port, and the contracts that they and the real adapters pass.

The twins need nothing but groundkit; the contracts (`*_contract`) and strategies need the extra `testing`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groundkit.testing.memory_extraction import InlineExtractions as InlineExtractions
    from groundkit.testing.memory_extraction import MemoryKept as MemoryKept
    from groundkit.testing.memory_files import MemoryFiles as MemoryFiles
    from groundkit.testing.memory_index import MemoryIndex as MemoryIndex
    from groundkit.testing.memory_kept import MemoryKeptFiles as MemoryKeptFiles
    from groundkit.testing.memory_store import MemoryStore as MemoryStore
    from groundkit.testing.memory_system import FrozenClock as FrozenClock
    from groundkit.testing.memory_system import MemoryLock as MemoryLock
    from groundkit.testing.memory_web import ScriptedFetcher as ScriptedFetcher
    from groundkit.testing.memory_web import ScriptedPage as ScriptedPage
    from groundkit.testing.memory_web import ScriptedResolver as ScriptedResolver

_HOME = {
    "FrozenClock": "groundkit.testing.memory_system",
    "InlineExtractions": "groundkit.testing.memory_extraction",
    "MemoryFiles": "groundkit.testing.memory_files",
    "MemoryIndex": "groundkit.testing.memory_index",
    "MemoryKept": "groundkit.testing.memory_extraction",
    "MemoryKeptFiles": "groundkit.testing.memory_kept",
    "MemoryLock": "groundkit.testing.memory_system",
    "MemoryStore": "groundkit.testing.memory_store",
    "ScriptedFetcher": "groundkit.testing.memory_web",
    "ScriptedPage": "groundkit.testing.memory_web",
    "ScriptedResolver": "groundkit.testing.memory_web",
}
__all__ = [
    "FrozenClock",
    "InlineExtractions",
    "MemoryFiles",
    "MemoryIndex",
    "MemoryKept",
    "MemoryKeptFiles",
    "MemoryLock",
    "MemoryStore",
    "ScriptedFetcher",
    "ScriptedPage",
    "ScriptedResolver",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
