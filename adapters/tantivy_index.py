"""The lexical index on tantivy: postings and row numbers, nothing stored but which generation they belong to.

Builds are directories named by number. The order of the steps of a write, and what breaks without each, is ADR 0006.
"""

import errno
import fcntl
import json
import os
import re
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import tantivy
from attrs import field, frozen
from tantivy import Document, Filter, Index, Occur, Query, TextAnalyzer, TextAnalyzerBuilder, Tokenizer
from tantivy.tantivy import __version__

from groundkit.core.folding import ANALYZER_RECIPE
from groundkit.core.query import LexicalQuery
from groundkit.core.ranking import Candidates, TermFacts
from groundkit.core.result import Failure, Result, Success
from groundkit.core.storage import LexicalDocument, LexicalFailure, LexicalProblem, LexicalRow, Mark

T = TypeVar("T")

_TOKENIZER = "view"
_ENGINE = __version__.partition(",")[0]
#: Ids of documents are hex digits, so these two belong to none.
_MARK_ID = "\0mark"
_NEVER = "\0never"

#: Bytes of memory after which tantivy begins another segment: as many as the batch wants, within its own least and ours.
_LEAST_HEAP, _MOST_HEAP, _HEAP_PER_CHARACTER = 15_000_000, 128_000_000, 16

#: Tokens with their terms; a language's common words many times over.
_REMEMBERED = 1 << 16

#: A thousand clauses are no faster than these.
_DOCUMENTS_PER_QUERY = 256

_SEGMENT_PARTS = ("fast", "fieldnorm", "idx", "pos", "store", "term")
_SEGMENT_FILE = re.compile(r"([0-9a-f]{32})\.(?:(\d+)\.)?\w+")
_FOOTER = re.compile(rb'\{"version":\{"major":\d+,"minor":\d+,"patch":\d+,"index_format_version":\d+\},"crc":(\d+)\}')
_FOOTER_MAGIC = 1337


class _Damaged(Exception):
    """What was read cannot be what was written."""


class _Missing(Exception):
    """There is no such build."""


class _Terms(dict[str, str]):
    """Terms of tokens that were met: a search counts the same few words again and again, four times faster like this."""

    def __init__(self, tokenizer: TextAnalyzer) -> None:
        self._tokenizer = tokenizer

    def __missing__(self, token: str) -> str:
        (term,) = self._tokenizer.analyze(token)
        if len(self) < _REMEMBERED:
            self[token] = term
        return term


@frozen
class _Reader:
    """An index opened for reading, and which directory that was."""

    index: Index
    home: tuple[int, int]


