"""The pages of an ingest: what is asked of their servers, and what becomes of each answer."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from attrs import Factory, define, evolve, frozen

from groundkit.core.changes import KeptFile, NewDocument
from groundkit.core.content_types import content_type
from groundkit.core.extraction import Extraction, ExtractionFailed, ExtractionProblem, Hint, NotExtracted
from groundkit.core.fetching import (
    FetchAnswer,
    Fetched,
    FetchFailed,
    FetchProblem,
    FetchRequest,
    NotFetched,
    NotModified,
    Validators,
    request_for,
)
from groundkit.core.fingerprint import bytes_digest
from groundkit.core.kinds import Kind, Loader, kind_of_record
from groundkit.core.model import DocumentRecord, FetchFacts
from groundkit.core.pages import html_charset, page_kind, page_text
from groundkit.core.planning import Keep, before_reading
from groundkit.core.ports import Archive, ExtractionJob, Ports
from groundkit.core.result import Failure, Result, Success
from groundkit.core.settings import Settings, limits_for
from groundkit.core.snapshots import body_name
from groundkit.core.suspicions import NO_TEXT, suspicions
from groundkit.core.urls import WebUrl
from groundkit.core.versions import Origin, page_origin, page_version


@frozen
class Unchanged:
    """The stored version is the current one; there is nothing to write."""

    record: DocumentRecord


@frozen
class ToExtract:
    """A page whose text has to be extracted."""

    origin: Origin
    job: ExtractionJob


@frozen
class PageVersion:
    """A page's new version, and the files that its record names."""

    origin: Origin
    new: NewDocument
    extraction: Extraction
    files: tuple[KeptFile, ...]


PageFailure: TypeAlias = NotFetched | NotExtracted
Taken: TypeAlias = Unchanged | ToExtract | PageVersion


@frozen
class _UnderWay:
    request: FetchRequest
    fetched: Fetched
    fetched_at: str


