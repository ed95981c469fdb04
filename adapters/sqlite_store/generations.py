"""What one write does to the rows of a store, inside the transaction its caller holds."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TypeAlias

import apsw

from groundkit.adapters.sqlite_store.cells import heading_path, heading_tree, place_cell
from groundkit.adapters.sqlite_store.file import Refused
from groundkit.adapters.sqlite_store.schema import (
    CARRY_VECTORS,
    EVERYTHING,
    FILL_VECTOR,
    FORGET_VECTORS,
    HEADINGS,
    INSERT_CHUNK,
    INSERT_DOCUMENT,
    INSERT_GENERATION,
    INSERT_STATE,
    INSERT_VECTOR,
    OUTBOX,
    PURGE_VECTORS,
    SET_MANIFEST,
    TABLES,
    UPDATE_SETTINGS,
    Row,
    document_row,
    generation_row,
    headings_in,
    manifest_row,
    settings_row,
)
from groundkit.core.changes import (
    LexicalDocument,
    LexicalRow,
    NewDocument,
    Write,
    first_token,
    token_after,
    token_after_recount,
)
from groundkit.core.embedding import EmbeddingIdentity
from groundkit.core.ports import ViewOf
from groundkit.core.settings import Settings
from groundkit.core.storage import Generation, Mark, Statistics, StorageProblem, StoreState

_END_DOCUMENT = "UPDATE documents SET until = ? WHERE source = ? AND until IS NULL RETURNING id, number, chunks"
_END_SAME_DOCUMENT = """UPDATE documents SET until = ? WHERE source = ? AND id = ? AND chunks = ? AND until IS NULL
                        RETURNING number, headings"""
_END_CHUNKS = "UPDATE chunks SET until = ? WHERE row >= ? AND row < ? AND document = ? RETURNING document, tokens"
_TO_RECOUNT = (
    "SELECT row, number, chunks, title, headings FROM documents WHERE until IS NULL AND chunks > 0 ORDER BY number"
)
_CHUNKS_TO_RECOUNT = """SELECT start, stop, line, col, heading, place, id, text FROM chunks
                         WHERE row >= ? AND row < ? ORDER BY row"""
_END_RECOUNTED = (
    "UPDATE documents SET until = ? WHERE row = ?",
    "UPDATE chunks SET until = ? WHERE row >= ? AND row < ?",
)
_SAME = """headings, id, source, source_class, extractor, text_digest, length, chunks, media_type, title, fingerprint,
           source_digest, extraction_digest, pages, losses, incomplete, fetch, body"""
_RENUMBER = f"""INSERT INTO documents (since, number, ingested_at, {_SAME})
                SELECT ?, ?, ingested_at, {_SAME} FROM documents WHERE row = ?"""
_PURGE_DOCUMENTS = "DELETE FROM documents WHERE until <= ? RETURNING number, number + chunks"
_PURGE_CHUNKS = "DELETE FROM chunks WHERE row >= ? AND row < ? AND until <= ?"
_PURGE = ("DELETE FROM generations WHERE g < ?", "DELETE FROM outbox WHERE g <= ?")


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
    _put_vectors(connection, at, state, write, documents)
    changed = _outbox_of(ended, documents)
    connection.executemany(
        "INSERT INTO outbox (document_id, g) VALUES (?, ?)", ((bytes.fromhex(each.document_id), at) for each in changed)
    )
    if write.settings is not None:
        connection.execute(UPDATE_SETTINGS, settings_row(write.settings))
    token = token_after(state.tip.mark.token, write)
    counts = _statistics_after(state.tip.statistics, ended, write.documents)
    _advance(connection, Generation(Mark(at, token), counts, state.tip.analyzer))
    return changed


def _end(connection: apsw.Connection, at: int, sources: Sequence[str]) -> list[tuple[str, int]]:
    """Document and tokens of every chunk row that ends."""
    ended = list(connection.executemany(_END_DOCUMENT, ((at, each) for each in sources)))
    ids = {number: name.hex() for name, number, _ in ended}
    ranges = ((at, number, number + chunks, number) for _, number, chunks in ended if chunks)
    return [(ids[number], tokens) for number, tokens in connection.executemany(_END_CHUNKS, ranges)]


def _rebind(connection: apsw.Connection, at: int, write: Write) -> None:
    if not write.rebound:
        return
    same = ((at, each.source, bytes.fromhex(each.document_id), each.chunks) for each in write.rebound)
    kept = list(connection.executemany(_END_SAME_DOCUMENT, same))
    if len(kept) != len(write.rebound):
        raise Refused(StorageProblem.FAILED, "a record can only be rebound to the document it has")
    rows = (document_row(record, at, *each) for record, each in zip(write.rebound, kept, strict=True))
    connection.executemany(INSERT_DOCUMENT, rows)


def _insert(connection: apsw.Connection, at: int, documents: Sequence[NewDocument]) -> list[LexicalDocument]:
    first = _next_row(connection)
    told: list[LexicalDocument] = []
    records: list[Row] = []
    chunks: list[Row] = []
    for new in documents:
        _must_be_in_order(new)
        number = first + len(chunks)
        headings, cell = heading_tree(new)
        records.append(document_row(new.record, at, number if new.chunks else None, cell))
        chunks += _chunk_rows(new, number, at, headings)
        rows = tuple(LexicalRow(row, counted.view) for row, counted in enumerate(new.chunks, number))
        told.append(LexicalDocument(new.record.document_id, rows))
    connection.executemany(INSERT_DOCUMENT, records)
    connection.executemany(INSERT_CHUNK, chunks)
    return told


def _put_vectors(
    connection: apsw.Connection, at: int, state: StoreState, write: Write, told: Sequence[LexicalDocument]
) -> None:
    """The manifest with the first of them; all of a collection are of one embedder."""
    manifest = state.manifest
    if write.forget_vectors:
        for statement in FORGET_VECTORS:
            connection.execute(statement)
        manifest = None
    counted = [
        (row.row, chunk.vector)
        for new, document in zip(write.documents, told, strict=True)
        for row, chunk in zip(document.rows, new.chunks, strict=True)
    ]
    fresh = [(row, vector) for row, vector in counted if vector is not None]
    if write.manifest is not None and manifest not in (None, write.manifest):
        raise Refused(StorageProblem.FAILED, "vectors of another embedder than those that are there")
    if not fresh and not write.vectors:
        return
    _must_fit(write.manifest, [vector for _, vector in fresh] + [each.vector for each in write.vectors])
    if manifest is None and write.manifest is not None:
        connection.execute(SET_MANIFEST, manifest_row(write.manifest))
    connection.executemany(INSERT_VECTOR, ((row, at, vector) for row, vector in fresh))
    before = connection.total_changes()
    filled = ({"row": each.row, "at": at, "vector": each.vector} for each in write.vectors)
    connection.executemany(FILL_VECTOR, filled)
    if connection.total_changes() - before != len(write.vectors):
        raise Refused(StorageProblem.FAILED, "a vector for a chunk that is not there")


def _must_fit(manifest: EmbeddingIdentity | None, vectors: Sequence[bytes]) -> None:
    if manifest is None:
        raise Refused(StorageProblem.FAILED, "vectors, and nothing says whose they are")
    if any(len(each) not in (0, 2 * manifest.dimensions) for each in vectors):
        raise Refused(StorageProblem.FAILED, "a vector of another length than its embedder's")


def _must_be_in_order(new: NewDocument) -> None:
    """A chunk's row says which it is of its document's."""
    if [counted.chunk.ordinal for counted in new.chunks] != list(range(new.record.chunks)):
        raise Refused(StorageProblem.FAILED, "a document with other chunks than its record says, or in another order")


def _next_row(connection: apsw.Connection) -> int:
    """AUTOINCREMENT's own rule: one more than any chunk row there ever was."""
    return (connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'").get or 0) + 1


def _chunk_rows(new: NewDocument, number: int, since: int, headings: Mapping[tuple[str, ...], int]) -> Iterator[Row]:
    for row, counted in enumerate(new.chunks, number):
        chunk, place = counted.chunk, counted.chunk.locator
        yield (
            row, since, counted.tokens, number, chunk.span.start, chunk.span.end, place.line, place.column,
            headings[place.heading_path], place_cell(place), bytes.fromhex(chunk.id), chunk.text,
        )  # fmt: skip


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
    sizes: list[int] = []
    fresh = _next_row(connection)
    for document, number, chunks, title, headings in list(connection.execute(_TO_RECOUNT)):
        before = connection.execute(_CHUNKS_TO_RECOUNT, (number, number + chunks))
        titles = headings_in(headings)

        def view(text: str, heading: int, titles: Sequence[object] = titles, title: str = title) -> tuple[str, int]:
            return view_of(text, heading_path(titles, heading), title)

        connection.executemany(INSERT_CHUNK, _recounted(before, fresh, at, view, sizes))
        connection.execute(CARRY_VECTORS, {"number": number, "chunks": chunks, "fresh": fresh, "at": at})
        connection.execute(_END_RECOUNTED[0], (at, document))
        connection.execute(_END_RECOUNTED[1], (at, number, number + chunks))
        connection.execute(_RENUMBER, (at, fresh, document))
        fresh += chunks
    connection.execute("DELETE FROM outbox")
    token = token_after_recount(state.tip.mark.token, analyzer)
    counts = Statistics(len(sizes), sum(sizes), max(sizes, default=0))
    _advance(connection, Generation(Mark(at, token), counts, analyzer))


def _recounted(
    rows: Iterable[Sequence],  # type: ignore[type-arg] # columns
    number: int,
    since: int,
    view: Callable[[str, int], tuple[str, int]],
    sizes: list[int],
) -> Iterator[Row]:
    for row, (start, stop, line, col, heading, place, name, text) in enumerate(rows, number):
        sizes.append(view(text, heading)[1])
        yield (row, since, sizes[-1], number, start, stop, line, col, heading, place, name, text)


def declare(connection: apsw.Connection, state: StoreState, build: int) -> None:
    tip = state.tip.mark.generation
    connection.execute("UPDATE state SET cur = tip, build = ?", (build,))
    # A rebound document ended as well, but its chunks did not.
    ended = list(connection.execute(_PURGE_DOCUMENTS, (tip,)))
    connection.executemany(_PURGE_CHUNKS, ((first, end, tip) for first, end in ended if end))
    connection.executemany(PURGE_VECTORS, ({"first": first, "end": end} for first, end in ended if end))
    for statement in _PURGE:
        connection.execute(statement, (tip,))


def outbox(connection: apsw.Connection, at: int, view_of: ViewOf) -> tuple[LexicalDocument, ...]:
    return tuple(_told(connection, connection.execute(OUTBOX, {"at": at}), view_of))


def everything(
    connection: apsw.Connection, at: int, after: str, characters: int, view_of: ViewOf
) -> tuple[LexicalDocument, ...]:
    rows = connection.execute(EVERYTHING, {"at": at, "after": bytes.fromhex(after)})
    return tuple(_told(connection, _about(characters, rows), view_of))


#: Document id, row, number of the heading, text; row and title of the document.
_Told: TypeAlias = tuple[bytes, int | None, int, str, int, str]


def _about(characters: int, rows: Iterable[_Told]) -> Iterator[_Told]:
    """Whole documents, until they hold so many characters."""
    held, current = 0, None
    for each in rows:
        if current is not None and each[0] != current and held >= characters:
            return
        current = each[0]
        held += len(each[3])
        yield each


def _told(connection: apsw.Connection, rows: Iterable[_Told], view_of: ViewOf) -> Iterator[LexicalDocument]:
    for document_id, group in groupby(rows, itemgetter(0)):
        titles: list[object] | None = None
        found = []
        for _, row, heading, text, document, title in group:
            if row is None:
                continue
            if heading and titles is None:
                titles = headings_in(connection.execute(HEADINGS, (document,)).get)
            path = heading_path(titles or [], heading) if heading else ()
            found.append(LexicalRow(row, view_of(text, path, title)[0]))
        yield LexicalDocument(document_id.hex(), tuple(found))
