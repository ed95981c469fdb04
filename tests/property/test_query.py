"""Laws of queries: total, capped, and nothing is syntax but balanced quotation marks."""

from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.folding import search_view
from groundkit.core.query import (
    MOST_CHARACTERS,
    MOST_PHRASE_WORDS,
    MOST_PHRASES,
    MOST_TERMS,
    LexicalQuery,
    Query,
    QueryProblem,
    compile_query,
    parse,
)
from groundkit.core.result import Failure, Success

tokens = st.sampled_from(["fox", "dogs", "東", "a_b", "C++", "", "-", "né"])
queries = st.one_of(st.text(), st.text(st.sampled_from("ab \"'()+-*:~^[]{}\\/&|!“”\0\ud800")))


def terms_of(text: str) -> list[str]:
    return search_view(text)[0].split()


def compiled(text: str) -> LexicalQuery:
    return compile_query(parse(text).unwrap(), terms_of).unwrap()


@given(queries)
def test_every_text_is_a_query(text: str) -> None:
    query = compiled(text)
    assert list(query.terms) == sorted(set(query.terms))
    assert {*query.required, *(term for phrase in query.phrases for term in phrase)} <= set(query.terms)
    assert all(len(phrase) > 1 for phrase in query.phrases)


@given(queries)
def test_no_word_of_a_query_is_lost(text: str) -> None:
    assert set(compiled(text).terms) == set(terms_of(text.replace('"', " ")))


@given(queries.filter(lambda text: '"' not in text))
def test_without_quotation_marks_all_is_text(text: str) -> None:
    assert parse(text) == Success(Query(text))


@given(st.lists(tokens), st.lists(tokens))
def test_an_unbalanced_quotation_mark_is_text(before: list[str], after: list[str]) -> None:
    query = compiled(" ".join([*before, '"', *after]))
    assert (query.required, query.phrases) == ((), ())


@given(st.lists(st.lists(tokens), max_size=5), st.lists(tokens))
def test_quoted_words_are_required_in_their_order(phrases: list[list[str]], words: list[str]) -> None:
    query = compiled(" ".join([*(f'"{" ".join(phrase)}"' for phrase in phrases), *words]))
    quoted = [tuple(terms_of(" ".join(phrase))) for phrase in phrases]
    assert set(query.phrases) == {phrase for phrase in quoted if len(phrase) > 1}
    assert set(query.required) == {phrase[0] for phrase in quoted if len(phrase) == 1}


def test_a_quotation_mark_after_a_digit_is_an_inch() -> None:
    assert compiled('a 5" disk and a 3" one "in stock"').phrases == (("in", "stock"),)


@given(st.lists(tokens), st.permutations(["fox", "dogs", "hen"]))
def test_order_and_repetition_of_words_ask_the_same(extra: list[str], words: list[str]) -> None:
    assert compiled(" ".join([*words, *extra])) == compiled(" ".join(sorted([*words, *words, *extra])))


@given(st.integers(1, 1_000_000))
def test_a_query_over_the_length_cap_is_refused_with_the_facts(over: int) -> None:
    refused = parse("x" * (MOST_CHARACTERS + over)).failure()
    assert (refused.problem, refused.found, refused.allowed) == (
        QueryProblem.TOO_LONG,
        MOST_CHARACTERS + over,
        MOST_CHARACTERS,
    )
    assert isinstance(parse("x" * MOST_CHARACTERS), Success)


def test_caps_on_phrases_and_terms_lie_where_they_say() -> None:
    assert isinstance(parse('"a b" ' * MOST_PHRASES), Success)
    assert parse('"a b" ' * (MOST_PHRASES + 1)).failure().problem is QueryProblem.TOO_MANY_PHRASES
    words = [chr(0x4E00 + number) for number in range(MOST_TERMS)]
    assert len(compiled(" ".join(words)).terms) == MOST_TERMS
    over = compile_query(Query(" ".join([*words, "one"])), terms_of)
    assert isinstance(over, Failure)
    assert (over.failure().problem, over.failure().found) == (QueryProblem.TOO_MANY_TERMS, MOST_TERMS + 1)
    assert isinstance(compile_query(Query("", (" a" * (MOST_PHRASE_WORDS + 1),)), terms_of), Failure)
