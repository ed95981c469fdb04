"""The laws on real texts: a book, a novel, documentation in three scripts, naughty strings, specifications with tests."""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from integration.support import answers, contents, law_breaks, stored
from shared import shared

import groundkit
from groundkit.collection import Collection
from groundkit.core.kinds import KINDS, suffix_of
from groundkit.core.model import SourceClass
from groundkit.core.settings import Settings
from groundkit.core.walking import FoundFailed, FoundFile, source_of
from groundkit.ingest import IngestReport

CORPORA = (
    "cmark-tests", "commonmark-spec", "naughty-strings", "react-docs-ar", "react-docs-ja", "rust-book", "tldr", "war-and-peace",
)  # fmt: skip
#: Small ones, for what is done several times.
SOME = ("cmark-tests", "naughty-strings", "react-docs-ja")
QUERIES = ("borrow checker", '"the borrow checker"', "レンダー", "المكون", "Natasha Rostov", "list files", "ﷺ", "the")


@pytest.fixture(scope="module")
def texts() -> Path:
    for name in CORPORA:
        shared(f"data/text/{name}")
    return shared("data/text")


class Ingested:
    """Everything in one collection, and what was said about it."""

    def __init__(self, collection: Collection, report: IngestReport) -> None:
        self.collection, self.report = collection, report
        self.home = collection.index_directory.parent


@pytest.fixture(scope="module")
def everything(texts: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ingested]:
    home = tmp_path_factory.mktemp("corpora")
    with groundkit.open(home / ".groundkit", base=texts) as collection:
        yield Ingested(collection, collection.ingest(""))


def files_below(base: Path, folders: tuple[str, ...] = CORPORA) -> list[str]:
    found = []
    for folder in folders:
        for place, _, names in os.walk(base / folder):
            found += [(Path(place) / name).relative_to(base).as_posix() for name in names]
    return sorted(found)


def test_no_file_is_lost_without_a_reason(everything: Ingested, texts: Path) -> None:
    documents = {each.source for each in everything.collection.get_document_records()}
    failed = {each.source for each in everything.report.failed}
    told = everything.collection.walk()
    assert len({source_of(each) for each in told}) == len(told)
    passed = {source_of(each) for each in told if not isinstance(each, FoundFile | FoundFailed)}
    assert not (documents & failed or documents & passed or failed & passed)
    below = files_below(texts)
    assert documents | failed <= {*below, *(each.name for each in texts.iterdir())}
    # A directory that is passed over stands for all below it.
    known = documents | failed | passed
    assert [each for each in below if each not in known and not any(each.startswith(f"{one}/") for one in passed)] == []
    assert everything.report.added == len(documents)
    assert sum(dict(everything.report.skipped).values()) == len(passed)
    assert {each.source for each in everything.collection.status().failures} == failed


def test_every_known_suffix_is_taken_and_every_failure_is_deserved(everything: Ingested, texts: Path) -> None:
    documents = {each.source for each in everything.collection.get_document_records()}
    for each in files_below(texts):
        if suffix_of(each) in KINDS and not any(part.startswith(".") for part in each.split("/")):
            data = (texts / each).read_bytes()
            assert (each in documents) == is_text(data), each


def is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


def test_laws_1_to_3_hold_for_every_chunk(everything: Ingested, texts: Path) -> None:
    documents = stored(everything.home)
    assert documents
    broken = {}
    for source, chunks in documents.items():
        found = law_breaks((texts / source).read_bytes().decode(), chunks, Settings())
        if found:
            broken[source] = found
    assert broken == {}


def test_law_4_every_citation_verifies_after_ingest(everything: Ingested) -> None:
    checked = Counter(str(each.verification.reason) for each in everything.collection.verify_all())
    assert checked == {"same": everything.collection.status().chunks}
    assert checked.total() > 5_000


def test_law_7_the_class_is_the_one_recorded(everything: Ingested) -> None:
    assert {each.source_class for each in everything.collection.get_document_records()} == {SourceClass.TEXT}
    hits = [hit for query in QUERIES for hit in everything.collection.search(query)]
    assert {(hit.source_class, hit.citation.source_class, hit.extractor) for hit in hits} == {
        (SourceClass.TEXT, SourceClass.TEXT, None)
    }


def test_every_script_is_found_and_quoted_as_it_stands(everything: Ingested, texts: Path) -> None:
    for query in QUERIES:
        hits = everything.collection.search(query, limit=5)
        assert hits, query
        for hit in hits:
            text = (texts / hit.source).read_bytes().decode()
            assert text[hit.citation.span.start : hit.citation.span.end] == hit.text
            line = text[: hit.citation.span.start].replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
            assert hit.locator.line == line


def test_everything_is_healthy_and_nothing_changes_the_second_time(everything: Ingested) -> None:
    before = contents(everything.home)
    report = everything.collection.ingest("")
    assert (report.added, report.updated, report.removed) == (0, 0, 0)
    assert report.unchanged == everything.report.added
    assert contents(everything.home) == before
    assert everything.collection.doctor().healthy


def test_law_10_the_order_of_ingests_leaves_no_trace(texts: Path, tmp_path: Path) -> None:
    made = []
    for order in (SOME, SOME[::-1]):
        home = tmp_path / str(len(made))
        home.mkdir()
        with groundkit.open(home / ".groundkit", base=texts) as collection:
            for name in order:
                collection.ingest(name)
            made.append((contents(home), answers(collection, QUERIES, 20)))
    assert made[0] == made[1]


@pytest.mark.parametrize(("size", "overlap"), [(64, 0), (200, 60), (5000, 500)])
def test_laws_1_to_4_hold_for_other_settings_and_for_files_taken_as_text(
    size: int, overlap: int, texts: Path, tmp_path: Path
) -> None:
    with groundkit.open(tmp_path / ".groundkit", base=texts) as collection:
        report = collection.ingest(SOME, as_text=True, chunk_size=size, chunk_overlap=overlap)
        assert dict(report.skipped).get("unknown_suffix", 0) == 0
        for source, chunks in stored(tmp_path).items():
            text = (texts / source).read_bytes().decode()
            assert law_breaks(text, chunks, Settings(size, overlap)) == [], source
        assert all(each.verification for each in collection.verify_all())
