"""What every vector index promises, real or in memory: subclass, and give `make`."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundkit.core.embedding import EmbeddingIdentity, cosine, on_grid
from groundkit.core.result import Failure, Result, Success
from groundkit.core.retrieval_ports import VectorIndex, VectorKey, VectorRow, VectorSearcher
from groundkit.core.storage import Mark, StorageFailure, StorageProblem
from groundkit.core.vectors import level_of

DIMENSIONS = 5
IDENTITY = EmbeddingIdentity("drawn", "", DIMENSIONS)
KEY = VectorKey(Mark(3, "token"), IDENTITY)
#: Each differs from `KEY` in one thing.
OTHERS = (
    VectorKey(Mark(4, "token"), IDENTITY),
    VectorKey(Mark(3, "other"), IDENTITY),
    VectorKey(Mark(3, "token"), EmbeddingIdentity("drawn", "other", DIMENSIONS)),
    VectorKey(Mark(3, "token"), EmbeddingIdentity("drawn", "", DIMENSIONS, "digest")),
)
DENIED = StorageFailure(StorageProblem.DENIED, "store", "no")

shared = settings(suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow])


def gridded(values: Sequence[float]) -> bytes:
    return on_grid(values, len(values)).unwrap()


#: Few directions, so that many cosines tie; and any.
directions = st.lists(st.integers(-2, 2), min_size=DIMENSIONS, max_size=DIMENSIONS).filter(any)
anywhere = st.lists(st.floats(-1, 1), min_size=DIMENSIONS, max_size=DIMENSIONS).filter(any)
vectors = (directions | anywhere).map(gridded)
numbers = st.integers(1, 40) | st.integers(2**40, 2**40 + 5)
matrices = st.dictionaries(numbers, vectors, max_size=25)
limits = st.integers(-1, 30)


def rows_of(matrix: dict[int, bytes]) -> list[VectorRow]:
    """In the order of the dictionary; chunk ids that are in another order than the rows."""
    return [VectorRow(row, f"{row * 7919 % 1009:04d}-{row}", vector) for row, vector in matrix.items()]


def brute(query: bytes, rows: Iterable[VectorRow], limit: int) -> tuple[tuple[int, float], ...]:
    """Every cosine in exact arithmetic; the first `limit`, and what ties with the last of them."""
    found = sorted(((each.row, cosine(query, each.vector)) for each in rows), key=lambda pair: (-pair[1], pair[0]))
    if limit < 1:
        return ()
    return tuple(pair for place, pair in enumerate(found) if place < limit or pair[1] == found[limit - 1][1])


def searcher_of(index: VectorIndex, rows: Iterable[VectorRow], key: VectorKey = KEY) -> VectorSearcher:
    return index.searcher(key, lambda: Success(rows)).unwrap()


def never() -> Result[Iterable[VectorRow], StorageFailure]:
    return Failure(DENIED)


class VectorIndexContract:
    """`make` gives an index without a matrix, in a new place."""

    make: Callable[[], VectorIndex]

    @shared
    @given(matrices, vectors, limits)
    def test_the_nearest_are_those_of_the_pure_cosine(self, matrix: dict[int, bytes], query: bytes, limit: int) -> None:
        rows = rows_of(matrix)
        found = searcher_of(self.make(), rows).nearest(query, limit)
        assert found == brute(query, rows, limit)
        assert all(type(row) is int and type(near) is float and str(near) != "-0.0" for row, near in found if near == 0)

    @shared
    @given(matrices, vectors, limits, st.frozensets(numbers | st.just(2**62)))
    def test_only_these_rows_are_looked_at_and_counted(
        self, matrix: dict[int, bytes], query: bytes, limit: int, within: frozenset[int]
    ) -> None:
        rows = rows_of(matrix)
        searcher = searcher_of(self.make(), rows)
        assert searcher.nearest(query, limit, within) == brute(
            query, [each for each in rows if each.row in within], limit
        )
        assert searcher.count(within) == len(within & set(matrix))
        assert searcher.count() == len(matrix)

    @shared
    @given(matrices, vectors, st.integers(1, 24))
    def test_a_greater_limit_only_adds_behind(self, matrix: dict[int, bytes], query: bytes, limit: int) -> None:
        searcher = searcher_of(self.make(), rows_of(matrix))
        less, more = searcher.nearest(query, limit), searcher.nearest(query, limit + 1)
        assert more[: len(less)] == less

    @shared
    @given(matrices)
    def test_the_level_is_that_of_the_pure_function_in_any_order(self, matrix: dict[int, bytes]) -> None:
        rows = rows_of(matrix)
        backwards = searcher_of(self.make(), rows[::-1])
        assert backwards.level == level_of((each.chunk_id, each.vector) for each in rows)

    @shared
    @given(matrices.filter(bool), vectors, st.data())
    def test_the_order_in_which_rows_come_changes_nothing(
        self, matrix: dict[int, bytes], query: bytes, data: st.DataObject
    ) -> None:
        rows = rows_of(matrix)
        again = data.draw(st.permutations(rows))
        assert searcher_of(self.make(), iter(again)).nearest(query, 5) == brute(query, rows, 5)

    def test_ties_come_together_by_row(self) -> None:
        same, other = gridded([1, 0, 0, 0, 0]), gridded([0, 1, 0, 0, 0])
        searcher = searcher_of(self.make(), rows_of({9: same, 2: other, 4: same, 7: same, 1: other}))
        assert searcher.nearest(same, 1) == ((4, 1.0), (7, 1.0), (9, 1.0))
        assert searcher.nearest(same, 4) == ((4, 1.0), (7, 1.0), (9, 1.0), (1, 0.0), (2, 0.0))
        assert searcher.nearest(same, 1, {9, 2}) == ((9, 1.0),)

    def test_without_rows_nothing_is_near(self) -> None:
        for rows in ([], [VectorRow(1, "a", b"")]):
            searcher = searcher_of(self.make(), rows)
            assert (searcher.count(), searcher.level) == (0, 1.0)
            assert searcher.nearest(gridded([1, 2, 3, 4, 5]), 10) == ()
            assert searcher.nearest(gridded([1, 2, 3, 4, 5]), 10, {1}) == ()

    def test_chunks_without_a_vector_are_left_out(self) -> None:
        vector = gridded([1, 2, 3, 4, 5])
        searcher = searcher_of(self.make(), [VectorRow(1, "a", b""), VectorRow(2, "b", vector)])
        assert searcher.nearest(vector, 10) == ((2, 1.0),)
        assert (searcher.count({1}), searcher.count({1, 2})) == (0, 1)

    def test_no_rows_are_none_of_them(self) -> None:
        searcher = searcher_of(self.make(), rows_of({1: gridded([1, 2, 3, 4, 5])}))
        assert searcher.nearest(gridded([1, 2, 3, 4, 5]), 10, ()) == ()
        assert searcher.count(()) == 0

    def test_a_query_of_another_size_is_no_query(self) -> None:
        searcher = searcher_of(self.make(), rows_of({1: gridded([1, 2, 3, 4, 5])}))
        with pytest.raises(ValueError, match=r"\d"):
            searcher.nearest(gridded([1, 2, 3]), 10)

    def test_what_the_store_says_is_handed_on_and_asked_again(self) -> None:
        index = self.make()
        assert index.searcher(KEY, never) == Failure(DENIED)
        vector = gridded([1, 2, 3, 4, 5])
        assert searcher_of(index, rows_of({1: vector})).nearest(vector, 1) == ((1, 1.0),)

    def test_one_key_is_loaded_once_and_every_other_one_again(self) -> None:
        index = self.make()
        one, other = gridded([1, 0, 0, 0, 0]), gridded([0, 1, 0, 0, 0])
        held = searcher_of(index, rows_of({1: one}))
        assert index.searcher(KEY, never).unwrap().nearest(one, 1) == ((1, 1.0),)
        for key in OTHERS:
            assert index.searcher(key, never) == Failure(DENIED)
            assert searcher_of(index, rows_of({2: other}), key).nearest(one, 1) == ((2, 0.0),)
        assert held.nearest(one, 1) == ((1, 1.0),)

    def test_vectors_that_are_none_are_damage(self) -> None:
        sound = gridded([1, 2, 3, 4, 5])
        wrong = (
            [VectorRow(1, "a", sound[:-2])],
            [VectorRow(1, "a", sound + b"\0\0")],
            [VectorRow(1, "a", sound[:-1])],
            [VectorRow(1, "a", sound), VectorRow(2, "b", bytes(len(sound)))],
            [VectorRow(1, "a", sound), VectorRow(1, "b", sound)],
        )
        for rows in wrong:
            refused = self.make().searcher(KEY, lambda rows=rows: Success(rows))  # type: ignore[misc]
            assert isinstance(refused, Failure)
            assert refused.failure().problem is StorageProblem.DAMAGED

    def test_after_discard_and_close_there_is_nothing_and_it_can_be_made_again(self) -> None:
        index = self.make()
        vector = gridded([1, 2, 3, 4, 5])
        assert index.discard() == index.discard() == Success(None)
        held = searcher_of(index, rows_of({1: vector}))
        assert index.discard() == Success(None)
        assert index.searcher(KEY, never) == Failure(DENIED)
        assert searcher_of(index, rows_of({2: vector})).nearest(vector, 1) == ((2, 1.0),)
        index.close()
        index.close()
        assert held.nearest(vector, 1) == ((1, 1.0),)
        assert searcher_of(index, rows_of({2: vector})).nearest(vector, 1) == ((2, 1.0),)

    def test_threads_get_the_same_matrix_and_search_it_at_once(self) -> None:
        index = self.make()
        rows = rows_of({row: gridded([row, 1, row % 3, -1, 2]) for row in range(1, 300)})
        queries = [gridded([1, number, -number, 2, 3]) for number in range(20)]
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda query: searcher_of(index, rows).nearest(query, 7), queries))
        assert found == [brute(query, rows, 7) for query in queries]
