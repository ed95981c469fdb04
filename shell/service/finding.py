"""The operation `search`: passages by rank, as many as the budget holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groundkit.core.cursors import Cursor, digest
from groundkit.core.fitting import fitting, json_length, plain
from groundkit.errors import error_of
from groundkit.service.answered import Answered, begun, marked
from groundkit.service.answers import citation_value, id_of, size_of, title_of, to_json, url_of, verification_value
from groundkit.service.values import Passage, SearchAnswer, SearchRequest

if TYPE_CHECKING:
    from groundkit.core.model import RetrievalResult
    from groundkit.searched import SearchAnswer as Found
    from groundkit.service.runtime import Runtime

#: What one request spends at most to verify its hits: bytes of sources, and seconds.
VERIFY_BYTES, VERIFY_SECONDS = 64 * 1024 * 1024, 5.0
#: Code points of the first passage that an answer has, whatever its budget.
LEAST_TEXT = 100


def search(runtime: Runtime, request: SearchRequest) -> Answered:
    """Find passages."""
    collection = runtime.collection(request.collection)
    asked = digest(
        (request.query, request.collection, request.mode, request.per_source, request.merge, request.abstain)
    )
    cursor = begun(request.cursor, asked)
    offset = 0 if cursor is None else cursor.item

    found = collection.answer(
        request.query,
        limit=request.limit,
        offset=offset,
        mode=request.mode,
        per_source=request.per_source,
        merge=request.merge,
        abstain=request.abstain,
        verify=request.verify,
        verify_bytes=VERIFY_BYTES,
        verify_seconds=VERIFY_SECONDS,
    )
    passages = [_passage(request.collection, hit, offset + n) for n, hit in enumerate(found.hits, 1)]
    here = Cursor(asked, marked(found.revision), offset, 0 if cursor is None else cursor.at)
    empty = SearchAnswer(
        collection=request.collection,
        mode=request.mode,
        matches=found.matches,
        results=(),
        abstained=None if found.abstained is None else found.abstained.reason,
        refused=_refused(found),
        truncated=False,
        changed=cursor is not None and cursor.revision != here.revision,
        next_cursor=None,
    )
    value, text = _filled(empty, passages, here, request.max_chars)
    return Answered(value, text, found.revision, len(value.results), request.verify and bool(value.results))


def _refused(found: Found) -> str | None:
    if found.refused is not None:
        return str(error_of(found.refused))
    if found.understood is not None and not found.understood.lexical.terms:
        return "the query holds no word, and signs are not indexed"
    return None


def _passage(collection: str, hit: RetrievalResult, rank: int) -> Passage:
    return Passage(
        id=id_of(collection, hit.chunk_id),
        title=title_of(hit.citation, hit.title),
        url=url_of(collection, hit.citation),
        rank=rank,
        score=hit.score,
        place=plain(hit.place),
        text=plain(hit.text),
        text_start=0,
        text_truncated=False,
        citation=citation_value(hit.citation),
        verification=None if hit.verification is None else verification_value(hit.verification),
    )


def _filled(empty: SearchAnswer, passages: list[Passage], here: Cursor, max_chars: int) -> tuple[SearchAnswer, str]:
    """The answer with the passages that fit, and as JSON. Of the first one, at least the beginning."""
    if not here.at:
        whole = _up_to(empty, passages, here)
        text = to_json(whole)
        if len(text) <= max_chars:
            return whole, text
    value = _within(empty, passages, here, max_chars)
    return value, to_json(value)


def _within(empty: SearchAnswer, passages: list[Passage], here: Cursor, max_chars: int) -> SearchAnswer:
    room = max_chars - size_of(empty.model_copy(update={"next_cursor": _longest(here)}))
    taken: list[Passage] = []
    for number, whole in enumerate(passages):
        at = here.at if number == 0 and here.at < len(whole.text) else 0
        rest = whole.model_copy(update={"text": whole.text[at:], "text_start": at})
        cost = size_of(rest) + 1
        if cost <= room:
            taken.append(rest)
            room -= cost
            continue
        if taken:
            return _cut(empty, taken, here, here.item + number, 0)
        end = fitting(rest.text, 0, room - (cost - json_length(rest.text)), LEAST_TEXT)
        first = rest.model_copy(update={"text": rest.text[:end], "text_truncated": end < len(rest.text)})
        if end < len(rest.text):
            return _cut(empty, [first], here, here.item, at + end)
        taken.append(first)
        room = 0
    return _up_to(empty, taken, here)


def _up_to(empty: SearchAnswer, taken: list[Passage], here: Cursor) -> SearchAnswer:
    """The answer with all of these passages; the cursor goes on behind them, if there is more."""
    more = bool(taken) and empty.matches > here.item + len(taken)
    cursor = str(_at(here, here.item + len(taken), 0)) if more else None
    return empty.model_copy(update={"results": tuple(taken), "next_cursor": cursor})


def _cut(empty: SearchAnswer, taken: list[Passage], here: Cursor, item: int, at: int) -> SearchAnswer:
    update = {"results": tuple(taken), "truncated": True, "next_cursor": str(_at(here, item, at))}
    return empty.model_copy(update=update)


def _at(here: Cursor, item: int, at: int) -> Cursor:
    return Cursor(here.request, here.revision, item, at)


def _longest(here: Cursor) -> str:
    return str(_at(here, 9_999_999_999, 9_999_999_999))
