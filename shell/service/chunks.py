"""The operation `fetch_chunk`: a passage in its place in the document, and what its source says now."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from groundkit.core.cursors import Cursor, digest
from groundkit.core.fitting import brief, fitting, json_length, plain
from groundkit.core.links import link_of
from groundkit.fetch import PlaceInDocument
from groundkit.service.answered import Answered, begun, marked
from groundkit.service.answers import (
    citation_value,
    id_of,
    page_facts,
    size_of,
    title_of,
    to_json,
    url_of,
    verification_value,
    with_texts,
)
from groundkit.service.problems import ProblemError, bad_request
from groundkit.service.values import ChunkAnswer, FetchRequest

if TYPE_CHECKING:
    from groundkit.core.model import Chunk, Citation, Verification
    from groundkit.fetch import FetchedChunk
    from groundkit.service.runtime import Runtime

#: Seconds that checking the passage may take.
VERIFY_SECONDS = 10.0
#: Code points of the passage that an answer has, whatever its budget.
LEAST_TEXT = 100
_ID = re.compile(r"(?:groundkit://)?([A-Za-z0-9][A-Za-z0-9._-]{0,63})/([0-9a-f]{1,32})", re.ASCII)
#: Code points of an unknown id that are repeated.
_SHOWN = 64


def fetch_chunk(runtime: Runtime, request: FetchRequest) -> Answered:
    """Read one passage in its place and check it."""
    name, chunk_id = _meant(request)
    collection = runtime.collection(name)
    asked = digest((chunk_id, name, request.context))
    cursor = begun(request.cursor, asked)
    fetched = collection.fetch_chunk(chunk_id, in_place=True, verify_seconds=VERIFY_SECONDS)
    here = Cursor(asked, marked(fetched.revision), 0, 0 if cursor is None else cursor.at)
    changed = cursor is not None and cursor.revision != here.revision
    if fetched.chunk is None or fetched.citation is None:
        value = _unknown(name, chunk_id, fetched.verification, changed)
        return Answered(value, to_json(value), fetched.revision, checked=True, found=False)
    place = fetched.place or PlaceInDocument(None, None, None)
    empty = _empty(name, fetched, fetched.chunk, fetched.citation, place, changed)
    value, text = _filled(empty, fetched, fetched.chunk, place.text, here, request)
    return Answered(value, text, fetched.revision, 1, checked=True)


def _meant(request: FetchRequest) -> tuple[str, str]:
    """The collection and the chunk: `id` of a search result names both."""
    named = _ID.fullmatch(request.chunk_id)
    if named is None:
        return request.collection, request.chunk_id
    collection, chunk_id = named.groups()
    if "collection" in request.model_fields_set and request.collection != collection:
        raise ProblemError(
            bad_request("chunk_id names another collection than collection does", "leave one of them out")
        )
    return collection, chunk_id


def _unknown(collection: str, chunk_id: str, verification: Verification, changed: bool) -> ChunkAnswer:
    shown = brief(plain(chunk_id), _SHOWN)
    return ChunkAnswer(
        collection=collection,
        chunk_id=shown,
        found=False,
        id=id_of(collection, shown),
        title="",
        url="",
        link=None,
        place="",
        text="",
        text_start=0,
        before="",
        after="",
        context_start=0,
        previous=None,
        next=None,
        citation=None,
        page=None,
        verification=verification_value(verification),
        truncated=False,
        changed=changed,
        next_cursor=None,
    )


def _empty(
    name: str,
    fetched: FetchedChunk,
    chunk: Chunk,
    citation: Citation,
    place: PlaceInDocument,
    changed: bool,
) -> ChunkAnswer:
    """Everything but the texts."""
    return ChunkAnswer(
        collection=name,
        chunk_id=chunk.id,
        found=True,
        id=id_of(name, chunk.id),
        title=title_of(citation, fetched.title),
        url=url_of(name, citation),
        link=link_of(citation, chunk.text, place.text),
        place=plain(citation.place),
        text="",
        text_start=0,
        before="",
        after="",
        context_start=chunk.span.start,
        previous=None if place.previous is None else id_of(name, place.previous),
        next=None if place.next is None else id_of(name, place.next),
        citation=citation_value(citation),
        page=page_facts(fetched.fetch),
        verification=verification_value(fetched.verification),
        truncated=False,
        changed=changed,
        next_cursor=None,
    )


def _filled(
    empty: ChunkAnswer, fetched: FetchedChunk, chunk: Chunk, document: str | None, here: Cursor, request: FetchRequest
) -> tuple[ChunkAnswer, str]:
    """The answer within the budget, and as JSON."""
    text = plain(chunk.text)
    before, after = _neighbourhood(document, chunk, request.context)
    if here.at == 0:
        drift, _, left_out = with_texts(empty.verification, fetched.verification, request.max_chars)
        start = chunk.span.start - len(before)
        texts = {"text": text, "before": before, "after": after, "context_start": start, "verification": drift}
        whole = empty.model_copy(update=texts)
        told = to_json(whole)
        if not left_out and len(told) <= request.max_chars:
            return whole, told
    cut = _within(empty, fetched, text, (before, after), here, request.max_chars)
    return cut, to_json(cut)


def _within(
    empty: ChunkAnswer, fetched: FetchedChunk, text: str, around: tuple[str, str], here: Cursor, max_chars: int
) -> ChunkAnswer:
    """The passage first, then what drifted, then its neighbourhood, each as far as the budget goes."""
    longest = str(Cursor(here.request, here.revision, 0, 9_999_999_999))
    room = max_chars - size_of(empty.model_copy(update={"next_cursor": longest, "text_start": 9_999_999}))
    at = here.at if here.at < len(text) else 0
    end = fitting(text, at, room, LEAST_TEXT)
    room -= json_length(text[at:end])
    update: dict[str, object] = {"text": text[at:end], "text_start": at}
    if end < len(text):
        cursor = str(Cursor(here.request, here.revision, 0, end))
        return empty.model_copy(update=update | {"truncated": True, "next_cursor": cursor})
    drift, cost, left_out = with_texts(empty.verification, fetched.verification, room)
    room -= cost
    before, after = around
    kept_after = after[: fitting(after, 0, max(room // 2, room - json_length(before)), 0)]
    kept_before = _last_fitting(before, room - json_length(kept_after))
    update |= {
        "verification": drift,
        "before": kept_before,
        "after": kept_after,
        "context_start": empty.context_start - len(kept_before),
        "truncated": left_out or (kept_before, kept_after) != (before, after),
    }
    return empty.model_copy(update=update)


def _neighbourhood(document: str | None, chunk: Chunk, context: int) -> tuple[str, str]:
    if document is None:
        return "", ""
    start, end = chunk.span.start, chunk.span.end
    return plain(document[max(0, start - context) : start]), plain(document[end : end + context])


def _last_fitting(text: str, room: int) -> str:
    """The end of a text, as long as it may be; nothing where there is less than no room."""
    kept = text
    while kept and json_length(kept) > room:
        over = json_length(kept) - room
        # Code points take from one to six characters.
        kept = kept[max(1, over // 6) :] if room > 0 else ""
    return kept
