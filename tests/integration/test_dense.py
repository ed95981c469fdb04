"""Searching by meaning in a real collection: identity, back-fill, failures in mid-run, conditions, pages, histories."""

import shutil
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import apsw
import pytest
from dense_support import ScriptedEmbedder, opened_with
from hypothesis import given, settings
from hypothesis import strategies as st

import groundkit
from groundkit import ConfigurationError, IndexIdentityError
from groundkit.collection import Collection
from groundkit.errors import EmbeddingError
from groundkit.ingest_values import EmbeddingStopped

FILES = {
    "tides.md": "# Tides\n\nThe tide turns twice a day, and the ferry waits for it.\n\n## Harbour\n\nBoats lie in the harbour.\n",
    "bread.md": "# Bread\n\nFlour, water, salt and time make a loaf.\n",
    "notes/light.txt": "A lighthouse stands where ships would strand at night.\n",
    "notes/empty.txt": "",
    "notes/signs.txt": "…\n\n",
}
MODES = ("bm25", "dense", "hybrid")


def put(base: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(text)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    made = tmp_path / "base"
    put(made, FILES)
    return made


def found(kb: Collection, query: str, mode: str, limit: int = 50) -> list[tuple[float, str, int, int]]:
    hits = kb.search(query, mode=mode, limit=limit, abstain=False)
    return [(hit.score, hit.source, hit.citation.start_offset, hit.citation.end_offset) for hit in hits]


def test_every_chunk_gets_a_vector_and_is_found_by_it(base: Path) -> None:
    with opened_with(base, ScriptedEmbedder()) as kb:
        report = kb.ingest([""], embedder="scripted")
        assert report.complete
        status = kb.status()
        assert status.manifest is not None and status.manifest.name == "scripted"
        counts = status.vectors
        assert (counts.embedded + counts.empty, counts.lacking) == (status.chunks, 0)
        for mode in MODES:
            hits = kb.search("lighthouse ships at night", mode=mode, verify=True, abstain=False)
            assert hits[0].source == "notes/light.txt"
            assert all(hit.verification for hit in hits)


def test_the_collections_own_embedder_is_taken_where_none_is_named(base: Path) -> None:
    with opened_with(base, ScriptedEmbedder()) as kb:
        kb.ingest([""], embedder="scripted")
        (base / "new.md").write_text("A new page about tides.\n")
        assert kb.ingest([""], dense=True).added == 1
        assert kb.status().vectors.lacking == 0


def test_without_an_embedder_nothing_is_written_and_both_ways_out_are_named(base: Path) -> None:
    with opened_with(base, ScriptedEmbedder()) as kb:
        kb.ingest([""], embedder="scripted")
        (base / "new.md").write_text("new\n")
        before = kb.status()
        with pytest.raises(IndexIdentityError, match=r"--embedder scripted.*--no-dense"):
            kb.ingest([""])
        assert kb.status() == before
        kb.ingest([""], dense=False)
        assert kb.status().manifest is None
        assert found(kb, "new", "bm25")
        with pytest.raises(ConfigurationError, match="gk ingest --dense"):
            kb.search("new", mode="dense")


def test_another_embedder_is_refused_naming_both_before_anything_is_written(base: Path) -> None:
    other = ScriptedEmbedder(dimensions=32, name="other")
    with opened_with(base, ScriptedEmbedder(), other) as kb:
        kb.ingest([""], embedder="scripted")
        (base / "new.md").write_text("new\n")
        before = kb.status()
        with pytest.raises(IndexIdentityError, match=r"scripted, 64 dimensions.*other, 32 dimensions"):
            kb.ingest([""], embedder="other")
        assert kb.status() == before
        assert other.texts == []


def test_an_embedder_that_changed_under_its_name_is_refused_by_a_search_too(base: Path) -> None:
    with opened_with(base, ScriptedEmbedder()) as kb:
        kb.ingest([""], embedder="scripted")
    with opened_with(base, ScriptedEmbedder(dimensions=32)) as kb:
        for mode in ("dense", "hybrid"):
            with pytest.raises(IndexIdentityError, match=r"64 dimensions.*32 dimensions"):
                kb.search("tide", mode=mode)
        assert kb.search("tide")


def test_vectors_made_later_are_those_of_a_fresh_ingest(base: Path, tmp_path: Path) -> None:
    with opened_with(base, ScriptedEmbedder()) as kb:
        kb.ingest([""])
        chunks = kb.status().chunks
        report = kb.ingest([""], embedder="scripted")
        assert (report.unchanged, report.embedded) == (len(FILES), chunks)
        later = {mode: found(kb, "tide harbour loaf", mode) for mode in MODES}
    put(tmp_path / "fresh", FILES)
    with opened_with(tmp_path / "fresh", ScriptedEmbedder()) as kb:
        kb.ingest([""], embedder="scripted")
        assert {mode: found(kb, "tide harbour loaf", mode) for mode in MODES} == later


def test_a_back_fill_that_was_interrupted_goes_on_where_it_was(tmp_path: Path) -> None:
    base = tmp_path / "base"
    put(base, {"long.txt": "".join(f"tide number {n}\n\n" for n in range(1500))})
    with opened_with(base, ScriptedEmbedder()) as kb:
        kb.ingest([""], chunk_size=16)
        chunks = kb.status().chunks
        assert chunks >= 1500
    with opened_with(base, ScriptedEmbedder(fails_after=1200)) as kb:
        with pytest.raises(EmbeddingError, match="does not answer"):
            kb.ingest([""], embedder="scripted")
        left = kb.status().vectors.lacking
        assert 0 < left < chunks
        with pytest.raises(ConfigurationError, match=f"{left} chunks have no vector yet"):
            kb.search("tide", mode="hybrid")
        assert found(kb, "tide", "bm25")
    whole = ScriptedEmbedder()
    with opened_with(base, whole) as kb:
        assert kb.ingest([""], embedder="scripted").embedded == left
        assert len(whole.texts) <= left
        assert found(kb, "tide", "dense")


def test_a_dead_endpoint_ends_the_run_and_keeps_what_was_written(tmp_path: Path) -> None:
    base = tmp_path / "base"
    put(base, {f"{n}.md": f"# Part {n}\n\nWord{n} stands here.\n" for n in range(600)})
    with opened_with(base, ScriptedEmbedder(fails_after=300)) as kb:
        with pytest.raises(EmbeddingError, match="288 documents were written") as caught:
            kb.ingest([""], embedder="scripted")
        assert isinstance(caught.value.failure, EmbeddingStopped)
        assert (kb.status().documents, kb.status().vectors.lacking) == (288, 0)
    with opened_with(base, ScriptedEmbedder()) as kb:
        report = kb.ingest([""], embedder="scripted")
        assert (report.unchanged, report.added) == (288, 312)


SPOILED = {
    "components": lambda vector: [*vector, 1.0],
    "finite": lambda vector: [float("nan"), *list(vector)[1:]],
    "zero": lambda vector: [0.0] * len(vector),
    "no number": lambda vector: ["a", *list(vector)[1:]],
}


@pytest.mark.parametrize("what", SPOILED)
def test_what_is_no_vector_is_refused(base: Path, what: str) -> None:
    with opened_with(base, ScriptedEmbedder(spoiled=SPOILED[what])) as kb:
        with pytest.raises(EmbeddingError, match=what):
            kb.ingest([""], embedder="scripted")
        assert kb.status().documents == 0
        assert kb.status().manifest is None


def test_what_was_removed_or_replaced_is_in_no_mode(base: Path) -> None:
    with opened_with(base, ScriptedEmbedder()) as kb:
        kb.ingest([""], embedder="scripted")
        (base / "bread.md").unlink()
        (base / "tides.md").write_text("# Tides\n\nNothing but the moon is told of here now.\n")
        kb.ingest([""], dense=True)
        for mode in MODES:
            hits = kb.search("flour water salt ferry harbour moon", mode=mode, limit=100, abstain=False)
            assert hits
            assert "bread.md" not in {hit.source for hit in hits}
            assert not any("ferry" in hit.text for hit in hits)
        kb.remove(["notes"])
        for mode in MODES:
            assert all(hit.source == "tides.md" for hit in kb.search("moon lighthouse", mode=mode, abstain=False))


@pytest.mark.parametrize("mode", MODES)
def test_conditions_hold_before_anything_is_ranked(base: Path, mode: str) -> None:
    with opened_with(base, ScriptedEmbedder()) as kb:
        kb.ingest([""], embedder="scripted")
        asked = {
            "boats source:tides.md": {"tides.md"},
            "boats heading:harbour": {"tides.md"},
            "boats flour -source:tides.md type:markdown": {"bread.md"},
            "a type:text": {"notes/light.txt"},
            "the +ferry": {"tides.md"},
            'tide "twice a day"': {"tides.md"},
            "night tide -ferry -boats source:notes/**": {"notes/light.txt"},
        }
        for query, sources in asked.items():
            hits = kb.search(query, mode=mode, abstain=False)
            # A condition lets no other source in, whatever is near by meaning.
            assert {hit.source for hit in hits} <= sources | {"notes/signs.txt"}, query
        assert kb.search("boats class:snapshot", mode=mode, abstain=False) == []


@pytest.mark.parametrize("mode", MODES)
def test_pages_are_slices_of_one_order(tmp_path: Path, mode: str) -> None:
    base = tmp_path / "base"
    put(base, {f"{n}.md": f"# Part {n % 3}\n\n" + "the tide turns " * (1 + n % 4) + "\n" for n in range(20)})
    with opened_with(base, ScriptedEmbedder()) as kb:
        kb.ingest([""], embedder="scripted")
        whole = found(kb, "tide turns part", mode, 100)
        assert len(whole) == 20
        for size in (1, 3, 7):
            paged = []
            for offset in range(0, 21, size):
                hits = kb.search("tide turns part", mode=mode, limit=size, offset=offset, abstain=False)
                paged += [(hit.score, hit.source, hit.citation.start_offset, hit.citation.end_offset) for hit in hits]
            assert paged == whole


@pytest.mark.parametrize("mode", MODES)
def test_so_many_of_one_source_and_neighbours_as_one(tmp_path: Path, mode: str) -> None:
    base = tmp_path / "base"
    put(base, {f"{n}.md": "".join(f"## Part {m}\n\nThe tide of {n} turns.\n\n" for m in range(6)) for n in range(3)})
    with opened_with(base, ScriptedEmbedder()) as kb:
        kb.ingest([""], embedder="scripted", chunk_size=40)
        few = kb.search("tide turns", mode=mode, per_source=2, limit=50, abstain=False)
        assert [sum(hit.source == f"{n}.md" for hit in few) for n in range(3)] == [2, 2, 2]
        merged = kb.search("tide turns", mode=mode, merge=True, limit=50, abstain=False, verify=True)
        assert all(hit.verification for hit in merged)
        spans = sorted((hit.source, hit.citation.span) for hit in merged)
        for (one, before), (other, after) in pairwise(spans):
            assert one != other or before.end < after.start
        texts = {n: (base / f"{n}.md").read_text() for n in range(3)}
        for hit in merged:
            assert hit.text == texts[int(hit.source[0])][hit.citation.span.start : hit.citation.span.end]


EDITS = st.lists(
    st.tuples(
        st.sampled_from(("a.md", "b.md", "c.md")),
        st.sampled_from(("tide", "tide tide ferry", "# Ferry\n\nboats", "loaf", None)),
        st.booleans(),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=15)
@given(edits=EDITS)
def test_any_history_ends_in_the_answers_of_a_fresh_ingest(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[str, str | None, bool]]
) -> None:
    """Law 11, by meaning and by both."""
    place = tmp_path_factory.mktemp("histories")
    base = place / "old"
    put(base, {"kept.md": "the ferry waits for the tide\n"})
    with opened_with(base, ScriptedEmbedder()) as kb:
        kb.ingest([""], embedder="scripted")
        for name, text, at_once in edits:
            if text is None:
                (base / name).unlink(missing_ok=True)
            else:
                (base / name).write_text(text)
            if at_once:
                kb.ingest([""], dense=True, prune_all=True)
        kb.ingest([""], dense=True, prune_all=True)
        answers = {mode: found(kb, "ferry tide boats", mode) for mode in MODES}
        levels = kb.answer("ferry quicksilver", mode="hybrid")
    shutil.copytree(base, place / "new", ignore=shutil.ignore_patterns(".groundkit"))
    with opened_with(place / "new", ScriptedEmbedder()) as kb:
        kb.ingest([""], embedder="scripted")
        assert {mode: found(kb, "ferry tide boats", mode) for mode in MODES} == answers
        assert kb.answer("ferry quicksilver", mode="hybrid") == levels
    shutil.rmtree(place)


def test_the_doctor_sees_vectors_that_are_none(base: Path) -> None:
    with opened_with(base, ScriptedEmbedder()) as kb:
        kb.ingest([""], embedder="scripted")
        assert kb.doctor().healthy
    store = apsw.Connection(str(base / ".groundkit" / "default.sqlite3"))
    store.execute(
        "UPDATE vectors SET vector = x'0102' WHERE length(vector) > 0 AND row = (SELECT min(row) FROM vectors)"
    )
    store.close()
    with opened_with(base, ScriptedEmbedder()) as kb:
        (finding,) = kb.doctor().findings
        assert "not as long as those of scripted" in finding.detail


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("INSERT INTO vectors (row, since, vector) VALUES (999999, 1, x'')", "1 vectors of chunks that are not there"),
        ("UPDATE state SET provider = NULL, model = NULL, dimensions = NULL, weights = NULL", "nothing says whose"),
    ],
)
def test_the_doctor_sees_vectors_without_a_chunk_or_without_an_embedder(base: Path, damage: str, said: str) -> None:
    with opened_with(base, ScriptedEmbedder()) as kb:
        kb.ingest([""], embedder="scripted")
    store = apsw.Connection(str(base / ".groundkit" / "default.sqlite3"))
    store.execute(damage)
    store.close()
    with opened_with(base, ScriptedEmbedder()) as kb:
        (finding,) = kb.doctor().findings
        assert said in finding.detail


