"""Judged sets as they are read, and evaluations of real collections."""

import json
from itertools import count
from pathlib import Path

import pytest
from commands import gk, write
from shared import shared

import groundkit
from groundkit.core.evaluation import Evaluation, Seen, Stage
from groundkit.core.judged import Hit, Judged, JudgedQuery, JudgedRefused, OfChunk, OfPassage, OfSource
from groundkit.core.metrics import DEPTH
from groundkit.core.modes import Mode
from groundkit.core.result import Failure, Success
from groundkit.errors import ConfigurationError
from groundkit.evaluating import evaluate_searches, stages_of
from groundkit.judged_files import read_judged
from groundkit.judged_reading import MOST_PROBLEMS
from groundkit.trial import evaluate

CHUNK = "0123456789abcdef" * 2

#: A line of a judged file, and what is wrong with it: key and some of the detail.
BAD_LINES = (
    ("{", "", "not JSON"),
    ("[1]", "", "an object is wanted"),
    ("[" * 100_000, "", "not JSON"),
    ('{"query": "a", "relevant": ["a.md"], "relevant": []}', "relevant", "more than once"),
    ('{"query": "a", "relevant": ["a.md"], "grades": [NaN]}', "", "NaN"),
    ('{"relevant": ["a.md"]}', "query", "missing"),
    ('{"query": 7, "relevant": ["a.md"]}', "query", "a string"),
    ('{"query": " ", "relevant": ["a.md"]}', "query", "empty"),
    ('{"query": "\\ud800", "relevant": ["a.md"]}', "query", "surrogate"),
    ('{"query": "a", "relevant": ["a.md"], "anwserable": true}', "anwserable", "no such key"),
    ('{"query": "a", "relevant": ["a.md"], "answerable": 1}', "answerable", "true or false"),
    ('{"query": "a", "relevant": ["a.md"], "answerable": false}', "relevant", '"answerable": false'),
    ('{"query": "a"}', "relevant", '"answerable": false'),
    ('{"query": "a", "relevant": "a.md"}', "relevant", "a list"),
    ('{"query": "a", "relevant": [7]}', "relevant[0]", "a source"),
    ('{"query": "a", "relevant": ["a.md", "a.md"]}', "relevant[1]", "twice"),
    ('{"query": "a", "relevant": [{"text": "b"}]}', "relevant[0].source", "missing"),
    ('{"query": "a", "relevant": [{"source": "b", "page": 3}]}', "relevant[0].page", "no such key"),
    ('{"query": "a", "relevant": ["a.md"], "grades": [1, 2]}', "grades", "one for each"),
    ('{"query": "a", "relevant": ["a.md"], "grades": [true]}', "grades", "whole numbers"),
    ('{"query": "a", "relevant": ["a.md"], "id": ""}', "id", "empty"),
    ('{"query": "a", "relevant": ["a.md"], "id": "1"}', "id", "line 1"),
)


