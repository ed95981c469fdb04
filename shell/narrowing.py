"""The conditions on documents and headings of a query, as the documents and rows that meet them."""

from collections.abc import Callable, Sequence

from groundkit.core.filters import FieldCondition, filters
from groundkit.core.ports import StoreView
from groundkit.core.result import Failure, Result, Success
from groundkit.core.storage import Generation, StorageFailure, Within


def narrowed(
    view: StoreView, generation: Generation, conditions: Sequence[FieldCondition], terms_of: Callable[[str], list[str]]
) -> Result[Within, StorageFailure]:
    """Where hits may come from."""
    wanted, at = filters(conditions, terms_of), generation.mark.generation
    documents: frozenset[str] | None = None
    if wanted.by_document:
        briefs = view.briefs(at)
        if isinstance(briefs, Failure):
            return briefs
        documents = frozenset(each.document_id for each in briefs.unwrap() if wanted.admits(each))
    if not wanted.by_heading:
        return Success(Within(documents=documents))
    rows = view.rows_under(documents, at, wanted.admits_heading)
    return rows if isinstance(rows, Failure) else Success(Within(rows=rows.unwrap()))
