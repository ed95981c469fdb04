"""The public face, as an embedder writes it."""

import gc
import json
import os
import shutil
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from shared import shared

import groundkit
from groundkit import Citation, FromExtractor, FromSnapshot, Reason, Span, Verdict, Verification

GUIDE = "# Guide\n\n" + "".join(
    f"## Part {n}\n\nThe borrow checker has rule {n}. " + f"Word{n} " * 60 + "\n\n" for n in range(12)
)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    (made / "notes").mkdir(parents=True)
    (made / "guide.md").write_text(GUIDE)
    (made / "notes" / "tide.txt").write_text("The tide turns twice a day.\n")
    return made


@pytest.fixture
def cited(docs: Path, tmp_path: Path) -> Citation:
    with groundkit.open(tmp_path / "idx", base=docs) as kb:
        kb.ingest(["notes"])
        (hit,) = kb.search("tide")
    return hit.citation


def test_the_example(docs: Path, tmp_path: Path) -> None:
    told: list[object] = []
    with groundkit.open(tmp_path / "idx", base=docs) as kb:
        report = kb.ingest(["guide.md", "notes"], on_progress=told.append)
        assert (report.added, report.failed, report.complete) == (2, (), True)
        hits = kb.search("borrow checker", limit=5)
        assert len(hits) == 5
        verification = kb.verify(hits[0].citation)
        assert isinstance(verification, Verification)
        assert verification
        fetched = kb.fetch_chunk(hits[0].chunk_id)
        assert fetched.chunk is not None
        assert fetched.chunk.text == hits[0].text == kb.resolve_citation(hits[0].citation)
        assert fetched.citation == hits[0].citation
    assert len(told) == 2


