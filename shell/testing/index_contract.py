"""What every lexical index keeps, real or in memory: subclass, and give `make`."""

from collections.abc import Mapping

from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundkit.core.briefs import Within
from groundkit.core.changes import LexicalDocument, LexicalRow
from groundkit.core.folding import search_view
from groundkit.core.ports import LexicalIndex, LexicalSearcher
from groundkit.core.query import LexicalQuery, compile_query, parse
from groundkit.core.result import Failure
from groundkit.core.storage import LexicalProblem, Mark

#: Writing an index for each example is dear, and every subclass runs the same tests.
few = settings(
    max_examples=max(10, settings().max_examples // 4),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.differing_executors],
)

WORDS = ("ferry", "harbour", "tide", "東", "a_b", "9", "naïve", "ค้")
texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
#: What a write says: for some documents by number, the texts of all their rows; none means the document goes.
writes = st.dictionaries(st.integers(0, 4), st.lists(texts, max_size=3), max_size=4)

Held = dict[int, tuple[str, str]]

phrases = st.lists(st.sampled_from(WORDS[:3]), min_size=2, max_size=3).map(tuple)
words = st.lists(st.sampled_from(WORDS[:3]), max_size=2).map(tuple)
#: What has to stand in a row and what must not, without terms.
conditions = st.builds(
    LexicalQuery,
    st.just(()),
    words.map(lambda some: some[:1]),
    st.just(()),
    words,
    st.lists(phrases, max_size=2).map(tuple),
)


def name_of(document: int) -> str:
    return f"{document:032x}"


_documents = st.frozensets(st.integers(0, 5), max_size=4).map(lambda some: frozenset(map(name_of, some)))
_rows = st.one_of(
    st.frozensets(st.integers(1, 30), max_size=12),
    st.builds(range, st.integers(1, 9), st.integers(9, 40)).map(frozenset),
)
withins = st.builds(Within, st.none() | _documents, st.none() | _rows)


class Writer:
    """Tells an index what changed, and remembers what it must hold: document id and text of each row."""

    def __init__(self, index: LexicalIndex, build: int = 1) -> None:
        self.index = index
        self.build = build
        self.rows: Held = {}
        self.generation = 0
        self._last_row = 0
        index.start(build).unwrap()

    def write(self, documents: Mapping[int, list[str]], marked: bool = True) -> Mark:
        self.generation += 1
        mark = Mark(self.generation, f"t{self.generation}")
        told = [self._document(name_of(number), texts) for number, texts in documents.items()]
        self.index.apply(self.build, mark if marked else None, told).unwrap()
        return mark

    def _document(self, name: str, texts: list[str]) -> LexicalDocument:
        self.rows = {row: held for row, held in self.rows.items() if held[0] != name}
        rows = []
        for text in texts:
            self._last_row += 1
            self.rows[self._last_row] = (name, text)
            rows.append(LexicalRow(self._last_row, search_view(text)[0]))
        return LexicalDocument(name, tuple(rows))

    def searcher(self) -> LexicalSearcher:
        return self.index.searcher(self.build).unwrap()


def query_for(index: LexicalIndex, text: str) -> LexicalQuery:
    return compile_query(parse(text).unwrap(), lambda part: index.terms(search_view(part)[0])).unwrap()


def found(searcher: LexicalSearcher, query: LexicalQuery, limit: int = 1000) -> set[int]:
    return {row for row, _ in searcher.candidates(query, limit).unwrap().rows}


class LexicalIndexContract:
    """The laws of `groundkit.core.ports.LexicalIndex` and `LexicalSearcher`."""

    def make(self) -> LexicalIndex:
        """An index without builds, whose terms keep different words apart."""
        raise NotImplementedError

    @few
    @given(texts)
    def test_every_token_gives_one_term(self, text: str) -> None:
        view, tokens = search_view(text)
        assert len(self.make().terms(view)) == tokens

    def test_a_build_that_was_not_started_is_missing(self) -> None:
        index = self.make()
        answers = (index.searcher(1), index.live(1), index.check(1), index.apply(1, Mark(1, "t"), ()))
        assert [answer.failure().problem for answer in answers] == [LexicalProblem.MISSING] * 4

    def test_a_build_names_no_generation_until_a_write_brings_one(self) -> None:
        writer = Writer(self.make())
        nameless = [writer.index.searcher(1)]
        writer.write({1: ["ferry"]}, marked=False)
        nameless.append(writer.index.searcher(1))
        assert [answer.failure().problem for answer in nameless] == [LexicalProblem.DAMAGED] * 2
        assert writer.index.live(1).unwrap() == {1: name_of(1)}
        mark = writer.write({2: ["tide"]})
        assert writer.searcher().mark == mark
        writer.write({}, marked=False)
        assert isinstance(writer.index.searcher(1), Failure)

    @few
    @given(st.lists(writes, max_size=5))
    def test_it_holds_exactly_the_rows_last_told(self, history: list[dict[int, list[str]]]) -> None:
        writer = Writer(self.make())
        for documents in history:
            mark = writer.write(documents)
            assert writer.searcher().mark == mark
        assert writer.index.live(1).unwrap() == {row: name for row, (name, _) in writer.rows.items()}
        assert writer.index.check(1).unwrap() == ()

    @few
    @given(st.lists(writes, min_size=1, max_size=4))
    def test_a_word_finds_exactly_the_live_rows_that_hold_it(self, history: list[dict[int, list[str]]]) -> None:
        writer = Writer(self.make())
        for documents in history:
            writer.write(documents)
        searcher = writer.searcher()
        for word in WORDS:
            holding = {row for row, (_, text) in writer.rows.items() if word in text.split()}
            query = query_for(writer.index, word)
            assert found(searcher, query) == holding
            assert searcher.candidates(query, 1).unwrap().matches == len(holding)
            assert all(searcher.facts(term).unwrap().live == len(holding) for term in query.terms)

    @few
    @given(st.dictionaries(st.integers(0, 9), st.lists(texts, max_size=3), min_size=1), st.lists(texts, min_size=1))
    def test_candidates_are_the_best_in_descending_order(
        self, documents: dict[int, list[str]], queries: list[str]
    ) -> None:
        writer = Writer(self.make())
        writer.write(documents)
        for text in queries:
            query = query_for(writer.index, text)
            everything = writer.searcher().candidates(query, 1000).unwrap()
            scores = [score for _, score in everything.rows]
            assert scores == sorted(scores, reverse=True)
            assert len(set(everything.rows)) == everything.matches == len(everything.rows)
            for limit in (1, 2, 5):
                fewer = writer.searcher().candidates(query, limit).unwrap()
                assert [score for _, score in fewer.rows] == scores[:limit]
                assert fewer.matches == everything.matches

    @few
    @given(
        st.dictionaries(st.integers(0, 9), st.lists(texts, max_size=3), min_size=1), st.lists(texts, max_size=2), texts
    )
    def test_phrases_and_required_terms_only_decide_what_matches(
        self, documents: dict[int, list[str]], phrases: list[str], words: str
    ) -> None:
        writer = Writer(self.make())
        writer.write(documents)
        query = query_for(writer.index, " ".join([words, *(f'"{phrase}"' for phrase in phrases)]))
        free = dict(writer.searcher().candidates(LexicalQuery(query.terms), 1000).unwrap().rows)
        bound = dict(writer.searcher().candidates(query, 1000).unwrap().rows)
        wanted = [search_view(phrase)[0].split() for phrase in phrases]
        expected = {row for row in free if all(_stands(words, writer.rows[row][1]) for words in wanted if words)}
        assert set(bound) == expected
        assert all(abs(score - free[row]) <= 1e-4 * free[row] for row, score in bound.items())

    @few
    @given(
        st.lists(writes, min_size=1, max_size=3),
        st.lists(texts, min_size=1, max_size=3),
        conditions,
        withins,
    )
    def test_conditions_and_places_decide_what_matches_and_change_no_score(
        self, history: list[dict[int, list[str]]], queries: list[str], without: LexicalQuery, within: Within
    ) -> None:
        writer = Writer(self.make())
        for documents in history:
            writer.write(documents)
        searcher = writer.searcher()
        allowed = {
            row for row, (name, text) in writer.rows.items() if _inside(row, name, within) and _fits(text, without)
        }
        asked = _analysed(writer.index, without)
        assert searcher.meeting(asked, within).unwrap() == allowed
        assert searcher.meeting(LexicalQuery(()), Within()).unwrap() == set(writer.rows)
        assert searcher.meeting(LexicalQuery(())).unwrap() == set(writer.rows)
        for text in queries:
            query = query_for(writer.index, text)
            free = dict(searcher.candidates(query, 1000).unwrap().rows)
            narrowed = searcher.candidates(evolve(asked, terms=query.terms), 1000, within).unwrap()
            assert {row for row, _ in narrowed.rows} == free.keys() & allowed
            assert narrowed.matches == len(narrowed.rows)
            assert all(abs(score - free[row]) <= 1e-4 * free[row] for row, score in narrowed.rows)

    def test_a_searcher_is_not_changed_by_later_writes(self) -> None:
        writer = Writer(self.make())
        first = writer.write({1: ["ferry"], 2: ["tide ferry"]})
        before = writer.searcher()
        writer.write({1: [], 2: ["harbour"]})
        query = query_for(writer.index, "ferry")
        assert (before.mark, found(before, query)) == (first, {1, 2})
        assert found(writer.searcher(), query) == set()

    def test_a_query_without_terms_and_an_index_without_rows_find_nothing(self) -> None:
        writer = Writer(self.make())
        writer.write({})
        assert found(writer.searcher(), query_for(writer.index, "ferry")) == set()
        writer.write({1: ["ferry"]})
        assert found(writer.searcher(), LexicalQuery(())) == set()

    def test_the_mark_matches_no_word(self) -> None:
        writer = Writer(self.make())
        mark = writer.write({1: ["ferry"]})
        for text in (mark.token, str(mark.generation), f"{mark.generation}:{mark.token}", "mark", "0mark"):
            assert found(writer.searcher(), query_for(writer.index, text)) == set()

    def test_starting_a_build_again_empties_it_and_leaves_the_others(self) -> None:
        index = self.make()
        first, second = Writer(index, 1), Writer(index, 2)
        first.write({1: ["ferry"]})
        second.write({2: ["tide", "tide"]})
        index.start(1).unwrap()
        assert index.live(1).unwrap() == {}
        assert index.live(2).unwrap() == {1: name_of(2), 2: name_of(2)}
        assert isinstance(index.searcher(1), Failure)

    def test_discarding_keeps_one_build_or_none(self) -> None:
        index = self.make()
        for build in (1, 2, 3):
            Writer(index, build).write({1: ["ferry"]})
        index.discard(2).unwrap()
        assert [isinstance(index.searcher(build), Failure) for build in (1, 2, 3)] == [True, False, True]
        index.discard(None).unwrap()
        index.discard(None).unwrap()
        assert index.searcher(2).failure().problem is LexicalProblem.MISSING


def _analysed(index: LexicalIndex, query: LexicalQuery) -> LexicalQuery:
    """Words as the index's terms."""

    def terms(words: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(index.terms(search_view(" ".join(words))[0]))

    excluded_phrases = tuple(map(terms, query.excluded_phrases))
    return LexicalQuery((), terms(query.required), (), terms(query.excluded), excluded_phrases)


def _inside(row: int, document: str, within: Within) -> bool:
    return (within.documents is None or document in within.documents) and (within.rows is None or row in within.rows)


def _fits(text: str, query: LexicalQuery) -> bool:
    held = text.split()
    return (
        set(query.required) <= set(held)
        and not set(query.excluded) & set(held)
        and not any(_stands(list(phrase), text) for phrase in query.excluded_phrases)
    )


def _stands(words: list[str], text: str) -> bool:
    held = search_view(text)[0].split()
    return any(held[at : at + len(words)] == words for at in range(len(held) - len(words) + 1))
