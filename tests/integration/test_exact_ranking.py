"""One exact order over the real engine, whatever the history: equal to scoring every live chunk by the formula."""

import math
import random
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from attrs import evolve, field, frozen

from groundkit.adapters.tantivy_index import TantivyIndex
from groundkit.core.briefs import Within
from groundkit.core.changes import LexicalDocument, LexicalRow, SourceFailure
from groundkit.core.folding import index_view
from groundkit.core.model import Chunk, DocumentRecord, FromText, Locator, Span
from groundkit.core.ports import LexicalIndex, LexicalSearcher
from groundkit.core.query import LexicalQuery
from groundkit.core.ranking import Occurrences, Weights, exact_order, weights_of
from groundkit.core.result import Failure, Result, Success
from groundkit.core.settings import Settings
from groundkit.core.storage import (
    ChunkQuery,
    ChunksByRow,
    Generation,
    Mark,
    RecordQuery,
    Statistics,
    StorageFailure,
    StoredChunk,
    StoreState,
)
from groundkit.ranked import Asked, GhostRows, Ranked, Ranking, follow, rank
from groundkit.testing.index_contract import query_for
from groundkit.testing.memory_index import MemoryIndex

Hits = list[tuple[float, str, int]]


@frozen
class Rows:
    """Live chunks by row: as much of a store's view as ranking needs."""

    state: StoreState
    held: dict[int, StoredChunk]

    def chunks(self, wanted: ChunkQuery, at: int) -> Result[tuple[StoredChunk, ...], StorageFailure]:
        assert isinstance(wanted, ChunksByRow)
        return Success(tuple(self.held[row] for row in wanted.rows if row in self.held))

    def sizes(self, rows: Sequence[int], at: int) -> Result[dict[int, int], StorageFailure]:
        return Success({row: self.held[row].tokens for row in rows if row in self.held})

    def first(self, rows: Sequence[int], at: int, limit: int) -> Result[tuple[int, ...], StorageFailure]:
        alive = sorted((row for row in rows if row in self.held), key=lambda row: _place(self.held[row]))
        return Success(tuple(alive[:limit]))

    def live(self, at: int) -> Result[dict[int, str], StorageFailure]:
        return Success({row: chunk.record.document_id for row, chunk in self.held.items()})

    def records(self, wanted: RecordQuery, at: int) -> Result[tuple[DocumentRecord, ...], StorageFailure]:
        return Success(())

    def failures(self) -> Result[tuple[SourceFailure, ...], StorageFailure]:
        return Success(())

    def close(self) -> None: ...


def _place(chunk: StoredChunk) -> tuple[str, int]:
    return chunk.record.source, chunk.chunk.span.start


#: Titles by the first letter of a source.
_TITLES = {"s": "w9 guide", "t": "tie", "x": "w40"}


def _headings(text: str) -> tuple[str, ...]:
    """Of the texts of the collection; equal texts stand under equal headings, so that they can tie."""
    chosen = zlib.crc32(text.encode()) if text.startswith("all ") else 0
    return (f"w{chosen % 40} part", "w9 guide", "all w17")[: chosen % 4]


def _stored(row: int, source: str, ordinal: int, text: str) -> StoredChunk:
    title = _TITLES.get(source[0], "")
    record = DocumentRecord(f"id of {source}", source, FromText(), "", 0, 1, "text/plain", title, "", "")
    span = Span(100_000 * ordinal, 100_000 * ordinal + len(text))
    locator = Locator(1, 1, _headings(text))
    chunk = Chunk(f"{source}:{ordinal}", record.document_id, ordinal, span, text, locator)
    return StoredChunk(row, chunk, index_view(text, locator.heading_path, title)[1], record)


def _postings_view(chunk: StoredChunk) -> str:
    """What ADR 0030 says is indexed: the text, and twice the title and the headings, each behind a mark; all folded here."""
    path, title = chunk.chunk.locator.heading_path, chunk.record.title
    above = [each for each in ((() if title in path else (title,)) + path) if each]
    return " ".join([chunk.chunk.text, *[f"\x01 {each}" for each in above] * 2])