class TantivyIndex:
    """`groundkit.core.ports.LexicalIndex` in `<collection>.lexical`; `language` is one of `settings.LANGUAGES`."""

    def __init__(self, directory: Path, language: str) -> None:
        self._directory = directory
        self._tokenizer = _tokenizer(language)
        self._terms = _Terms(self._tokenizer)
        self._identity = f"{ANALYZER_RECIPE} stemmer/{language} {_ENGINE}"
        self._readers: dict[int, _Reader] = {}
        self._sound: set[str] = set()

    @property
    def analyzer(self) -> str:
        return self._identity

    def terms(self, view: str) -> list[str]:
        return list(map(self._terms.__getitem__, view.split()))

    def searcher(self, build: int) -> Result["TantivySearcher", LexicalFailure]:
        return _attempt(lambda: self._searcher(build))

    def start(self, build: int) -> Result[None, LexicalFailure]:
        return _attempt(lambda: self._start(build), self._directory)

    def apply(
        self, build: int, mark: Mark | None, documents: Sequence[LexicalDocument]
    ) -> Result[None, LexicalFailure]:
        return _attempt(lambda: self._apply(build, mark, documents), self._directory)

    def live(self, build: int) -> Result[dict[int, str], LexicalFailure]:
        return _attempt(lambda: _live(self._snapshot(build)))

    def check(self, build: int) -> Result[tuple[str, ...], LexicalFailure]:
        return _attempt(lambda: self._check(build))

    def discard(self, keep: int | None) -> Result[None, LexicalFailure]:
        return _attempt(lambda: self._discard(keep))

    def close(self) -> None:
        self._readers.clear()

    def _existing(self, build: int) -> Path:
        path = self._directory / str(build)
        if not path.is_dir():
            raise _Missing(f"there is no build {build}")
        return path

    def _opened(self, path: Path) -> Index:
        index = Index.open(str(path))
        index.register_tokenizer(_TOKENIZER, self._tokenizer)
        return index

    def _demand_sound(self, path: Path, names: set[str]) -> None:
        """What the engine would die of is not shown to it. A file is read once: files of segments never change."""
        unread = names - self._sound
        for finding in _findings(path, sorted(unread)):
            raise _Damaged(finding)
        self._sound |= unread

    def _check(self, build: int) -> tuple[str, ...]:
        path = self._existing(build)
        findings = tuple(_findings(path, sorted(_named(path))))
        if not findings:
            # Refuses a schema that is not this one.
            Index(_schema(), path=str(path), reuse=True)
        return findings

    def _snapshot(self, build: int) -> "tuple[Index, tantivy.Searcher]":
        """What was last committed. A directory that was replaced by another one is noticed."""
        path = self._existing(build)
        status = os.stat(path)
        home = (status.st_dev, status.st_ino)
        # A damaged term dictionary can make the engine ask for so much memory that the process ends; each is small.
        self._demand_sound(path, {name for name in _named(path) if name.endswith(".term")})
        reader = self._readers.get(build)
        if reader is None or reader.home != home:
            reader = _Reader(self._opened(path), home)
            reader.index.config_reader("manual")
            self._readers[build] = reader
        reader.index.reload()
        return reader.index, reader.index.searcher()

    def _searcher(self, build: int) -> "TantivySearcher":
        index, searcher = self._snapshot(build)
        return TantivySearcher(index.schema, searcher, _mark(index.schema, searcher))

    def _start(self, build: int) -> None:
        self._readers.pop(build, None)
        path = self._directory / str(build)
        if not self._directory.is_dir():
            self._directory.unlink(missing_ok=True)
        _remove(path)
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.mkdir(mode=0o700)
        Index(_schema(), path=str(path), reuse=False)
        _make_private(path)
        for each in (path, self._directory, self._directory.parent):
            _sync_directory(each)

    def _apply(self, build: int, mark: Mark | None, documents: Sequence[LexicalDocument]) -> None:
        path = self._existing(build)
        _sweep(path)
        # A merge that panics over a damaged file ends the process, and the next writer's too.
        self._demand_sound(path, _named(path))
        # Opened afresh: an index that was open while another process committed overwrites the list of managed files.
        writer = self._opened(path).writer(_heap(documents), 1)
        # First, or a delete file left by a kill makes every later commit that reaches its name fail.
        writer.garbage_collect_files()
        # The first operation of a writer repeats the last operation's number, and a delete with it can be lost.
        writer.delete_documents_by_term("doc", _NEVER)
        for document in documents:
            writer.delete_documents_by_term("doc", document.document_id)
            for row in document.rows:
                writer.add_document(_row(document.document_id, row))
        writer.delete_documents_by_term("doc", _MARK_ID)
        if mark is not None:
            writer.add_document(Document(doc=_MARK_ID, mark=f"{mark.generation}:{mark.token}"))
        writer.commit()
        writer.wait_merging_threads()
        self._sound = _named(path)
        _make_private(path)

    def _discard(self, keep: int | None) -> None:
        if keep is None:
            self._readers.clear()
            _remove(self._directory)
            return
        if not self._directory.is_dir():
            return
        for path in self._directory.iterdir():
            if path.name.isdecimal() and path.name != str(keep):
                self._readers.pop(int(path.name), None)
                _remove(path)


@frozen
class TantivySearcher:
    """`groundkit.core.ports.LexicalSearcher`. Facts are asked of the engine once for each term."""

    _schema: tantivy.Schema
    _searcher: tantivy.Searcher
    mark: Mark
    _facts: dict[str, TermFacts] = field(factory=dict)

    def facts(self, term: str) -> Result[TermFacts, LexicalFailure]:
        known = self._facts.get(term)
        if known is not None:
            return Success(known)
        return _attempt(lambda: self._facts.setdefault(term, self._ask(term)))

    def candidates(self, query: LexicalQuery, limit: int) -> Result[Candidates, LexicalFailure]:
        return _attempt(lambda: self._candidates(query, limit))

    def _term(self, term: str) -> Query:
        return Query.term_query(self._schema, "body", term, index_option="freq")

    def _ask(self, term: str) -> TermFacts:
        query = self._term(term)
        found = self._searcher.search(query, 1, count=True)
        if not found.hits:
            return TermFacts(0, 0.0, 0.0)
        explained = json.loads(query.explain(self._searcher, found.hits[0][1]).to_json())
        return TermFacts(_count(found), _explained(explained, "idf"), _explained(explained, "avgdl"))

    def _candidates(self, query: LexicalQuery, limit: int) -> Candidates:
        if not query.terms:
            return Candidates((), 0)
        # Counting keeps the engine from skipping blocks by a bound that its own statistics can make too low.
        found = self._searcher.search(self._query(query), max(1, min(limit, self._searcher.num_docs)), count=True)
        rows = _rows(self._searcher, found)
        return Candidates(tuple(zip(rows, (score for score, _ in found.hits), strict=True)), _count(found))

    def _query(self, query: LexicalQuery) -> Query:
        """Every score comes from the terms; conditions are clauses that must match and add nothing."""
        conditions = [self._term(term) for term in query.required]
        conditions += [Query.phrase_query(self._schema, "body", list(phrase)) for phrase in query.phrases]
        clauses = [(Occur.Should, self._term(term)) for term in query.terms]
        clauses += [(Occur.Must, Query.const_score_query(each, 0.0)) for each in conditions]
        return Query.boolean_query(clauses)


