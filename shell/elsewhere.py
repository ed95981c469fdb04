"""Where else to look for what a source does not have any more: other documents of the collection, other files of its base.

All of it is help for a person. What cannot be looked at has nothing to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from attrs import Factory, define, frozen

from groundkit.core.decoding import decode
from groundkit.core.fingerprint import document_id
from groundkit.core.kinds import Dispatch, Kinds
from groundkit.core.model import Citation, DocumentRecord, FoundIn, SourceClass, Span
from groundkit.core.ports import SourceReader
from groundkit.core.result import Failure, Success
from groundkit.core.sources import ReadSource
from groundkit.core.storage import AllRecords, RecordOfDocument
from groundkit.core.walking import FoundFile, WalkRequest

if TYPE_CHECKING:
    from groundkit.core.storage import RecordQuery
    from groundkit.passages import Passages, Place
    from groundkit.verifying import OpenSources

#: Shorter passages, in bytes of UTF-8, stand in many documents and say nothing. A sign of Chinese has three.
LEAST_TELLING = 20
#: Bytes of files that are read to find those of a missing source, and to find texts that were edited since their ingest.
MOST_HASHED, MOST_READ = 1024 * 1024 * 1024, 64 * 1024 * 1024
#: Code points that all lost passages of one run are sought in, together.
MOST_SEARCHED = 2_000_000_000
#: Documents that are held against their files before the search is given up.
_PLACES = 16


@frozen
class Reach:
    """How far to look: bytes of files that are hashed, and code points that are searched, of one run."""

    hashed: int = MOST_HASHED
    searched: int = MOST_SEARCHED


#: For those who ask often and want to know soon.
NEAR = Reach(64 * 1024 * 1024, 100_000_000)


@define
class Elsewhere:
    """See `verifying.Elsewhere`. Opens what it needs when it is first asked; close it.

    `passages` opens the documents of a collection, if there is one, `sources` the files below the base, if there is one.
    """

    _sources: OpenSources | None
    _most_bytes: int
    _kinds: Kinds
    _open_passages: Callable[[], Passages | None] = lambda: None
    _reach: Reach = Reach()
    _passages: list[Passages | None] = Factory(list)
    _reader: list[SourceReader | None] = Factory(list)
    _digests: dict[str, str] | None = None
    _read_today: dict[str, str | None] = Factory(dict)
    _edited: list[tuple[DocumentRecord, str]] | None = None
    _same: dict[str, str | None] = Factory(dict)
    _all: tuple[DocumentRecord, ...] | None = None
    _searched: int = 0

    def close(self) -> None:
        """Close what was opened. Closing twice does nothing."""
        for reader in filter(None, self._reader):
            reader.close()
        for passages in filter(None, self._passages):
            passages.pair.view.close()
        self._reader.clear()
        self._passages.clear()

    def passage(self, citation: Citation, cited: str) -> FoundIn | None:
        """Another document whose file, or the snapshot of whose page, has this text, letter for letter but for white space at
        its ends. An extracted file that changed since is not extracted again to know it."""
        text = cited.strip()
        if len(text.encode("utf-8", "surrogatepass")) < LEAST_TELLING or not self._has_others(citation.source):
            return None
        for record, today in self._documents(text, citation):
            if record.source == citation.source or self._searched > self._reach.searched:
                continue
            self._searched += len(today)
            at = today.find(text)
            if at >= 0:
                return FoundIn(record.source, record.document_id, Span(at, at + len(text)))
        return None

    def _has_others(self, source: str) -> bool:
        return any(record.source != source for record in self._documents_all())

    def _documents_all(self) -> tuple[DocumentRecord, ...]:
        if self._all is None:
            self._all = self._records(AllRecords())
        return self._all

    def _documents(self, text: str, citation: Citation) -> Iterator[tuple[DocumentRecord, str]]:
        """Those that may have it, by source, then those whose files were edited since."""
        passages = self._documents_stored()
        if passages is None:
            return
        places = passages.exact_places(text, _PLACES, without=citation.document_id)
        for place in places.unwrap() if isinstance(places, Success) else ():
            today = self._today(place)
            if today is not None:
                yield place.record, today
        yield from self._edited_since()

    def _today(self, place: Place) -> str | None:
        """The text of a document as its file has it, read once for all the passages that are sought in it."""
        found, name = self._read_today, place.record.document_id
        if name not in found:
            while found and sum(len(each or "") for each in found.values()) > MOST_READ:
                found.pop(next(iter(found)))
            found[name] = self._text_today(place)
        return found[name]

    def _text_today(self, place: Place) -> str | None:
        """None of a file that cannot be read, or that would have to be extracted again; a page has the text it was kept with."""
        record = place.record
        if record.source_class is SourceClass.SNAPSHOT:
            return place.text
        read = self._read(record.source)
        if read is None:
            return None
        if record.extraction is not None:
            return place.text if read.digest == record.extraction.source_digest else None
        decoded = decode(read.data)
        return decoded.unwrap() if isinstance(decoded, Success) else None

    def _edited_since(self) -> list[tuple[DocumentRecord, str]]:
        """Text files that say something else than when they were ingested, as far as the reading goes."""
        if self._edited is None:
            self._edited, left = [], MOST_READ
            for record in self._documents_all():
                if record.source_class is not SourceClass.TEXT or left <= 0:
                    continue
                read = self._read(record.source)
                left -= len(read.data) if read else 0
                decoded = decode(read.data) if read and read.digest != record.text_digest else None
                if isinstance(decoded, Success):
                    self._edited.append((record, decoded.unwrap()))
        return self._edited

    def same_text(self, citation: Citation) -> FoundIn | None:
        """Another document with the whole text that the cited version had, letter for letter, the first by source."""
        for record in self._documents_all():
            same = document_id(citation.source, citation.source_class, record.text_digest) == citation.document_id
            if same and record.source != citation.source:
                return FoundIn(record.source, record.document_id, citation.span)
        return None

    def same_bytes(self, citation: Citation) -> str | None:
        """Another file below the base with the very bytes that the cited version had, the first by name."""
        if citation.document_id not in self._same:
            self._same[citation.document_id] = self._with_the_bytes(citation)
        return self._same[citation.document_id]

    def _with_the_bytes(self, citation: Citation) -> str | None:
        for record in self._records(RecordOfDocument(citation.document_id)):
            if record.source == citation.source:
                extraction = record.extraction
                return self._files().get(record.text_digest if extraction is None else extraction.source_digest)
        if citation.source_class is not SourceClass.TEXT:
            return None
        # The bytes of a text are what its digest is of, and the digest is in the id.
        source, wanted = citation.source, citation.document_id
        files = self._files().items()
        return next((each for digest, each in files if document_id(source, SourceClass.TEXT, digest) == wanted), None)

    def _files(self) -> dict[str, str]:
        """The files below the base by their digest, whatever they are called, as far as the reading goes."""
        if self._digests is None:
            self._digests, left = {}, self._reach.hashed
            reader = self._sources_open()
            for found in reader.walk(WalkRequest(("",), Dispatch(True, self._kinds))) if reader else ():
                if left <= 0:
                    break
                read = self._read(found.source) if isinstance(found, FoundFile) else None
                if read is not None:
                    left -= len(read.data)
                    self._digests.setdefault(read.digest, read.source)
        return self._digests

    def _read(self, source: str) -> ReadSource | None:
        reader = self._sources_open()
        read = None if reader is None else reader.read(source, self._most_bytes)
        return read.unwrap() if isinstance(read, Success) else None

    def _records(self, wanted: RecordQuery) -> tuple[DocumentRecord, ...]:
        passages = self._documents_stored()
        if passages is None:
            return ()
        got = passages.pair.view.records(wanted, passages.pair.generation.mark.generation)
        return () if isinstance(got, Failure) else got.unwrap()

    def _documents_stored(self) -> Passages | None:
        if not self._passages:
            self._passages.append(self._open_passages())
        return self._passages[0]

    def _sources_open(self) -> SourceReader | None:
        if not self._reader:
            opened = self._sources() if self._sources is not None else None
            self._reader.append(opened.unwrap() if isinstance(opened, Success) else None)
        return self._reader[0]
