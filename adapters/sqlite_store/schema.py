"""Tables of the document store, and how rows become the core's values and back.

A row is alive at generation g when `since <= g` and `until` is empty or greater. Texts and headings may hold NUL, so no
SQL string function ever touches them. Ids and digests are hexadecimal in the core's values and bytes in the rows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from groundkit.core.model import Chunk, DocumentRecord, Locator, Span, extractor_of, provenance, source_class_of
from groundkit.core.result import Success
from groundkit.core.settings import Settings
from groundkit.core.storage import Generation, Mark, Statistics, StoredChunk, StoreState

if TYPE_CHECKING:
    from groundkit.core.changes import NewDocument, SourceFailure

Value: TypeAlias = int | str | bytes | None
Row: TypeAlias = tuple[Value, ...]


class DamagedRow(ValueError):
    """A row that this program cannot have written."""


# The chunks of a document have consecutive rows. `number`, the first of them, is what they know their document by: it is
# shorter than the id, and a rebound document keeps it. Without chunks it is empty. `headings`: see `heading_tree`.
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
        max_bytes INTEGER NOT NULL, base TEXT, recut INTEGER NOT NULL CHECK (recut IN (0, 1)),
        CHECK (cur <= tip)
    ) STRICT""",
    """CREATE TABLE documents (
        row INTEGER PRIMARY KEY, since INTEGER NOT NULL, until INTEGER CHECK (until > since),
        number INTEGER, chunks INTEGER NOT NULL, id BLOB NOT NULL CHECK (length(id) = 16), source TEXT NOT NULL,
        source_class TEXT NOT NULL CHECK (source_class IN ('text', 'extracted', 'snapshot')),
        extractor TEXT CHECK (extractor <> ''),
        text_digest BLOB NOT NULL CHECK (length(text_digest) = 32), length INTEGER NOT NULL, media_type TEXT NOT NULL,
        title TEXT NOT NULL, fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32), ingested_at TEXT NOT NULL,
        headings TEXT,
        UNIQUE (id, since), UNIQUE (number, since),
        CHECK ((source_class = 'extracted') = (extractor IS NOT NULL)), CHECK ((chunks > 0) = (number IS NOT NULL))
    ) STRICT""",
    "CREATE UNIQUE INDEX documents_live ON documents (source) WHERE until IS NULL",
    "CREATE INDEX documents_ended ON documents (source) WHERE until IS NOT NULL",
    "CREATE INDEX documents_until ON documents (until) WHERE until IS NOT NULL",
    """CREATE TABLE chunks (
        row INTEGER PRIMARY KEY AUTOINCREMENT, since INTEGER NOT NULL, until INTEGER CHECK (until > since),
        tokens INTEGER NOT NULL, document INTEGER NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL,
        line INTEGER NOT NULL, col INTEGER NOT NULL, heading INTEGER NOT NULL,
        id BLOB NOT NULL CHECK (length(id) = 16), text TEXT NOT NULL
    ) STRICT""",
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
                  s.build, s.dropped, s.chunk_size, s.chunk_overlap, s.language, s.max_bytes, s.base, s.recut
             FROM state s JOIN generations c ON c.g = s.cur JOIN generations t ON t.g = s.tip"""

RECORD_COLUMNS = """d.id, d.source, d.source_class, d.extractor, d.text_digest, d.length, d.chunks, d.media_type,
                    d.title, d.fingerprint, d.ingested_at"""
#: Headings longer than this, in bytes, do not come along with each chunk; 0 stands for them.
SHORT_HEADINGS = 4096
CHUNK_COLUMNS = f"""c.row, c.id, c.start, c.stop, c.tokens, c.line, c.col, c.heading, c.text, d.row, d.number,
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
HEADINGS = "SELECT headings FROM documents WHERE row = ?"
OUTBOX = f"""SELECT o.document_id, c.row, c.text FROM outbox o
    LEFT JOIN documents d ON d.id = o.document_id AND {alive("d")}
    LEFT JOIN chunks c ON {_CHUNKS_OF_DOCUMENT} ORDER BY o.document_id, c.row"""
EVERYTHING = f"""SELECT d.id, c.row, c.text FROM documents d CROSS JOIN chunks c ON {_CHUNKS_OF_DOCUMENT}
    WHERE d.id > :after AND {alive("d")} ORDER BY d.id, c.row"""
FAILURES = "SELECT source, reason, detail, noticed_at FROM failures ORDER BY source"

INSERT_DOCUMENT = """INSERT INTO documents (since, number, headings, id, source, source_class, extractor, text_digest,
                     length, chunks, media_type, title, fingerprint, ingested_at)
                     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
INSERT_CHUNK = """INSERT INTO chunks (row, since, tokens, document, start, stop, line, col, heading, id, text)
                  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
