"""The index of one collection, and its builds: directories named by number.

The order of the steps of a write, and what breaks without each, is ADR 0006.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tantivy import Index, Searcher
from tantivy.tantivy import __version__

from groundkit.adapters.tantivy_index.failures import Damaged, Missing, attempt
from groundkit.adapters.tantivy_index.files import (
    Stamp,
    findings,
    is_real_directory,
    make_private,
    named,
    remember,
    remembered,
    remove,
    stamps_of,
    sweep,
    sync_directory,
)
from groundkit.adapters.tantivy_index.live import live_rows
from groundkit.adapters.tantivy_index.schema import (
    MARK_ID,
    NEVER,
    TOKENIZER,
    make_schema,
    mark_document,
    mark_of,
    row_document,
)
from groundkit.adapters.tantivy_index.searcher import TantivySearcher
from groundkit.adapters.tantivy_index.terms import Terms, tokenizer_for
from groundkit.core.folding import ANALYZER_RECIPE
from groundkit.core.result import Result
from groundkit.core.storage import LexicalFailure, Mark

if TYPE_CHECKING:
    from groundkit.core.changes import LexicalDocument

_ENGINE = __version__.partition(",")[0]

#: Bytes of memory after which tantivy begins another segment: as many as the batch wants, within its own least and ours.
_LEAST_HEAP, _MOST_HEAP, _HEAP_PER_CHARACTER = 15_000_000, 128_000_000, 16


class TantivyIndex:
    """`groundkit.core.ports.LexicalIndex` in `<collection>.lexical`; `language` is one of `settings.LANGUAGES`."""

    def __init__(self, directory: Path, language: str) -> None:
        self._directory = directory
        #: What the index gets are terms: its own tokenizer has nothing to do but to separate them.
        self._tokenizer = tokenizer_for("none")
        self._terms = Terms(tokenizer_for(language))
        self._identity = f"{ANALYZER_RECIPE} stemmer/{language} {_ENGINE}"
        #: Indexes opened for reading, each with the device and inode its directory had.
        self._readers: dict[int, tuple[tuple[int, int], Index]] = {}
        self._sound: dict[str, Stamp | None] = {}

    @property
    def analyzer(self) -> str:
        return self._identity

    def terms(self, view: str) -> list[str]:
        return self._terms.of(view)

    def searcher(self, build: int) -> Result[TantivySearcher, LexicalFailure]:
        return attempt(lambda: self._searcher(build))

    def start(self, build: int) -> Result[None, LexicalFailure]:
        return attempt(lambda: self._start(build), self._directory)

    def apply(
        self, build: int, mark: Mark | None, documents: Sequence[LexicalDocument]
    ) -> Result[None, LexicalFailure]:
        return attempt(lambda: self._apply(build, mark, documents), self._directory)

    def live(self, build: int) -> Result[dict[int, str], LexicalFailure]:
        return attempt(lambda: live_rows(*self._snapshot(build)))

    def check(self, build: int) -> Result[tuple[str, ...], LexicalFailure]:
        return attempt(lambda: self._check(build))

    def discard(self, keep: int | None) -> Result[None, LexicalFailure]:
        return attempt(lambda: self._discard(keep))

    def close(self) -> None:
        self._readers.clear()

    def _existing(self, build: int) -> Path:
        path = self._directory / str(build)
        if not (is_real_directory(self._directory) and is_real_directory(path)):
            raise Missing(f"there is no build {build}")
        return path

    def _opened(self, path: Path) -> Index:
        index = Index.open(str(path))
        index.register_tokenizer(TOKENIZER, self._tokenizer)
        return index

    def _demand_sound(self, path: Path, known: Mapping[str, Stamp | None]) -> None:
        """What the engine would answer wrongly from, or die of, is not shown to it.

        Files of segments never change: what has the size and time it had when it was sound is not read again.
        """
        stamps = stamps_of(path, named(path))
        unread = {name for name, stamp in stamps.items() if stamp is None or known.get(name) != stamp}
        for finding in findings(path, sorted(unread)):
            raise Damaged(finding)
        self._sound.update(stamps)

    def _check(self, build: int) -> tuple[str, ...]:
        path = self._existing(build)
        found = tuple(findings(path, sorted(named(path))))
        if not found:
            # Refuses a schema that is not this one.
            Index(make_schema(), path=str(path), reuse=True)
        return found

    def _snapshot(self, build: int) -> tuple[Index, Searcher]:
        """What was last committed. A directory that was replaced by another one is noticed."""
        path = self._existing(build)
        status = os.stat(path)
        home = (status.st_dev, status.st_ino)
        self._demand_sound(path, {**remembered(path), **self._sound})
        known, index = self._readers.get(build, (None, None))
        if index is None or known != home:
            index = self._opened(path)
            index.config_reader("manual")
            self._readers[build] = (home, index)
        index.reload()
        return index, index.searcher()

    def _searcher(self, build: int) -> TantivySearcher:
        index, searcher = self._snapshot(build)
        return TantivySearcher(index.schema, searcher, mark_of(index.schema, searcher))

    def _start(self, build: int) -> None:
        self._readers.pop(build, None)
        path = self._directory / str(build)
        if not is_real_directory(self._directory):
            remove(self._directory)
        remove(path)
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.mkdir(mode=0o700)
        Index(make_schema(), path=str(path), reuse=False)
        make_private(path)
        for each in (path, self._directory, self._directory.parent):
            sync_directory(each)

    def _apply(self, build: int, mark: Mark | None, documents: Sequence[LexicalDocument]) -> None:
        path = self._existing(build)
        sweep(path)
        # A merge that panics over a damaged file ends the process, and the next writer's too: nothing is taken on trust.
        self._demand_sound(path, self._sound)
        # Opened afresh: an index that was open while another process committed overwrites the list of managed files.
        writer = self._opened(path).writer(_heap(documents), 1)
        # First, or a delete file left by a kill makes every later commit that reaches its name fail.
        writer.garbage_collect_files()
        # The first operation of a writer repeats the last operation's number, and a delete with it can be lost.
        writer.delete_documents_by_term("doc", NEVER)
        for document in documents:
            writer.delete_documents_by_term("doc", document.document_id)
            for row in document.rows:
                writer.add_document(row_document(document.document_id, row.row, " ".join(self._terms.of(row.view))))
        writer.delete_documents_by_term("doc", MARK_ID)
        if mark is not None:
            writer.add_document(mark_document(mark))
        writer.commit()
        writer.wait_merging_threads()
        self._sound = stamps_of(path, named(path))
        remember(path, self._sound)
        make_private(path)

    def _discard(self, keep: int | None) -> None:
        if keep is None:
            self._readers.clear()
            remove(self._directory)
            return
        if not is_real_directory(self._directory):
            return
        for path in self._directory.iterdir():
            if path.name.isdecimal() and path.name != str(keep):
                self._readers.pop(int(path.name), None)
                remove(path)


def _heap(documents: Iterable[LexicalDocument]) -> int:
    wanted = _HEAP_PER_CHARACTER * sum(len(row.view) for document in documents for row in document.rows)
    return min(max(wanted, _LEAST_HEAP), _MOST_HEAP)
