"""Tables of the document store, and how rows become the core's values and back.

A row is alive at generation g when `since <= g` and `until` is empty or greater. Texts and headings may hold NUL, so no
SQL string function ever touches them. Ids and digests are hexadecimal in the core's values and bytes in the rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from groundkit.adapters.sqlite_store.cells import (
    DamagedRow,
    facts_cells,
    facts_in,
    fetch_cells,
    fetch_in,
    heading_path,
    list_in,
    place_in,
    ports_in,
)
from groundkit.core.model import (
    Chunk,
    DocumentRecord,
    FromExtractor,
    FromSnapshot,
    FromText,
    Locator,
    Span,
    extractor_of,
    provenance,
    source_class_of,
)
from groundkit.core.result import Success
from groundkit.core.settings import Settings
from groundkit.core.storage import Generation, Mark, Statistics, StoredChunk, StoreState

if TYPE_CHECKING:
    from groundkit.core.changes import SourceFailure
    from groundkit.core.embedding import EmbeddingIdentity
    from groundkit.core.model import ExtractionFacts, FetchFacts, Provenance

Value: TypeAlias = int | str | bytes | None
Row: TypeAlias = tuple[Value, ...]


# The chunks of a document have consecutive rows. `number`, the first of them, is what they know their document by: it is
# shorter than the id, and a rebound document keeps it. Without chunks it is empty. `headings` and `place`: see
# `cells`. `text` comes last: whoever wants only tokens or places need not read past them.
# From `source_digest` to `incomplete` are the facts of an extraction, `fetch` and `body` (the digest that names the file
# with a raw response) those of a fetch; text pays a byte of NULL for each.
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
        max_bytes INTEGER NOT NULL, base TEXT, recut INTEGER NOT NULL CHECK (recut IN (0, 1)),
        time_limit INTEGER NOT NULL, cpu_limit INTEGER NOT NULL, memory_limit INTEGER NOT NULL, cache_bytes INTEGER NOT NULL,
        fetch_bytes INTEGER NOT NULL, fetch_seconds INTEGER NOT NULL, fetch_ports TEXT NOT NULL,
        provider TEXT, model TEXT, dimensions INTEGER CHECK (dimensions > 0), weights TEXT,
        CHECK (cur <= tip),
        CHECK ((provider IS NULL) + (model IS NULL) + (dimensions IS NULL) + (weights IS NULL) IN (0, 4))
    ) STRICT""",
    """CREATE TABLE documents (
        row INTEGER PRIMARY KEY, since INTEGER NOT NULL, until INTEGER CHECK (until > since),
        number INTEGER, chunks INTEGER NOT NULL, id BLOB NOT NULL CHECK (length(id) = 16), source TEXT NOT NULL,
        source_class TEXT NOT NULL CHECK (source_class IN ('text', 'extracted', 'snapshot')),
        extractor TEXT CHECK (extractor <> ''),
        text_digest BLOB NOT NULL CHECK (length(text_digest) = 32), length INTEGER NOT NULL, media_type TEXT NOT NULL,
        title TEXT NOT NULL, fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32), ingested_at TEXT NOT NULL,
        source_digest BLOB CHECK (length(source_digest) = 32),
        extraction_digest BLOB CHECK (length(extraction_digest) = 32),
        pages INTEGER CHECK (pages >= 0), losses TEXT, incomplete INTEGER CHECK (incomplete IN (0, 1)),
        headings TEXT, fetch TEXT, body BLOB CHECK (length(body) = 32),
        UNIQUE (id, since), UNIQUE (number, since),
        CHECK ((source_class = 'extracted') = (extractor IS NOT NULL)), CHECK ((chunks > 0) = (number IS NOT NULL)),
        CHECK (CASE source_class WHEN 'text' THEN source_digest IS NULL WHEN 'snapshot' THEN source_digest IS NOT NULL
               ELSE 1 END),
        CHECK ((source_class = 'snapshot') = (fetch IS NOT NULL)), CHECK (body IS NULL OR fetch IS NOT NULL),
        CHECK (losses IS NULL OR source_digest IS NOT NULL),
        CHECK ((source_digest IS NULL) + (extraction_digest IS NULL) + (pages IS NULL) + (incomplete IS NULL) IN (0, 4))
    ) STRICT""",
    "CREATE UNIQUE INDEX documents_live ON documents (source) WHERE until IS NULL",
    "CREATE INDEX documents_ended ON documents (source) WHERE until IS NOT NULL",
    "CREATE INDEX documents_until ON documents (until) WHERE until IS NOT NULL",
    "CREATE INDEX documents_fetched ON documents (id, body) WHERE source_class = 'snapshot'",
    """CREATE TABLE chunks (
        row INTEGER PRIMARY KEY AUTOINCREMENT, since INTEGER NOT NULL, until INTEGER CHECK (until > since),
        tokens INTEGER NOT NULL, document INTEGER NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL,
        line INTEGER NOT NULL, col INTEGER NOT NULL, heading INTEGER NOT NULL,
        place TEXT, id BLOB NOT NULL CHECK (length(id) = 16), text TEXT NOT NULL
    ) STRICT""",
    # Of chunks whose embedder was asked: the vector, or nothing where it found nothing. A vector is never replaced.
    "CREATE TABLE vectors (row INTEGER PRIMARY KEY, since INTEGER NOT NULL, vector BLOB NOT NULL) STRICT",
    # Five bytes tell nearly all chunks apart, and take half the room of an id.
    "CREATE INDEX chunks_prefix ON chunks (substr(id, 1, 5))",
    "CREATE TABLE outbox (document_id BLOB PRIMARY KEY, g INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    """CREATE TABLE failures (
        source TEXT PRIMARY KEY, reason TEXT NOT NULL, detail TEXT NOT NULL, noticed_at TEXT NOT NULL
    ) STRICT, WITHOUT ROWID""",
)


def alive(table: str) -> str:
    """The condition for rows alive at the generation bound as `:at`."""
    return f"{table}.since <= :at AND ({table}.until IS NULL OR {table}.until > :at)"


STATE = """SELECT c.g, c.token, c.analyzer, c.chunks, c.tokens, c.longest,
                  t.g, t.token, t.analyzer, t.chunks, t.tokens, t.longest,
                  s.build, s.dropped, s.chunk_size, s.chunk_overlap, s.language, s.max_bytes, s.base, s.recut,
                  s.time_limit, s.cpu_limit, s.memory_limit, s.cache_bytes, s.fetch_bytes, s.fetch_seconds, s.fetch_ports,
                  s.provider, s.model, s.dimensions, s.weights
             FROM state s JOIN generations c ON c.g = s.cur JOIN generations t ON t.g = s.tip"""

RECORD_COLUMNS = """d.id, d.source, d.source_class, d.extractor, d.text_digest, d.length, d.chunks, d.media_type,
                    d.title, d.fingerprint, d.ingested_at, d.source_digest, d.extraction_digest, d.pages, d.losses,
                    d.incomplete, d.fetch, d.body"""
#: Headings longer than this, in bytes, do not come along with each chunk; 0 stands for them.
SHORT_HEADINGS = 4096
CHUNK_COLUMNS = f"""c.row, c.id, c.start, c.stop, c.tokens, c.line, c.col, c.heading, c.place, c.text, d.row, d.number,
                    CASE WHEN octet_length(d.headings) > {SHORT_HEADINGS} THEN 0 ELSE d.headings END"""

RECORDS = f"SELECT {RECORD_COLUMNS} FROM documents d WHERE {alive('d')}"
_DOCUMENT_OF_CHUNK = f"d.number = c.document AND {alive('d')} AND {alive('c')}"
# The plus keeps SQLite from making an index of all chunks by document first.
_CHUNKS_OF_DOCUMENT = f"""c.row >= d.number AND c.row < d.number + d.chunks
    AND +c.document = d.number AND {alive("c")}"""
#: Rows come in as one JSON array: no limit on their number, and one statement for the cache.
GIVEN_ROWS = "json_each(:rows) j CROSS JOIN chunks c ON c.row = j.value"
# CROSS JOIN keeps SQLite from choosing another order by its guesses.
_STORED = f"SELECT {CHUNK_COLUMNS}, {RECORD_COLUMNS} FROM"
CHUNKS_BY_ROW = f"{_STORED} {GIVEN_ROWS} CROSS JOIN documents d ON {_DOCUMENT_OF_CHUNK}"
CHUNKS_OF_DOCUMENT = f"""{_STORED} documents d CROSS JOIN chunks c ON {_CHUNKS_OF_DOCUMENT}
    WHERE d.id = :id AND {alive("d")} AND c.row >= d.number + :first ORDER BY c.row LIMIT :count"""
CHUNKS_BETWEEN = f"""{_STORED} chunks c CROSS JOIN documents d ON {_DOCUMENT_OF_CHUNK}
    WHERE substr(c.id, 1, 5) BETWEEN substr(:first, 1, 5) AND substr(:last, 1, 5) AND c.id BETWEEN :first AND :last
    ORDER BY substr(c.id, 1, 5), c.id LIMIT :limit"""
SIZES = f"SELECT c.row, c.tokens FROM {GIVEN_ROWS} WHERE {alive('c')}"
FIRST = f"""SELECT c.row FROM {GIVEN_ROWS} CROSS JOIN documents d ON {_DOCUMENT_OF_CHUNK}
    ORDER BY d.source, c.start LIMIT :limit"""
LIVE = f"SELECT d.number, d.number + d.chunks, d.id FROM documents d WHERE d.chunks > 0 AND {alive('d')}"
#: Of rows that ended as well. Never by reading the whole table.
NAMED_FILES = "SELECT id, body FROM documents INDEXED BY documents_fetched WHERE source_class = 'snapshot'"
HEADINGS = "SELECT headings FROM documents WHERE row = ?"
OUTBOX = f"""SELECT o.document_id, c.row, c.heading, c.text, d.row, d.title FROM outbox o
    LEFT JOIN documents d ON d.id = o.document_id AND {alive("d")}
    LEFT JOIN chunks c ON {_CHUNKS_OF_DOCUMENT} ORDER BY o.document_id, c.row"""
EVERYTHING = f"""SELECT d.id, c.row, c.heading, c.text, d.row, d.title FROM documents d CROSS JOIN chunks c ON {_CHUNKS_OF_DOCUMENT}
    WHERE d.id > :after AND {alive("d")} ORDER BY d.id, c.row"""
BRIEFS = f"""SELECT d.id, d.source, d.source_class, d.media_type, d.ingested_at, d.number, d.chunks
    FROM documents d WHERE {alive("d")} ORDER BY d.source"""
#: Where the headings of each document stand that has chunks.
OUTLINES = f"SELECT d.number, d.chunks, d.id, d.headings FROM documents d WHERE d.chunks > 0 AND {alive('d')}"
ROWS_OF_HEADINGS = f"SELECT c.row, c.heading FROM chunks c WHERE c.row >= :first AND c.row < :end AND {alive('c')}"
VECTORS = f"""SELECT v.row, c.id, v.vector FROM vectors v CROSS JOIN chunks c ON c.row = v.row
    WHERE v.row > :after AND v.since <= :at AND length(v.vector) > 0 AND {alive("c")} ORDER BY v.row LIMIT :limit"""
# Both by the documents: a chunk's own page, with its text, is not read for it.
_VECTORS_OF_DOCUMENT = "v.row >= d.number AND v.row < d.number + d.chunks AND v.since <= :at"
VECTOR_COUNTS = f"""SELECT count(*), coalesce(sum(length(v.vector) = 0), 0) FROM documents d
    CROSS JOIN vectors v ON {_VECTORS_OF_DOCUMENT} WHERE d.chunks > 0 AND {alive("d")}"""
LIVE_CHUNKS = f"SELECT coalesce(sum(d.chunks), 0) FROM documents d WHERE {alive('d')}"
# From the document on in which `:after` lies, in order of rows: a page ends the search. The plus keeps SQLite from reading
# every chunk after `:after` for each document.
LACKING = f"""SELECT c.row FROM documents d CROSS JOIN chunks c ON {_CHUNKS_OF_DOCUMENT}
    LEFT JOIN vectors w ON w.row = c.row AND w.since <= :at
    WHERE d.number >= coalesce((SELECT max(number) FROM documents WHERE number <= :after), 0) AND {alive("d")}
    AND d.chunks > (SELECT count(*) FROM vectors v WHERE {_VECTORS_OF_DOCUMENT})
    AND +c.row > :after AND w.row IS NULL ORDER BY d.number, d.since, c.row LIMIT :limit"""
ASTRAY_VECTORS = "SELECT count(*) FROM vectors WHERE row NOT IN (SELECT row FROM chunks)"
FAILURES = "SELECT source, reason, detail, noticed_at FROM failures ORDER BY source"

INSERT_DOCUMENT = """INSERT INTO documents (since, number, headings, id, source, source_class, extractor, text_digest,
                     length, chunks, media_type, title, fingerprint, ingested_at,
                     source_digest, extraction_digest, pages, losses, incomplete, fetch, body)
                     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
