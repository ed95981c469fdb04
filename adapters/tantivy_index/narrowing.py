"""Where to look, as clauses of the engine: only in some documents, only in some rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import tantivy
from tantivy import FieldType, Occur, Query

if TYPE_CHECKING:
    from groundkit.core.briefs import Within


Clauses: TypeAlias = list[tuple[Occur, Query]]


def inside(schema: tantivy.Schema, within: Within) -> Clauses:
    """Clauses that add nothing to a score. The sets are not empty."""
    clauses: Clauses = []
    if within.documents is not None:
        clauses.append(_must(Query.term_set_query(schema, "doc", sorted(within.documents))))
    if within.rows is not None:
        clauses += _of_rows(schema, within.rows)
    return clauses


def _of_rows(schema: tantivy.Schema, rows: frozenset[int]) -> Clauses:
    """What is dear is the number of rows that are named: those that are wanted, or those missing from their range."""
    first, last = min(rows), max(rows)
    if last - first + 1 > 2 * len(rows):
        return [_must(Query.term_set_query(schema, "row", sorted(rows)))]
    clauses = [_must(Query.range_query(schema, "row", FieldType.Integer, first, last))]
    if missing := sorted(set(range(first, last + 1)) - rows):
        clauses.append((Occur.MustNot, Query.term_set_query(schema, "row", missing)))
    return clauses


def _must(query: Query) -> tuple[Occur, Query]:
    return Occur.Must, Query.const_score_query(query, 0.0)
