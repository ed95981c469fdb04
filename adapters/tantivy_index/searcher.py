"""One searcher: what the engine says of terms, and the matches it proposes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import tantivy
from tantivy import Occur, Query

from groundkit.adapters.tantivy_index.failures import Damaged, attempt
from groundkit.adapters.tantivy_index.narrowing import Clauses, inside
from groundkit.adapters.tantivy_index.schema import MARK_ID, count_of, of_document, rows_of
from groundkit.core.query import LexicalQuery
from groundkit.core.ranking import Candidates, TermFacts
from groundkit.core.result import Result, Success
from groundkit.core.storage import LexicalFailure, Mark

if TYPE_CHECKING:
    from groundkit.core.briefs import Within


class TantivySearcher:
    """`groundkit.core.ports.LexicalSearcher`. Facts are asked of the engine once for each term."""

    def __init__(self, schema: tantivy.Schema, searcher: tantivy.Searcher, mark: Mark) -> None:
        self._schema = schema
        self._searcher = searcher
        self._mark = mark
        self._facts: dict[str, TermFacts] = {}
        #: The clauses of the last `within`: one search asks several times.
        self._inside: tuple[Within, Clauses] | None = None

    @property
    def mark(self) -> Mark:
        return self._mark

    def facts(self, term: str) -> Result[TermFacts, LexicalFailure]:
        known = self._facts.get(term)
        if known is not None:
            return Success(known)
        return attempt(lambda: self._facts.setdefault(term, self._ask(term)))

    def candidates(
        self, query: LexicalQuery, limit: int, within: Within | None = None
    ) -> Result[Candidates, LexicalFailure]:
        return attempt(lambda: self._candidates(query, limit, within))

    def meeting(self, query: LexicalQuery, within: Within | None = None) -> Result[frozenset[int], LexicalFailure]:
        return attempt(lambda: self._meeting(query, within))

    def _term(self, term: str) -> Query:
        return Query.term_query(self._schema, "body", term, index_option="freq")

    def _ask(self, term: str) -> TermFacts:
        query = self._term(term)
        found = self._searcher.search(query, 1, count=True)
        if not found.hits:
            return TermFacts(0, 0.0, 0.0)
        explained = json.loads(query.explain(self._searcher, found.hits[0][1]).to_json())
        return TermFacts(count_of(found), _explained(explained, "idf"), _explained(explained, "avgdl"))

    def _candidates(self, query: LexicalQuery, limit: int, within: Within | None) -> Candidates:
        if not query.terms or _nowhere(within):
            return Candidates((), 0)
        clauses = self._conditions(query, within)
        # Beside a clause that must match, terms are optional unless something says that one is not.
        least = 1 if any(occur == Occur.Must for occur, _ in clauses) else None
        asked = Query.boolean_query([*((Occur.Should, self._term(term)) for term in query.terms), *clauses], least)
        # Counting keeps the engine from skipping blocks by a bound that its own statistics can make too low.
        found = self._searcher.search(asked, max(1, min(limit, self._searcher.num_docs)), count=True)
        rows = rows_of(self._searcher, found)
        return Candidates(tuple(zip(rows, (score for score, _ in found.hits), strict=True)), count_of(found))

    def _meeting(self, query: LexicalQuery, within: Within | None) -> frozenset[int]:
        if _nowhere(within):
            return frozenset()
        clauses = [
            (Occur.Must, Query.const_score_query(Query.all_query(), 0.0)),
            *self._conditions(query, within),
            (Occur.MustNot, of_document(self._schema, MARK_ID)),
        ]
        found = self._searcher.search(Query.boolean_query(clauses), max(1, self._searcher.num_docs), count=True)
        rows = rows_of(self._searcher, found)
        if len(set(rows)) < count_of(found):
            raise Damaged("a row stands twice")
        return frozenset(rows)

    def _conditions(self, query: LexicalQuery, within: Within | None) -> Clauses:
        """Every score comes from the terms: these clauses must match or must not, and add nothing."""
        wanted = [self._term(term) for term in query.required]
        wanted += [self._phrase(phrase) for phrase in query.phrases]
        unwanted = [self._term(term) for term in query.excluded]
        unwanted += [self._phrase(phrase) for phrase in query.excluded_phrases]
        return [
            *((Occur.Must, Query.const_score_query(each, 0.0)) for each in wanted),
            *((Occur.MustNot, each) for each in unwanted),
            *self._within(within),
        ]

    def _phrase(self, phrase: tuple[str, ...]) -> Query:
        return Query.phrase_query(self._schema, "body", list(phrase))

    def _within(self, within: Within | None) -> Clauses:
        if within is None:
            return []
        if self._inside is None or self._inside[0] != within:
            self._inside = (within, inside(self._schema, within))
        return self._inside[1]


def _nowhere(within: Within | None) -> bool:
    return within is not None and (within.documents == frozenset() or within.rows == frozenset())


def _explained(explanation: dict[str, object], name: str) -> float:
    """The value of the first part whose description begins so."""
    pending: list[dict[str, object]] = [explanation]
    while pending:
        part = pending.pop()
        if str(part["description"]).startswith(name):
            return float(part["value"])  # type: ignore[arg-type]  # JSON
        pending += part.get("details", [])  # type: ignore[arg-type]  # JSON
    raise Damaged(f"the engine explains no {name}")