def test_progress_may_be_printed(docs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with groundkit.open(tmp_path / "idx", base=docs) as kb:
        kb.ingest(["guide.md"], on_progress=print)
    assert "guide.md" in capsys.readouterr().out


def test_an_exception_of_the_progress_function_is_the_callers_and_leaves_no_lock(docs: Path, tmp_path: Path) -> None:
    def stop(_: object) -> None:
        raise LookupError("enough")

    with groundkit.open(tmp_path / "idx", base=docs) as kb:
        with pytest.raises(LookupError, match="enough"):
            kb.ingest(["notes"], on_progress=stop)
        assert kb.ingest(["notes"], wait=0).added == 1


def test_every_public_name_is_there() -> None:
    for name in groundkit.__all__:
        assert getattr(groundkit, name) is not None
    assert set(groundkit.__all__) <= set(dir(groundkit))
    with pytest.raises(AttributeError):
        _ = groundkit.nothing_of_the_kind


def descriptors() -> set[str]:
    return {link for link in (_target(name) for name in os.listdir("/proc/self/fd")) if link.startswith("/")}


def _target(name: str) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{name}")
    except FileNotFoundError:
        return ""


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no list of open files here")
def test_leaving_the_context_closes_every_file(docs: Path, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with groundkit.open(tmp_path / "idx", base=docs) as kb:
            kb.ingest(["guide.md", "notes"])
            list(kb.verify_all())
            (first, *_) = kb.search("tide", verify=True)
            kb.fetch_chunk(first.chunk_id)
            kb.status()
            kb.doctor()
            # An iteration that is broken off must not keep its files either.
            next(kb.verify_all())
            next(kb.citations())
        gc.collect()
    assert [each for each in descriptors() if each.startswith(str(tmp_path))] == []


def test_closing_twice_does_nothing_and_a_closed_collection_opens_again(docs: Path, tmp_path: Path) -> None:
    kb = groundkit.open(tmp_path / "idx", base=docs)
    kb.ingest(["notes"])
    kb.close()
    kb.close()
    assert len(kb.search("tide")) == 1
    kb.close()


def test_opening_reads_and_makes_nothing(tmp_path: Path) -> None:
    groundkit.open(tmp_path / "idx", base=tmp_path / "nowhere").close()
    assert list(tmp_path.iterdir()) == []


# -- answers and errors


def test_an_unknown_chunk_is_an_answer(docs: Path, tmp_path: Path) -> None:
    with groundkit.open(tmp_path / "idx", base=docs) as kb:
        kb.ingest(["notes"])
        for identifier in ("0" * 32, "", "nonsense", "%", "_", "é", "\0", "\udcff", "x" * 100_000):
            fetched = kb.fetch_chunk(identifier)
            assert fetched.chunk is None
            assert (fetched.verification.verdict, fetched.verification.reason) == (
                Verdict.UNRESOLVABLE,
                Reason.UNKNOWN_CHUNK,
            )


def test_an_unknown_source_has_no_record_whatever_its_name(docs: Path, tmp_path: Path) -> None:
    with groundkit.open(tmp_path / "idx", base=docs) as kb:
        kb.ingest(["notes"])
        assert [each.source for each in kb.get_document_records("notes/tide.txt")] == ["notes/tide.txt"]
        for source in ("", "tide.txt", "../docs/notes/tide.txt", "\0", "\udcff", "x" * 100_000):
            assert kb.get_document_records(source) == []
            assert kb.remove(source).unknown == (source,)


def test_an_unmistakable_beginning_of_an_id_is_enough(docs: Path, tmp_path: Path) -> None:
    with groundkit.open(tmp_path / "idx", base=docs) as kb:
        kb.ingest(["guide.md", "notes"], chunk_size=300)
        identifiers = [each.chunk_id for each in kb.citations()]
        assert kb.fetch_chunk(identifiers[0][:12]).chunk_id == identifiers[0]
        assert len(identifiers) > 16, "with fewer, all first digits may differ"
        digits = [each[0] for each in identifiers]
        shared = next(digit for digit in digits if digits.count(digit) > 1)
        with pytest.raises(groundkit.ConfigurationError, match="several chunks"):
            kb.fetch_chunk(shared)


def test_a_query_of_a_megabyte_is_a_query_error(docs: Path, tmp_path: Path) -> None:
    with groundkit.open(tmp_path / "idx", base=docs) as kb:
        kb.ingest(["notes"])
        with pytest.raises(groundkit.QueryError, match="characters"):
            kb.search("tide " * 200_000)
        with pytest.raises(ValueError, match="characters"):
            kb.search("t" * 1_000_000)


@pytest.mark.parametrize("query", ["", " \t\n", "\u200b", "!?", "\0", '""'])
def test_a_query_without_a_word_has_no_hits(docs: Path, tmp_path: Path, query: str) -> None:
    with groundkit.open(tmp_path / "idx", base=docs) as kb:
        kb.ingest(["notes"])
        assert kb.search(query) == []


def test_no_query_of_the_collected_ones_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("The fish of these days: 36 vanity titles, foo and bar. C is a letter.\n")
    queries = json.loads((shared("cases/12-query-special-characters") / "queries.json").read_text("utf-8"))
    with groundkit.open(tmp_path / "idx", base=tmp_path / "docs") as kb:
        kb.ingest([""])
        found = {query: len(kb.search(query)) for query in queries}
    for query in (
        "fish days:",
        '36" vanity',
        "title:",
        "foo(bar",
        "fo\u200bo foo~",
        "foo AND",
        "a\0b foo",
        "nosuchfield:foo",
    ):
        assert found.get(query, 1) == 1, query
    for query in ("", " ", "\t\n", ":", ")(", "*", "?", "\0", "\u200b", "-foo"):
        assert found.get(query, 0) == 0, query


def test_pages_are_slices_of_one_order(docs: Path, tmp_path: Path) -> None:
    with groundkit.open(tmp_path / "idx", base=docs) as kb:
        kb.ingest(["guide.md", "notes"])
        whole = kb.search("borrow rule word3", limit=50)
        assert len(whole) >= 12
        for size in (1, 3, 5):
            pages = [
                hit
                for start in range(0, len(whole), size)
                for hit in kb.search("borrow rule word3", limit=size, offset=start)
            ]
            assert pages == whole
        assert kb.search("borrow", limit=0) == []
        assert kb.search("borrow", offset=10_000) == []


def test_scores_have_nine_decimals(docs: Path, tmp_path: Path) -> None:
    with groundkit.open(tmp_path / "idx", base=docs) as kb:
        kb.ingest(["guide.md"])
        assert all(hit.score == round(hit.score, 9) for hit in kb.search("borrow word3"))


def test_strict_raises_for_the_first_failure_when_everything_else_is_done(docs: Path, tmp_path: Path) -> None:
    (docs / "bad.md").write_bytes(b"\xff")
    with groundkit.open(tmp_path / "idx", base=docs) as kb:
        with pytest.raises(groundkit.IngestionError, match=r"bad\.md") as raised:
            kb.ingest([""], strict=True)
        assert len(kb.get_document_records()) == 2
        (failed,) = kb.ingest([""]).failed
        assert failed.source == "bad.md"
        assert failed.error == raised.value.failure
        assert kb.status().failures[0].source == "bad.md"


@pytest.mark.parametrize(
    "change",
    [
        {"chunk_size": 0},
        {"chunk_size": -5},
        {"chunk_size": 100, "chunk_overlap": 100},
        {"chunk_overlap": -1},
        {"max_bytes": 0},
        {"language": "klingon"},
    ],
)
def test_bad_settings_are_configuration_errors_and_make_nothing(
    docs: Path, tmp_path: Path, change: dict[str, int | str]
) -> None:
    with (
        groundkit.open(tmp_path / "idx", base=docs) as kb,
        pytest.raises(groundkit.ConfigurationError),
    ):
        kb.ingest(["notes"], **change)  # type: ignore[arg-type]
    assert not (tmp_path / "idx").exists()


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "-a", ".a", "ä", "a" * 65, "a\n", "a b", "a\0"])
def test_bad_collection_names(tmp_path: Path, name: str) -> None:
    with pytest.raises(groundkit.ConfigurationError):
        groundkit.open(tmp_path / "idx", collection=name)