def test_a_recount_keeps_the_vectors(base: Path) -> None:
    with opened_with(base, ScriptedEmbedder()) as kb:
        kb.ingest([""], embedder="scripted")
        before = found(kb, "tide harbour", "dense")
    again = ScriptedEmbedder()
    with opened_with(base, again) as kb:
        kb.ingest([""], dense=True, language="german")
        assert again.texts == []
        assert kb.status().vectors.lacking == 0
        assert found(kb, "tide harbour", "dense") == before


def test_a_lost_matrix_is_made_again_and_a_dropped_collection_leaves_none(base: Path) -> None:
    index = base / ".groundkit"
    with opened_with(base, ScriptedEmbedder()) as kb:
        kb.ingest([""], embedder="scripted")
        before = found(kb, "tide", "dense")
    matrices = list((index / "default.vectors").iterdir())
    assert matrices
    for each in matrices:
        each.write_bytes(each.read_bytes()[: each.stat().st_size // 2])
    with opened_with(base, ScriptedEmbedder()) as kb:
        assert found(kb, "tide", "dense") == before
        kb.drop()
    assert not (index / "default.vectors").exists()


@pytest.mark.parametrize("dimensions", [0, 16_385])
def test_vectors_that_no_matrix_can_hold_exactly_are_refused_before_anything_is_made(
    tmp_path: Path, dimensions: int
) -> None:
    base = tmp_path / "base"
    put(base, FILES)
    with opened_with(base, ScriptedEmbedder(dimensions)) as kb:
        with pytest.raises(ConfigurationError, match=f"{dimensions} dimensions; 1 to 16384"):
            kb.ingest([""], embedder="scripted")
        assert not kb.exists


def test_unknown_embedders_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    base = tmp_path / "base"
    put(base, FILES)
    with opened_with(base) as kb:
        with pytest.raises(ConfigurationError, match="wordllama"):
            kb.ingest([""], embedder="nobody")
        assert not kb.exists


def test_a_search_asks_the_embedder_nothing_but_the_question(base: Path) -> None:
    with opened_with(base, ScriptedEmbedder()) as kb:
        kb.ingest([""], embedder="scripted")
    asked = ScriptedEmbedder()
    with opened_with(base, asked) as kb:
        kb.search("source:tides.md tide -ferry heading:harbour", mode="dense", abstain=False)
        kb.search("tide", limit=3)
    assert asked.texts == ["tide"]
    assert asked.closed == 1


def test_the_public_names() -> None:
    assert issubclass(groundkit.IndexIdentityError, ConfigurationError)
