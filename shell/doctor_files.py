"""What the doctor says of the files beside the rows: snapshots, raw bodies, and what lies there without a row."""

from collections.abc import Iterator
from contextlib import closing

from groundkit.core.auditing import Area, Finding, rebuilt_text
from groundkit.core.changes import KeptFile
from groundkit.core.fingerprint import bytes_digest, text_digest
from groundkit.core.model import DocumentRecord
from groundkit.core.ports import Ports, StoreView
from groundkit.core.result import Failure, Result, Success
from groundkit.core.snapshots import body_name
from groundkit.core.storage import AllRecords, ChunksOfDocument, StorageFailure, StoreState
from groundkit.keeping import keeper_of, stray


def file_findings(ports: Ports, view: StoreView, state: StoreState) -> Iterator[Finding]:
    """Files that are missing or are not what was put there, then those that nobody names."""
    listed = view.records(AllRecords(), state.current.mark.generation)
    for record in () if isinstance(listed, Failure) else listed.unwrap():
        if record.fetch is not None:
            yield from _of_page(ports, record)
    named = view.named_files()
    if isinstance(named, Failure):
        yield Finding(Area.STORE, "sqlite", named.failure().detail)
        return
    for store in (ports.snapshots, ports.bodies):
        listing = store.listed()
        if isinstance(listing, Failure):
            yield _finding(listing.failure().artefact, listing.failure().detail, False)
            continue
        for name in stray(listing.unwrap(), named.unwrap()):
            yield _finding(name, "belongs to no document: swept by the doctor, or by the next write", True)
        for name in listing.unwrap().unfinished:
            yield _finding(name, "was never finished: swept by the doctor, or by the next write", True)
        for name in listing.unwrap().foreign:
            yield _finding(name, "is not a file of ours, and is left alone", False)


def _of_page(ports: Ports, record: DocumentRecord) -> Iterator[Finding]:
    snapshot = ports.snapshots.get(record.document_id)
    if isinstance(snapshot, Failure):
        yield _finding(record.source, snapshot.failure().detail, True)
    elif bytes_digest(snapshot.unwrap()) != record.text_digest:
        yield _finding(record.source, "its snapshot was altered: it is not the text that was ingested", True)
    if record.fetch is None or not record.fetch.kept_body:
        return
    body = ports.bodies.get(body_name(record.fetch.kept_body))
    if isinstance(body, Failure):
        yield _finding(record.source, f"the raw response: {body.failure().detail}", False)
    elif bytes_digest(body.unwrap()) != record.fetch.kept_body:
        yield _finding(record.source, "the raw response that is kept was altered", False)


def _finding(subject: str, detail: str, repairable: bool) -> Finding:
    return Finding(Area.SNAPSHOT, subject, detail, repairable)


def restore_snapshots(ports: Ports) -> Result[None, StorageFailure]:
    """Write snapshots that are missing or altered again, from the stored text, where that is whole. Under the lock."""
    viewed = ports.documents.view()
    if isinstance(viewed, Failure):
        return viewed
    with closing(viewed.unwrap()) as view:
        at = view.state.tip.mark.generation
        listed = view.records(AllRecords(), at)
        if isinstance(listed, Failure):
            return listed
        pages = [each for each in listed.unwrap() if each.fetch is not None]
        files = [file for each in pages for file in _again(ports, view, each, at)]
    put = keeper_of(ports).put(files)
    return put if isinstance(put, Failure) else Success(None)


def _again(ports: Ports, view: StoreView, record: DocumentRecord, at: int) -> Iterator[KeptFile]:
    snapshot = ports.snapshots.get(record.document_id)
    if isinstance(snapshot, Success) and bytes_digest(snapshot.unwrap()) == record.text_digest:
        return
    stored = view.chunks(ChunksOfDocument(record.document_id), at)
    text = None if isinstance(stored, Failure) else rebuilt_text(stored.unwrap())
    if text is not None and text_digest(text) == record.text_digest:
        yield KeptFile(record.document_id, text.encode())
