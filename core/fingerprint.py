"""Digests, ids and tokens. No clock and no random value enters any of them."""

from collections.abc import Iterable
from hashlib import sha256

from groundkit.core.model import Span


def bytes_digest(data: bytes) -> str:
    """SHA-256 in hex."""
    return sha256(data).hexdigest()


def text_digest(text: str) -> str:
    """SHA-256 in hex of the text in UTF-8. No loader gives lone surrogates; a text that has them equals none that was loaded."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digest_of(fields: Iterable[str]) -> str:
    """SHA-256 in hex over fields that are length-prefixed in bytes, so that no two lists of fields collide."""
    named = [f"{len(each) if each.isascii() else len(each.encode())}:{each}" for each in fields]
    return sha256("".join(named).encode()).hexdigest()


def document_id(source: str, source_class: str, digest: str) -> str:
    """32 hex digits over source, source class and text digest."""
    return digest_of((source, source_class, digest))[:32]


def chunk_id(document: str, span: Span) -> str:
    """32 hex digits over document id, start and end."""
    return digest_of((document, str(span.start), str(span.end)))[:32]


def next_token(previous: str, work: Iterable[str]) -> str:
    """What identifies a generation beside its number: a digest over the token before it and this write's work."""
    return digest_of((previous, *work))[:32]


def processing_fingerprint(digest: str, extractor: str | None, chunker: str) -> str:
    """Skip key of a source: its bytes, who extracts them, and how they are cut.

    The analyzer is not part of it: when that changes, counts and postings are made again from the stored chunks.
    """
    return digest_of((digest, extractor or "", chunker))
