"""Laws of judged sets: what a hit counts as, how ids become files, what a bound is, what an evaluation adds up to."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from groundkit.core.evaluation import (
    Bound,
    Evaluation,
    Seen,
    bound_of,
    differences,
    evaluated,
    losses,
    shortfalls,
)
from groundkit.core.judged import (
    CorpusDocument,
    Hit,
    JudgedQuery,
    OfChunk,
    OfPassage,
    OfSource,
    as_text,
    file_of,
    id_of,
    labelled,
    markdown_of,
)
from groundkit.core.metrics import METRICS, scores
from groundkit.core.result import Failure, Success

SOURCES = [f"{letter}.md" for letter in "abcdef"]
HITS = st.lists(st.sampled_from(SOURCES), unique=True, max_size=6).map(lambda names: tuple(map(Hit, names)))
TARGETS = st.dictionaries(st.sampled_from(SOURCES), st.integers(0, 2), min_size=1, max_size=4)


def query(gains: dict[str, int], name: str = "q") -> JudgedQuery:
    return JudgedQuery(name, "words", tuple((OfSource(source), gain) for source, gain in gains.items()))


@given(HITS, TARGETS)
def test_judged_documents_score_as_their_names_do(hits: tuple[Hit, ...], gains: dict[str, int]) -> None:
    asked = query(gains)
    assert scores(labelled(hits, asked), asked.gains) == scores([hit.source for hit in hits], gains)


@given(st.lists(st.sampled_from(SOURCES), max_size=12), TARGETS)
def test_a_second_chunk_of_a_judged_document_counts_for_nothing(names: list[str], gains: dict[str, int]) -> None:
    asked = query(gains)
    assert scores(labelled([Hit(name) for name in names], asked), asked.gains) == scores(names, gains)


def test_a_passage_is_met_by_a_chunk_that_holds_it_or_the_half_that_a_cut_leaves() -> None:
    text = "It is a long passage that says where exactly it is said, and by whom."
    asked = JudgedQuery("q", "?", ((OfPassage("a.md", text), 1),))
    found = {
        "whole": Hit("a.md", "", f"before. {text} after."),
        "other white space": Hit("a.md", "", text.replace(" ", "\n  ")),
        "cut": Hit("a.md", "", text[10:]),
        "elsewhere": Hit("b.md", "", text),
        "other": Hit("a.md", "", "It is another text."),
    }
    met = {name for name, hit in found.items() if asked.gains.get(labelled([hit], asked)[0])}
    assert met == {"whole", "other white space", "cut"}


def test_a_hit_counts_as_the_best_target_that_nothing_before_it_met() -> None:
    asked = JudgedQuery("q", "?", ((OfSource("a.md"), 1), (OfChunk("c"), 3)))
    first, second, third = labelled([Hit("a.md", "c"), Hit("a.md", "d"), Hit("a.md", "e")], asked)
    assert [asked.gains[each] for each in (first, second)] == [3, 1]
    assert third == second
    assert labelled([Hit("x.md"), Hit("x.md")], asked)[0] not in asked.gains


@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=60))
@example(".hidden")
@example("A")
@example("%41")
@example("a/b")
@example("x.md")
@example("..")
def test_an_id_is_read_from_its_file_name_which_is_safe_anywhere(document_id: str) -> None:
    name = file_of(document_id)
    if name is None:
        assert len(document_id.encode()) > 60
        return
    assert id_of(name) == document_id
    assert name == name.lower()
    assert "/" not in name
    assert not name.startswith(".")
    assert name.isascii()


def test_what_cannot_be_a_file_name_has_none() -> None:
    assert [file_of(each) for each in ("", "x" * 241, "\ud800")] == [None] * 3


@given(
    st.text(max_size=12),
    st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=5), max_size=4),
    st.booleans(),
)
def test_a_title_stands_once_and_no_other_text_goes(text: str, words: list[str], repeated: bool) -> None:
    title = " ".join(words)
    whole = f"{'  '.join(words)}\n{text}" if repeated else text
    made = markdown_of(CorpusDocument("1", title, whole))
    if not title:
        assert made == whole
        return
    head, _, rest = made.partition("\n\n")
    assert head == f"# {title}"
    if repeated:
        assert rest == text.lstrip()
    assert rest in whole


def test_a_text_that_goes_on_from_its_title_keeps_it() -> None:
    assert markdown_of(CorpusDocument("1", "On", "On the wing.")) == "# On\n\nOn the wing."


@given(st.text(st.sampled_from('ab -+":sourcetype'), max_size=30))
@example("what methods -dash exact or approximate -dash are available")
@example('the "artificial spermatids" in the +5 position, source:x type:y --z')
def test_a_text_query_keeps_its_words_and_loses_its_signs(text: str) -> None:
    plain = as_text(text)
    assert as_text(plain) == plain
    assert '"' not in plain
    assert not any(word[0] in "+-" and word.strip("+-") for word in plain.split())
    kept = "".join(plain.split())
    assert kept.replace("+", "").replace("-", "") == "".join(
        text.replace('"', "").replace("+", "").replace("-", "").split()
    )


def two(first: dict[str, list[str]], second: dict[str, list[str]], gains: dict[str, dict[str, int]]) -> Evaluation:
    """Two stages over queries, each with what it found for them."""
    queries = [query(each, name) for name, each in gains.items()]
    stages = {
        stage: [Seen(tuple(map(Hit, found[name]))) for name in gains]
        for stage, found in (("bm25", first), ("hybrid", second))
    }
    return evaluated("set", queries, stages)


@given(st.lists(st.tuples(HITS, HITS, TARGETS), max_size=6))
def test_the_difference_of_the_means_is_the_mean_of_the_differences(
    asked: list[tuple[tuple[Hit, ...], tuple[Hit, ...], dict[str, int]]],
) -> None:
    queries = [query(gains, f"q{number}") for number, (*_, gains) in enumerate(asked)]
    seen = {"bm25": [Seen(first) for first, *_ in asked], "hybrid": [Seen(second) for _, second, _ in asked]}
    found = evaluated("set", queries, seen)
    assert found.counted + found.unanswerable + found.unjudged == len(queries)
    base, other = found.stages
    assert not base.beside
    for metric, comparison in other.beside.items():
        assert comparison.difference == pytest.approx(other.means[metric] - base.means[metric], abs=1e-12)
        assert comparison.pairs == found.counted
    worst = losses(found, "hybrid", most=99)
    assert {row.id for row in worst} == {row.id for difference, row in differences(found, "hybrid") if difference < 0}


def test_queries_without_an_answer_are_in_no_mean() -> None:
    none = JudgedQuery("none", "?", answerable=False)
    unjudged = query({"a.md": 0}, "unjudged")
    good = query({"a.md": 1}, "good")
    found = evaluated("set", [none, unjudged, good], {"bm25": [Seen(), Seen(), Seen((Hit("a.md"),))]})
    assert (found.counted, found.unanswerable, found.unjudged) == (1, 1, 1)
    (stage,) = found.stages
    assert set(stage.means.values()) == {1.0}
    assert (stage.rightly_empty, stage.wrongly_empty) == (1, 0)
    found = evaluated("set", [none, good], {"bm25": [Seen((Hit("a.md"),)), Seen()]})
    (stage,) = found.stages
    assert set(stage.means.values()) == {0.0}
    assert (stage.rightly_empty, stage.wrongly_empty) == (0, 1)


def test_two_evaluations_are_equal_but_for_their_latencies() -> None:
    asked = [query({"a.md": 1})]
    fast, slow = (
        evaluated("set", asked, {"bm25": [Seen((Hit("a.md"),), seconds=(("search", each),))]}) for each in (0.001, 2.0)
    )
    assert fast == slow
    assert fast.latencies != slow.latencies
    assert [(each.stage, each.part, each.count, each.p50) for each in slow.latencies] == [("bm25", "search", 1, 2000.0)]


@given(st.sampled_from(sorted(METRICS)), st.floats(0, 1), st.none() | st.sampled_from(["bm25", "hybrid"]))
def test_a_bound_is_read_as_it_is_written(metric: str, least: float, stage: str | None) -> None:
    written = f"{f'{stage}:' if stage else ''}{metric.upper() if least > 0.5 else metric}={least!r}"
    assert bound_of(written, ["bm25", "hybrid"]) == Success(Bound(metric, least, stage))


@given(
    st.sampled_from(["ndcg@10", "ndcg@10=", "ndcg=1", "x:map=1", "map=nan", "map=1.5", "map=-0", "=1", "", "map=1=1"])
)
def test_what_is_no_bound_says_why(text: str) -> None:
    refused = bound_of(text, ["bm25"])
    if text == "map=-0":
        assert refused == Success(Bound("map", 0.0))
        return
    assert isinstance(refused, Failure)
    assert refused.failure().given == text
    assert refused.failure().why


def test_a_bound_without_a_stage_holds_for_each() -> None:
    found = two({"q": ["a.md"]}, {"q": ["b.md"]}, {"q": {"a.md": 1}})
    short = shortfalls(found, [Bound("map", 0.5), Bound("map", 0.5, "bm25"), Bound("map", 0.0)])
    assert [(each.stage, each.reached) for each in short] == [("hybrid", 0.0)]