INSERT_CHUNK = """INSERT INTO chunks (row, since, tokens, document, start, stop, line, col, heading, place, id, text)
                  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
INSERT_GENERATION = "INSERT INTO generations (g, token, analyzer, chunks, tokens, longest) VALUES (?, ?, ?, ?, ?, ?)"
INSERT_STATE = """INSERT INTO state (one, cur, tip, build, chunk_size, chunk_overlap, language, max_bytes, base, recut,
                  time_limit, cpu_limit, memory_limit, cache_bytes, fetch_bytes, fetch_seconds, fetch_ports)
                  VALUES (1, 0, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
UPDATE_SETTINGS = """UPDATE state SET chunk_size = ?, chunk_overlap = ?, language = ?, max_bytes = ?, base = ?, recut = ?,
                     time_limit = ?, cpu_limit = ?, memory_limit = ?, cache_bytes = ?,
                     fetch_bytes = ?, fetch_seconds = ?, fetch_ports = ?"""


FORGET_VECTORS = (
    "DELETE FROM vectors",
    "UPDATE state SET provider = NULL, model = NULL, dimensions = NULL, weights = NULL",
)
SET_MANIFEST = "UPDATE state SET provider = ?, model = ?, dimensions = ?, weights = ?"
INSERT_VECTOR = "INSERT INTO vectors (row, since, vector) VALUES (?, ?, ?)"
#: Only for a row that is alive; one that has a vector is a conflict.
FILL_VECTOR = f"""INSERT INTO vectors (row, since, vector)
    SELECT c.row, :at, :vector FROM chunks c WHERE c.row = :row AND {alive("c")}"""
CARRY_VECTORS = """INSERT INTO vectors (row, since, vector)
    SELECT row - :number + :fresh, :at, vector FROM vectors WHERE row >= :number AND row < :number + :chunks"""
PURGE_VECTORS = """DELETE FROM vectors WHERE row >= :first AND row < :end
    AND row NOT IN (SELECT row FROM chunks WHERE row >= :first AND row < :end)"""


def settings_row(settings: Settings) -> Row:
    sizes = (settings.chunk_size, settings.chunk_overlap)
    limits = (settings.time_limit, settings.cpu_limit, settings.memory_limit, settings.cache_bytes)
    fetching = (settings.fetch_bytes, settings.fetch_seconds, ",".join(map(str, settings.fetch_ports)))
    return (*sizes, settings.language, settings.max_bytes, settings.base, int(settings.recut), *limits, *fetching)


def generation_row(generation: Generation) -> Row:
    mark, counts = generation.mark, generation.statistics
    return (mark.generation, mark.token, generation.analyzer, counts.chunks, counts.tokens, counts.longest)


def _generation(g: int, token: str, analyzer: str, chunks: int, tokens: int, longest: int) -> Generation:
    return Generation(Mark(g, token), Statistics(chunks, tokens, longest), analyzer)


def state_of(row: Sequence[object]) -> tuple[StoreState, bool]:
    """The state, and whether the collection was dropped."""
    cells: Sequence = row  # type: ignore[type-arg] # STRICT tables hold what the columns say
    *sizes, recut = cells[14:20]
    settings = Settings(*(*sizes, bool(recut), *cells[20:26], ports_in(cells[26])))
    ends = _generation(*cells[0:6]), _generation(*cells[6:12])
    return StoreState(*ends, cells[12], settings, _manifest(cells[27:31])), bool(cells[13])


def _manifest(cells: Sequence) -> EmbeddingIdentity | None:  # type: ignore[type-arg] # as above
    if cells[0] is None:
        return None
    from groundkit.core.embedding import EmbeddingIdentity

    return EmbeddingIdentity(*cells)


def manifest_row(manifest: EmbeddingIdentity) -> Row:
    return (manifest.provider, manifest.model, manifest.dimensions, manifest.digest)


def document_row(record: DocumentRecord, since: int, number: int | None, headings: str | None) -> Row:
    return (
        since,
        number,
        headings,
        bytes.fromhex(record.document_id),
        record.source,
        source_class_of(record.provenance).value,
        extractor_of(record.provenance),
        bytes.fromhex(record.text_digest),
        record.length,
        record.chunks,
        record.media_type,
        record.title,
        bytes.fromhex(record.fingerprint),
        record.ingested_at,
        *facts_cells(record.extraction),
        *fetch_cells(record.fetch),
    )


#: What nearly all rows have there.
_NO_FACTS = [None] * 7


def record_of(cells: Sequence) -> DocumentRecord:  # type: ignore[type-arg] # as above
    (
        name,
        source,
        source_class,
        extractor,
        digest,
        length,
        chunks,
        media_type,
        title,
        fingerprint,
        ingested_at,
        *rest,
    ) = cells
    origin = provenance(source_class, extractor)
    if not isinstance(origin, Success):
        raise DamagedRow(f"document {name.hex()}: class {source_class!r} with extractor {extractor!r}")
    facts, fetch = (None, None) if rest == _NO_FACTS else (facts_in(rest[:5]), fetch_in(*rest[5:]))
    if not _fit(origin.unwrap(), facts, fetch):
        raise DamagedRow(f"document {name.hex()}: class {source_class!r} with facts of another one")
    return DocumentRecord(
        name.hex(), source, origin.unwrap(), digest.hex(), length, chunks, media_type, title, fingerprint.hex(), ingested_at,
        facts, fetch,
    )  # fmt: skip


def _fit(origin: Provenance, facts: ExtractionFacts | None, fetch: FetchFacts | None) -> bool:
    match origin:
        case FromText():
            return facts is None and fetch is None
        case FromExtractor():
            return fetch is None
        case FromSnapshot():
            return facts is not None and fetch is not None


_ID_DIGITS = 32
_BEGINNING = re.compile(f"[0-9a-f]{{0,{_ID_DIGITS}}}")


def ids_between(beginning: str) -> tuple[bytes, bytes] | None:
    """The lowest and the highest id that begin with these digits; None if no id does."""
    if _BEGINNING.fullmatch(beginning) is None:
        return None
    lowest, highest = (beginning.ljust(_ID_DIGITS, digit) for digit in "0f")
    return bytes.fromhex(lowest), bytes.fromhex(highest)


def id_cell(name: str) -> bytes | None:
    """None, which equals nothing in SQL, if it cannot be an id."""
    between = ids_between(name)
    return between[0] if between and len(name) == _ID_DIGITS else None


def stored_chunks(
    rows: Iterable[Sequence],  # type: ignore[type-arg] # as above
    headings_of: Callable[[int], object],
) -> Iterator[StoredChunk]:
    """From `CHUNK_COLUMNS` and `RECORD_COLUMNS`; chunks of one document share its record.

    Long headings are asked for by the document's row, once.
    """
    known: dict[int, tuple[DocumentRecord, list[object]]] = {}
    for row, chunk_id, start, stop, tokens, line, col, heading, place, text, *others in rows:
        document, number, headings, *cells = others
        if document not in known:
            known[document] = record_of(cells), headings_in(headings_of(document) if headings == 0 else headings)
        record, titles = known[document]
        path = heading_path(titles, heading) if heading else ()
        locator = Locator(line, col, path, *place_in(place)) if place is not None else Locator(line, col, path)
        chunk = Chunk(chunk_id.hex(), record.document_id, row - number, Span(start, stop), text, locator)
        yield StoredChunk(row, chunk, tokens, record)


def headings_in(cell: object) -> list[object]:
    return list_in(cell, "headings") if isinstance(cell, str) else []


def failure_row(failure: SourceFailure) -> Row:
    return (failure.source, failure.reason, failure.detail, failure.noticed_at)
