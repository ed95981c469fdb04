"""What an ingest does with each source."""

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.fingerprint import processing_fingerprint
from groundkit.core.model import (
    DocumentRecord,
    ExtractionFacts,
    FromExtractor,
    FromSnapshot,
    FromText,
    Provenance,
    SourceClass,
)
from groundkit.core.planning import (
    Add,
    Keep,
    Rebind,
    Replace,
    after_extracting,
    after_reading,
    before_reading,
    removals,
)

PARTS = ("a", "b", "a.md", "ab")
sources = st.lists(st.sampled_from(PARTS), min_size=1, max_size=3).map("/".join)
paths = st.just("") | sources
digests = st.sampled_from(("x", "y"))


TEXT = FromText()


def record(
    source: str, provenance: Provenance = TEXT, document_id: str = "d", fingerprint: str = "f"
) -> DocumentRecord:
    return DocumentRecord(
        document_id, source, provenance, "t", 1, 1, "text/plain", "", fingerprint, "2026-01-01T00:00:00Z"
    )


records = st.builds(
    record, sources, st.sampled_from((FromText(), FromText(), FromExtractor("x/1"), FromSnapshot())), digests, digests
)


def below(path: str, source: str) -> bool:
    """Containment by parts, said once more."""
    parts = path.split("/") if path else []
    return source.split("/")[: len(parts)] == parts


@given(st.none() | records, digests)
def test_a_source_is_kept_unread_exactly_when_its_fingerprint_stands(
    known: DocumentRecord | None, fingerprint: str
) -> None:
    kept = before_reading(known, fingerprint)
    assert (kept == Keep()) == (known is not None and known.fingerprint == fingerprint)
    assert kept in (None, Keep())


@given(st.none() | records, digests, st.booleans())
def test_chunks_are_replaced_unless_they_are_the_same(known: DocumentRecord | None, document: str, same: bool) -> None:
    done = after_reading(known, document, same)
    assert isinstance(done, Add) == (known is None)
    if known is not None:
        assert done == (Rebind() if same and known.document_id == document else Replace())


chunkers = st.sampled_from(("size/1", "size/2"))


@st.composite
def extracted(draw: st.DrawFn) -> tuple[DocumentRecord, str, str]:
    """A document as an ingest stored it: with the digest of its extraction, and the chunker it was cut by."""
    identity, digest, chunker = draw(st.sampled_from(("x/1", "x/2"))), draw(digests), draw(chunkers)
    source_digest = draw(digests)
    fingerprint = processing_fingerprint(source_digest, identity, chunker)
    known = record("a.x", FromExtractor(identity), "d", fingerprint)
    return evolve(known, extraction=ExtractionFacts(source_digest, digest)), digest, chunker


@given(extracted(), digests, chunkers)
def test_an_extraction_is_bound_anew_exactly_when_it_is_the_stored_one_cut_the_same_way(
    stored: tuple[DocumentRecord, str, str], digest: str, chunker: str
) -> None:
    known, stored_digest, stored_chunker = stored
    bound = after_extracting(known, digest, chunker)
    assert bound == (Rebind() if (digest, chunker) == (stored_digest, stored_chunker) else None)


@given(st.none() | records, digests, chunkers)
def test_what_was_never_extracted_is_not_bound_anew(known: DocumentRecord | None, digest: str, chunker: str) -> None:
    assert after_extracting(known, digest, chunker) is None


worlds = st.tuples(
    st.lists(records, max_size=6, unique_by=lambda each: each.source),
    st.lists(paths, min_size=1, max_size=2).map(tuple),
    st.frozensets(sources, max_size=4),
    st.lists(paths, max_size=1).map(tuple),
)
World = tuple[list[DocumentRecord], tuple[str, ...], frozenset[str], tuple[str, ...]]


@given(worlds, st.booleans())
def test_only_local_sources_in_scope_that_a_walk_could_tell_of_go(world: World, prune_all: bool) -> None:
    known, asked, found, untold = world
    result = removals(known, asked, found, untold, prune_all)
    local = {each.source for each in known if each.source_class is not SourceClass.SNAPSHOT}
    missing = {
        each
        for each in local - found
        if any(below(path, each) for path in asked) and not any(below(path, each) for path in untold)
    }
    assert {*result.removed, *result.held_back} == missing
    assert not set(result.removed) & set(result.held_back)
    assert list(result.removed) == sorted(result.removed)
    assert list(result.held_back) == sorted(result.held_back)


@given(worlds)
def test_the_guard_holds_exactly_what_lies_below_an_asked_path_with_nothing_left(world: World) -> None:
    known, asked, found, untold = world
    result = removals(known, asked, found, untold, False)
    emptied = [path for path in asked if not any(below(path, each) for each in found)]
    for each in result.held_back:
        assert any(below(path, each) for path in emptied)
    for each in result.removed:
        assert not any(below(path, each) for path in emptied)


@given(worlds)
def test_prune_all_lifts_the_guard_and_nothing_else(world: World) -> None:
    known, asked, found, untold = world
    guarded, pruned = removals(known, asked, found, untold, False), removals(known, asked, found, untold, True)
    assert pruned.held_back == ()
    assert set(pruned.removed) == {*guarded.removed, *guarded.held_back}


def test_an_emptied_base_loses_nothing_unasked() -> None:
    known = [record("a.md"), record("sub/b.md")]
    assert removals(known, ("",), frozenset(), (), False).removed == ()
    assert removals(known, ("",), frozenset(("a.md",)), (), False).removed == ("sub/b.md",)
    assert removals(known, ("sub",), frozenset(("a.md",)), (), False).held_back == ("sub/b.md",)
