"""tantivy and SQLite put together by hand, as durable as groundkit and with nothing else of what it does.

Every file is read, cut into pieces of a fixed size, put into SQLite (WAL, synchronous=FULL) and committed to tantivy
in batches; then SQLite says that the index has them. No ids, no structure, no change detection, no exact scores.
"""

import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import tantivy
from clock import Measures, spent
from corpus import queries

#: As groundkit by default.
SIZE, BATCH = 1200, 4096


def _analyzer() -> tantivy.TextAnalyzer:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    return builder.filter(tantivy.Filter.lowercase()).filter(tantivy.Filter.stemmer("english")).build()


def _index(directory: Path) -> tantivy.Index:
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("row", fast=True)
    builder.add_text_field("body", tokenizer_name="words")
    directory.mkdir(exist_ok=True)
    index = tantivy.Index(builder.build(), path=str(directory))
    index.register_tokenizer("words", _analyzer())
    return index


def ingest(base: str, directory: str) -> None:
    os.makedirs(directory)
    rows = apsw.Connection(os.path.join(directory, "rows.sqlite3"))
    rows.pragma("journal_mode", "wal")
    rows.pragma("synchronous", "FULL")
    rows.execute("CREATE TABLE documents (id INTEGER PRIMARY KEY, source TEXT, digest BLOB)")
    rows.execute("CREATE TABLE chunks (row INTEGER PRIMARY KEY, document INTEGER, start INTEGER, text TEXT)")
    rows.execute("CREATE TABLE state (indexed INTEGER)")
    writer = _index(Path(directory) / "words").writer(128_000_000, 1)
    files = sorted(Path(base).rglob("*.md"))
    for first in range(0, len(files), BATCH):
        part = list(_pieces(files[first : first + BATCH], first))
        with rows:
            rows.executemany("INSERT INTO documents VALUES (?, ?, ?)", {each[0]: each[:3] for each in part}.values())
            rows.executemany("INSERT INTO chunks VALUES (?, ?, ?, ?)", ((each[3], each[0], *each[4:]) for each in part))
        for each in part:
            writer.add_document(tantivy.Document(row=each[3], body=each[5]))
        writer.commit()
        with rows:
            rows.execute("REPLACE INTO state VALUES (?)", (first,))
    writer.wait_merging_threads()
    rows.close()


def _pieces(files: list[Path], first: int) -> Iterator[tuple[int, str, bytes, int, int, str]]:
    for number, path in enumerate(files, first):
        data = path.read_bytes()
        text, digest = data.decode(), hashlib.sha256(data).digest()
        for place, start in enumerate(range(0, len(text), SIZE)):
            yield number, str(path), digest, number * 10_000 + place, start, text[start : start + SIZE]


def warm(directory: str, count: str) -> None:
    """Raw tantivy: the ten best rows of an OR of the words, nothing read from SQLite."""
    index = _index(Path(directory) / "words")
    searcher = index.searcher()
    told = Measures()

    def search(query: str) -> None:
        found = searcher.search(index.parse_query(query, ["body"]), 10)
        searcher.fast_field_values("row", [address for _, address in found.hits])

    for words in (1, 3, 8):
        asked = list(queries(words, int(count)))
        search(asked[0])
        told.quantiles(f"warm {words}", [spent(lambda q=q: search(q)) for q in asked])
    told.tell()


if __name__ == "__main__":
    {"ingest": ingest, "warm": warm}[sys.argv[1]](*sys.argv[2:])
