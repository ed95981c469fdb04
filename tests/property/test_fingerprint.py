"""Digests and ids: fields never run into each other, and the definitions are pinned."""

from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.fingerprint import (
    bytes_digest,
    chunk_id,
    digest_of,
    document_id,
    next_token,
    processing_fingerprint,
    text_digest,
)
from groundkit.core.model import Span

#: What could be taken for a length, a separator or a part of a character.
pieces = st.text("1:é2😀\n", max_size=4)
fields = st.lists(pieces, max_size=4)


@given(fields, fields)
def test_lists_of_fields_collide_only_when_they_are_equal(one: list[str], other: list[str]) -> None:
    assert (digest_of(one) == digest_of(other)) == (one == other)


@given(fields, st.integers(0, 4))
def test_moving_a_field_s_boundary_is_noticed(parts: list[str], at: int) -> None:
    joined = "".join(parts)
    moved = [joined[:at], joined[at:]]
    assert (digest_of(parts) == digest_of(moved)) == (parts == moved)


spans = st.builds(Span, st.integers(0, 120), st.integers(0, 120))


@given(pieces, spans, pieces, spans)
def test_chunks_share_an_id_only_with_document_and_span(one: str, span: Span, other: str, another: Span) -> None:
    assert (chunk_id(one, span) == chunk_id(other, another)) == ((one, span) == (other, another))


triples = st.tuples(pieces, st.sampled_from(("text", "extracted")), pieces)


@given(triples, triples)
def test_documents_share_an_id_only_with_source_class_and_digest(
    one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    assert (document_id(*one) == document_id(*other)) == (one == other)


keys = st.tuples(pieces, st.none() | pieces.filter(bool), pieces)


@given(keys, keys)
def test_a_fingerprint_changes_with_bytes_extractor_and_cutting(
    one: tuple[str, str | None, str], other: tuple[str, str | None, str]
) -> None:
    assert (processing_fingerprint(*one) == processing_fingerprint(*other)) == (one == other)


@given(pieces, fields, pieces, fields)
def test_a_token_holds_everything_before_it(before: str, work: list[str], other: str, another: list[str]) -> None:
    assert (next_token(before, work) == next_token(other, another)) == ((before, work) == (other, another))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_the_digest_of_a_text_is_that_of_its_bytes(text: str) -> None:
    assert text_digest(text) == bytes_digest(text.encode()) == sha256(text.encode()).hexdigest()


def test_a_text_with_a_lone_surrogate_has_the_digest_of_no_text_that_could_be_loaded() -> None:
    digest = text_digest("a\ud800")
    assert digest not in {text_digest("a\ufffd"), text_digest("a"), text_digest("a?")}


def test_the_definitions_of_ids_are_pinned() -> None:
    """They stand in people's citations: another definition is another format."""
    assert digest_of(("é", "b")) == sha256("2:é1:b".encode()).hexdigest()
    name = document_id("a.md", "text", text_digest("ferry"))
    assert name == sha256(f"4:a.md4:text64:{sha256(b'ferry').hexdigest()}".encode()).hexdigest()[:32]
    assert chunk_id(name, Span(0, 5)) == sha256(f"32:{name}1:01:5".encode()).hexdigest()[:32]
