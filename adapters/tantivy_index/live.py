"""Which rows are alive in the index, and of which document each is."""

from collections.abc import Iterator

import tantivy
from tantivy import Index, Occur, Query

from groundkit.adapters.tantivy_index.failures import Damaged
from groundkit.adapters.tantivy_index.schema import MARK_ID, count_of, of_document, rows_of

#: A thousand clauses are no faster than these.
_DOCUMENTS_PER_QUERY = 256


def live_rows(index: Index, searcher: tantivy.Searcher) -> dict[int, str]:
    """Documents are asked for many at a time, each under a score of its own: one by one they take three times as long."""
    everything = Query.all_query()
    documents = searcher.terms_with_prefix("doc", "", filter_query=everything)
    rows: dict[int, str] = {}
    for first in range(0, len(documents), _DOCUMENTS_PER_QUERY):
        part = [each for each in documents[first : first + _DOCUMENTS_PER_QUERY] if each[0] != MARK_ID]
        rows.update(_rows_with_documents(index.schema, searcher, part))
    marks = count_of(searcher.search(of_document(index.schema, MARK_ID), 1, count=True))
    if len(rows) + marks != count_of(searcher.search(everything, 1, count=True)):
        raise Damaged("a row stands twice, or belongs to no document")
    return rows


def _rows_with_documents(
    schema: tantivy.Schema, searcher: tantivy.Searcher, documents: list[tuple[str, int]]
) -> Iterator[tuple[int, str]]:
    clauses = [
        (Occur.Should, Query.const_score_query(of_document(schema, name), float(number)))
        for number, (name, _) in enumerate(documents, start=1)
    ]
    if clauses:
        expected = sum(count for _, count in documents)
        found = searcher.search(Query.boolean_query(clauses), max(1, expected), count=True)
        for row, (score, _) in zip(rows_of(searcher, found), found.hits, strict=True):
            if not 1 <= score <= len(documents):
                raise Damaged(f"row {row} belongs to several documents")
            yield row, documents[int(score) - 1][0]
