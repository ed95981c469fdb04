"""Kept files in memory: names and bytes, and the same contract as the real ones."""

from collections.abc import Callable
from typing import TypeAlias

from attrs import define, field

from groundkit.core.result import Failure, Result, Success
from groundkit.core.snapshots import is_snapshot_name, name_refused
from groundkit.core.storage import KeptListing, KeptProblem, KeptUnread, StorageFailure, StorageProblem

#: Files by name. Given to several, it is the directory they share.
KeptDisk: TypeAlias = dict[str, bytes]


@define
class MemoryKeptFiles:
    """`groundkit.core.ports.KeptFiles`. `ours` says which names files have here."""

    _ours: Callable[[str], bool] = is_snapshot_name
    _disk: KeptDisk = field(factory=dict)

    def put(self, name: str, data: bytes) -> Result[bool, StorageFailure]:
        if not self._is_ours(name):
            return _refused()
        is_new = name not in self._disk
        self._disk[name] = data
        return Success(is_new)

    def settle(self) -> Result[None, StorageFailure]:
        return Success(None)

    def get(self, name: str) -> Result[bytes, KeptUnread]:
        if not self._is_ours(name) or name not in self._disk:
            return Failure(KeptUnread(KeptProblem.MISSING, "there is no such file"))
        return Success(self._disk[name])

    def remove(self, name: str) -> Result[None, StorageFailure]:
        if not self._is_ours(name):
            return _refused()
        self._disk.pop(name, None)
        return Success(None)

    def listed(self) -> Result[KeptListing, StorageFailure]:
        return Success(KeptListing(tuple(sorted(self._disk))))

    def discard(self) -> Result[None, StorageFailure]:
        self._disk.clear()
        return Success(None)

    def _is_ours(self, name: str) -> bool:
        return name_refused(name) is None and self._ours(name)


def _refused() -> Failure[StorageFailure]:
    return Failure(StorageFailure(StorageProblem.FAILED, "memory", "not the name of a file that is kept here"))
