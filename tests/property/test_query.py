"""Laws of queries: total, capped, and nothing is syntax but balanced quotation marks."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.filters import Field, FieldCondition
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
    explained,
    parse,
    wanted_terms,
    written,
)
from groundkit.core.result import Failure, Success

tokens = st.sampled_from(["fox", "dogs", "東", "a_b", "C++", "", "-", "né"])
queries = st.one_of(st.text(), st.text(st.sampled_from("ab \"'()+-*:~^[]{}\\/&|!“”\0\ud800")))


#: Whatever can begin syntax: a quotation mark, a sign right before a letter or digit, the name of a field with a colon.
SYNTAX = re.compile(r"""["]|(?<!\S)[-+]\w|(?<!\S)[-+]?(source|class|type|heading|after|before):""", re.IGNORECASE)

#: What a text can be put together from so that there is syntax in it.
pieces = st.sampled_from(
    ["fox", "-fox", "+fox", '"red fox"', '-"red fox"', '+"red fox"', "source:a/*.md", 'source:"a b.md"', "-class:text",
     "CLASS:extracted", "type:pdf", "heading:tides", "after:2024-02", "before:2025", "class:nonsense", "after:tomorrow", "-", "+",
     "12:30", "C++", "it's", "[E0308]", "https://x.example/a?b=c", "((((", "foo:bar", "--flag", "well-known", "5-3", "東京", "+東京"]
)  # fmt: skip
written_queries = st.lists(pieces, max_size=8).map(" ".join)


def terms_of(text: str) -> list[str]:
    return search_view(text)[0].split()


def compiled(text: str) -> LexicalQuery:
    """A query that asks for nothing finds what one without a word finds."""
    made = compile_query(parse(text).unwrap(), terms_of)
    if isinstance(made, Failure):
        assert made.failure().asks_for_nothing
        return LexicalQuery(())
    return made.unwrap()


@given(queries)
def test_every_text_is_a_query(text: str) -> None:
    query = compiled(text)
    assert list(query.terms) == sorted(set(query.terms))
    assert {*query.required, *(term for phrase in query.phrases for term in phrase)} <= set(query.terms)
    assert all(len(phrase) > 1 for phrase in query.phrases)


@given(queries)
def test_no_word_of_a_query_is_lost(text: str) -> None:
    """What is not excluded is looked for, but for the names and values of conditions."""
    query = parse(text).unwrap()
    said = [query.wanted, *query.excluded, *(part for each in query.fields for part in (each.field.value, each.value))]
    # A sign that is syntax parts nothing: it stands after white space.
    assert set(terms_of(" ".join(said))) >= set(terms_of(text.replace('"', " ")))


@given(queries.filter(lambda text: not SYNTAX.search(text)))
def test_without_syntax_all_is_text(text: str) -> None:
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


@given(st.one_of(queries, written_queries))
def test_a_query_written_anew_asks_the_same(text: str) -> None:
    query = parse(text).unwrap()
    again = parse(written(query)).unwrap()
    assert compile_query(again, terms_of) == compile_query(query, terms_of)
    assert again.fields == query.fields
    assert [sorted(each) for each in (again.phrases, again.required, again.excluded)] == [
        sorted(each) for each in (query.phrases, query.required, query.excluded)
    ]
    assert wanted_terms(written(query), terms_of) == wanted_terms(text, terms_of)


def test_queries_put_together_without_blanks_ask_the_same_when_written_anew() -> None:
    draw = random.Random(29)
    signs = [
        '"',
        "-",
        "+",
        " ",
        "a",
        "fox",
        "source:",
        "class:text",
        "class:x",
        '"red fox"',
        'heading:"x y"',
        '5"',
        "\u3000",
        "東京",
        ".",
    ]
    for _ in range(5_000):
        query = parse("".join(draw.choices(signs, k=draw.randint(1, 9)))).unwrap()
        again = parse(written(query)).unwrap()
        assert compile_query(again, terms_of) == compile_query(query, terms_of), query
        assert again.fields == query.fields, query


