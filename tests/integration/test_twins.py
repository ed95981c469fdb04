"""A whole collection on in-memory twins answers as one on real adapters does."""

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import groundkit
from groundkit.collection import Collection
from groundkit.core.ports import NoArchive, Ports
from groundkit.core.result import Failure, Success
from groundkit.core.snapshots import is_body_name
from groundkit.extractors import Registry
from groundkit.testing import (
    FrozenClock,
    InlineExtractions,
    MemoryFiles,
    MemoryIndex,
    MemoryKept,
    MemoryKeptFiles,
    MemoryLock,
    MemoryStore,
    ScriptedFetcher,
)
from groundkit.testing.hash_embedder import HashEmbedder
from groundkit.testing.memory_vectors import MemoryVectors
from groundkit.testing.word_reranker import WordReranker

#: Words that no stemmer changes, since the twin's index has none.
WORDS = st.sampled_from(["tide", "moon", "rock", "lamp", "\n\n", "# lamp\n", "港", "é", "\r\n"])
TEXTS = st.lists(WORDS, max_size=40).map(" ".join)
QUERIES = ("tide", "moon rock", '"tide moon"', "港", "nothing here")


def on_twins(files: dict[str, bytes]) -> Collection:
    index, kept = MemoryIndex(), MemoryKept()
    ports = Ports(
        documents=MemoryStore(),
        lexical=lambda _: index,
        sources=lambda _: Success(MemoryFiles(files)),
        clock=FrozenClock("2026-01-01T00:00:00Z"),
        lock=MemoryLock(),
        extractors=Registry(),
        extractions=lambda _: InlineExtractions(),
        kept=lambda _: kept,
        snapshots=MemoryKeptFiles(),
        bodies=MemoryKeptFiles(is_body_name),
        fetcher=lambda: ScriptedFetcher({}),
        archive=lambda: Failure(NoArchive("there is none in memory")),
        vectors=MemoryVectors(),
        embedder=lambda _: Success(HashEmbedder()),
        reranker=lambda _: Success(WordReranker()),
    )
    return Collection(ports, Path("/nowhere/.groundkit"), "default", Path("/nowhere"))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(["a.md", "b.txt", "d/c.md"]), TEXTS, min_size=1))
def test_twins_answer_as_the_real_adapters_do(tmp_path_factory: object, texts: dict[str, str]) -> None:
    folder: Path = tmp_path_factory.mktemp("real")  # type: ignore[attr-defined]
    (folder / "d").mkdir()
    files = {name: text.encode() for name, text in texts.items()}
    for name, data in files.items():
        (folder / name).write_bytes(data)
    with groundkit.open(folder / ".groundkit", base=folder) as real, on_twins(files) as twin:
        reports = [each.ingest("", language="none") for each in (real, twin)]
        assert reports[0].added == reports[1].added == len(files)
        for query in QUERIES:
            assert real.search(query, limit=50) == twin.search(query, limit=50)
        checks = [list(each.verify_all()) for each in (real, twin)]
        assert checks[0] == checks[1]
        assert all(each.verification for each in checks[1])
        changed = next(iter(files))
        files[changed] = b"x" + files[changed]
        (folder / changed).write_bytes(files[changed])
        again = [each.ingest("") for each in (real, twin)]
        assert (again[0].updated, again[0].chunks) == (again[1].updated, again[1].chunks) == (1, again[0].chunks)
        assert real.search("tide", limit=50) == twin.search("tide", limit=50)
