"""The hits that somebody kept of a search, as `gk search --format json` and `jsonl` write them."""

from __future__ import annotations

import json
from typing import Any

from attrs import frozen

from groundkit.core.fingerprint import text_digest
from groundkit.core.model import Citation, Locator, RetrievalResult, Span, provenance
from groundkit.core.result import Failure, Result, Success


@frozen
class NoHits:
    """Why something is no list of hits: which entry (from 1; 0: the whole), and what is wrong with it."""

    entry: int
    why: str

    def __str__(self) -> str:
        return f"hit {self.entry}: {self.why}" if self.entry else self.why


def hits_from(data: bytes) -> Result[list[RetrievalResult], NoHits]:
    """The hits of a JSON document with `hits`, of a JSON list, or of JSON lines; their order is what `[n]` counts."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return Failure(NoHits(0, "it is not UTF-8"))
    entries = _entries(text)
    if entries is None:
        return Failure(NoHits(0, "it is neither JSON nor JSON lines of hits"))
    hits: list[RetrievalResult] = []
    for number, entry in enumerate(entries, 1):
        hit = _hit(entry)
        if isinstance(hit, str):
            return Failure(NoHits(number, hit))
        hits.append(hit)
    return Success(hits)


def _entries(text: str) -> list[Any] | None:
    if not text.strip():
        return []
    whole = _parsed(text)
    if isinstance(whole, dict) and isinstance(whole.get("hits"), list):
        return list(whole["hits"])
    if isinstance(whole, list):
        return whole
    lines = [_parsed(line) for line in text.split("\n") if line.strip()]
    return lines if all(isinstance(line, dict) for line in lines) else None


def _parsed(text: str) -> Any:
    """What JSON says; None where it is none. Numbers too long and nesting too deep are none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


_KEYS: dict[str, type] = {
    "source": str,
    "source_class": str,
    "document_id": str,
    "chunk_id": str,
    "text": str,
    "start": int,
    "end": int,
    "line": int,
    "column": int,
}


def _hit(entry: Any) -> RetrievalResult | str:
    if not isinstance(entry, dict):
        return "it is no object"
    for key, kind in _KEYS.items():
        if not isinstance(entry.get(key), kind) or isinstance(entry[key], bool):
            return f"its {key} is missing or is no {'text' if kind is str else 'whole number'}"
    span, text = Span(entry["start"], entry["end"]), entry["text"]
    extractor = entry.get("extractor")
    origin = provenance(entry["source_class"], extractor if isinstance(extractor, str) else None)
    if isinstance(origin, Failure):
        return "its source_class and extractor do not fit"
    if span.start < 0 or span.length != len(text) or not text:
        return "its text is not as long as its start and end say"
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        return "its text is no Unicode"
    locator = Locator(entry["line"], entry["column"])
    citation = Citation(
        document_id=entry["document_id"],
        chunk_id=entry["chunk_id"],
        source=entry["source"],
        provenance=origin.unwrap(),
        span=span,
        digest=text_digest(text),
        locator=locator,
    )
    return RetrievalResult(0.0, text, citation, locator)