def lines(path: Path, *rows: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def read(path: Path) -> Judged:
    found = read_judged(path)
    assert isinstance(found, Success), found
    return found.unwrap()


def refused(path: Path) -> JudgedRefused:
    found = read_judged(path)
    assert isinstance(found, Failure)
    return found.failure()


def test_a_file_of_json_lines_says_what_it_judges(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "j.jsonl",
        {"query": "a", "relevant": ["a.md", {"source": "b.md"}, {"source": "c.md", "text": "here"}, CHUNK]},
        "",
        {"query": "b", "relevant": ["a.md", "b.md"], "grades": [2, 0], "id": "second"},
        {"query": "c", "answerable": False},
    )
    assert read(path) == Judged(
        "j.jsonl",
        (
            JudgedQuery(
                "1", "a", tuple((each, 1) for each in (OfSource("a.md"), OfSource("b.md"), OfPassage("c.md", "here"), OfChunk(CHUNK)))
            ),
            JudgedQuery("second", "b", ((OfSource("a.md"), 2), (OfSource("b.md"), 0))),
            JudgedQuery("4", "c", answerable=False),
        ),
    )  # fmt: skip


@pytest.mark.parametrize(("line", "key", "detail"), BAD_LINES, ids=[key or line[:5] for line, key, _ in BAD_LINES])
def test_what_is_wrong_with_a_line_is_named(tmp_path: Path, line: str, key: str, detail: str) -> None:
    good = {"query": "a", "relevant": ["a.md"]}
    (problem,) = refused(lines(tmp_path / "j.jsonl", good, line, good)).problems
    assert (problem.file, problem.line, problem.key) == ("j.jsonl", 2, key)
    assert detail in problem.detail
    assert "j.jsonl:2" in str(problem)


def test_every_problem_is_told_up_to_a_bound(tmp_path: Path) -> None:
    assert [each.line for each in refused(lines(tmp_path / "a.jsonl", "{", "[]", "7")).problems] == [1, 2, 3]
    assert len(refused(lines(tmp_path / "b.jsonl", *["{"] * 1000)).problems) == MOST_PROBLEMS
    assert "no query" in str(refused(lines(tmp_path / "c.jsonl")))
    assert str(refused(tmp_path / "absent.jsonl")) == "absent.jsonl: no such file or directory"
    (tmp_path / "d.jsonl").write_bytes(b"{}\n\xff")
    assert "d.jsonl:2: it is not UTF-8" in map(str, refused(tmp_path / "d.jsonl").problems)


# -- test collections

DOCUMENTS = (
    {"id": "A/1", "title": "Wings", "text": "Wings\nA wing gives lift in a stream of air."},
    {"id": "a/1", "title": "Tails", "text": "A tail keeps the plane level."},
    {"id": ".3", "title": "", "text": "Engines burn kerosene and give thrust."},
)
QUERIES = (
    {"id": "q1", "text": "what gives lift -wing"},
    {"id": "q2", "text": "thrust of \"engines\" source:x"},
    {"id": "q3", "text": "nobody judged this"},
)  # fmt: skip
JUDGEMENTS = ("query-id\tcorpus-id\tscore", "q1\tA/1\t2", "q1\ta/1\t0", "q2\t.3\t1")


def collection(folder: Path, qrels: tuple[str, ...] = JUDGEMENTS, key: str = "id", at: str = "qrels.tsv") -> Path:
    def renamed(entry: dict[str, str]) -> dict[str, str]:
        return {key if name == "id" else name: value for name, value in entry.items()}

    lines(folder / "corpus.jsonl", *map(renamed, DOCUMENTS))
    lines(folder / "queries.jsonl", *map(renamed, QUERIES))
    lines(folder / at, *qrels)
    return folder


@pytest.mark.parametrize("key", ["id", "_id"])
@pytest.mark.parametrize("at", ["qrels.tsv", "qrels/test.tsv"])
def test_both_layouts_of_test_collections_are_read(tmp_path: Path, key: str, at: str) -> None:
    found = read(collection(tmp_path / "set", key=key, at=at))
    assert [each.id for each in found.corpus or ()] == ["A/1", "a/1", ".3"]
    first, second = found.queries
    assert first.targets == ((OfSource("%41%2f1.md"), 2), (OfSource("a%2f1.md"), 0))
    assert (first.text, second.text.split()) == ("what gives lift  wing", ["thrust", "of", "engines", "source:", "x"])
    assert read(tmp_path / "set" / at).queries == found.queries


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (("query-id\tcorpus-id\traw-code", "q1\tA/1\t4"), "raw-code"),
        (("q1\tA/1",), "three columns"),
        (("q9\tA/1\t1",), "there is no query q9"),
        (("q1\tA/2\t1",), "there is no document A/2"),
        (("q1\tA/1\t1", "q1\tA/1\t1"), "judged twice"),
        (("q1\tA/1\tyes",), "a whole number"),
        ((), "no judgement"),
    ],
)
def test_judgements_that_fit_nothing_are_refused(tmp_path: Path, rows: tuple[str, ...], said: str) -> None:
    (problem,) = refused(collection(tmp_path, rows)).problems
    assert problem.file == "qrels.tsv"
    assert said in str(problem)


def test_a_collection_without_one_of_its_files_says_which(tmp_path: Path) -> None:
    collection(tmp_path / "a")
    (tmp_path / "a" / "queries.jsonl").unlink()
    assert str(refused(tmp_path / "a").problems[0]) == "queries.jsonl: no such file or directory"
    assert "qrels.tsv" in str(refused(tmp_path))


# -- evaluations


def scripted(query: JudgedQuery, stage: Stage, limit: int) -> Seen:
    """Finds what is relevant, by words at the second place."""
    assert limit == DEPTH
    right = [Hit(target.source) for target, _ in query.targets if isinstance(target, OfSource)]
    return Seen((*([Hit("other.md")] if stage.mode is Mode.BM25 else []), *right), seconds=(("lexical", 0.25),))


