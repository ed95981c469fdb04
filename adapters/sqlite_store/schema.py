"""Tables of the document store, and how rows become the core's values and back.

A row is alive at generation g when `since <= g` and `until` is empty or greater. Texts and headings may hold NUL, so no
SQL string function ever touches them.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from groundkit.core.model import Chunk, DocumentRecord, Locator, Span, extractor_of, provenance, source_class_of
from groundkit.core.result import Success
from groundkit.core.settings import Settings
from groundkit.core.storage import Generation, Mark, SourceFailure, Statistics, StoredChunk, StoreState

Value: TypeAlias = int | str | None
Row: TypeAlias = tuple[Value, ...]


class DamagedRow(ValueError):
    """A row that this program cannot have written."""


# `number` is what chunks know their document by: it is shorter than the id, and a rebound document keeps it.
# `text` comes last: whoever wants only tokens or places need not read past them.
TABLES = (
    """CREATE TABLE generations (
        g INTEGER PRIMARY KEY, token TEXT NOT NULL, analyzer TEXT NOT NULL,
        chunks INTEGER NOT NULL, tokens INTEGER NOT NULL, longest INTEGER NOT NULL
    ) STRICT""",
    """CREATE TABLE state (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        cur INTEGER NOT NULL REFERENCES generations, tip INTEGER NOT NULL REFERENCES generations,
        build INTEGER NOT NULL, dropped INTEGER NOT NULL DEFAULT 0 CHECK (dropped IN (0, 1)),
        chunk_size INTEGER NOT NULL, chunk_overlap INTEGER NOT NULL, language TEXT NOT NULL,
        max_bytes INTEGER NOT NULL, base TEXT,
        CHECK (cur <= tip)
    ) STRICT""",
    """CREATE TABLE documents (
        row INTEGER PRIMARY KEY AUTOINCREMENT, number INTEGER NOT NULL, id TEXT NOT NULL, source TEXT NOT NULL,
        source_class TEXT NOT NULL CHECK (source_class IN ('text', 'extracted', 'snapshot')),
        extractor TEXT CHECK (extractor <> ''),
        text_digest TEXT NOT NULL, length INTEGER NOT NULL, chunks INTEGER NOT NULL, media_type TEXT NOT NULL,
        title TEXT NOT NULL, fingerprint TEXT NOT NULL, ingested_at TEXT NOT NULL,
        since INTEGER NOT NULL, until INTEGER CHECK (until > since),
        UNIQUE (id, since), UNIQUE (number, since),
        CHECK ((source_class = 'extracted') = (extractor IS NOT NULL))
    ) STRICT""",
    "CREATE UNIQUE INDEX documents_live ON documents (source) WHERE until IS NULL",
    "CREATE INDEX documents_ended ON documents (source) WHERE until IS NOT NULL",
    "CREATE INDEX documents_until ON documents (until) WHERE until IS NOT NULL",
    """CREATE TABLE chunks (
        row INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, document INTEGER NOT NULL,
        ordinal INTEGER NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL, tokens INTEGER NOT NULL,
        line INTEGER NOT NULL, col INTEGER NOT NULL, heading TEXT,
        since INTEGER NOT NULL, until INTEGER CHECK (until > since), text TEXT NOT NULL,
        UNIQUE (id, since)
    ) STRICT""",
    "CREATE INDEX chunks_of_document ON chunks (document, ordinal, since, until)",
    "CREATE INDEX chunks_until ON chunks (until) WHERE until IS NOT NULL",
    "CREATE TABLE outbox (document_id TEXT PRIMARY KEY, g INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    """CREATE TABLE failures (
        source TEXT PRIMARY KEY, reason TEXT NOT NULL, detail TEXT NOT NULL, noticed_at TEXT NOT NULL
    ) STRICT, WITHOUT ROWID""",
)


def alive(table: str) -> str:
    """The condition for rows alive at the generation bound as `:at`."""
    return f"{table}.since <= :at AND ({table}.until IS NULL OR {table}.until > :at)"


STATE = """SELECT c.g, c.token, c.analyzer, c.chunks, c.tokens, c.longest,
                  t.g, t.token, t.analyzer, t.chunks, t.tokens, t.longest,
                  s.build, s.dropped, s.chunk_size, s.chunk_overlap, s.language, s.max_bytes, s.base
             FROM state s JOIN generations c ON c.g = s.cur JOIN generations t ON t.g = s.tip"""

RECORD_COLUMNS = """d.id, d.source, d.source_class, d.extractor, d.text_digest, d.length, d.chunks, d.media_type,
                    d.title, d.fingerprint, d.ingested_at"""
CHUNK_COLUMNS = "c.row, c.id, c.ordinal, c.start, c.stop, c.tokens, c.line, c.col, c.heading, c.text"

RECORDS = f"SELECT {RECORD_COLUMNS} FROM documents d WHERE {alive('d')}"
_DOCUMENT_AND_CHUNK = f"c.document = d.number AND {alive('c')} AND {alive('d')}"
#: Rows come in as one JSON array: no limit on their number, and one statement for the cache.
GIVEN_ROWS = "json_each(:rows) j CROSS JOIN chunks c ON c.row = j.value"
# CROSS JOIN keeps SQLite from choosing another order by its guesses.
_STORED = f"SELECT {CHUNK_COLUMNS}, {RECORD_COLUMNS} FROM"
CHUNKS_BY_ROW = f"{_STORED} {GIVEN_ROWS} CROSS JOIN documents d ON {_DOCUMENT_AND_CHUNK}"
CHUNKS_OF_DOCUMENT = f"""{_STORED} documents d CROSS JOIN chunks c ON {_DOCUMENT_AND_CHUNK}
    WHERE d.id = :id AND c.ordinal >= :first ORDER BY c.ordinal LIMIT :count"""
CHUNKS_BY_PREFIX = f"""{_STORED} chunks c CROSS JOIN documents d ON {_DOCUMENT_AND_CHUNK}
    WHERE c.id >= :prefix AND c.id < :beyond ORDER BY c.id LIMIT :limit"""
SIZES = f"SELECT c.row, c.tokens FROM {GIVEN_ROWS} WHERE {alive('c')}"
FIRST = f"""SELECT c.row FROM {GIVEN_ROWS} CROSS JOIN documents d ON {_DOCUMENT_AND_CHUNK}
    ORDER BY d.source, c.start LIMIT :limit"""
LIVE = f"SELECT c.row, d.id FROM documents d CROSS JOIN chunks c ON {_DOCUMENT_AND_CHUNK}"
OUTBOX = f"""SELECT o.document_id, c.row, c.text FROM outbox o
    LEFT JOIN documents d ON d.id = o.document_id AND {alive("d")}
    LEFT JOIN chunks c ON c.document = d.number AND {alive("c")} ORDER BY o.document_id, c.ordinal"""
EVERYTHING = f"""SELECT d.id, c.row, c.text FROM documents d CROSS JOIN chunks c ON {_DOCUMENT_AND_CHUNK}
    WHERE d.id > :after ORDER BY d.id, c.ordinal"""
FAILURES = "SELECT source, reason, detail, noticed_at FROM failures ORDER BY source"

INSERT_DOCUMENT = """INSERT INTO documents (number, id, source, source_class, extractor, text_digest, length, chunks,
                     media_type, title, fingerprint, ingested_at, since) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