@frozen
class History:
    """A collection being written: an index, and what is alive in it."""

    index: LexicalIndex
    held: dict[int, StoredChunk] = field(factory=dict)
    _writes: list[int] = field(factory=list)
    _rows: list[int] = field(factory=lambda: [0])

    def write(self, sources: dict[str, list[str]]) -> None:
        """One commit in which each source gets exactly these chunks."""
        self._writes.append(len(self._writes) + 1)
        told = [self._document(source, texts) for source, texts in sources.items()]
        self.index.apply(1, Mark(self._writes[-1], "t"), told).unwrap()

    def _document(self, source: str, texts: list[str]) -> LexicalDocument:
        for row in [row for row, chunk in self.held.items() if chunk.record.source == source]:
            del self.held[row]
        rows = []
        for ordinal, text in enumerate(texts):
            self._rows[0] += 1
            stored = _stored(self._rows[0], source, ordinal, text)
            self.held[self._rows[0]] = stored
            view, _ = index_view(text, stored.chunk.locator.heading_path, stored.record.title)
            rows.append(LexicalRow(self._rows[0], view))
        return LexicalDocument(f"id of {source}", tuple(rows))

    def opened(self) -> "Opened":
        lengths = [chunk.tokens for chunk in self.held.values()]
        statistics = Statistics(len(lengths), sum(lengths), max(lengths, default=0))
        generation = Generation(Mark(self._writes[-1], "t"), statistics, self.index.analyzer)
        view = Rows(StoreState(generation, generation, 1, Settings()), self.held)
        terms = {row: self.index.terms(_postings_view(chunk)) for row, chunk in self.held.items()}
        counts = {row: Counter(each) for row, each in terms.items()}
        return Opened(self.index, self.index.searcher(1).unwrap(), view, generation, terms, counts)


@frozen
class Opened:
    index: LexicalIndex
    searcher: LexicalSearcher
    view: "Rows"
    generation: Generation
    terms: dict[int, list[str]]
    counts: dict[int, Counter[str]]

    def ranked(
        self, text: str, limit: int, query: LexicalQuery | None = None, within: Within | None = None
    ) -> Result[Ranking, object]:
        asked = query_for(self.index, text) if query is None else query
        return rank(self.view, self.index, self.searcher, self.generation, asked, limit, 0, within, explain=True)

    def hits(self, text: str, limit: int) -> Hits:
        return _hits(self.ranked(text, limit).unwrap().hits)

    def weights(self, query: LexicalQuery) -> Weights:
        facts = {term: self.searcher.facts(term).unwrap() for term in query.terms}
        return weights_of(facts, self.generation.statistics)

    def brute_force(self, text: str, limit: int) -> Hits:
        return self.all_matches(query_for(self.index, text))[:limit]

    def all_matches(self, query: LexicalQuery, within: Within | None = None) -> Hits:
        """Every live chunk by the formula of ADR 0007, with nothing of the code under test."""
        chunks = len(self.counts)
        mean = sum(map(len, self.terms.values())) / max(1, chunks)
        live = {term: sum(term in each for each in self.counts.values()) for term in query.terms}
        scored: Hits = []
        for row, held in self.counts.items():
            if not any(term in held for term in query.terms) or not self._fits(row, query, within):
                continue
            score = 0.0
            for term in query.terms:
                idf = math.log(1 + (chunks - live[term] + 0.5) / (live[term] + 0.5))
                length = 0.25 + 0.75 * len(self.terms[row]) / mean
                score += idf * 2.2 * held[term] / (held[term] + 1.2 * length)
            scored.append((-round(score, 9), *_place(self.view.held[row])))
        return [(-score, source, start) for score, source, start in sorted(scored)]

    def meeting(self, query: LexicalQuery, within: Within | None) -> set[int]:
        return {row for row in self.terms if self._fits(row, query, within)}

    def _fits(self, row: int, query: LexicalQuery, within: Within | None) -> bool:
        terms, document = self.terms[row], self.view.held[row].record.document_id
        if within is not None and within.documents is not None and document not in within.documents:
            return False
        if within is not None and within.rows is not None and row not in within.rows:
            return False
        return (
            all(term in terms for term in query.required)
            and all(_runs(phrase, terms) for phrase in query.phrases)
            and not any(term in terms for term in query.excluded)
            and not any(_runs(phrase, terms) for phrase in query.excluded_phrases)
        )


def _runs(phrase: tuple[str, ...], terms: list[str]) -> bool:
    return any(tuple(terms[at : at + len(phrase)]) == phrase for at in range(len(terms)))


def _hits(ranked: Sequence[Ranked]) -> Hits:
    return [(each.score, *_place(each.chunk)) for each in ranked]


# A collection in Zipf's manner, and the histories it may have had

_VOCABULARY = [f"w{number}" for number in range(3000)]
_WEIGHTS = [1 / (rank + 3) for rank in range(3000)]


def _text(chance: random.Random) -> str:
    return " ".join(["all", *chance.choices(_VOCABULARY, _WEIGHTS, k=int(chance.lognormvariate(4, 0.7)) + 1)])