def test_what_a_first_search_loads_is_in_no_latency() -> None:
    ticks = count()
    queries = [JudgedQuery(str(at), "?", ((OfSource("a.md"), 1),)) for at in range(3)]
    asked = []

    def searching(query: JudgedQuery, stage: Stage, limit: int) -> Seen:
        asked.append((query.id, stage.name))
        return scripted(query, stage, limit)

    stages = stages_of([Mode.HYBRID], None)
    done = evaluate_searches(searching, "set", queries, stages, clock=lambda: float(next(ticks)))
    assert asked[:4] == [("0", "bm25"), ("0", "hybrid"), ("0", "bm25"), ("0", "hybrid")]
    assert [(each.stage, each.part, each.count, each.p99) for each in done.latencies] == [
        ("bm25", "search", 3, 1000.0), ("bm25", "lexical", 3, 250.0),
        ("hybrid", "search", 3, 1000.0), ("hybrid", "lexical", 3, 250.0),
    ]  # fmt: skip
    base, hybrid = done.stages
    assert (base.means["mrr@10"], hybrid.means["mrr@10"]) == (0.5, 1.0)
    assert hybrid.beside["mrr@10"].wins == 3


def test_the_last_of_the_modes_is_reranked_and_bm25_always_asked() -> None:
    names = [[each.name for each in stages_of(modes, model)] for modes, model in (([], None), ([Mode.DENSE], "m"))]
    assert names == [["bm25"], ["bm25", "dense", "dense+rerank"]]


def test_a_test_collection_is_ingested_asked_and_gone(tmp_path: Path) -> None:
    folder, kept = collection(tmp_path / "set"), tmp_path / "kept"
    once = evaluate(folder)
    assert once == evaluate(folder, keep=kept)
    assert (once.documents, once.failed, once.counted, once.missing) == (3, 0, 2, ())
    assert once.stage("bm25").means["recall@1"] == 1.0
    assert once.latencies[0].part == "search"
    with groundkit.open(kept / ".groundkit") as found:
        assert sorted(record.source for record in found.get_document_records()) == ["%2e3.md", "%41%2f1.md", "a%2f1.md"]
        assert all(each.verification for each in found.verify_all())
    with pytest.raises(ConfigurationError, match="not empty"):
        evaluate(folder, keep=kept)


def test_every_mode_stands_beside_bm25_and_its_parts_are_timed(tmp_path: Path) -> None:
    pytest.importorskip("wordllama")
    folder = collection(tmp_path / "set")
    done = evaluate(folder, modes=("hybrid", "dense"), abstain=False)
    assert [stage.name for stage in done.stages] == ["bm25", "dense", "hybrid"]
    assert [bool(stage.beside) for stage in done.stages] == [False, True, True]
    assert all(row.outcomes["dense"].found == 3 for row in done.rows)
    assert {(each.stage, each.part) for each in done.latencies} >= {("dense", "embed"), ("hybrid", "fuse")}
    assert done == evaluate(folder, modes=("hybrid", "dense"), abstain=False)


def test_a_mode_that_the_collection_is_not_made_for_is_refused(tmp_path: Path) -> None:
    judged = lines(tmp_path / "j.jsonl", {"query": "words", "relevant": ["a.md"]})
    with groundkit.open(tmp_path / "index", base=write(tmp_path / "base", a_md="words\n")) as found:
        found.ingest("")
        with pytest.raises(ConfigurationError, match="vectors"):
            evaluate(judged, found, modes=("dense",))


def test_a_file_is_asked_of_the_collection_it_is_about(tmp_path: Path) -> None:
    base = write(tmp_path / "base", a_md="# Wings\n\nA wing gives lift.\n", b_md="# Tails\n\nA tail keeps it level.\n")
    with groundkit.open(tmp_path / "index", base=base) as found:
        found.ingest("")
        chunk = found.search("tail")[0].chunk_id
        judged = lines(
            tmp_path / "j.jsonl",
            {"query": "lift", "relevant": ["a.md"]},
            {"query": "tail", "relevant": [chunk]},
            {"query": "level", "relevant": [{"source": "b.md", "text": "A tail  keeps"}]},
            {"query": "wing", "relevant": ["a.md", "gone.md"]},
            {"query": "zeppelin", "relevant": [CHUNK, {"source": "b.md", "text": "A tail of\nsilk"}]},
            {"query": "submarine", "answerable": False},
            {"query": "wing", "answerable": False},
        )
        done = evaluate(judged, found)
        assert (done.counted, done.unanswerable, done.missing) == (5, 2, (CHUNK, "b.md: A tail of silk", "gone.md"))
        assert [row.outcomes["bm25"].scores["recall@10"] for row in done.rows[:5]] == [1, 1, 1, 0.5, 0]  # type: ignore[index]
        assert done.stage("bm25").rightly_empty == 1
        assert evaluate(judged, found, limit_queries=2).counted == 2
        with pytest.raises(ConfigurationError, match="its own documents"):
            evaluate(collection(tmp_path / "set"), found)
    with pytest.raises(ConfigurationError, match="needs the collection"):
        evaluate(judged)