def test_another_base_than_the_remembered_one_is_refused(docs: Path, tmp_path: Path) -> None:
    with groundkit.open(tmp_path / "idx", base=docs) as kb:
        kb.ingest(["notes"])
    with groundkit.open(tmp_path / "idx", base=tmp_path) as kb, pytest.raises(groundkit.ConfigurationError):
        kb.ingest(["docs"])
    with groundkit.open(tmp_path / "idx") as kb:
        assert kb.base == docs
        assert kb.ingest(["notes"]).unchanged == 1


def test_paths_outside_the_base_are_refused(docs: Path, tmp_path: Path) -> None:
    with groundkit.open(tmp_path / "idx", base=docs) as kb:
        for path in ("..", "../other", "/etc/passwd", "notes/../../x", tmp_path):
            with pytest.raises(groundkit.ConfigurationError):
                kb.ingest([path])
    assert not (tmp_path / "idx").exists()


@pytest.mark.parametrize(
    "ask",
    [
        lambda kb: kb.search("x"),
        lambda kb: kb.status(),
        lambda kb: kb.fetch_chunk("x"),
        lambda kb: kb.get_document_records(),
        lambda kb: list(kb.verify_all()),
        lambda kb: kb.remove("x"),
        lambda kb: kb.drop(),
        lambda kb: kb.doctor(),
        lambda kb: kb.doctor(repair_index=True),
    ],
)
def test_a_collection_that_is_not_there_is_a_configuration_error(
    tmp_path: Path, ask: Callable[[groundkit.Collection], object]
) -> None:
    with groundkit.open(tmp_path / "idx") as kb, pytest.raises(groundkit.ConfigurationError, match="no collection"):
        ask(kb)
    assert list(tmp_path.iterdir()) == []


# -- verification is total


def _replaced(by: Callable[[Path], object]) -> Callable[[Path, Path], None]:
    def carry_out(docs: Path, _: Path) -> None:
        (docs / "notes" / "tide.txt").unlink()
        by(docs / "notes" / "tide.txt")

    return carry_out


def _folder_is_a_link(docs: Path, _: Path) -> None:
    (docs / "notes").rename(docs / "elsewhere")
    (docs / "notes").symlink_to("elsewhere")


def _base_is_a_file(docs: Path, _: Path) -> None:
    shutil.rmtree(docs)
    docs.write_text("a file now")


