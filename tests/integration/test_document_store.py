"""The document store and its twin under one contract, and what only the real one can suffer: kills, other processes, a full disk."""

from pathlib import Path
from tempfile import mkdtemp

import pytest

from groundkit.adapters.sqlite_store import SqliteStore
from groundkit.core.ports import DocumentStore
from groundkit.testing.memory_store import Disk, MemoryStore
from groundkit.testing.store_contract import StoreContract


class TestMemoryStore(StoreContract):
    def make(self) -> DocumentStore:
        self.disk: Disk = {}
        return MemoryStore(self.disk)

    def again(self, store: DocumentStore) -> DocumentStore:
        return MemoryStore(self.disk)


class TestSqliteStore(StoreContract):
    @pytest.fixture(autouse=True)
    def _place(self, tmp_path: Path) -> None:
        self.root = tmp_path

    def make(self) -> DocumentStore:
        self.place = Path(mkdtemp(dir=self.root))
        return SqliteStore(self.place, "c")

    def again(self, store: DocumentStore) -> DocumentStore:
        return SqliteStore(self.place, "c")
