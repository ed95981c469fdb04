"""Laws of the rule that says whether there is an answer, and of the level it is measured by."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.abstention import ENOUGH_SUPPORT, Abstained, abstained, support
from groundkit.core.embedding import cosine, on_grid
from groundkit.core.vectors import SAMPLE, level, level_of, sample

TERMS = st.sampled_from("abcdefgh")
LIVE = st.dictionaries(TERMS, st.integers(0, 50), max_size=8)
PRESENT = st.frozensets(TERMS)
SHARES = st.floats(0, 1)
COSINES = st.floats(-1, 1)
VECTORS = st.lists(st.integers(-5, 5), min_size=3, max_size=3).filter(any).map(lambda each: on_grid(each, 3).unwrap())
NAMED = st.dictionaries(st.text("0123456789abcdef", min_size=4, max_size=4), VECTORS, max_size=12)


@given(LIVE, st.integers(50, 200), PRESENT, PRESENT)
def test_support_is_a_share_that_grows_with_the_terms_a_passage_has(
    live: dict[str, int], chunks: int, one: frozenset[str], other: frozenset[str]
) -> None:
    alone, together = support(live, chunks, one), support(live, chunks, one | other)
    assert 0 <= alone <= together <= 1


@given(LIVE.filter(bool), st.integers(50, 200), PRESENT)
def test_all_terms_are_all_support_none_are_none_and_others_do_not_count(
    live: dict[str, int], chunks: int, others: frozenset[str]
) -> None:
    assert support(live, chunks, set(live)) == 1
    assert support(live, chunks, others - set(live)) == 0
    assert support({}, chunks, others) == 0


@given(st.integers(2, 100), st.integers(0, 99), st.integers(0, 99))
def test_the_rarer_of_two_terms_supports_more(chunks: int, one: int, other: int) -> None:
    rare, common = sorted((min(one, chunks), min(other, chunks)))
    live = {"rare": rare, "common": common}
    assert support(live, chunks, {"rare"}) >= 0.5 >= support(live, chunks, {"common"})


@given(LIVE, st.integers(50, 200), PRESENT, st.data())
def test_support_does_not_depend_on_the_order_of_terms(
    live: dict[str, int], chunks: int, present: frozenset[str], data: st.DataObject
) -> None:
    again = dict(data.draw(st.permutations(list(live.items()))))
    assert support(live, chunks, present) == support(again, chunks, present)


@given(SHARES, COSINES, st.none() | COSINES)
def test_there_is_an_answer_by_words_or_by_meaning_or_what_was_missing_is_said(
    share: float, level: float, near: float | None
) -> None:
    refused = abstained(share, level, near)
    by_meaning = near is not None and near > level
    assert (refused is None) == (share >= ENOUGH_SUPPORT or by_meaning)
    assert refused in (None, Abstained(share, level, near))


@given(SHARES, SHARES, COSINES, COSINES, COSINES)
def test_more_support_and_a_nearer_passage_never_turn_an_answer_into_none(
    one: float, other: float, level: float, near: float, far: float
) -> None:
    if abstained(min(one, other), level, min(near, far)) is None:
        assert abstained(max(one, other), level, max(near, far)) is None


def test_the_reason_names_every_figure() -> None:
    assert Abstained(0.123, 0.4567, 0.3214).reason == (
        "the best passage by words covers 12% of the query (from 30% on is enough), and the nearest by meaning has a "
        "cosine of 0.321, which is not above the 0.457 that unrelated passages here reach"
    )
    assert Abstained(0.0, 1.0, None).reason.endswith("and there is nothing to compare its meaning with")


@given(st.lists(COSINES, min_size=1, max_size=60))
def test_the_level_is_the_smallest_that_95_of_100_pairs_do_not_exceed(cosines: list[float]) -> None:
    found = level(cosines)
    assert found in cosines
    assert 100 * sum(each <= found for each in cosines) >= 95 * len(cosines)
    assert 100 * sum(each < found for each in cosines) < 95 * len(cosines)
    assert level(cosines[::-1]) == found


@given(NAMED, st.data())
def test_the_level_is_of_all_pairs_and_of_no_order(named: dict[str, bytes], data: st.DataObject) -> None:
    items = data.draw(st.permutations(list(named.items())))
    pairs = [cosine(one, other) for one, other in combinations(named.values(), 2)]
    assert level_of(items) == level_of(named.items()) == level(pairs)


def test_without_a_pair_no_cosine_is_above_the_level() -> None:
    assert level_of([]) == level_of([("a", b"\x01\0\0\0")]) == 1.0


@given(st.integers(0, 40))
def test_the_sample_is_of_the_smallest_ids(more: int) -> None:
    names = [f"{number:04x}" for number in range(SAMPLE + more)]
    assert sample((name, name) for name in names[::-1]) == names[:SAMPLE]
