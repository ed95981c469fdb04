"""Portable citations as tests draw them, and ways to spoil their form in JSON."""

import copy
import json
from typing import Any

from hypothesis import strategies as st

from groundkit.core.fingerprint import chunk_id, document_id, text_digest
from groundkit.core.model import (
    CONTEXT,
    Citation,
    DocumentRecord,
    FetchFacts,
    FromExtractor,
    FromSnapshot,
    FromText,
    Locator,
    PageRange,
    Provenance,
    SourceClass,
    Span,
    source_class_of,
)
from groundkit.core.portable import PortableCitation, portable
from groundkit.portable_json import citation_data
from groundkit.testing.strategies import texts as nasty

#: Few letters, so that passages repeat; half characters that pair with none; or anything.
texts = (
    st.text("ab \n", min_size=1, max_size=30)
    | st.text("ab\udc80\udfff", min_size=1)
    | st.text("ab\ud800\udbff", min_size=1)
)
documents = texts | nasty().filter(bool)
provenances: st.SearchStrategy[Provenance] = st.sampled_from(
    (FromText(), FromSnapshot(), FromExtractor("pypdf/7.1.1+recipe/1"))
)
_names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0/"), min_size=1, max_size=12)
_paths = st.lists(_names, min_size=1, max_size=3).map("/".join) | st.sampled_from(
    ("../a.md", "/etc/passwd", "a b%20#?.md")
)
_urls = st.sampled_from(("https://example.org/", "http://example.org/a%20b?q=1#", "HTTPS://example.org/ä"))
_numbers = st.integers(1, 9999)
_labels = st.text(max_size=4)
locators = st.none() | st.builds(
    Locator,
    _numbers,
    _numbers,
    st.lists(documents, max_size=3).map(tuple),
    st.none() | st.builds(lambda first, more, one, two: PageRange(first, first + more, one, two), _numbers, _numbers, _labels, _labels),
    _labels,
)  # fmt: skip


def record_of(text: str, source: str, provenance: Provenance, fetched_at: str | None) -> DocumentRecord:
    digest, kind = text_digest(text), source_class_of(provenance)
    facts = None if fetched_at is None else FetchFacts(200, "", "", "", fetched_at, "", "", 1, None)
    identity = document_id(source, kind, digest)
    return DocumentRecord(identity, source, provenance, digest, len(text), 1, "text/plain", "", "", "", None, facts)


@st.composite
def portables(draw: st.DrawFn) -> PortableCitation:
    """Whatever `portable` makes of a document, a chunk of it and a passage that begins in the chunk."""
    text, provenance = draw(documents), draw(provenances)
    start = draw(st.integers(0, len(text) - 1))
    span = Span(start, draw(st.integers(start + 1, len(text))))
    chunk = Span(draw(st.integers(0, start)), draw(st.integers(start + 1, len(text))))
    page = source_class_of(provenance) is SourceClass.SNAPSHOT
    source = draw(_urls if page else _paths.filter(lambda path: not path.lower().startswith(("http:", "https:"))))
    fetched_at = draw(st.sampled_from((None, "2026-01-31T09:30:00Z"))) if page else None
    record = record_of(text, source, provenance, fetched_at)
    cited = Citation(
        document_id=record.document_id,
        chunk_id=chunk_id(record.document_id, chunk),
        source=source,
        provenance=provenance,
        span=span,
        digest=text_digest(text[span.start : span.end]),
        before=draw(st.sampled_from((text[max(0, start - CONTEXT) : start], None))),
        after=draw(st.sampled_from((text[span.end : span.end + CONTEXT], None))),
        locator=draw(locators),
        incomplete=draw(st.booleans()),
    )
    return portable(cited, record, text, chunk, draw(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", fullmatch=True)))


TEXT = "one two one two one, and more of it\n" * 3
SPAN = Span(80, 90)


def example(source: str = "a.md") -> PortableCitation:
    """One with everything in it: a passage of `TEXT`."""
    record = record_of(TEXT, source, FromText(), None)
    cited = Citation(
        document_id=record.document_id,
        chunk_id=chunk_id(record.document_id, SPAN),
        source=source,
        provenance=FromText(),
        span=SPAN,
        digest=text_digest(TEXT[80:90]),
        before=TEXT[16:80],
        after=TEXT[90:],
        locator=Locator(3, 9, ("One", "Two"), PageRange(1, 2, "i", "ii"), "top"),
    )
    return portable(cited, record, TEXT, SPAN, "default")


def form(citation: PortableCitation) -> dict[str, Any]:
    """As somebody else's reader of JSON has it."""
    data: dict[str, Any] = json.loads(json.dumps(citation_data(citation)))
    return data


def paths(data: Any, above: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The way to every key."""
    if not isinstance(data, dict):
        return []
    return [path for key in data for path in ((*above, key), *paths(data[key], (*above, key)))]


def put(data: dict[str, Any], path: tuple[str, ...], value: object) -> dict[str, Any]:
    changed = copy.deepcopy(data)
    _holder(changed, path)[path[-1]] = value
    return changed


def without(data: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    changed = copy.deepcopy(data)
    del _holder(changed, path)[path[-1]]
    return changed


def at(data: dict[str, Any], path: tuple[str, ...]) -> Any:
    return _holder(data, path)[path[-1]]


def _holder(data: Any, path: tuple[str, ...]) -> Any:
    for key in path[:-1]:
        data = data[key]
    return data


def of_json() -> st.SearchStrategy[Any]:
    """Anything that JSON can say, as Python reads it, numbers of every size with it."""
    numbers = st.integers() | st.integers(10**4400, 10**4401) | st.floats()
    plain = st.none() | st.booleans() | numbers | st.text(max_size=8) | st.sampled_from(("\ud800", "\0"))
    return st.recursive(
        plain,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=6,
    )