@define
class Pages:
    """What one ingest knows of its pages. With an archive, raw responses are kept."""

    ports: Ports
    settings: Settings
    known: Mapping[str, DocumentRecord]
    archive: Archive | None = None
    _under_way: dict[str, _UnderWay] = Factory(dict)

    def requests(self, urls: Iterable[WebUrl]) -> list[FetchRequest]:
        """One for each page, asking whether the stored version is still the current one where that would do."""
        raw = self.archive is not None
        return [request_for(url, self.settings, self._validators(url), raw) for url in urls]

    def _validators(self, url: WebUrl) -> Validators | None:
        """Those of the stored version, if it would be made again just so from the same body, and all its files are whole."""
        record = self.known.get(url.source)
        if record is None or record.fetch is None or record.extraction is None or not self._whole(record):
            return None
        said = _validators_of(record.fetch)
        if said == Validators():
            return None
        origin = self._origin(record.source, record.extraction.source_digest, kind_of_record(record), _charset(record))
        same = isinstance(origin, Success) and isinstance(before_reading(record, origin.unwrap().fingerprint), Keep)
        return said if same else None

    def _whole(self, record: DocumentRecord) -> bool:
        """Whether the snapshot is the indexed text, and the raw body is there where one is wanted."""
        snapshot = self.ports.snapshots.get(record.document_id)
        if isinstance(snapshot, Failure) or bytes_digest(snapshot.unwrap()) != record.text_digest:
            return False
        kept = record.fetch.kept_body if record.fetch else ""
        return self._has_body(kept) if kept else self.archive is None

    def _has_body(self, digest: str) -> bool:
        body = self.ports.bodies.get(body_name(digest))
        return isinstance(body, Success) and bytes_digest(body.unwrap()) == digest

    def _origin(self, source: str, digest: str, kind: Kind, charset: str) -> Result[Origin, NotExtracted]:
        if kind.loader is not Loader.EXTRACTOR:
            return Success(page_origin(source, digest, kind.media_type, None, charset, self.settings))
        found = self.ports.extractors.reader_of(kind.media_type)
        if isinstance(found, Failure):
            return Failure(NotExtracted(source, found.failure()))
        identity = found.unwrap().identity
        return Success(page_origin(source, digest, kind.media_type, identity, charset, self.settings))

    def taken(self, request: FetchRequest, answer: Result[FetchAnswer, FetchFailed]) -> Result[Taken, PageFailure]:
        """What an answer means for its page."""
        source = request.url.source
        if isinstance(answer, Failure):
            return Failure(NotFetched(source, answer.failure()))
        match answer.unwrap():
            case NotModified():
                if request.validators is None:  # a fetcher of somebody's own
                    return _failed(source, FetchProblem.UNASKED_304, "the server says it is unchanged, unasked")
                return Success(Unchanged(self.known[source]))
            case Fetched() as fetched:
                return self._fetched(request, fetched)

    def _fetched(self, request: FetchRequest, fetched: Fetched) -> Result[Taken, PageFailure]:
        source, body = request.url.source, fetched.body
        found = page_kind(fetched.content_type, body)
        if isinstance(found, Failure):
            return _failed(source, FetchProblem.CONTENT_TYPE, found.failure().detail)
        kind, charset = found.unwrap(), fetched.content_type.charset
        made = self._origin(source, bytes_digest(body), kind, charset)
        if isinstance(made, Failure):
            return made
        origin, record = made.unwrap(), self.known.get(source)
        if record is not None and self._same(record, origin, fetched):
            return Success(Unchanged(record))
        self._under_way[source] = _UnderWay(request, fetched, self.ports.clock.now())
        if origin.identity is None:
            return self._text(origin, body)
        extractor = self.ports.extractors.reader_of(kind.media_type).unwrap()
        limits = limits_for(self.settings, len(body))
        return Success(ToExtract(origin, extractor.job(body, Hint(kind.media_type, charset or None), limits)))

    def _same(self, record: DocumentRecord, origin: Origin, fetched: Fetched) -> bool:
        """Whether nothing is to be written: same body, and the server would know it again by what is stored of it."""
        same = isinstance(before_reading(record, origin.fingerprint), Keep) and self._whole(record)
        return same and record.fetch is not None and _validators_of(record.fetch) == fetched.validators

    def _text(self, origin: Origin, body: bytes) -> Result[Taken, PageFailure]:
        decoded = page_text(body, origin.charset)
        if isinstance(decoded, Failure):
            self.given_up(origin)
            return _failed(origin.source, FetchProblem.CONTENT_TYPE, decoded.failure().detail)
        page = decoded.unwrap()
        return Success(self._version(origin, Extraction(page.text), (page.charset, page.decided_by.value)))

    def given_up(self, origin: Origin) -> None:
        """Nothing comes of the page."""
        self._under_way.pop(origin.source, None)

    def not_extracted(self, origin: Origin, failed: ExtractionFailed) -> NotExtracted:
        """The failure of a page, with what may be the reason that it has no text."""
        page = self._under_way.pop(origin.source, None)
        if page is None or failed.problem is not ExtractionProblem.NO_TEXT:
            return NotExtracted(origin.source, failed)
        said = [each for each in suspicions(origin.media_type, page.fetched.body, "", "") if each != NO_TEXT]
        return NotExtracted(origin.source, evolve(failed, detail="; ".join((failed.detail, *said))))

    def version(self, origin: Origin, extraction: Extraction) -> PageVersion:
        """What is stored of a page whose text was extracted."""
        body = self._under_way[origin.source].fetched.body
        pdf = origin.media_type == "application/pdf"
        return self._version(origin, extraction, ("", "") if pdf else html_charset(body, origin.charset))

    def _version(self, origin: Origin, extraction: Extraction, charset: tuple[str, str]) -> PageVersion:
        """What is stored of a page whose text is there; with the charset it was read in, and what decided that."""
        page = self._under_way.pop(origin.source)
        body = self._kept_body(origin, page)
        kept = body.name.partition(".")[0] if body else self._old_body(origin)
        fetch = _facts(origin, extraction, page, charset, kept)
        new = page_version(origin, extraction, fetch, self.settings, page.fetched_at)
        snapshot = KeptFile(new.record.document_id, extraction.text.encode())
        return PageVersion(origin, new, extraction, (snapshot, body) if body else (snapshot,))

    def _kept_body(self, origin: Origin, page: _UnderWay) -> KeptFile | None:
        """A file with the raw response, where one is wanted."""
        if self.archive is None or page.fetched.raw is None:
            return None
        record = self.archive.record(page.request.url, page.fetched.raw, page.fetched_at)
        return KeptFile(body_name(bytes_digest(record)), record, is_body=True)

    def _old_body(self, origin: Origin) -> str:
        """The file that is kept of the same body, if any."""
        record = self.known.get(origin.source)
        if record is None or record.fetch is None or record.extraction is None:
            return ""
        same = record.extraction.source_digest == origin.digest
        return record.fetch.kept_body if same and self._has_body(record.fetch.kept_body) else ""


def _facts(
    origin: Origin, extraction: Extraction, page: _UnderWay, charset: tuple[str, str], kept_body: str
) -> FetchFacts:
    fetched = page.fetched
    return FetchFacts(
        status=fetched.status,
        content_type=fetched.content_type.said,
        charset=charset[0],
        charset_by=charset[1],
        fetched_at=page.fetched_at,
        etag=fetched.validators.etag,
        last_modified=fetched.validators.last_modified,
        length=len(fetched.body),
        extractor=origin.identity,
        suspicions=suspicions(origin.media_type, fetched.body, extraction.text, extraction.title),
        kept_body=kept_body,
    )


def _validators_of(fetch: FetchFacts) -> Validators:
    return Validators(fetch.etag, fetch.last_modified)


def _charset(record: DocumentRecord) -> str:
    """What the server said of the stored version's charset."""
    return content_type(record.fetch.content_type).charset if record.fetch else ""


def _failed(source: str, problem: FetchProblem, detail: str) -> Failure[NotFetched]:
    return Failure(NotFetched(source, FetchFailed(problem, detail)))