WORLDS: dict[str, tuple[Callable[[Path, Path], object], Reason]] = {
    "source gone": (_replaced(lambda path: None), Reason.SOURCE_MISSING),
    "source a directory": (_replaced(os.mkdir), Reason.SOURCE_UNREADABLE),
    "source a FIFO": (_replaced(os.mkfifo), Reason.SOURCE_UNREADABLE),
    "source a dangling link": (_replaced(lambda path: path.symlink_to("nowhere")), Reason.OUTSIDE_BASE),
    "source a link to itself": (_replaced(lambda path: path.symlink_to(path)), Reason.OUTSIDE_BASE),
    "source a device": (_replaced(lambda path: path.symlink_to("/dev/zero")), Reason.OUTSIDE_BASE),
    "source empty": (_replaced(Path.touch), Reason.REMOVED),
    "source not text": (_replaced(lambda path: path.write_bytes(b"\xff\xfe\0")), Reason.NOT_TEXT),
    "folder a link": (_folder_is_a_link, Reason.OUTSIDE_BASE),
    "folder gone": (lambda docs, _: shutil.rmtree(docs / "notes"), Reason.SOURCE_MISSING),
    "base gone": (lambda docs, _: shutil.rmtree(docs), Reason.SOURCE_MISSING),
    "base a file": (_base_is_a_file, Reason.SOURCE_MISSING),
    "store gone": (lambda _, index: shutil.rmtree(index), Reason.SAME),
    "store damaged": (lambda _, index: (index / "default.sqlite3").write_bytes(b"x" * 9999), Reason.SAME),
    "postings gone": (lambda _, index: shutil.rmtree(index / "default.lexical"), Reason.SAME),
}


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("warm", [False, True], ids=["opened after", "opened before"])
def test_verification_has_an_answer_in_any_world(
    docs: Path, tmp_path: Path, cited: Citation, world: str, warm: bool
) -> None:
    happen, reason = WORLDS[world]
    with groundkit.open(tmp_path / "idx", base=docs) as kb:
        if warm:
            assert kb.verify(cited)
            kb.search("tide")
        happen(docs, tmp_path / "idx")
        seen = kb.verify(cited)
    assert seen.reason is reason, seen.detail
    assert seen.detail
    # Without what was ingested it cannot be said that a passage is gone.
    alone = Reason.CHANGED if reason is Reason.REMOVED else reason
    assert groundkit.verify_citation(cited, base=docs).reason is alone


def test_verification_without_a_given_base_is_total_too(docs: Path, tmp_path: Path, cited: Citation) -> None:
    with groundkit.open(tmp_path / "idx") as kb:
        assert kb.verify(cited)
        (tmp_path / "idx" / "default.sqlite3").write_bytes(b"x" * 9999)
        assert kb.verify(cited).verdict in (Verdict.VERIFIED, Verdict.UNRESOLVABLE)
    with groundkit.open(tmp_path / "idx") as kb:
        assert kb.verify(cited).verdict is Verdict.UNRESOLVABLE
    with groundkit.open(tmp_path / "nothing") as kb:
        assert kb.verify(cited).verdict is Verdict.UNRESOLVABLE
    assert groundkit.verify_citation(cited, base=None).reason is Reason.NO_BASE


