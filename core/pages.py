"""What the body of a fetched page is, by what its server says of it, else by its first bytes, and its text where it is text."""

import re
from collections.abc import Mapping
from typing import TypeAlias

from attrs import evolve, frozen

from groundkit.core.charsets import CharsetRefused, DecidedBy, DecodedHtml, decode_html, decode_unmarked
from groundkit.core.decoding import NotText, TextProblem, guess_encoding
from groundkit.core.fetching import ContentType
from groundkit.core.kinds import PLAIN_TEXT, Kind, Loader, contradiction, looks_like
from groundkit.core.result import Failure, Result, Success

_HTML = Kind(Loader.EXTRACTOR, "text/html")
_XHTML = Kind(Loader.EXTRACTOR, "application/xhtml+xml")
_PDF = Kind(Loader.EXTRACTOR, "application/pdf")
_MARKDOWN = Kind(Loader.MARKDOWN, "text/markdown")

#: The media types that a page may have, and what each is read as.
PAGE_KINDS: Mapping[str, Kind] = {
    "text/html": _HTML,
    "application/xhtml+xml": _XHTML,
    "application/pdf": _PDF,
    "application/x-pdf": _PDF,
    "text/plain": PLAIN_TEXT,
    "text/markdown": _MARKDOWN,
    "text/x-markdown": _MARKDOWN,
}
#: With these a server says that it does not know (MIME Sniffing standard, 7): the first bytes decide, as without a type.
UNKNOWN_TYPES = frozenset(("", "unknown/unknown", "application/unknown", "*/*"))


@frozen
class PageRefused:
    """A body that nothing here reads: `detail` is a sentence's worth of facts."""

    detail: str


#: Why a body that is text has none: its charset, or NUL in it. Both have a `detail`.
TextRefused: TypeAlias = CharsetRefused | NotText


def page_kind(content_type: ContentType, body: bytes) -> Result[Kind, PageRefused]:
    """What a body is read as: what its server says, unless the first bytes say otherwise; else what those say alone."""
    if content_type.media_type in UNKNOWN_TYPES:
        return _by_first_bytes(body)
    kind = PAGE_KINDS.get(content_type.media_type)
    if kind is None:
        return Failure(PageRefused(f"the page is {_shown(content_type.media_type)}; {TAKEN}"))
    said = contradiction(kind.media_type, body)
    if said:
        return Failure(
            PageRefused(f"the server says {content_type.media_type}, but by its first bytes the page is {said}")
        )
    return Success(kind)


#: How a refusal goes on.
TAKEN = "HTML, PDF, plain text and Markdown can be taken"
_NO_TYPE = "the server does not say what the page is, and by its first bytes it is"
_TYPE_SHOWN = 80


def _shown(media_type: str) -> str:
    return "".join(char if " " < char <= "~" else "?" for char in media_type[:_TYPE_SHOWN])


#: As much of a body as is looked at (MIME Sniffing standard, 5.2).
SNIFFED = 1445
# The tags of the standard's first table (7.1). The lookahead is its "tag-terminating byte".
_TAG = re.compile(
    rb"[\t\n\f\r ]*+<(?:!--|(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)(?=[ >]))",
    re.IGNORECASE,
)
_XML = re.compile(rb"[\t\n\f\r ]*+<\?xml")
_XHTML_ROOT = re.compile(rb"<html\s[^<>]*http://www\.w3\.org/1999/xhtml")
_MARKS = (b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf")
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")


def _by_first_bytes(body: bytes) -> Result[Kind, PageRefused]:
    """The MIME Sniffing standard's rules for an unknown type (7.1), as far as they lead to what is taken here."""
    start = body[:SNIFFED]
    if _TAG.match(start):
        return Success(_HTML)
    if start.startswith(b"%PDF-"):
        return Success(_PDF)
    if start.startswith(_MARKS):
        return Success(PLAIN_TEXT)
    if _XML.match(start):
        # To the standard it is XML, in which a browser sees XHTML by the namespace of its root.
        return Success(_XHTML) if _XHTML_ROOT.search(start) else Failure(PageRefused(f"{_NO_TYPE} XML; {TAKEN}"))
    said = looks_like(start) or ("binary data" if _BINARY.search(start) else None)
    return Failure(PageRefused(f"{_NO_TYPE} {said}; {TAKEN}")) if said else Success(PLAIN_TEXT)


def page_text(body: bytes, charset: str) -> Result[DecodedHtml, TextRefused]:
    """The text of a body that is plain text or Markdown; `charset` as its server says, "" where it says none.

    A byte order mark is kept as U+FEFF, and NUL is refused, as in a local file.
    """
    decoded = decode_unmarked(body, charset or None)
    if isinstance(decoded, Failure):
        return decoded
    found = decoded.unwrap()
    if found.decided_by is DecidedBy.BOM:
        found = evolve(found, text=f"\ufeff{found.text}")
    nul = found.text.find("\0")
    return Success(found) if nul < 0 else Failure(_holds_nul(body, found, nul))


#: Charsets in which a character below U+0080 is more than its byte. Anywhere else a byte 0 is a NUL.
_WIDE = ("utf-16", "utf-32")


def _holds_nul(body: bytes, found: DecodedHtml, at: int) -> NotText:
    wide = found.charset.startswith(_WIDE)
    offset = len(found.text[:at].encode(found.charset)) if wide else body.find(0)
    line = 1 + len(re.findall(r"\r\n?|\n", found.text[:at]))
    return NotText(TextProblem.HOLDS_NUL, offset, line, 0, None if wide else guess_encoding(body, offset))


def html_charset(body: bytes, charset: str) -> tuple[str, str]:
    """The charset in which the HTML extractor reads a page, and what decides it (`DecidedBy`); both "" if it refuses it."""
    match decode_html(body, charset or None):
        case Success(page):
            return page.charset, page.decided_by.value
        case Failure():
            return "", ""
