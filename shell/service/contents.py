"""The operations `list_collections` and `index_status`: what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groundkit.core.cursors import Cursor, digest
from groundkit.core.fitting import brief, plain
from groundkit.service.answered import Answered, begun, marked
from groundkit.service.answers import as_many_as_fit, size_of, to_json
from groundkit.service.problems import ProblemError, worked
from groundkit.service.values import (
    CollectionsAnswer,
    CollectionsRequest,
    CollectionValue,
    ExtractorValue,
    NoteValue,
    StatusAnswer,
    StatusRequest,
    VectorsValue,
)

if TYPE_CHECKING:
    from groundkit.service.runtime import Runtime
    from groundkit.status import IndexStatus

#: Code points of a sentence about a source, and extractors that are named.
_SENTENCE, _EXTRACTORS = 300, 20


def list_collections(runtime: Runtime, request: CollectionsRequest) -> Answered:
    """Which collections there are."""
    names = runtime.names()
    asked = digest(("collections",))
    cursor = begun(request.cursor, asked)
    start = 0 if cursor is None else cursor.item
    here = Cursor(asked, marked(""), start)
    found = [_collection(runtime, name) for name in names[start:]]
    empty = CollectionsAnswer(collections=(), truncated=True, next_cursor=str(_far(here)))
    taken = as_many_as_fit(found, size_of, request.max_chars - size_of(empty))
    cut = taken < len(found)
    value = CollectionsAnswer(
        collections=tuple(found[:taken]),
        truncated=cut,
        next_cursor=str(Cursor(asked, here.revision, start + taken)) if cut else None,
    )
    return Answered(value, to_json(value), items=taken, checked=True)


def _collection(runtime: Runtime, name: str) -> CollectionValue:
    try:
        return CollectionValue(name=name, chunks=worked(lambda: runtime.collection(name).chunk_count), problem=None)
    except ProblemError as error:
        return CollectionValue(name=name, chunks=None, problem=brief(plain(str(error.problem)), _SENTENCE))


def index_status(runtime: Runtime, request: StatusRequest) -> Answered:
    """What a collection holds."""
    collection = runtime.collection(request.collection)
    asked = digest(("status", request.collection))
    cursor = begun(request.cursor, asked)
    # Read before the rest: what is written in between is a change to whoever goes on.
    revision = collection.revision
    status = collection.status()
    here = Cursor(asked, marked(revision), 0 if cursor is None else cursor.item)
    notes = _notes(status)
    rest = notes[here.item :]
    empty = _status(status, notes).model_copy(
        update={"changed": cursor is not None and cursor.revision != here.revision}
    )
    room = request.max_chars - size_of(empty.model_copy(update={"next_cursor": str(_far(here))}))
    taken = as_many_as_fit(rest, size_of, room)
    cut = taken < len(rest)
    value = empty.model_copy(
        update={
            "notes": tuple(rest[:taken]),
            "truncated": cut,
            "next_cursor": str(Cursor(asked, here.revision, here.item + taken)) if cut else None,
        }
    )
    # Which extractors are at work, and what failed when last tried, no state of the collection tells.
    return Answered(value, to_json(value), revision, taken, checked=True)


def _status(status: IndexStatus, notes: list[NoteValue]) -> StatusAnswer:
    manifest = status.manifest
    return StatusAnswer(
        collection=status.collection,
        documents=status.documents,
        chunks=status.chunks,
        tokens=status.tokens,
        web_pages=status.pages,
        language=status.settings.language,
        chunk_size=status.settings.chunk_size,
        chunk_overlap=status.settings.chunk_overlap,
        unfinished=status.unfinished,
        extractors=tuple(
            ExtractorValue(identity=brief(each.identity, 200), documents=each.documents, active=each.active)
            for each in status.extractors[:_EXTRACTORS]
        ),
        vectors=None
        if manifest is None
        else VectorsValue(
            embedder=manifest.name,
            dimensions=manifest.dimensions,
            present=status.vectors.embedded,
            lacking=status.vectors.lacking,
        ),
        failed=sum(each.kind == "failed" for each in notes),
        incomplete=sum(each.kind == "incomplete" for each in notes),
        suspicious=sum(each.kind == "suspicious" for each in notes),
        notes=(),
        truncated=True,
        changed=False,
        next_cursor=None,
    )


def _notes(status: IndexStatus) -> list[NoteValue]:
    failed = [
        NoteValue(kind="failed", source=plain(each.source), detail=_said(each.detail)) for each in status.failures
    ]
    incomplete = [
        NoteValue(kind="incomplete", source=plain(each.source), detail=_said("; ".join(each.losses)))
        for each in status.incomplete
    ]
    suspicious = [
        NoteValue(kind="suspicious", source=plain(each.source), detail=_said("; ".join(each.suspicions)))
        for each in status.suspicious
    ]
    return [*failed, *incomplete, *suspicious]


def _said(detail: str) -> str:
    return brief(plain(detail), _SENTENCE)


def _far(here: Cursor) -> Cursor:
    return Cursor(here.request, here.revision, 9_999_999_999)
