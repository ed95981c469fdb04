"""The lexical index on tantivy: postings and row numbers, nothing stored but which generation they belong to."""

from groundkit.adapters.tantivy_index.index import TantivyIndex

__all__ = ["TantivyIndex"]
