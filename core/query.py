"""What a person typed, as a value. Total: every text is a query or is refused by name. ADR 0029."""

import re
from collections.abc import Callable, Iterable
from enum import Enum
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from attrs import frozen

from groundkit.core.result import Failure, Result, Success

if TYPE_CHECKING:
    from groundkit.core.filters import FieldCondition

#: Code points, phrases, and terms after analysis: distinct ones, and those of all phrases together. Exclusions count, too.
MOST_CHARACTERS, MOST_PHRASES, MOST_TERMS, MOST_PHRASE_WORDS = 65_536, 64, 16_384, 4_096
#: Conditions on fields.
MOST_CONDITIONS = 64

#: The terms of a text in order, as the index has them.
TermsOf: TypeAlias = Callable[[str], list[str]]

#: Without one of these a text has no syntax.
_SIGNS = frozenset('":+-')


@cache
def _syntax() -> re.Pattern[str]:
    """Nothing else is syntax. A sign or a field begins after white space, and a sign stands right before what it is of. A
    quotation mark after a letter or digit is an inch or a second; one without a partner is text like everything else. Names
    are ASCII: to a pattern that ignores case, `ſ` is an `s`, too."""
    return re.compile(
        r"""
        (?<!\S)(?P<not>[-+])?(?P<field>(?ai:source|class|type|heading|after|before)):(?:"(?P<quoted>[^"]+)"|(?P<value>[^\s"]\S*))
        | (?<!\S)(?P<sign>[-+])(?:"(?P<signed_phrase>[^"]*)"|(?P<signed_word>\w\S*))
        | (?<!\w)"(?P<phrase>[^"]*)"
        """,
        re.VERBOSE,
    )


class QueryProblem(Enum):
    TOO_LONG = "too_long"
    TOO_MANY_PHRASES = "too_many_phrases"
    TOO_MANY_PHRASE_WORDS = "too_many_phrase_words"
    TOO_MANY_TERMS = "too_many_terms"
    TOO_MANY_CONDITIONS = "too_many_conditions"
    ONLY_EXCLUSIONS = "only_exclusions"
    ONLY_CONDITIONS = "only_conditions"


@frozen
class QueryRefused:
    """A query over one of the caps: which, how much it has, how much is allowed; or one that asks for nothing."""

    problem: QueryProblem
    found: int = 0
    allowed: int = 0

    @property
    def asks_for_nothing(self) -> bool:
        """Whether it only says what is not wanted, or where to look: then it has no hits, and that is why."""
        return self.problem in (QueryProblem.ONLY_EXCLUSIONS, QueryProblem.ONLY_CONDITIONS)


@frozen
class Query:
    """The text outside all syntax; texts that must stand together, be there, not be there; conditions on fields.

    Nothing is analysed yet. `not_syntax` says of each `field:value` that was taken as text why it is no condition.
    """

    words: str
    phrases: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    fields: "tuple[FieldCondition, ...]" = ()
    not_syntax: tuple[str, ...] = ()

    @property
    def wanted(self) -> str:
        """What is looked for, without the syntax around it."""
        return " ".join(filter(None, (" ".join(self.words.split()), *self.phrases, *self.required)))


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

    @property
    def conditional(self) -> bool:
        """Whether not everything with one of the terms matches."""
        return bool(self.required or self.phrases or self.excluded or self.excluded_phrases)


def parse(text: str) -> Result[Query, QueryRefused]:
    """Words, "phrases", +word, -word, field:value. Whatever is none of these is text, never an error."""
    if len(text) > MOST_CHARACTERS:
        return Failure(QueryRefused(QueryProblem.TOO_LONG, len(text), MOST_CHARACTERS))
    if _SIGNS.isdisjoint(text):
        return Success(Query(text))
    parts = _Parts()
    words = _syntax().sub(parts.take, text)
    phrases = len(parts.phrases) + len(parts.required) + len(parts.excluded)
    if phrases > MOST_PHRASES:
        return Failure(QueryRefused(QueryProblem.TOO_MANY_PHRASES, phrases, MOST_PHRASES))
    if len(parts.fields) > MOST_CONDITIONS:
        return Failure(QueryRefused(QueryProblem.TOO_MANY_CONDITIONS, len(parts.fields), MOST_CONDITIONS))
    return Success(
        Query(
            words,
            tuple(parts.phrases),
            tuple(parts.required),
            tuple(parts.excluded),
            tuple(parts.fields),
            tuple(parts.not_syntax),
        )
    )