def test_a_query_that_is_refused_finds_nothing_and_says_so(tmp_path: Path) -> None:
    base = write(tmp_path / "base", a_md="words\n")
    long = " ".join(f'"a b{number}"' for number in range(1000))
    judged = lines(
        tmp_path / "j.jsonl", {"query": long, "relevant": ["a.md"]}, {"query": "words", "relevant": ["a.md"]}
    )
    with groundkit.open(tmp_path / "index", base=base) as found:
        found.ingest("")
        done = evaluate(judged, found)
    assert done.stage("bm25").refused == 1
    assert "phrases" in done.rows[0].outcomes["bm25"].refused
    assert done.stage("bm25").means["map"] == 0.5


# -- the command


def test_the_command_says_the_same_in_every_format(tmp_path: Path) -> None:
    folder = collection(tmp_path / "set")
    told = gk(tmp_path, "eval", folder.name)
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith("set: 3 documents, 2 queries\n")
    assert "ndcg@10" in told.out
    first, second = (json.loads(gk(tmp_path, "eval", folder.name, "--format", "json").out) for _ in range(2))
    latencies = first.pop("latency_ms"), second.pop("latency_ms")
    assert first == second
    assert all(each[0]["stage"] == "bm25" for each in latencies)
    assert first["schema"] >= 1
    assert first["stages"][0]["means"]["recall@1"] == 1.0
    done = gk(tmp_path, "eval", folder.name, "--format", "html", "-o", "page.html")
    assert (done.code, done.out) == (0, "")
    assert (tmp_path / "page.html").read_text("utf-8").startswith("<!doctype html>")
    assert not list(tmp_path.glob(".groundkit"))


@pytest.mark.parametrize(
    ("bounds", "code"),
    [
        (("ndcg@10=0.5",), 0),
        (("recall@1=1", "bm25:map=0.9"), 0),
        (("map=0.5", "recall@10=1"), 0),
        (("nonsense",), 2),
        (("hybrid:map=0.1",), 2),
        (("map=2",), 2),
    ],
)
def test_bounds_decide_about_the_exit_code(tmp_path: Path, bounds: tuple[str, ...], code: int) -> None:
    ran = gk(
        tmp_path,
        "eval",
        collection(tmp_path / "set").name,
        *(each for bound in bounds for each in ("--fail-under", bound)),
    )
    assert ran.code == code, ran.err
    assert bool(ran.err) == bool(code)


def test_what_is_below_a_bound_is_told_and_leaves_with_1(tmp_path: Path) -> None:
    folder = collection(tmp_path / "set", (*JUDGEMENTS, "q2\ta/1\t1"))
    ran = gk(tmp_path, "eval", folder.name, "--fail-under", "bm25:recall@100=0.9")
    assert ran.code == 1
    assert ran.err == "gk: bm25 reaches 0.7500, and bm25:recall@100=0.9 is wanted\n"
    assert "ndcg@10" in ran.out


def test_a_wrong_judged_set_is_a_wrong_request(tmp_path: Path) -> None:
    path = lines(tmp_path / "j.jsonl", "{", '{"query": "\x1b[31m"}')
    (tmp_path / ".groundkit").mkdir()
    ran = gk(tmp_path, "eval", path.name)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines()[:1] == ["gk: j.jsonl:1: it is not JSON"]
    assert gk(tmp_path, "eval", "absent").code == 2
    assert gk(tmp_path, "eval", path.name, "--keep", "x").code == 2
    assert gk(tmp_path, "eval", path.name, "--modes", "bm26").code == 2
    assert "nowhere/x" in gk(tmp_path, "eval", path.name, "-o", "nowhere/x").err


# -- what must hold

#: nDCG@10 that plain tantivy with its English stemmer reaches.
YARDSTICK = {"cranfield": 0.382, "med": 0.704, "scifact": 0.687}


@pytest.mark.slow
@pytest.mark.parametrize("name", YARDSTICK)
def test_bm25_reaches_what_a_plain_index_does(name: str) -> None:
    found: Evaluation = evaluate(shared(f"data/ir/{name}"))
    assert found.failed == 0
    assert not found.missing
    assert found.stage("bm25").means["ndcg@10"] >= YARDSTICK[name]