def _collection() -> dict[str, list[str]]:
    chance = random.Random(11)
    sources = {f"s{number:04d}": [_text(chance) for _ in range(chance.randint(1, 4))] for number in range(300)}
    # Exact ties, between sources and within one.
    for number in range(0, 60, 3):
        sources[f"t{number:04d}"] = ["all w5 w9 w200 tie"] * (1 + number % 4)
    return sources


def _in_parts(sources: dict[str, list[str]], parts: int) -> list[dict[str, list[str]]]:
    names = list(sources)
    return [{name: sources[name] for name in names[part::parts]} for part in range(parts)]


def one_segment(history: History) -> None:
    history.write(_collection())


def shuffled(history: History) -> None:
    sources = list(_collection().items())
    random.Random(5).shuffle(sources)
    history.write(dict(sources))


def many_segments(history: History) -> None:
    for part in _in_parts(_collection(), 7):
        history.write(part)


def merged(history: History) -> None:
    for part in _in_parts(_collection(), 25):
        history.write(part)


def a_fifth_updated(history: History) -> None:
    chance = random.Random(6)
    history.write({name: [_text(chance) for _ in texts] for name, texts in _collection().items()})
    sources = list(_collection().items())
    history.write(dict(sources[60:]))
    history.write(dict(sources[:60]))


def a_fifth_deleted(history: History) -> None:
    chance = random.Random(7)
    extra = {f"x{number:04d}": [_text(chance), _text(chance)] for number in range(80)}
    history.write({**_collection(), **extra})
    history.write({name: [] for name in extra})


def adversarial(history: History) -> None:
    """Dead chunks that make rare words look common, common ones rare, and every length wrong."""
    chance = random.Random(8)
    rare = " ".join(_VOCABULARY[300:])
    junk = {
        f"j{number:04d}": [" ".join(chance.choices(rare.split(), k=400)) for _ in range(4)] for number in range(150)
    }
    short = {f"k{number:04d}": ["w17 w40 w900"] * 8 for number in range(150)}
    history.write({**_collection(), **junk, **short})
    history.write({name: [] for name in [*junk, *short]})


HISTORIES = (one_segment, shuffled, many_segments, merged, a_fifth_updated, a_fifth_deleted, adversarial)


def _queries() -> list[str]:
    chance = random.Random(12)
    drawn = [" ".join(chance.choices(_VOCABULARY[:1500], k=words)) for words in (1, 1, 2, 3, 8) for _ in range(3)]
    return [
        *drawn, "all", "all w5", "tie", "tie w9 w9", "w17", "w900", "w17 w900 w40", "w2000 w1 w2", "nothing", "nothing w3", "",
        '"w5 w9"', '"all w5 w9" tie', '"w5" w9', '"w200 tie" w1000', '"nothing"', " ".join(_VOCABULARY[::40]),
    ]  # fmt: skip


Opening = Callable[[Callable[[History], None]], Opened]


@pytest.fixture(scope="module")
def opening(tmp_path_factory: pytest.TempPathFactory) -> Opening:
    """Each history, written once for all tests."""
    known: dict[str, Opened] = {}

    def opened(write: Callable[[History], None]) -> Opened:
        if write.__name__ not in known:
            index = TantivyIndex(tmp_path_factory.mktemp(write.__name__) / "c.lexical", "english")
            index.start(1).unwrap()
            history = History(index)
            write(history)
            known[write.__name__] = history.opened()
        return known[write.__name__]

    return opened


@pytest.mark.parametrize("history", HISTORIES)
def test_the_order_is_that_of_scoring_every_live_chunk(history: Callable[[History], None], opening: Opening) -> None:
    opened = opening(history)
    for query in _queries():
        exact = opened.brute_force(query, 50)
        for limit in (1, 10, 50):
            assert opened.hits(query, limit) == exact[:limit]


def test_every_match_is_found_when_more_are_wanted_than_there_are(opening: Opening) -> None:
    for history in (one_segment, adversarial):
        opened = opening(history)
        for query in ("w40", "w3 w700", "all"):
            assert opened.hits(query, 5000) == opened.brute_force(query, 5000)


@pytest.mark.parametrize("history", HISTORIES[1:])
def test_scores_and_order_do_not_depend_on_the_history(history: Callable[[History], None], opening: Opening) -> None:
    for query in _queries():
        assert opening(history).hits(query, 20) == opening(one_segment).hits(query, 20)