INSERT_CHUNK = """INSERT INTO chunks (row, id, document, ordinal, start, stop, tokens, line, col, heading, text, since)
                  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
INSERT_GENERATION = "INSERT INTO generations (g, token, analyzer, chunks, tokens, longest) VALUES (?, ?, ?, ?, ?, ?)"
INSERT_STATE = """INSERT INTO state (one, cur, tip, build, chunk_size, chunk_overlap, language, max_bytes, base)
                  VALUES (1, 0, 0, 0, ?, ?, ?, ?, ?)"""
UPDATE_SETTINGS = "UPDATE state SET chunk_size = ?, chunk_overlap = ?, language = ?, max_bytes = ?, base = ?"


def settings_row(settings: Settings) -> Row:
    return (settings.chunk_size, settings.chunk_overlap, settings.language, settings.max_bytes, settings.base)


def generation_row(generation: Generation) -> Row:
    mark, counts = generation.mark, generation.statistics
    return (mark.generation, mark.token, generation.analyzer, counts.chunks, counts.tokens, counts.longest)


def _generation(g: int, token: str, analyzer: str, chunks: int, tokens: int, longest: int) -> Generation:
    return Generation(Mark(g, token), Statistics(chunks, tokens, longest), analyzer)


def state_of(row: Sequence[object]) -> tuple[StoreState, bool]:
    """The state, and whether the collection was dropped."""
    cells: Sequence = row  # type: ignore[type-arg] # STRICT tables hold what the columns say
    chunk_size, chunk_overlap, language, max_bytes, base = cells[14:19]
    settings = Settings(
        chunk_size=chunk_size, chunk_overlap=chunk_overlap, language=language, max_bytes=max_bytes, base=base
    )
    return StoreState(_generation(*cells[0:6]), _generation(*cells[6:12]), cells[12], settings), bool(cells[13])


def document_row(number: int, record: DocumentRecord, since: int) -> Row:
    return (
        number,
        record.document_id,
        record.source,
        source_class_of(record.provenance).value,
        extractor_of(record.provenance),
        record.text_digest,
        record.length,
        record.chunks,
        record.media_type,
        record.title,
        record.fingerprint,
        record.ingested_at,
        since,
    )


def record_of(cells: Sequence) -> DocumentRecord:  # type: ignore[type-arg] # as above
    document_id, source, source_class, extractor, *rest = cells
    origin = provenance(source_class, extractor)
    if not isinstance(origin, Success):
        raise DamagedRow(f"document {document_id}: class {source_class!r} with extractor {extractor!r}")
    return DocumentRecord(document_id, source, origin.unwrap(), *rest)


_JSON = json.JSONEncoder(ensure_ascii=False)


def heading_cell(path: tuple[str, ...]) -> str | None:
    return _JSON.encode(path) if path else None


def stored_chunks(rows: Iterable[Sequence]) -> Iterator[StoredChunk]:  # type: ignore[type-arg] # as above
    """From `CHUNK_COLUMNS` and `RECORD_COLUMNS`; chunks of one document share its record."""
    records: dict[str, DocumentRecord] = {}
    for cells in rows:
        row, chunk_id, ordinal, start, stop, tokens, line, col, heading, text, document_id = cells[:11]
        if document_id not in records:
            records[document_id] = record_of(cells[10:])
        path = tuple(json.loads(heading)) if heading else ()
        chunk = Chunk(chunk_id, document_id, ordinal, Span(start, stop), text, Locator(line, col, path))
        yield StoredChunk(row, chunk, tokens, records[document_id])


def failure_row(failure: SourceFailure) -> Row:
    return (failure.source, failure.reason, failure.detail, failure.noticed_at)
