"""A chunk by its id, or by the unmistakable beginning of one."""

import re
from typing import TypeAlias

from attrs import field, frozen

from groundkit.citations import cite
from groundkit.core.model import Chunk, Citation, FetchFacts, Verification
from groundkit.core.ports import StoreView
from groundkit.core.result import Failure, Result, Success
from groundkit.core.storage import ChunksByPrefix, Generation, StorageFailure, StoredChunk
from groundkit.requests import AmbiguousChunk

FetchRefused: TypeAlias = StorageFailure | AmbiguousChunk

_ID_START = re.compile(r"[0-9a-f]{1,32}")
#: Of the chunks that a beginning fits, so many are named.
_NAMED = 3


@frozen
class FetchedChunk:
    """A chunk asked for by its id, with its verification; an unknown id gives no chunk, and says so.

    `fetch` says how the page it stands in was fetched, if it is one; `title` is that of the document. `revision` names the state
    of the collection that had it, see `Collection.revision`.
    """

    chunk_id: str
    chunk: Chunk | None
    citation: Citation | None
    verification: Verification
    fetch: FetchFacts | None = None
    title: str = field(default="", repr=False)
    revision: str = field(default="", eq=False, repr=False)


def fetch(
    view: StoreView, generation: Generation, beginning: str
) -> Result[tuple[StoredChunk, Citation] | None, FetchRefused]:
    """The chunk alive at a generation whose id begins so, with its citation; None if there is none. Refused where several do."""
    if not _ID_START.fullmatch(beginning):
        return Success(None)
    got = view.chunks(ChunksByPrefix(beginning, _NAMED), generation.mark.generation)
    if isinstance(got, Failure):
        return got
    if len(got.unwrap()) > 1:
        return Failure(AmbiguousChunk(beginning, tuple(each.chunk.id for each in got.unwrap())))
    for stored in got.unwrap():
        cited = cite(view, generation, stored)
        return cited if isinstance(cited, Failure) else Success((stored, cited.unwrap()))
    return Success(None)
