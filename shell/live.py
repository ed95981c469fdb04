"""Cited pages fetched again, to say what they say today. Nothing is stored, and no verdict depends on it."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing

from attrs import Factory, define

from groundkit.core.extraction import Hint
from groundkit.core.fetching import Fetched, request_for
from groundkit.core.fingerprint import bytes_digest, text_digest
from groundkit.core.kinds import Loader
from groundkit.core.live import Live, unreachable
from groundkit.core.live_relocation import live_of
from groundkit.core.model import Citation, FromSnapshot
from groundkit.core.pages import page_kind, page_text
from groundkit.core.ports import Fetcher, Ports
from groundkit.core.relocation import Alignment, Same, aligned, relocate
from groundkit.core.result import Failure, Result, Success
from groundkit.core.settings import Settings, limits_for
from groundkit.core.spans import checked_span
from groundkit.core.urls import web_url
from groundkit.extracting import Extracting

#: The text of a document as it was ingested, by its id; None where it is not stored any more.
StoredText = Callable[[str], str | None]


def live_each(
    ports: Ports, settings: Settings, extracting: Extracting, stored: StoredText, citations: Iterable[Citation]
) -> Iterator[Live | None]:
    """What each cited page says now; None for a citation of a file. Each page is fetched once."""
    with closing(ports.fetcher()) as fetcher:
        looker = _Looker(ports, settings, extracting, fetcher, stored)
        for each in citations:
            yield looker.look(each) if isinstance(each.provenance, FromSnapshot) else None


@define
class _Looker:
    _ports: Ports
    _settings: Settings
    _extracting: Extracting
    _fetcher: Fetcher
    _stored: StoredText
    _pages: dict[str, Result[str, str]] = Factory(dict)
    _last: tuple[tuple[str, str], Alignment | None] | None = None

    def look(self, citation: Citation) -> Live:
        if citation.source not in self._pages:
            self._pages[citation.source] = self._text_now(citation.source)
        now = self._pages[citation.source]
        if isinstance(now, Failure):
            return unreachable(now.failure())
        # The page itself tells whether it still says it; only where it went takes the text that was cited.
        if _says(now.unwrap(), citation):
            return live_of(Same(), citation.span, "", now.unwrap())
        alignment = self._alignment(citation, now.unwrap())
        if alignment is None or not _says(alignment.old, citation):
            return unreachable("the text that was cited is not at hand to compare the page with")
        return live_of(relocate(alignment, citation.span), citation.span, alignment.old, now.unwrap())

    def _alignment(self, citation: Citation, now: str) -> Alignment | None:
        pair = citation.document_id, citation.source
        if self._last is None or self._last[0] != pair:
            text = self._stored(citation.document_id)
            self._last = pair, None if text is None else aligned(text, now)
        return self._last[1]

    def _text_now(self, source: str) -> Result[str, str]:
        """The page's text as it would be ingested now, or why there is none."""
        shaped = web_url(source, self._settings.fetch_ports)
        if isinstance(shaped, Failure):
            return Failure(shaped.failure().detail)
        answer = self._fetcher.fetch(request_for(shaped.unwrap(), self._settings))
        if isinstance(answer, Failure):
            return Failure(answer.failure().detail)
        fetched = answer.unwrap()
        return self._text_of(fetched) if isinstance(fetched, Fetched) else Failure("the server sent no page")

    def _text_of(self, fetched: Fetched) -> Result[str, str]:
        found = page_kind(fetched.content_type, fetched.body)
        if isinstance(found, Failure):
            return Failure(found.failure().detail)
        kind, charset = found.unwrap(), fetched.content_type.charset
        if kind.loader is not Loader.EXTRACTOR:
            decoded = page_text(fetched.body, charset)
            return Failure(decoded.failure().detail) if isinstance(decoded, Failure) else Success(decoded.unwrap().text)
        reader = self._ports.extractors.reader_of(kind.media_type)
        if isinstance(reader, Failure):
            return Failure(reader.failure().said)
        reads, hint = reader.unwrap(), Hint(kind.media_type, charset or None)
        limits = limits_for(self._settings, len(fetched.body))
        job = reads.job(fetched.body, hint, limits)
        # What a server says of the charset may change the text of the same bytes.
        extracted = self._extracting.text(job, bytes_digest(fetched.body + b"\0" + charset.encode()))
        return Failure(extracted.failure().detail) if isinstance(extracted, Failure) else extracted


def _says(text: str, citation: Citation) -> bool:
    span = checked_span(len(text), citation.span.start, citation.span.end)
    return isinstance(span, Success) and text_digest(text[citation.span.start : citation.span.end]) == citation.digest
