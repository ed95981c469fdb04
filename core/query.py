"""What a person typed, as a value. Total: every text is a query or is refused for its size. ADR 0008."""

import re
from collections.abc import Callable
from enum import Enum
from itertools import chain
from typing import TypeAlias

from attrs import frozen

from groundkit.core.result import Failure, Result, Success

#: Code points, phrases, and terms after analysis: distinct ones, and those of all phrases together.
MOST_CHARACTERS, MOST_PHRASES, MOST_TERMS, MOST_PHRASE_WORDS = 65_536, 64, 16_384, 4_096

#: The terms of a text in order, as the index has them.
TermsOf: TypeAlias = Callable[[str], list[str]]

#: A quotation mark after a letter or digit is an inch or a second; one without a partner is text like everything else.
_PHRASE = re.compile(r'(?<!\w)"([^"]*)"')


class QueryProblem(Enum):
    TOO_LONG = "too_long"
    TOO_MANY_PHRASES = "too_many_phrases"
    TOO_MANY_PHRASE_WORDS = "too_many_phrase_words"
    TOO_MANY_TERMS = "too_many_terms"


@frozen
class QueryRefused:
    """A query over one of the caps: which, how much it has, how much is allowed."""

    problem: QueryProblem
    found: int
    allowed: int


@frozen
class Query:
    """The text outside quotation marks, and each text between two of them. Nothing is analysed yet."""

    words: str
    phrases: tuple[str, ...] = ()


@frozen
class LexicalQuery:
    """What the index is asked: any of `terms` (sorted, no duplicates) and all `phrases` (of two terms or more).

    `required` terms must stand in a match. Every term of a phrase and every required term is among `terms`. No `excluded`
    term and no excluded phrase may stand in it.
    """

    terms: tuple[str, ...]
    required: tuple[str, ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()
    excluded: tuple[str, ...] = ()
    excluded_phrases: tuple[tuple[str, ...], ...] = ()


def parse(text: str) -> Result[Query, QueryRefused]:
    """Plain words and "quoted phrases". Nothing else is syntax yet."""
    if len(text) > MOST_CHARACTERS:
        return Failure(QueryRefused(QueryProblem.TOO_LONG, len(text), MOST_CHARACTERS))
    phrases = tuple(_PHRASE.findall(text))
    if len(phrases) > MOST_PHRASES:
        return Failure(QueryRefused(QueryProblem.TOO_MANY_PHRASES, len(phrases), MOST_PHRASES))
    return Success(Query(_PHRASE.sub(" ", text), phrases))


def compile_query(query: Query, terms_of: TermsOf) -> Result[LexicalQuery, QueryRefused]:
    """The query in the index's terms. A phrase of one term is a required term, one without terms asks nothing.

    A query without any term finds nothing. Refused over `MOST_TERMS`, or `MOST_PHRASE_WORDS` in all phrases together.
    """
    phrases = [tuple(terms_of(phrase)) for phrase in query.phrases]
    terms = {*terms_of(query.words), *chain.from_iterable(phrases)}
    in_phrases = sum(map(len, phrases))
    if in_phrases > MOST_PHRASE_WORDS:
        return Failure(QueryRefused(QueryProblem.TOO_MANY_PHRASE_WORDS, in_phrases, MOST_PHRASE_WORDS))
    if len(terms) > MOST_TERMS:
        return Failure(QueryRefused(QueryProblem.TOO_MANY_TERMS, len(terms), MOST_TERMS))
    return Success(
        LexicalQuery(
            terms=tuple(sorted(terms)),
            required=tuple(sorted({phrase[0] for phrase in phrases if len(phrase) == 1})),
            phrases=tuple(sorted({phrase for phrase in phrases if len(phrase) > 1})),
        )
    )
