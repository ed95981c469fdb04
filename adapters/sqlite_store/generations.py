"""What one write does to the rows of a store, inside the transaction its caller holds."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter

import apsw

from groundkit.adapters.sqlite_store.file import Refused
from groundkit.adapters.sqlite_store.schema import (
    EVERYTHING,
    INSERT_CHUNK,
    INSERT_DOCUMENT,
    INSERT_GENERATION,
    INSERT_STATE,
    OUTBOX,
    STATE,
    TABLES,
    UPDATE_SETTINGS,
    DamagedRow,
    Row,
    document_row,
    generation_row,
    heading_cell,
    settings_row,
    state_of,
)
from groundkit.core.ports import ViewOf
from groundkit.core.settings import Settings
from groundkit.core.storage import (
    Generation,
    LexicalDocument,
    LexicalRow,
    Mark,
    NewDocument,
    Statistics,
    StorageProblem,
    StoreState,
    Write,
    first_token,
    token_after,
    token_after_recount,
)

#: Chunks that a recount holds in memory at a time.
RECOUNT_BATCH = 512

_END_DOCUMENT = "UPDATE documents SET until = ? WHERE source = ? AND until IS NULL RETURNING number, id"
_END_SAME_DOCUMENT = "UPDATE documents SET until = ? WHERE source = ? AND id = ? AND until IS NULL RETURNING number"
_END_CHUNKS = "UPDATE chunks SET until = ? WHERE document = ? AND until IS NULL RETURNING document, tokens"
_TO_RECOUNT = """SELECT row, id, document, ordinal, start, stop, line, col, heading, text FROM chunks
                  WHERE row > ? AND row <= ? AND until IS NULL ORDER BY row LIMIT ?"""
_PURGE = (
    "DELETE FROM chunks WHERE until <= ?",
    "DELETE FROM documents WHERE until <= ?",
    "DELETE FROM generations WHERE g < ?",
    "DELETE FROM outbox WHERE g <= ?",
)


def read_state(connection: apsw.Connection) -> StoreState:
    """The state row. In a transaction that has just begun, this is what takes the snapshot."""
    row = connection.execute(STATE).fetchone()
    if row is None:
        raise DamagedRow("the state row, or a generation it names, is missing")
    state, dropped = state_of(row)
    if dropped:
        raise Refused(StorageProblem.DROPPED, "the collection was dropped")
    return state


def make_tables(connection: apsw.Connection, settings: Settings, analyzer: str) -> None:
    for statement in TABLES:
        connection.execute(statement)
    first = Generation(Mark(0, first_token(settings, analyzer)), Statistics(), analyzer)
    connection.execute(INSERT_GENERATION, generation_row(first))
    connection.execute(INSERT_STATE, settings_row(settings))


def stage(connection: apsw.Connection, state: StoreState, write: Write) -> tuple[LexicalDocument, ...]:
    if state.tip != state.current:
        raise Refused(StorageProblem.BUSY, "an earlier write is unfinished")
    at = state.tip.mark.generation + 1
    sources = [*(new.record.source for new in write.documents), *write.removed]
    ended = _end(connection, at, sources)
    _rebind(connection, at, write)
    documents = _insert(connection, at, write.documents)
    changed = _outbox_of(ended, documents)
    connection.executemany(
        "INSERT INTO outbox (document_id, g) VALUES (?, ?)", ((each.document_id, at) for each in changed)
    )
    if write.settings is not None:
        connection.execute(UPDATE_SETTINGS, settings_row(write.settings))
    token = token_after(state.tip.mark.token, write)
    counts = _statistics_after(state.tip.statistics, ended, write.documents)
    _advance(connection, Generation(Mark(at, token), counts, state.tip.analyzer))
    return changed


def _end(connection: apsw.Connection, at: int, sources: Sequence[str]) -> list[tuple[str, int]]:
    """Document and tokens of every chunk row that ends."""
    ids = dict(connection.executemany(_END_DOCUMENT, ((at, each) for each in sources)))
    rows = connection.executemany(_END_CHUNKS, ((at, number) for number in ids))
    return [(ids[number], tokens) for number, tokens in rows]


def _rebind(connection: apsw.Connection, at: int, write: Write) -> None:
    if not write.rebound:
        return
    same = ((at, record.source, record.document_id) for record in write.rebound)
    numbers = [number for (number,) in connection.executemany(_END_SAME_DOCUMENT, same)]
    if len(numbers) != len(write.rebound):
        raise Refused(StorageProblem.FAILED, "a record can only be rebound to the document it has")
    kept = zip(numbers, write.rebound, strict=True)
    connection.executemany(INSERT_DOCUMENT, (document_row(number, record, at) for number, record in kept))


def _insert(connection: apsw.Connection, at: int, documents: Sequence[NewDocument]) -> list[LexicalDocument]:
    first, number = _next_row(connection, "chunks"), _next_row(connection, "documents")
    records = (document_row(each, new.record, at) for each, new in enumerate(documents, number))
    connection.executemany(INSERT_DOCUMENT, records)
    connection.executemany(INSERT_CHUNK, _chunk_rows(documents, number, first, at))
    told: list[LexicalDocument] = []
    for new in documents:
        rows = tuple(LexicalRow(row, counted.view) for row, counted in enumerate(new.chunks, first))
        first += len(rows)
        told.append(LexicalDocument(new.record.document_id, rows))
    return told


def _next_row(connection: apsw.Connection, table: str) -> int:
    """AUTOINCREMENT's own rule: one more than any row there ever was. As a document's number likewise never used."""
    last = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).get
    return (last or 0) + 1


def _chunk_rows(documents: Sequence[NewDocument], number: int, row: int, since: int) -> Iterator[Row]:
    headings: dict[tuple[str, ...], str | None] = {}
    for document, new in enumerate(documents, number):
        for counted in new.chunks:
            chunk = counted.chunk
            place = chunk.locator
            path = place.heading_path
            if path not in headings:
                headings[path] = heading_cell(path)
            yield (
                row, chunk.id, document, chunk.ordinal, chunk.span.start, chunk.span.end, counted.tokens,
                place.line, place.column, headings[path], chunk.text, since,
            )  # fmt: skip
            row += 1


def _outbox_of(ended: Iterable[tuple[str, int]], documents: Iterable[LexicalDocument]) -> tuple[LexicalDocument, ...]:
    changed = {document_id: LexicalDocument(document_id, ()) for document_id, _ in ended}
    changed |= {each.document_id: each for each in documents if each.rows}
    return tuple(changed[document_id] for document_id in sorted(changed))


def _statistics_after(
    before: Statistics, ended: Sequence[tuple[str, int]], documents: Sequence[NewDocument]
) -> Statistics:
    """Exact but for `longest`, which only a recount lowers, or a collection without chunks."""
    sizes = [counted.tokens for new in documents for counted in new.chunks]
    chunks = before.chunks - len(ended) + len(sizes)
    tokens = before.tokens - sum(size for _, size in ended) + sum(sizes)
    return Statistics(chunks, tokens, max(before.longest, *sizes, 0) if chunks else 0)


def _advance(connection: apsw.Connection, generation: Generation) -> None:
    connection.execute(INSERT_GENERATION, generation_row(generation))
    connection.execute("UPDATE state SET tip = ?", (generation.mark.generation,))


def recount(connection: apsw.Connection, state: StoreState, analyzer: str, view_of: ViewOf) -> None:
    at = state.tip.mark.generation + 1
    last = _next_row(connection, "chunks") - 1
    sizes: list[int] = []
    done = 0
    while batch := list(connection.execute(_TO_RECOUNT, (done, last, RECOUNT_BATCH))):
        done = int(batch[-1][0] or 0)
        fresh = _recounted(batch, last + 1 + len(sizes), at, view_of)
        connection.executemany(INSERT_CHUNK, fresh)
        sizes += (int(row[6] or 0) for row in fresh)
    connection.execute("UPDATE chunks SET until = ? WHERE row <= ? AND until IS NULL", (at, last))
    connection.execute("DELETE FROM outbox")
    token = token_after_recount(state.tip.mark.token, analyzer)
    _advance(
        connection, Generation(Mark(at, token), Statistics(len(sizes), sum(sizes), max(sizes, default=0)), analyzer)
    )


def _recounted(batch: Iterable[Sequence], first: int, since: int, view_of: ViewOf) -> list[Row]:  # type: ignore[type-arg] # columns
    fresh: list[Row] = []
    for row, (_, *before, line, col, heading, text) in enumerate(batch, first):
        fresh.append((row, *before, view_of(text)[1], line, col, heading, text, since))
    return fresh


def declare(connection: apsw.Connection, state: StoreState, build: int) -> None:
    tip = state.tip.mark.generation
    connection.execute("UPDATE state SET cur = tip, build = ?", (build,))
    for statement in _PURGE:
        connection.execute(statement, (tip,))


def outbox(connection: apsw.Connection, at: int, view_of: ViewOf) -> tuple[LexicalDocument, ...]:
    return tuple(_told(connection.execute(OUTBOX, {"at": at}), view_of))


def everything(
    connection: apsw.Connection, at: int, after: str, characters: int, view_of: ViewOf
) -> tuple[LexicalDocument, ...]:
    return tuple(_told(_about(characters, connection.execute(EVERYTHING, {"at": at, "after": after})), view_of))


def _about(characters: int, rows: Iterable[tuple[str, int, str]]) -> Iterator[tuple[str, int, str]]:
    """Whole documents, until they hold so many characters."""
    held, current = 0, None
    for each in rows:
        if current is not None and each[0] != current and held >= characters:
            return
        current = each[0]
        held += len(each[2])
        yield each


def _told(rows: Iterable[tuple[str, int | None, str]], view_of: ViewOf) -> Iterator[LexicalDocument]:
    for document_id, group in groupby(rows, itemgetter(0)):
        found = tuple(LexicalRow(row, view_of(text)[0]) for _, row, text in group if row is not None)
        yield LexicalDocument(document_id, found)
