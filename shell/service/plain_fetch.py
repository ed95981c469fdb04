"""`fetch`, the plain twin of `fetch_chunk`: some clients know the tools `search` and `fetch` and no others."""

from __future__ import annotations

from groundkit.service.values import ChunkAnswer, PlainDocument


def plain_document(answer: ChunkAnswer) -> PlainDocument:
    """What `fetch` says of a chunk. Of one that is unknown, why."""
    citation = answer.citation
    metadata = {
        "collection": answer.collection,
        "chunk_id": answer.chunk_id,
        "place": answer.place,
        "source": "" if citation is None else citation.source,
        "digest": "" if citation is None else citation.digest,
        "verdict": answer.verification.verdict,
        "reason": answer.verification.reason,
        "detail": answer.verification.detail,
        "previous": answer.previous or "",
        "next": answer.next or "",
        "truncated": "true" if answer.next_cursor is not None else "false",
    }
    return PlainDocument(id=answer.id, title=answer.title, text=answer.text, url=answer.url, metadata=metadata)