PLAIN = (
    "12:30", "C++", "it's", "[E0308]", "https://docs.example.org/a?b=c", "((((", "foo:bar", "--flag", "well-known", "a - b",
    "5-3", "source:", "\u017fource:a", "cla\u017fs:text", "HEAD\u0130NG:x", "head\u0131ng:x", "- fox", "+ fox", "++", "-", "a-b -", "(-fox)", "x source", "resource:a",
)  # fmt: skip


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_not_syntax_is_text(text: str) -> None:
    assert parse(text) == Success(Query(text))


def test_every_kind_of_syntax() -> None:
    query = parse(
        'tide +ferry -loaf "low water" -"high water" +"ebb" source:a/*.md -class:snapshot HEADING:"the moon"'
    ).unwrap()
    assert query.words.split() == ["tide"]
    assert (query.phrases, query.required, query.excluded) == (("low water",), ("ferry", "ebb"), ("loaf", "high water"))
    assert query.fields == (
        FieldCondition(Field.SOURCE, "a/*.md"),
        FieldCondition(Field.CLASS, "snapshot", True),
        FieldCondition(Field.HEADING, "the moon"),
    )
    asked = compile_query(query, terms_of).unwrap()
    assert asked == LexicalQuery(
        terms=("ebb", "ferry", "low", "tide", "water"),
        required=("ebb", "ferry"),
        phrases=(("low", "water"),),
        excluded=("loaf",),
        excluded_phrases=(("high", "water"),),
    )
    assert explained(query, asked) == (
        "any of: ebb, ferry, low, tide, water",
        'with: ebb, ferry, "low water"',
        'without: loaf, "high water"',
        "only in: source a/*.md, heading the moon",
        "not in: class snapshot",
    )


def test_a_word_of_several_terms_with_a_sign_is_a_phrase() -> None:
    assert compiled("x +東京 -well-known") == LexicalQuery(
        ("x", "京", "東"), phrases=(("東", "京"),), excluded_phrases=(("well", "known"),)
    )


@pytest.mark.parametrize(
    "text", ["class:nonsense", "type:nonsense", "after:tomorrow", "before:2024-13", "after:2024-02-30"]
)
def test_a_value_that_cannot_be_is_text_and_that_is_said(text: str) -> None:
    query = parse(f"fox {text}").unwrap()
    assert (query.fields, query.words) == ((), f"fox {text}")
    (said,) = query.not_syntax
    assert said.startswith(f"{text} is taken as text: ")
    assert said in explained(query, compiled(f"fox {text}"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("-fox", QueryProblem.ONLY_EXCLUSIONS),
        ('-fox -"red hen"', QueryProblem.ONLY_EXCLUSIONS),
        ("-class:text", QueryProblem.ONLY_EXCLUSIONS),
        ("source:a.md -fox", QueryProblem.ONLY_EXCLUSIONS),
        ("source:a.md after:2024", QueryProblem.ONLY_CONDITIONS),
    ],
)
def test_what_asks_for_nothing_is_refused_by_name(text: str, problem: QueryProblem) -> None:
    refused = compile_query(parse(text).unwrap(), terms_of).failure()
    assert (refused.problem, refused.asks_for_nothing) == (problem, True)


def test_many_signs_and_conditions_are_refused() -> None:
    assert parse("-a " * (MOST_PHRASES + 1)).failure().problem is QueryProblem.TOO_MANY_PHRASES
    assert parse("source:a " * 65).failure().problem is QueryProblem.TOO_MANY_CONDITIONS
    long = compile_query(Query("x", excluded=(" a" * (MOST_PHRASE_WORDS + 1),)), terms_of)
    assert long.failure().problem is QueryProblem.TOO_MANY_PHRASE_WORDS


@pytest.mark.parametrize(
    "unit", ['"', '+"', 'source:"', "-a", "source:", " +", '" ', 'x"', "class:text ", "\ud800", "((("]
)
def test_a_text_of_nothing_but_signs_is_answered(unit: str) -> None:
    made = parse((unit * MOST_CHARACTERS)[:MOST_CHARACTERS])
    if isinstance(made, Success):
        compile_query(made.unwrap(), terms_of)