INSERT_GENERATION = "INSERT INTO generations (g, token, analyzer, chunks, tokens, longest) VALUES (?, ?, ?, ?, ?, ?)"
INSERT_STATE = """INSERT INTO state (one, cur, tip, build, chunk_size, chunk_overlap, language, max_bytes, base, recut)
                  VALUES (1, 0, 0, 0, ?, ?, ?, ?, ?, ?)"""
UPDATE_SETTINGS = "UPDATE state SET chunk_size = ?, chunk_overlap = ?, language = ?, max_bytes = ?, base = ?, recut = ?"


def settings_row(settings: Settings) -> Row:
    sizes = (settings.chunk_size, settings.chunk_overlap)
    return (*sizes, settings.language, settings.max_bytes, settings.base, int(settings.recut))


def generation_row(generation: Generation) -> Row:
    mark, counts = generation.mark, generation.statistics
    return (mark.generation, mark.token, generation.analyzer, counts.chunks, counts.tokens, counts.longest)


def _generation(g: int, token: str, analyzer: str, chunks: int, tokens: int, longest: int) -> Generation:
    return Generation(Mark(g, token), Statistics(chunks, tokens, longest), analyzer)


def state_of(row: Sequence[object]) -> tuple[StoreState, bool]:
    """The state, and whether the collection was dropped."""
    cells: Sequence = row  # type: ignore[type-arg] # STRICT tables hold what the columns say
    chunk_size, chunk_overlap, language, max_bytes, base, recut = cells[14:20]
    settings = Settings(chunk_size, chunk_overlap, language, max_bytes, base, bool(recut))
    return StoreState(_generation(*cells[0:6]), _generation(*cells[6:12]), cells[12], settings), bool(cells[13])


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
    )


def record_of(cells: Sequence) -> DocumentRecord:  # type: ignore[type-arg] # as above
    name, source, source_class, extractor, digest, length, chunks, media_type, title, fingerprint, ingested_at = cells
    origin = provenance(source_class, extractor)
    if not isinstance(origin, Success):
        raise DamagedRow(f"document {name.hex()}: class {source_class!r} with extractor {extractor!r}")
    return DocumentRecord(
        name.hex(), source, origin.unwrap(), digest.hex(), length, chunks, media_type, title, fingerprint.hex(), ingested_at
    )  # fmt: skip


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


_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def heading_tree(new: NewDocument) -> tuple[dict[tuple[str, ...], int], str | None]:
    """A number for each heading path, and the cell that gives it back: title and parent's number of 1, of 2, …

    Chunks hold the numbers; the empty path is 0. A title stands once, whatever stands below it.
    """
    numbers: dict[tuple[str, ...], int] = {(): 0}
    cell: list[str | int] = []
    for counted in new.chunks:
        path = counted.chunk.locator.heading_path
        if path in numbers:
            continue
        for depth in range(1, len(path) + 1):
            if path[:depth] not in numbers:
                cell += (path[depth - 1], numbers[path[: depth - 1]])
                numbers[path[:depth]] = len(numbers)
    return numbers, _JSON.encode(cell) if cell else None


def heading_path(cell: Sequence[object], number: int) -> tuple[str, ...]:
    """The path that `heading_tree` gave this number."""
    path: list[str] = []
    while number:
        if not 0 < number <= len(cell) // 2:
            raise DamagedRow(f"there is no heading {number}")
        title, parent = cell[2 * number - 2 : 2 * number]
        if not (isinstance(title, str) and isinstance(parent, int) and parent < number):
            raise DamagedRow(f"heading {number} is no title below an earlier one")
        path.append(title)
        number = parent
    return tuple(reversed(path))


def stored_chunks(
    rows: Iterable[Sequence],  # type: ignore[type-arg] # as above
    headings_of: Callable[[int], object],
) -> Iterator[StoredChunk]:
    """From `CHUNK_COLUMNS` and `RECORD_COLUMNS`; chunks of one document share its record.

    Long headings are asked for by the document's row, once.
    """
    known: dict[int, tuple[DocumentRecord, list[object]]] = {}
    for row, chunk_id, start, stop, tokens, line, col, heading, text, document, number, headings, *cells in rows:
        if document not in known:
            known[document] = record_of(cells), _headings(headings_of(document) if headings == 0 else headings)
        record, titles = known[document]
        locator = Locator(line, col, heading_path(titles, heading) if heading else ())
        chunk = Chunk(chunk_id.hex(), record.document_id, row - number, Span(start, stop), text, locator)
        yield StoredChunk(row, chunk, tokens, record)


def _headings(cell: object) -> list[object]:
    found = json.loads(cell) if isinstance(cell, str) else []
    if not isinstance(found, list):
        raise DamagedRow("headings that are no list")
    return found


def failure_row(failure: SourceFailure) -> Row:
    return (failure.source, failure.reason, failure.detail, failure.noticed_at)