HOSTILE: dict[str, dict[str, Any]] = {
    "negative start": {"span": Span(-5, 3)},
    "negative span": {"span": Span(-5, -1)},
    "backwards": {"span": Span(9, 2)},
    "huge": {"span": Span(10**30, 10**31)},
    "up": {"source": "../docs/notes/tide.txt"},
    "absolute": {"source": "/etc/passwd"},
    "url": {"source": "https://example.org/notes"},
    "empty": {"source": ""},
    "dot": {"source": "."},
    "nul": {"source": "notes/tide.txt\0.md"},
    "surrogate": {"source": "notes/\udcff.txt"},
    "long": {"source": "x" * 100_000},
    "deep": {"source": "x/" * 20_000 + "y"},
    "slash": {"source": "notes/tide.txt/"},
    "through a file": {"source": "notes/tide.txt/more"},
    "extracted": {"provenance": FromExtractor("pypdf/7.1")},
    "snapshot": {"provenance": FromSnapshot()},
    "digest": {"digest": "no digest at all"},
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_citation_has_an_answer_and_is_never_verified(
    docs: Path, tmp_path: Path, cited: Citation, kind: str
) -> None:
    forged = evolve(cited, **HOSTILE[kind])
    with groundkit.open(tmp_path / "idx", base=docs) as kb:
        seen = kb.verify(forged)
        assert not seen, seen
        with pytest.raises(groundkit.RetrievalError) as raised:
            kb.resolve_citation(forged)
        assert raised.value.verdict is seen.verdict
    kept = groundkit.snapshot_dir_for(tmp_path / "idx", "default")
    assert groundkit.verify_citation(forged, base=docs, snapshot_dir=kept) == seen


def test_an_expected_text_is_what_counts(docs: Path, cited: Citation) -> None:
    text = groundkit.resolve_citation(cited, base=docs)
    assert groundkit.verify_citation(cited, text, base=docs)
    assert not groundkit.verify_citation(cited, text + "!", base=docs)
    assert groundkit.verify_citation(evolve(cited, digest="?"), text, base=docs)


# -- several at once


def test_threads_search_while_one_ingests(docs: Path, tmp_path: Path) -> None:
    troubles: list[object] = []
    done = threading.Event()
    with groundkit.open(tmp_path / "idx", base=docs) as kb:
        kb.ingest(["guide.md"])
        expected = len(kb.search("borrow", limit=50))

        def look() -> None:
            while not done.is_set():
                try:
                    found = kb.search("borrow", limit=50, verify=True)
                    if len(found) != expected or not all(hit.verification for hit in found):
                        troubles.append(found)
                except Exception as error:  # noqa: BLE001 - a thread's exception must reach the test
                    troubles.append(error)

        threads = [threading.Thread(target=look) for _ in range(4)]
        for each in threads:
            each.start()
        for number in range(12):
            (docs / f"page{number}.md").write_text(f"# Page {number}\n\nNothing of the kind.\n")
            assert kb.ingest([""]).complete
        done.set()
        for each in threads:
            each.join()
    assert troubles == []


def test_two_collections_on_one_index_see_each_other(docs: Path, tmp_path: Path) -> None:
    with groundkit.open(tmp_path / "idx", base=docs) as one, groundkit.open(tmp_path / "idx", base=docs) as two:
        one.ingest(["notes"])
        assert len(two.search("tide")) == 1
        (docs / "notes" / "tide.txt").write_text("The wind turns.\n")
        two.ingest(["notes"])
        assert one.search("tide") == []
        assert len(one.search("wind")) == 1
        one.ingest(["guide.md"])
        two.remove("guide.md")
        assert one.search("borrow") == []
        one.drop()
        with pytest.raises(groundkit.ConfigurationError):
            two.search("wind")
        two.ingest(["notes"])
        assert len(one.search("wind")) == 1


def test_collections_of_one_directory_are_separate(docs: Path, tmp_path: Path) -> None:
    names = ("a", "a.b", "A", "a-b")
    for name in names:
        with groundkit.open(tmp_path / "idx", base=docs, collection=name) as kb:
            kb.ingest(["notes"])
    assert groundkit.list_collections(tmp_path / "idx") == sorted(names)
    with groundkit.open(tmp_path / "idx", collection="a") as kb:
        kb.drop()
    assert groundkit.list_collections(tmp_path / "idx") == sorted(set(names) - {"a"})
    for name in set(names) - {"a"}:
        with groundkit.open(tmp_path / "idx", collection=name) as kb:
            assert kb.doctor().healthy
            assert len(kb.search("tide")) == 1


@pytest.mark.parametrize("source", ["\ud800", "a\udcff.md", "\udfff/../x", "a\0b"])
def test_a_source_that_no_file_can_have_is_unresolvable(docs: Path, tmp_path: Path, source: str) -> None:
    with groundkit.open(tmp_path / "idx", base=docs) as kb:
        kb.ingest(["notes"])
        cited = evolve(next(kb.citations()), source=source)
        assert kb.verify(cited).verdict is Verdict.UNRESOLVABLE
        assert groundkit.verify_citation(cited, base=docs).verdict is Verdict.UNRESOLVABLE


def test_checks_without_a_collection_never_raise(docs: Path, tmp_path: Path) -> None:
    with groundkit.open(tmp_path / "idx", base=docs) as kb:
        kb.ingest(["notes"])
        cited = next(kb.citations())
    assert groundkit.verify_citation(cited, base="\0").verdict is Verdict.UNRESOLVABLE
    assert groundkit.verify_citation(cited, base="\ud800").verdict is Verdict.UNRESOLVABLE
    assert groundkit.verify_citation(cited, "\ud800", base=docs).verdict is Verdict.DRIFTED


def test_text_added_at_an_end_of_the_document_changes_the_context(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"The tide turns.")
    with groundkit.open(tmp_path / "idx", base=tmp_path) as kb:
        kb.ingest("a.md")
        cited = next(kb.citations())
        assert not kb.verify(cited).context_changed
        path.write_bytes(b"The tide turns. And again.")
        seen = kb.verify(cited)
        assert (seen.verdict, seen.context_changed) == (Verdict.VERIFIED, True)
        unknown = evolve(cited, before=None, after=None)
        assert not kb.verify(unknown).context_changed
