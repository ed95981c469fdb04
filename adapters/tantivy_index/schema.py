"""The fields of the index, and what is written into and read out of them."""

from __future__ import annotations

import tantivy
from tantivy import Document, Query

from groundkit.adapters.tantivy_index.failures import Damaged
from groundkit.core.storage import Mark

TOKENIZER = "view"
#: Ids of documents are hex digits, so these two belong to none.
MARK_ID = "\0mark"
NEVER = "\0never"


def make_schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("row", indexed=True, fast=True)
    builder.add_text_field("doc", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("body", tokenizer_name=TOKENIZER)
    builder.add_text_field("mark", stored=True, tokenizer_name="raw", index_option="basic")
    return builder.build()


def row_document(document_id: str, row: int, body: str) -> Document:
    """`body` is the terms of a chunk, separated by blanks."""
    return Document(row=row, doc=document_id, body=body)


def mark_document(mark: Mark) -> Document:
    return Document(doc=MARK_ID, mark=f"{mark.generation}:{mark.token}")


def of_document(schema: tantivy.Schema, document_id: str) -> Query:
    return Query.term_query(schema, "doc", document_id, index_option="basic")


def count_of(found: tantivy.SearchResult) -> int:
    return int(found.count)  # type: ignore[attr-defined]  # its stub lacks it


def rows_of(searcher: tantivy.Searcher, found: tantivy.SearchResult) -> list[int]:
    rows = searcher.fast_field_values("row", [address for _, address in found.hits])
    if any(row is None for row in rows):
        raise Damaged("a match has no row")
    return [int(row) for row in rows if row is not None]


def mark_of(schema: tantivy.Schema, searcher: tantivy.Searcher) -> Mark:
    found = searcher.search(of_document(schema, MARK_ID), 1, count=True)
    if count_of(found) != 1:
        raise Damaged("the index names no generation")
    number, _, token = str(searcher.doc(found.hits[0][1]).get_first("mark")).partition(":")
    if not (number.isascii() and number.isdecimal()):
        raise Damaged("the index names no generation")
    return Mark(int(number), token)
