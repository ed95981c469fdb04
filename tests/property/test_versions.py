"""The version of a source that an ingest stores: bound to who made it, keyed by all that decides about it."""

from attrs import evolve, fields
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.extraction import Anchor, Extraction, Page, checked, extraction_digest
from groundkit.core.fingerprint import bytes_digest, document_id, text_digest
from groundkit.core.folding import index_view
from groundkit.core.model import FromText, SourceClass
from groundkit.core.outline import Heading
from groundkit.core.planning import Keep, Rebind, after_extracting, before_reading
from groundkit.core.settings import Settings
from groundkit.core.versions import (
    Origin,
    extracted_origin,
    extracted_version,
    facts_of,
    text_origin,
    text_version,
)
from groundkit.testing.strategies import texts

NOW = "2026-01-01T00:00:00Z"
SIZES = st.builds(Settings, chunk_size=st.integers(16, 90), chunk_overlap=st.integers(0, 15))
MEDIA = st.sampled_from(("application/pdf", "text/html", "application/x-lines"))


@st.composite
def extractions(draw: st.DrawFn) -> Extraction:
    text = draw(texts())
    at = draw(st.integers(0, len(text)))
    pages = draw(st.sampled_from(((), (Page(0, "i"),), (Page(0), Page(at, "2")))))
    headings = draw(st.sampled_from(((), (Heading(1, "H", 0, at),))))
    anchors = draw(st.sampled_from(((), (Anchor(at, "a"),))))
    losses = draw(st.sampled_from(((), ("a picture",))))
    return checked(Extraction(text, "T", pages, headings, anchors, losses, draw(st.booleans()))).unwrap()


def origin(
    data: bytes = b"data", identity: str = "x/1", settings: Settings | None = None, media: str = "a/b"
) -> Origin:
    return extracted_origin("a.x", bytes_digest(data), media, identity, settings or Settings())


@given(extractions(), SIZES, MEDIA, st.binary(max_size=9))
def test_an_extracted_version_is_bound_to_its_extractor_and_keeps_what_is_known(
    extraction: Extraction, settings: Settings, media: str, data: bytes
) -> None:
    begun = origin(data, "x/1", settings, media)
    record = extracted_version(begun, extraction, settings, NOW).record
    assert (record.source_class, record.extractor) == (SourceClass.EXTRACTED, "x/1")
    assert record.text_digest == text_digest(extraction.text)
    assert record.document_id == document_id("a.x", "extracted", record.text_digest)
    assert (record.length, record.title, record.media_type) == (len(extraction.text), "T", media)
    assert (record.fingerprint, record.ingested_at) == (begun.fingerprint, NOW)
    assert record.incomplete == extraction.incomplete
    assert record.extraction == facts_of(begun, extraction)
    assert record.extraction is not None
    assert record.extraction.source_digest == bytes_digest(data)
    assert record.extraction.digest == extraction_digest(extraction)
    assert (record.extraction.pages, record.extraction.losses) == (len(extraction.pages), extraction.losses)


@given(texts(), SIZES)
def test_a_text_version_has_no_extractor_and_one_digest_for_bytes_and_text(text: str, settings: Settings) -> None:
    begun = text_origin("a.md", bytes_digest(text.encode()), "text/markdown", settings)
    record = text_version(begun, text, settings, NOW).record
    assert (record.provenance, record.extractor, record.extraction) == (FromText(), None, None)
    assert record.text_digest == text_digest(text)
    assert record.document_id == document_id("a.md", "text", record.text_digest)


@given(extractions(), SIZES)
def test_chunks_of_a_version_are_counted_slices_in_order_that_cover_the_text(
    extraction: Extraction, settings: Settings
) -> None:
    made = extracted_version(origin(settings=settings), extraction, settings, NOW)
    assert made.record.chunks == len(made.chunks)
    end = 0
    for number, each in enumerate(made.chunks):
        assert (each.chunk.ordinal, each.chunk.document_id) == (number, made.record.document_id)
        assert each.chunk.text == extraction.text[each.chunk.span.start : each.chunk.span.end]
        above = each.chunk.locator.heading_path
        assert (each.view, each.tokens) == index_view(each.chunk.text, above, made.record.title)
        assert each.chunk.span.start <= end < each.chunk.span.end
        end = each.chunk.span.end
    assert end == len(extraction.text)


ORIGINS = st.builds(
    origin,
    st.sampled_from((b"", b"a")),
    st.sampled_from(("x/1", "x/2")),
    st.builds(Settings, chunk_size=st.sampled_from((16, 17)), chunk_overlap=st.sampled_from((0, 1))),
    st.sampled_from(("text/html", "application/pdf")),
)


@given(ORIGINS, ORIGINS)
def test_two_origins_have_one_fingerprint_exactly_when_nothing_that_decides_differs(one: Origin, other: Origin) -> None:
    assert (one.fingerprint == other.fingerprint) == (one == other)


def test_a_text_and_an_extraction_of_the_same_bytes_have_two_fingerprints() -> None:
    settings = Settings()
    text = text_origin("a.x", bytes_digest(b""), "text/html", settings)
    assert text.fingerprint != origin(b"", settings=settings, media="text/html").fingerprint


def test_settings_that_decide_about_no_cut_leave_the_fingerprint() -> None:
    plain = Settings()
    beside = {"language": "german", "max_bytes": 9, "base": "..", "recut": True, "time_limit": 3, "cpu_limit": 4,
              "memory_limit": 1 << 30, "cache_bytes": 5, "fetch_bytes": 6, "fetch_seconds": 7, "fetch_ports": (8,)}  # fmt: skip
    assert {each.name for each in fields(Settings)} == {*beside, "chunk_size", "chunk_overlap"}
    assert origin(settings=evolve(plain, **beside)).fingerprint == origin(settings=plain).fingerprint  # type: ignore[arg-type]


@given(extractions(), extractions(), ORIGINS, ORIGINS)
def test_binding_anew_gives_what_a_new_version_would(
    one: Extraction, other: Extraction, before: Origin, after: Origin
) -> None:
    """The shortcut that cuts nothing is right: record and chunks are those that cutting would have made."""
    sizes = {"size/16": 16, "size/17": 17}
    for extraction in (one, other):
        old_size, new_size = (
            next(size for name, size in sizes.items() if name in each.chunker) for each in (before, after)
        )
        old_overlap, new_overlap = ("overlap/1" in each.chunker for each in (before, after))
        stored = extracted_version(before, one, Settings(chunk_size=old_size, chunk_overlap=int(old_overlap)), NOW)
        settings = Settings(chunk_size=new_size, chunk_overlap=int(new_overlap))
        fresh = extracted_version(after, extraction, settings, NOW)
        facts = facts_of(after, extraction)
        if after_extracting(stored.record, facts.digest, after.chunker) == Rebind():
            assert fresh.chunks == stored.chunks
            bound = evolve(stored.record, provenance=after.provenance, fingerprint=after.fingerprint, extraction=facts)
            assert bound == fresh.record
        if before_reading(stored.record, after.fingerprint) == Keep() and extraction == one:
            assert fresh == stored
