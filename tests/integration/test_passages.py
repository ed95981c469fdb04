"""Where a text stands in a collection: what a document holds is found in it, wherever its chunks were cut."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from integration.support import COLLECTION, INDEX, fresh
from shared import shared

from groundkit.collection import Collection
from groundkit.compose import ports_for
from groundkit.core.ports import NoArchive, Ports
from groundkit.core.result import Failure, Success
from groundkit.core.snapshots import is_body_name
from groundkit.core.storage import AllRecords
from groundkit.extractors import Registry
from groundkit.passages import MOST_DOCUMENTS, Passages
from groundkit.reading import Reader
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

pytestmark = pytest.mark.filterwarnings("error")

#: Words of every kind that a boundary may fall on: common and rare, marks, signs without blanks, longer than a chunk.
COMMON = ("the", "tide", "of", "moon", "is", "don’t", "\n\n", "\r\n", "# lamp\n", "- ", "3.14")
ODD = (
    "internationalization",
    "snake_case",
    "*rock*",
    "ﬁne",
    "É",
    "e\u0301a",
    "港の灯",
    "ภาษาไทย",
    "한국어",
    "x" * 40,
    "a\u200db",
)
WORDS = st.sampled_from(COMMON + ODD)
TEXTS = st.lists(WORDS, min_size=12, max_size=120).map(" ".join)
FOLDER = {"a.md", "b.txt", "d/c.md"}


def ports_on_twins(files: dict[str, bytes]) -> Ports:
    index, kept = MemoryIndex(), MemoryKept()
    return Ports(
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


@contextmanager
def passages_in(ports: Ports, language: str = "english") -> Iterator[Passages]:
    index = ports.lexical(language)
    pair = Reader(ports.documents, index).pair().unwrap()
    with closing(pair.view):
        yield Passages(pair, index)


@contextmanager
def passages_below(base: Path) -> Iterator[Passages]:
    ports = ports_for(base / INDEX, COLLECTION)
    try:
        with passages_in(ports) as found:
            yield found
    finally:
        ports.lexical("english").close()
        ports.documents.close()


def texts_of(passages: Passages) -> dict[str, str]:
    at = passages.pair.generation.mark.generation
    records = passages.pair.view.records(AllRecords(), at).unwrap()
    texts = {each.source: passages.stored(each.document_id).unwrap() for each in records}
    return {source: stored.text for source, stored in texts.items() if stored is not None}


def enough_terms(passages: Passages, text: str) -> bool:
    from groundkit.core.folding import search_view

    return search_view(text)[1] >= 8


def assert_found_where_it_stands(passages: Passages, text: str) -> None:
    texts = texts_of(passages)
    expected = [(source, whole.find(text), whole) for source, whole in sorted(texts.items()) if text in whole]
    found = passages.exact_places(text, 100).unwrap()
    assert [(place.record.source, place.span.start, place.text) for place in found] == expected
    assert all(place.text[place.span.start : place.span.end] == text for place in found)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(st.sampled_from(sorted(FOLDER)), TEXTS, min_size=1),
    st.sampled_from([(16, 0), (24, 8), (60, 0), (200, 50)]),
    st.data(),
)
def test_what_a_document_holds_is_found_in_it_wherever_it_was_cut(
    tmp_path_factory: pytest.TempPathFactory, texts: dict[str, str], sizes: tuple[int, int], data: st.DataObject
) -> None:
    base = tmp_path_factory.mktemp("real")
    with fresh(base, texts, chunk_size=sizes[0], chunk_overlap=sizes[1]), passages_below(base) as passages:
        for _ in range(12):
            text = data.draw(st.sampled_from(sorted(texts.values())))
            start, end = sorted(data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
            if enough_terms(passages, text[start:end]):
                assert_found_where_it_stands(passages, text[start:end])


@settings(max_examples=60)
@given(st.dictionaries(st.sampled_from(sorted(FOLDER)), TEXTS, min_size=1), st.integers(16, 60), st.data())
def test_twins_find_what_a_document_holds(texts: dict[str, str], size: int, data: st.DataObject) -> None:
    ports = ports_on_twins({name: text.encode() for name, text in texts.items()})
    with Collection(ports, Path("/nowhere/.groundkit"), "default", Path("/nowhere")) as twin:
        twin.ingest("", chunk_size=size)
        with passages_in(ports) as passages:
            for _ in range(12):
                text = data.draw(st.sampled_from(sorted(texts.values())))
                start, end = sorted(data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
                if enough_terms(passages, text[start:end]):
                    assert_found_where_it_stands(passages, text[start:end])


@pytest.mark.parametrize("folder", ["text/rust-book", "text/react-docs-ja", "text/react-docs-ar"])
@pytest.mark.parametrize("size", [60, 1200])
def test_what_a_corpus_holds_is_found_in_it(tmp_path: Path, folder: str, size: int) -> None:
    data = shared(f"data/{folder}")
    files = {str(path.relative_to(data)): path.read_bytes() for path in sorted(data.rglob("*.md"))[:40]}
    with fresh(tmp_path, files, chunk_size=size), passages_below(tmp_path) as passages:
        whole = "".join(text for _, text in sorted(texts_of(passages).items()))
        for number in range(60):
            start = (number * 104_729) % len(whole)
            text = whole[start : start + 60 + number * 9]
            if enough_terms(passages, text) and any(text in each for each in texts_of(passages).values()):
                assert_found_where_it_stands(passages, text)


def test_a_text_that_stands_in_several_documents_is_given_by_source_and_without_the_one_that_asks(
    tmp_path: Path,
) -> None:
    said = "the tide rises twice a day at the old pier"
    with fresh(tmp_path, {"c.md": said, "a.md": f"{said} {said}", "b.md": "no"}), passages_below(tmp_path) as passages:
        both = passages.exact_places(said, 9).unwrap()
        assert [(place.record.source, place.span.start, place.count) for place in both] == [
            ("a.md", 0, 2),
            ("c.md", 0, 1),
        ]
        assert passages.exact_places(said, 1).unwrap() == both[:1]
        assert passages.exact_places(said, 9, both[0].record.document_id).unwrap() == both[1:]


def test_what_nobody_wrote_stands_nowhere(tmp_path: Path) -> None:
    with fresh(tmp_path, {"a.md": "the tide rises !!! ???"}), passages_below(tmp_path) as passages:
        for text in ("", "t", "!!!", "\n", "the tide falls", "The tide rises", "tide  rises", "\ud800 tide", "\x00"):
            assert passages.exact_places(text, 9).unwrap() == ()
        assert len(passages.exact_places("the tide rises !!! ???", 9).unwrap()) == 1
        assert passages.exact_places("the tide rises", 0).unwrap() == ()


def test_an_empty_collection_holds_nothing(tmp_path: Path) -> None:
    with fresh(tmp_path, {"a.md": ""}), passages_below(tmp_path) as passages:
        assert passages.exact_places("the tide rises", 9).unwrap() == ()


def test_so_many_documents_are_read_and_no_more(tmp_path: Path) -> None:
    said = "the tide rises twice a day at the old pier"
    files: dict[str, bytes | str] = {f"{number:03}.md": said for number in range(MOST_DOCUMENTS + 9)}
    with fresh(tmp_path, files), passages_below(tmp_path) as passages:
        assert len(passages.exact_places(said, 1000).unwrap()) == MOST_DOCUMENTS
