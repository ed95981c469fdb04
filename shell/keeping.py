"""Snapshots and raw bodies: written before the row that names them, unlinked after it is gone. ADR 0020 says why."""

from collections.abc import Iterable, Sequence
from contextlib import closing

from attrs import Factory, define, frozen

from groundkit.core.changes import KeptFile
from groundkit.core.ports import DocumentStore, KeptFiles, Ports
from groundkit.core.result import Failure, Result, Success
from groundkit.core.snapshots import is_body_name, is_snapshot_name
from groundkit.core.storage import KeptListing, NamedFiles, StorageFailure


@frozen
class UnsweptFile:
    """A file that no row names any more and that could not be unlinked, or a directory of such that could not be listed.

    The next write tries again.
    """

    name: str
    detail: str

    def __str__(self) -> str:
        known = ((is_body_name, "the raw response "), (is_snapshot_name, "the snapshot of document "))
        what = next((words for fits, words in known if fits(self.name)), "")
        return f"{what}{self.name}: {self.detail}"


@define
class Keeper:
    """The files of one collection, for whoever holds its lock. `unswept` is what the last sweep had to leave."""

    _documents: DocumentStore
    _snapshots: KeptFiles
    _bodies: KeptFiles
    unswept: list[UnsweptFile] = Factory(list)

    def put(self, files: Sequence[KeptFile]) -> Result[tuple[KeptFile, ...], StorageFailure]:
        """All of them are durable. Success: those that did not exist before; after a failure none of these is left."""
        new: list[KeptFile] = []
        for each in files:
            put = self._store_of(each).put(each.name, each.data)
            if isinstance(put, Failure):
                self.undo(new)
                return put
            if put.unwrap():
                new.append(each)
        for store in (self._snapshots, self._bodies):
            if any(self._store_of(each) is store for each in files):
                settled = store.settle()
                if isinstance(settled, Failure):
                    self.undo(new)
                    return settled
        return Success(tuple(new))

    def undo(self, new: Sequence[KeptFile]) -> None:
        """Unlink files that were put for a write that was not accepted, but for those that a row names."""
        named = self._named() if new else None
        if named is None or isinstance(named, Failure):  # where it cannot be told, everything stays
            return
        for each in new:
            if each.name not in named.unwrap().files:
                self._store_of(each).remove(each.name)

    def sweep(self) -> None:
        """Unlink what no row names, and what was never finished. What cannot be unlinked is remembered in `unswept`."""
        self.unswept.clear()
        listed = [(store, store.listed()) for store in (self._snapshots, self._bodies)]
        self._left(each for _, each in listed)
        listings = [(store, each.unwrap()) for store, each in listed if isinstance(each, Success)]
        if not any(each.names or each.unfinished for _, each in listings):
            return
        named = self._named()
        if isinstance(named, Failure):
            self._left((named,))
            return
        for store, listing in listings:
            for name in (*stray(listing, named.unwrap()), *listing.unfinished):
                removed = store.remove(name)
                if isinstance(removed, Failure):
                    self.unswept.append(UnsweptFile(name, removed.failure().detail))

    def _left(self, looks: Iterable[Result[object, StorageFailure]]) -> None:
        """Remember where it could not even be told whether there is anything to unlink."""
        refused = [each.failure() for each in looks if isinstance(each, Failure)]
        self.unswept.extend(UnsweptFile(each.artefact, each.detail) for each in refused)

    def _store_of(self, file: KeptFile) -> KeptFiles:
        return self._bodies if file.is_body else self._snapshots

    def _named(self) -> Result[NamedFiles, StorageFailure]:
        viewed = self._documents.view()
        if isinstance(viewed, Failure):
            return viewed
        with closing(viewed.unwrap()) as view:
            return view.named_files()


def stray(listing: KeptListing, named: NamedFiles) -> list[str]:
    """The files of a listing that no row names."""
    return sorted(set(listing.names) - named.files)


def keeper_of(ports: Ports) -> Keeper:
    return Keeper(ports.documents, ports.snapshots, ports.bodies)
