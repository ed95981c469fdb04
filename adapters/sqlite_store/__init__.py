"""The document store on SQLite, and what can still be read of stores that earlier versions left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groundkit.adapters.sqlite_store.store import SqliteStore

if TYPE_CHECKING:
    from pathlib import Path

    from groundkit.core.older import OldChunk, OldStore
    from groundkit.core.result import Result
    from groundkit.core.storage import StorageFailure

__all__ = ["SqliteStore", "read_old", "read_old_chunks"]


def read_old(path: Path) -> Result[OldStore, StorageFailure]:
    """The sources of an older store. Loaded only when one is met."""
    from groundkit.adapters.sqlite_store import old

    return old.read_old(path)


def read_old_chunks(path: Path, source: str) -> Result[tuple[OldChunk, ...], StorageFailure]:
    """The chunks an older store has of a source, in their order."""
    from groundkit.adapters.sqlite_store import old

    return old.old_chunks(path, source)
