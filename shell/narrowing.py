"""The conditions on documents and headings of a query, as the documents and rows that meet them."""

from collections.abc import Callable, Sequence
from itertools import chain

from groundkit.core.briefs import Within
from groundkit.core.filters import FieldCondition, filters
from groundkit.core.ports import StoreView
from groundkit.core.result import Failure, Result, Success
from groundkit.core.storage import Generation, StorageFailure


def narrowed(
    view: StoreView, generation: Generation, conditions: Sequence[FieldCondition], terms_of: Callable[[str], list[str]]
) -> Result[Within, StorageFailure]:
    """Where hits may come from."""
    wanted, at = filters(conditions, terms_of), generation.mark.generation
    briefs = view.briefs(at) if wanted.by_document else Success(())
    if isinstance(briefs, Failure):
        return briefs
    admitted = [each for each in briefs.unwrap() if wanted.admits(each)]
    if not wanted.by_heading:
        # By rows: the engine looks at many documents' ids more slowly.
        rows = (range(each.first_row, each.first_row + each.chunks) for each in admitted)
        return Success(Within(rows=frozenset(chain.from_iterable(rows))))
    documents = frozenset(each.document_id for each in admitted) if wanted.by_document else None
    below = view.rows_under(documents, at, wanted.admits_heading)
    return below if isinstance(below, Failure) else Success(Within(rows=below.unwrap()))