def _tokenizer(language: str) -> TextAnalyzer:
    builder = TextAnalyzerBuilder(Tokenizer.whitespace())
    return (builder if language == "none" else builder.filter(Filter.stemmer(language))).build()


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("row", indexed=True, fast=True)
    builder.add_text_field("doc", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("body", tokenizer_name=_TOKENIZER)
    builder.add_text_field("mark", stored=True, tokenizer_name="raw", index_option="basic")
    return builder.build()


def _row(document_id: str, row: LexicalRow) -> Document:
    return Document(row=row.row, doc=document_id, body=row.view)


def _heap(documents: Iterable[LexicalDocument]) -> int:
    wanted = _HEAP_PER_CHARACTER * sum(len(row.view) for document in documents for row in document.rows)
    return min(max(wanted, _LEAST_HEAP), _MOST_HEAP)


def _document(schema: tantivy.Schema, document_id: str) -> Query:
    return Query.term_query(schema, "doc", document_id, index_option="basic")


def _count(found: tantivy.SearchResult) -> int:
    return int(found.count)  # type: ignore[attr-defined]  # its stub lacks it


def _rows(searcher: tantivy.Searcher, found: tantivy.SearchResult) -> list[int]:
    rows = searcher.fast_field_values("row", [address for _, address in found.hits])
    if any(row is None for row in rows):
        raise _Damaged("a match has no row")
    return [int(row) for row in rows if row is not None]


def _mark(schema: tantivy.Schema, searcher: tantivy.Searcher) -> Mark:
    found = searcher.search(_document(schema, _MARK_ID), 1, count=True)
    if _count(found) != 1:
        raise _Damaged("the index names no generation")
    number, _, token = str(searcher.doc(found.hits[0][1]).get_first("mark")).partition(":")
    if not (number.isascii() and number.isdecimal()):
        raise _Damaged("the index names no generation")
    return Mark(int(number), token)


def _explained(explanation: dict[str, object], name: str) -> float:
    """The value of the first part whose description begins so."""
    pending: list[dict[str, object]] = [explanation]
    while pending:
        part = pending.pop()
        if str(part["description"]).startswith(name):
            return float(part["value"])  # type: ignore[arg-type]  # JSON
        pending += part.get("details", [])  # type: ignore[arg-type]  # JSON
    raise _Damaged(f"the engine explains no {name}")


def _live(snapshot: tuple[Index, tantivy.Searcher]) -> dict[int, str]:
    """Documents are asked for many at a time, each under a score of its own: one by one they take three times as long."""
    index, searcher = snapshot
    everything = Query.all_query()
    documents = searcher.terms_with_prefix("doc", "", filter_query=everything)
    rows: dict[int, str] = {}
    for first in range(0, len(documents), _DOCUMENTS_PER_QUERY):
        part = [each for each in documents[first : first + _DOCUMENTS_PER_QUERY] if each[0] != _MARK_ID]
        rows.update(_rows_of(index.schema, searcher, part))
    marks = _count(searcher.search(_document(index.schema, _MARK_ID), 1, count=True))
    if len(rows) + marks != _count(searcher.search(everything, 1, count=True)):
        raise _Damaged("a row stands twice, or belongs to no document")
    return rows


def _rows_of(
    schema: tantivy.Schema, searcher: tantivy.Searcher, documents: list[tuple[str, int]]
) -> Iterator[tuple[int, str]]:
    clauses = [
        (Occur.Should, Query.const_score_query(_document(schema, name), float(number)))
        for number, (name, _) in enumerate(documents, start=1)
    ]
    if clauses:
        expected = sum(count for _, count in documents)
        found = searcher.search(Query.boolean_query(clauses), max(1, expected), count=True)
        for row, (score, _) in zip(_rows(searcher, found), found.hits, strict=True):
            if not 1 <= score <= len(documents):
                raise _Damaged(f"row {row} belongs to several documents")
            yield row, documents[int(score) - 1][0]


def _meta(path: Path) -> dict[str, int | None]:
    """The hex id of every segment that is in force, with the number of its delete file."""
    try:
        segments = json.loads((path / "meta.json").read_bytes())["segments"]
        return {each["segment_id"].replace("-", ""): (each["deletes"] or {}).get("opstamp") for each in segments}
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _Damaged(f"meta.json: {error}") from error


def _named(path: Path) -> set[str]:
    """Files of all segments in force."""
    segments = _meta(path)
    parts = {f"{segment}.{part}" for segment in segments for part in _SEGMENT_PARTS}
    return parts | {f"{segment}.{opstamp}.del" for segment, opstamp in segments.items() if opstamp is not None}


def _sweep(path: Path) -> None:
    """Unlink what a killed writer left. Readers that are just opening keep the lock while they do."""
    with open(path / ".tantivy-meta.lock", "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        named = _named(path)
        for name in os.listdir(path):
            if name not in named and (_SEGMENT_FILE.fullmatch(name) or name.startswith(".tmp")):
                os.unlink(path / name)


def _findings(path: Path, names: Iterable[str]) -> Iterator[str]:
    """Files that are missing or whose checksum, which tantivy writes and never reads, does not fit."""
    for name in names:
        try:
            fits = _checksum_fits((path / name).read_bytes())
        except FileNotFoundError:
            yield f"{name} is missing"
        else:
            if not fits:
                yield f"{name} does not have the checksum it was written with"


def _checksum_fits(data: bytes) -> bool:
    """A file is its body, a footer with the CRC-32 of the body, the footer's length, and a magic number."""
    if len(data) < 8:
        return False
    length, magic = struct.unpack("<II", data[-8:])
    footer = _FOOTER.fullmatch(data[-8 - length : -8])
    return magic == _FOOTER_MAGIC and footer is not None and int(footer[1]) == zlib.crc32(data[: -8 - length])


def _make_private(path: Path) -> None:
    for entry in os.scandir(path):
        if entry.stat(follow_symlinks=False).st_mode & 0o077:
            os.chmod(entry.path, 0o600)


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(path: Path) -> None:
    # Only a writer pays for this.
    import shutil

    try:
        shutil.rmtree(path)
    except NotADirectoryError:
        path.unlink()
    except FileNotFoundError:
        pass


#: What the engine's errors say; the first that is found decides. It has one exception type for all of them.
_SAID = (
    ("LockBusy", LexicalProblem.BUSY),
    ("No space left", LexicalProblem.FULL),
    ("os error 122", LexicalProblem.FULL),
    ("Permission denied", LexicalProblem.DENIED),
    ("PermissionDenied", LexicalProblem.DENIED),
    ("Read-only file system", LexicalProblem.DENIED),
    ("Too many open files", LexicalProblem.FAILED),
    ("Cannot allocate memory", LexicalProblem.FAILED),
    ("writer was killed", LexicalProblem.FAILED),
    ("Input/output error", LexicalProblem.FAILED),
)
_ERRNO = {
    errno.ENOSPC: LexicalProblem.FULL,
    errno.EDQUOT: LexicalProblem.FULL,
    errno.EACCES: LexicalProblem.DENIED,
    errno.EPERM: LexicalProblem.DENIED,
    errno.EROFS: LexicalProblem.DENIED,
    # Something else stands where a file or a directory of the index has to be.
    errno.EISDIR: LexicalProblem.DAMAGED,
    errno.ENOTDIR: LexicalProblem.DAMAGED,
}


def _attempt(action: Callable[[], T], written: Path | None = None) -> Result[T, LexicalFailure]:
    """The one seam for what the engine and the file system raise. `written` is the directory of a write."""
    try:
        return Success(action())
    except _Missing as error:
        return Failure(LexicalFailure(LexicalProblem.MISSING, str(error)))
    except _Damaged as error:
        return Failure(LexicalFailure(LexicalProblem.DAMAGED, str(error)))
    except OSError as error:
        return Failure(
            LexicalFailure(_ERRNO.get(error.errno or 0, LexicalProblem.FAILED), error.strerror or str(error))
        )
    except ValueError as error:
        return Failure(LexicalFailure(_problem(str(error), written), str(error)))
    except BaseException as error:
        # A panic of the engine is no `Exception`, and its type cannot be imported.
        if type(error).__name__ != "PanicException":
            raise
        return Failure(LexicalFailure(LexicalProblem.DAMAGED, f"the engine panicked: {error}"))


def _problem(said: str, written: Path | None) -> LexicalProblem:
    problem = next((each for words, each in _SAID if words in said), LexicalProblem.DAMAGED)
    if problem is LexicalProblem.FAILED and written is not None and _is_full(written):
        return LexicalProblem.FULL
    return problem


def _is_full(directory: Path) -> bool:
    """A writing thread of the engine that meets a full disk says only that it died."""
    probe = directory / ".probe"
    try:
        probe.write_bytes(bytes(1 << 20))
    except OSError as error:
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    finally:
        probe.unlink(missing_ok=True)
    return False
