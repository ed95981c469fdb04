"""The document store on SQLite."""

from groundkit.adapters.sqlite_store.store import SqliteStore

__all__ = ["SqliteStore"]