class _Parts:
    """What is taken out of a text while the syntax in it is looked for."""

    def __init__(self) -> None:
        self.phrases: list[str] = []
        self.required: list[str] = []
        self.excluded: list[str] = []
        self.fields: list[FieldCondition] = []
        self.not_syntax: list[str] = []

    def take(self, found: re.Match[str]) -> str:
        """A blank for what is syntax; what only looks like it stays."""
        if found["field"]:
            return self._take_field(found)
        if found["phrase"] is not None:
            self.phrases.append(found["phrase"])
        else:
            side = self.excluded if found["sign"] == "-" else self.required
            side.append(found["signed_word"] if found["signed_phrase"] is None else found["signed_phrase"])
        return " "

    def _take_field(self, found: re.Match[str]) -> str:
        from groundkit.core.filters import Field, FieldCondition, wrong_value

        value = found["value"] if found["quoted"] is None else found["quoted"]
        condition = FieldCondition(Field(found["field"].lower()), value, found["not"] == "-")
        wrong = wrong_value(condition)
        if wrong is not None:
            self.not_syntax.append(wrong)
            return found[0]
        self.fields.append(condition)
        return " "


def compile_query(query: Query, terms_of: TermsOf) -> Result[LexicalQuery, QueryRefused]:
    """The query in the index's terms. A phrase of one term is a required term, one without terms asks nothing; a required or
    excluded word of several terms is a phrase.

    A query without any term finds nothing. Refused over `MOST_TERMS`, or `MOST_PHRASE_WORDS` in all phrases together, and
    where nothing is wanted: only exclusions, only conditions on fields.
    """
    together = [tuple(terms_of(each)) for each in (*query.phrases, *query.required)]
    without = [tuple(terms_of(each)) for each in query.excluded]
    terms = {*terms_of(query.words), *chain.from_iterable(together)}
    in_phrases = sum(map(len, chain(together, without)))
    if in_phrases > MOST_PHRASE_WORDS:
        return Failure(QueryRefused(QueryProblem.TOO_MANY_PHRASE_WORDS, in_phrases, MOST_PHRASE_WORDS))
    if len(terms) > MOST_TERMS:
        return Failure(QueryRefused(QueryProblem.TOO_MANY_TERMS, len(terms), MOST_TERMS))
    if not terms and (any(without) or any(each.negated for each in query.fields)):
        return Failure(QueryRefused(QueryProblem.ONLY_EXCLUSIONS))
    if not terms and query.fields:
        return Failure(QueryRefused(QueryProblem.ONLY_CONDITIONS))
    return Success(
        LexicalQuery(
            terms=tuple(sorted(terms)),
            required=_single(together),
            phrases=_several(together),
            excluded=_single(without),
            excluded_phrases=_several(without),
        )
    )


def _single(texts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(sorted({each[0] for each in texts if len(each) == 1}))


def _several(texts: Iterable[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    return tuple(sorted({each for each in texts if len(each) > 1}))


def wanted_terms(text: str, terms_of: Callable[[str], Iterable[str]]) -> frozenset[str]:
    """The terms that a query looks for; none of one that is refused. What is excluded is not among them."""
    parsed = parse(text)
    return frozenset() if isinstance(parsed, Failure) else frozenset(terms_of(parsed.unwrap().wanted))


def written(query: Query) -> str:
    """A text that asks the same: its terms and conditions, not its blanks. The words come last, since a quotation mark without a
    partner among them would find one in what follows."""
    parts = [f'"{each}"' for each in query.phrases]
    signed = [f"+{_quoted(each)}" for each in query.required] + [f"-{_quoted(each)}" for each in query.excluded]
    # `-source:"a` is a word, as long as no quotation mark follows.
    parts += (each for each in signed if not _is_open(each))
    parts += (f"{'-' if each.negated else ''}{each.field.value}:{_value(each.value)}" for each in query.fields)
    parts.append(_syntax().sub(_as_text, query.words.strip()))
    parts += filter(_is_open, signed)
    return " ".join(filter(None, parts))


def _is_open(signed: str) -> bool:
    """Whether another quotation mark would make a field of it."""
    found = _syntax().fullmatch(f'{signed}"')
    return found is not None and found["quoted"] is not None


def _as_text(found: re.Match[str]) -> str:
    """What stood right behind a quotation mark was no syntax, and is none behind a bracket; a wrong value is text anyway."""
    return found[0] if _Parts().take(found) == found[0] else f"({found[0]}"


def _quoted(text: str) -> str:
    """What has a colon could be a field; a quotation mark is only in what was a word."""
    return text if '"' in text or re.fullmatch(r"\w[^\s:]*", text) else f'"{text}"'


def _value(text: str) -> str:
    return text if re.fullmatch(r'[^\s"]\S*', text) else f'"{text}"'


def explained(query: Query, lexical: LexicalQuery) -> tuple[str, ...]:
    """How a query was understood, a line for each part."""
    told = [
        ("any of", lexical.terms),
        ("with", (*lexical.required, *(f'"{" ".join(each)}"' for each in lexical.phrases))),
        ("without", (*lexical.excluded, *(f'"{" ".join(each)}"' for each in lexical.excluded_phrases))),
        ("only in", tuple(_field(each) for each in query.fields if not each.negated)),
        ("not in", tuple(_field(each) for each in query.fields if each.negated)),
    ]
    return (*(f"{name}: {', '.join(parts)}" for name, parts in told if parts), *query.not_syntax)


def _field(condition: "FieldCondition") -> str:
    return f"{condition.field.value} {condition.value}"