def test_a_page_is_a_part_of_the_whole(opening: Opening) -> None:
    opened = opening(many_segments)
    query = query_for(opened.index, "w5 w9 tie")
    asked = (opened.view, opened.index, opened.searcher, opened.generation, query)
    pages = [_hits(rank(*asked, 7, offset).unwrap().hits) for offset in range(0, 35, 7)]
    assert [hit for page in pages for hit in page] == _hits(rank(*asked, 35).unwrap().hits)


def test_no_live_score_exceeds_the_bound_of_its_native_score(opening: Opening) -> None:
    for history in (merged, a_fifth_updated, adversarial):
        opened = opening(history)
        for text in _queries()[::2]:
            query = query_for(opened.index, text)
            weights = opened.weights(query)
            for row, native in opened.searcher.candidates(query, 5000).unwrap().rows:
                occurrences = Occurrences(len(opened.terms[row]), opened.counts[row])
                assert weights.score(occurrences) <= weights.bound(native)


# Conditions


def _narrowings(opened: Opened) -> list[Within | None]:
    chance = random.Random(3)
    rows = sorted(opened.terms)
    documents = sorted({chunk.record.document_id for chunk in opened.view.held.values()})
    half = frozenset(chance.sample(rows, len(rows) // 2))
    return [
        None, Within(), Within(documents=frozenset()), Within(rows=frozenset()), Within(frozenset(), half),
        Within(documents=frozenset(documents[::3])), Within(documents=frozenset({documents[5], "\0mark", "nobody's"})),
        Within(rows=half), Within(rows=frozenset(chance.sample(rows, 5))), Within(rows=frozenset(rows)),
        Within(rows=frozenset(rows[20:400:1]) - frozenset(rows[30:300:7])), Within(rows=frozenset({10**9})),
        Within(frozenset(documents[1::2]), half),
    ]  # fmt: skip


_CONDITIONED = (
    LexicalQuery(("w3", "w5"), excluded=("w9",)),
    LexicalQuery(("all",), excluded=("w0", "w1"), excluded_phrases=(("w9", "guid"),)),
    LexicalQuery(("all", "w17"), required=("w17",), excluded=("tie",)),
    LexicalQuery(("all", "w5", "w9"), phrases=(("w5", "w9"),), excluded_phrases=(("all", "w17"),)),
    LexicalQuery(("w40",)),
    LexicalQuery(("w700", "w9"), excluded=("nothing",)),
    LexicalQuery((), excluded=("w9",)),
    LexicalQuery((), required=("w9",), excluded=("w3",)),
    LexicalQuery(()),
)


@pytest.mark.parametrize("history", HISTORIES)
def test_conditions_decide_what_matches_and_change_no_score(
    history: Callable[[History], None], opening: Opening
) -> None:
    opened = opening(history)
    for query in _CONDITIONED:
        for within in _narrowings(opened):
            exact = opened.all_matches(query, within)
            ranking = opened.ranked("", 12, query, within).unwrap()
            assert (_hits(ranking.hits), ranking.matches) == (exact[:12], len(exact))
            assert opened.searcher.meeting(query, within).unwrap() == opened.meeting(query, within)


def test_words_of_headings_and_titles_count_and_no_phrase_reaches_into_them(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path / "c.lexical", "none")
    index.start(1).unwrap()
    history = History(index)
    history.write({"sa": ["plain words"], "tb": ["plain words"], "ec": ["w9 words"]})
    opened = history.opened()
    assert [source for _, source, _ in opened.hits("guide", 10)] == ["sa"]
    assert {source for _, source, _ in opened.hits("w9", 10)} == {"sa", "ec"}
    assert opened.hits('"words w9"', 10) == opened.hits('"guide w9"', 10) == []
    assert [source for _, source, _ in opened.hits('"w9 guide"', 10)] == ["sa"]


def test_a_page_of_no_hits_still_counts_them(opening: Opening) -> None:
    opened = opening(merged)
    query = query_for(opened.index, "w5")
    for within in _narrowings(opened):
        assert opened.ranked("", 0, query, within).unwrap() == Ranking((), len(opened.all_matches(query, within)))


def test_the_parts_of_a_score_add_up_to_it(opening: Opening) -> None:
    opened = opening(a_fifth_updated)
    for text in _queries():
        for place, hit in enumerate(opened.ranked(text, 20).unwrap().hits, 1):
            assert hit.parts is not None
            assert (hit.parts.bm25, hit.parts.bm25_rank) == (hit.score, place)
            assert round(sum(part.score for part in hit.parts.terms), 9) == hit.score
            counted = opened.counts[hit.chunk.row]
            assert {part.term: part.count for part in hit.parts.terms} == {
                term: counted[term] for term in query_for(opened.index, text).terms if counted[term]
            }


# What goes wrong without each part


def _trusting(weights: Weights) -> Weights:
    """A bound that takes the engine's statistics for the live ones: R = 1."""
    return evolve(weights, terms=tuple(evolve(each, ratio=1.0) for each in weights.terms))


def _by_trusting_the_engine(opened: Opened, text: str, limit: int) -> Hits:
    query = query_for(opened.index, text)
    asked = Asked(opened.view, opened.index, opened.searcher, opened.generation.mark.generation, query)
    return _hits(follow(exact_order(_trusting(opened.weights(query)), limit), asked).unwrap())


def _from_a_hundred(opened: Opened, text: str, limit: int) -> Hits:
    query = query_for(opened.index, text)
    rows = {row for row, _ in opened.searcher.candidates(query, 100).unwrap().rows}
    among = [_place(chunk) for chunk in opened.view.chunks(ChunksByRow(tuple(rows)), 0).unwrap()]
    return [hit for hit in opened.brute_force(text, 5000) if hit[1:] in among][:limit]


@pytest.mark.parametrize("mutant", [_by_trusting_the_engine, _from_a_hundred])
def test_a_shortcut_gives_a_wrong_order_somewhere(mutant: Callable[[Opened, str, int], Hits], opening: Opening) -> None:
    opened = opening(adversarial)
    asked = [(text, limit) for text in _queries() for limit in (10, 50)]
    assert any(mutant(opened, text, limit) != opened.hits(text, limit) for text, limit in asked)


def _under_a_small_mean(history: History) -> None:
    """A block of postings notes its best chunk under the mean length of its day: a short one. Under a greater mean a
    long one with more of the word is better, and the note is too low."""
    short = {f"a{number:04d}": ["w1 w2"] for number in range(1000)}
    short["a0010"] = [" ".join(["w1"] * 2 + ["w4"] * 18)]
    short["a0700"] = [" ".join(["w1"] * 3 + ["w4"] * 27)]
    history.write(short)
    history.write({f"b{number:04d}": [" ".join(["w3"] * 500)] for number in range(300)})


def test_no_block_of_postings_is_skipped_by_a_stale_maximum(opening: Opening) -> None:
    opened = opening(_under_a_small_mean)
    query = query_for(opened.index, "w1")
    everything = opened.searcher.candidates(query, 5000).unwrap()
    for limit in (1, 10, 64):
        some = opened.searcher.candidates(query, limit).unwrap()
        assert (some.matches, some.rows) == (1000, everything.rows[:limit])
    assert opened.hits("w1", 10) == opened.brute_force("w1", 10)


# Ties, ghosts, and the twin


def test_a_tie_of_thousands_is_cut_by_source_and_start(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path / "c.lexical", "none")
    index.start(1).unwrap()
    history = History(index)
    names = [f"s{number:04d}" for number in range(1500)]
    random.Random(2).shuffle(names)
    history.write({name: ["same words here", "same words here"] for name in names})
    history.write({name: ["same words here"] for name in names[:10]})
    opened = history.opened()
    for text in ("same", '"same words"', "same words"):
        hits = opened.hits(text, 25)
        assert len({score for score, _, _ in hits}) == 1
        places = sorted(_place(chunk) for chunk in history.held.values())
        assert [hit[1:] for hit in hits] == places[:25]


def test_a_candidate_without_a_live_chunk_is_damage_never_dropped(opening: Opening) -> None:
    opened = opening(one_segment)
    for text, limit in (("w5 w9", 10), ("all", 3), ("tie", 1)):
        best = opened.ranked(text, limit).unwrap().hits[0].chunk.row
        held = {row: chunk for row, chunk in opened.view.held.items() if row != best}
        without = evolve(opened, view=Rows(opened.view.state, held))
        failed = without.ranked(text, limit)
        assert isinstance(failed, Failure)
        assert failed.failure() == GhostRows((best,))


def test_the_twin_ranks_like_the_engine(tmp_path: Path) -> None:
    real, twin = TantivyIndex(tmp_path / "c.lexical", "none"), MemoryIndex()
    answers = []
    for index in (real, twin):
        index.start(1).unwrap()
        history = History(index)
        sources = dict(list(_collection().items())[::6])
        history.write({name: [*texts, "w5 w9"] for name, texts in sources.items()})
        history.write(sources)
        answers.append([history.opened().hits(query, 10) for query in _queries()])
    assert answers[0] == answers[1]
