"""A chunk by its id, or by the unmistakable beginning of one."""

import re
from typing import TypeAlias

from attrs import field, frozen

from groundkit.citations import cite, cite_within
from groundkit.core.auditing import rebuilt_text
from groundkit.core.model import Chunk, Citation, FetchFacts, Verification
from groundkit.core.ports import StoreView
from groundkit.core.result import Failure, Result, Success
from groundkit.core.storage import ChunksByPrefix, ChunksOfDocument, Generation, StorageFailure, StoredChunk
from groundkit.requests import AmbiguousChunk

FetchRefused: TypeAlias = StorageFailure | AmbiguousChunk

_ID_START = re.compile(r"[0-9a-f]{1,32}")
#: Of the chunks that a beginning fits, so many are named.
_NAMED = 3


@frozen
class PlaceInDocument:
    """Where a chunk stands: the text of its document as it was ingested, and the ids of the chunks beside it."""

    text: str | None = field(repr=False)
    previous: str | None
    next: str | None


@frozen
class FetchedChunk:
    """A chunk asked for by its id, with its verification; an unknown id gives no chunk, and says so.

    `fetch` says how the page it stands in was fetched, if it is one; `title` is that of the document. `revision` names the state
    of the collection that had it, see `Collection.revision`, and `place` is there where it was asked for.
    """

    chunk_id: str
    chunk: Chunk | None
    citation: Citation | None
    verification: Verification
    fetch: FetchFacts | None = None
    title: str = field(default="", repr=False)
    revision: str = field(default="", eq=False, repr=False)
    place: PlaceInDocument | None = field(default=None, eq=False, repr=False)


@frozen
class Found:
    """A stored chunk with its citation, and its place where that was asked for."""

    stored: StoredChunk
    citation: Citation
    place: PlaceInDocument | None = None


def fetch(
    view: StoreView, generation: Generation, beginning: str, in_place: bool = False
) -> Result[Found | None, FetchRefused]:
    """The chunk alive at a generation whose id begins so, with its citation; None if there is none. Refused where several do."""
    if not _ID_START.fullmatch(beginning):
        return Success(None)
    got = view.chunks(ChunksByPrefix(beginning, _NAMED), generation.mark.generation)
    if isinstance(got, Failure):
        return got
    if len(got.unwrap()) > 1:
        return Failure(AmbiguousChunk(beginning, tuple(each.chunk.id for each in got.unwrap())))
    for stored in got.unwrap():
        if in_place:
            return _in_place(view, generation, stored)
        cited = cite(view, generation, stored)
        return cited if isinstance(cited, Failure) else Success(Found(stored, cited.unwrap()))
    return Success(None)


def _in_place(view: StoreView, generation: Generation, stored: StoredChunk) -> Result[Found, StorageFailure]:
    """From one reading of the whole document."""
    got = view.chunks(ChunksOfDocument(stored.chunk.document_id), generation.mark.generation)
    if isinstance(got, Failure):
        return got
    document, at = got.unwrap(), stored.chunk.ordinal
    before, after = document[max(0, at - 1) : at], document[at + 1 : at + 2]
    beside = (before[0].chunk.id if before else None), (after[0].chunk.id if after else None)
    return Success(Found(stored, cite_within(document, stored), PlaceInDocument(rebuilt_text(document), *beside)))
