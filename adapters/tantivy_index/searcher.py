"""One searcher: what the engine says of terms, and the matches it proposes."""

import json

import tantivy
from tantivy import Occur, Query

from groundkit.adapters.tantivy_index.failures import Damaged, attempt
from groundkit.adapters.tantivy_index.schema import count_of, rows_of
from groundkit.core.query import LexicalQuery
from groundkit.core.ranking import Candidates, TermFacts
from groundkit.core.result import Result, Success
from groundkit.core.storage import LexicalFailure, Mark


class TantivySearcher:
    """`groundkit.core.ports.LexicalSearcher`. Facts are asked of the engine once for each term."""

    def __init__(self, schema: tantivy.Schema, searcher: tantivy.Searcher, mark: Mark) -> None:
        self._schema = schema
        self._searcher = searcher
        self._mark = mark
        self._facts: dict[str, TermFacts] = {}

    @property
    def mark(self) -> Mark:
        return self._mark

    def facts(self, term: str) -> Result[TermFacts, LexicalFailure]:
        known = self._facts.get(term)
        if known is not None:
            return Success(known)
        return attempt(lambda: self._facts.setdefault(term, self._ask(term)))

    def candidates(self, query: LexicalQuery, limit: int) -> Result[Candidates, LexicalFailure]:
        return attempt(lambda: self._candidates(query, limit))

    def _term(self, term: str) -> Query:
        return Query.term_query(self._schema, "body", term, index_option="freq")

    def _ask(self, term: str) -> TermFacts:
        query = self._term(term)
        found = self._searcher.search(query, 1, count=True)
        if not found.hits:
            return TermFacts(0, 0.0, 0.0)
        explained = json.loads(query.explain(self._searcher, found.hits[0][1]).to_json())
        return TermFacts(count_of(found), _explained(explained, "idf"), _explained(explained, "avgdl"))

    def _candidates(self, query: LexicalQuery, limit: int) -> Candidates:
        if not query.terms:
            return Candidates((), 0)
        # Counting keeps the engine from skipping blocks by a bound that its own statistics can make too low.
        found = self._searcher.search(self._query(query), max(1, min(limit, self._searcher.num_docs)), count=True)
        rows = rows_of(self._searcher, found)
        return Candidates(tuple(zip(rows, (score for score, _ in found.hits), strict=True)), count_of(found))

    def _query(self, query: LexicalQuery) -> Query:
        """Every score comes from the terms; conditions are clauses that must match and add nothing."""
        conditions = [self._term(term) for term in query.required]
        conditions += [Query.phrase_query(self._schema, "body", list(phrase)) for phrase in query.phrases]
        clauses = [(Occur.Should, self._term(term)) for term in query.terms]
        clauses += [(Occur.Must, Query.const_score_query(each, 0.0)) for each in conditions]
        return Query.boolean_query(clauses)


def _explained(explanation: dict[str, object], name: str) -> float:
    """The value of the first part whose description begins so."""
    pending: list[dict[str, object]] = [explanation]
    while pending:
        part = pending.pop()
        if str(part["description"]).startswith(name):
            return float(part["value"])  # type: ignore[arg-type]  # JSON
        pending += part.get("details", [])  # type: ignore[arg-type]  # JSON
    raise Damaged(f"the engine explains no {name}")
