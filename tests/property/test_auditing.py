"""An audit finds nothing in what an ingest makes, and something in every single thing that is changed in it."""

from collections.abc import Callable

import pytest
from attrs import evolve
from hypothesis import assume, given
from hypothesis import strategies as st

from groundkit.core.auditing import audit_cutting, audit_document, rebuilt_text
from groundkit.core.chunking import chunker_identity, chunks, outline_of
from groundkit.core.fingerprint import document_id, processing_fingerprint, text_digest
from groundkit.core.folding import search_view
from groundkit.core.model import Document, DocumentRecord, FromExtractor, FromText, Locator, Span
from groundkit.core.settings import Settings
from groundkit.core.storage import StoredChunk
from groundkit.testing.strategies import texts

Stored = tuple[DocumentRecord, tuple[StoredChunk, ...]]


def made(text: str, size: int, overlap: int) -> Stored:
    digest = text_digest(text)
    name = document_id("a.md", "text", digest)
    outline = outline_of(text, "text/markdown")
    document = Document(name, "a.md", FromText(), text, digest, "text/markdown", outline.title)
    cut = chunks(document, Settings(size, overlap), outline)
    record = DocumentRecord(
        name,
        "a.md",
        FromText(),
        digest,
        len(text),
        len(cut),
        "text/markdown",
        outline.title,
        processing_fingerprint(digest, None, chunker_identity(Settings(size, overlap), "text/markdown")),
        "2026-01-01T00:00:00Z",
    )
    return record, tuple(StoredChunk(row, each, tokens(each.text), record) for row, each in enumerate(cut, 1))


def tokens(text: str) -> int:
    return search_view(text)[1]


def count(stored: StoredChunk) -> int:
    return tokens(stored.chunk.text)


documents = st.builds(made, texts(), st.integers(16, 60), st.integers(0, 10))
several = documents.filter(lambda each: len(each[1]) > 1)


@given(documents)
def test_what_an_ingest_makes_is_in_order(stored: Stored) -> None:
    record, cut = stored
    assert audit_document(record, cut, count) == ()
    text = rebuilt_text(cut)
    assert text is not None
    assert text_digest(text) == record.text_digest


def altered(digits: str) -> str:
    return ("0" if digits[0] != "0" else "1") + digits[1:]


RECORDS: dict[str, Callable[[DocumentRecord], DocumentRecord]] = {
    "id": lambda record: evolve(record, document_id=altered(record.document_id)),
    "source": lambda record: evolve(record, source="b.md"),
    "class": lambda record: evolve(record, provenance=FromExtractor("x/1")),
    "digest": lambda record: evolve(record, text_digest=altered(record.text_digest)),
    "length more": lambda record: evolve(record, length=record.length + 1),
    "length less": lambda record: evolve(record, length=record.length - 1),
    "chunks": lambda record: evolve(record, chunks=record.chunks + 1),
}


@pytest.mark.parametrize("field", RECORDS)
@given(several)
def test_a_changed_record_is_found(field: str, stored: Stored) -> None:
    record, cut = stored
    found = audit_document(RECORDS[field](record), cut, count)
    assert found
    assert {each.subject for each in found} <= {"a.md", "b.md"}


def _character(chunk: StoredChunk) -> StoredChunk:
    text = chunk.chunk.text
    return evolve(chunk, chunk=evolve(chunk.chunk, text=("x" if text[0] != "x" else "y") + text[1:]))


def _moved(chunk: StoredChunk, by: int) -> StoredChunk:
    span = Span(chunk.chunk.span.start + by, chunk.chunk.span.end + by)
    return evolve(chunk, chunk=evolve(chunk.chunk, span=span))


CHUNKS: dict[str, Callable[[StoredChunk], StoredChunk]] = {
    "a character": _character,
    "a character less": lambda each: evolve(each, chunk=evolve(each.chunk, text=each.chunk.text[:-1])),
    "a character more": lambda each: evolve(each, chunk=evolve(each.chunk, text=each.chunk.text + "x")),
    "moved on": lambda each: _moved(each, 1),
    "moved back": lambda each: _moved(each, -1),
    "id": lambda each: evolve(each, chunk=evolve(each.chunk, id=altered(each.chunk.id))),
    "ordinal": lambda each: evolve(each, chunk=evolve(each.chunk, ordinal=each.chunk.ordinal + 1)),
    "tokens": lambda each: evolve(each, tokens=each.tokens + 1),
}


@pytest.mark.parametrize("field", CHUNKS)
@given(several, st.data())
def test_one_changed_chunk_is_found(field: str, stored: Stored, data: st.DataObject) -> None:
    record, cut = stored
    at = data.draw(st.integers(0, len(cut) - 1))
    assert audit_document(record, (*cut[:at], CHUNKS[field](cut[at]), *cut[at + 1 :]), count)


@given(several, st.data())
def test_a_missing_a_doubled_and_a_misplaced_chunk_are_found(stored: Stored, data: st.DataObject) -> None:
    record, cut = stored
    at = data.draw(st.integers(0, len(cut) - 1))
    other = data.draw(st.integers(0, len(cut) - 1))
    assume(at != other)
    assert audit_document(record, cut[:at] + cut[at + 1 :], count)
    assert audit_document(record, (*cut[:at], cut[at], *cut[at:]), count)
    swapped = list(cut)
    swapped[at], swapped[other] = swapped[other], swapped[at]
    assert audit_document(record, swapped, count)


@given(several, st.data())
def test_no_other_text_can_be_put_together_from_chunks_that_leave_a_gap_or_go_back(
    stored: Stored, data: st.DataObject
) -> None:
    _, cut = stored
    at = data.draw(st.integers(0, len(cut) - 1))
    assert rebuilt_text((*cut[: at + 1], cut[at], *cut[at + 1 :])) is None
    if at and cut[at].chunk.span.start == cut[at - 1].chunk.span.end:
        assert rebuilt_text((*cut[:at], _moved(cut[at], 1), *cut[at + 1 :])) is None


LOCATORS: dict[str, Callable[[Locator], Locator]] = {
    "line": lambda each: evolve(each, line=each.line + 1),
    "column": lambda each: evolve(each, column=each.column + 1),
    "heading path": lambda each: evolve(each, heading_path=(*each.heading_path, "x")),
}


def _located(chunk: StoredChunk, change: Callable[[Locator], Locator]) -> StoredChunk:
    return evolve(chunk, chunk=evolve(chunk.chunk, locator=change(chunk.chunk.locator)))


@given(texts(), st.integers(16, 60), st.integers(0, 10))
def test_a_text_cut_again_gives_what_an_ingest_stored(text: str, size: int, overlap: int) -> None:
    record, cut = made(text, size, overlap)
    assert audit_cutting(record, cut, Settings(size, overlap)) == ()
    assert audit_cutting(record, cut, Settings(size + 1, overlap)) == ()
    assert audit_cutting(evolve(record, title=record.title + "x"), cut, Settings(size, overlap))


@pytest.mark.parametrize("field", LOCATORS)
@given(texts(), st.integers(16, 60), st.data())
def test_one_changed_locator_is_found(field: str, text: str, size: int, data: st.DataObject) -> None:
    record, cut = made(text, size, 0)
    assume(cut)
    at = data.draw(st.integers(0, len(cut) - 1))
    wrong = (*cut[:at], _located(cut[at], LOCATORS[field]), *cut[at + 1 :])
    assert audit_cutting(record, wrong, Settings(size, 0))
