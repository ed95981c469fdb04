"""What the suffix of a source stands for, and whether its first bytes agree. Decided once, before anything else is done."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import TypeAlias

from attrs import frozen

from groundkit.core.model import DocumentRecord, SourceClass
from groundkit.core.sources import ReadFailure, ReadProblem


class Loader(StrEnum):
    """Who turns the bytes of a source into its text."""

    TEXT = "text"
    MARKDOWN = "markdown"
    EXTRACTOR = "extractor"


@frozen
class Kind:
    """What a suffix stands for: the loader and the media type that is recorded."""

    loader: Loader
    media_type: str


#: Suffixes are compared in lower case.
KINDS = {
    ".md": Kind(Loader.MARKDOWN, "text/markdown"),
    ".markdown": Kind(Loader.MARKDOWN, "text/markdown"),
    ".txt": Kind(Loader.TEXT, "text/plain"),
    ".pdf": Kind(Loader.EXTRACTOR, "application/pdf"),
    ".html": Kind(Loader.EXTRACTOR, "text/html"),
    ".htm": Kind(Loader.EXTRACTOR, "text/html"),
    ".xhtml": Kind(Loader.EXTRACTOR, "application/xhtml+xml"),
}

#: What each suffix stands for: the built-in table, or one with the suffixes of a user's extractors in it.
Kinds: TypeAlias = Mapping[str, Kind]

PLAIN_TEXT = Kind(Loader.TEXT, "text/plain")


def suffix_of(source: str) -> str:
    """The last suffix of the last part in lower case, or "". A leading dot begins no suffix."""
    name = source.rpartition("/")[2]
    dot = name.rfind(".")
    return name[dot:].lower() if dot > 0 else ""


def kind_of(source: str, as_text: bool = False, kinds: Kinds = KINDS) -> Kind | None:
    """What a file of this name is; None when its suffix stands for nothing. With `as_text` every file is plain text."""
    return PLAIN_TEXT if as_text else kinds.get(suffix_of(source))


@frozen
class Dispatch:
    """What files are taken as: each by its suffix, or with `as_text` every one as plain text."""

    as_text: bool = False
    kinds: Kinds = KINDS

    def kind_of(self, source: str) -> Kind | None:
        return kind_of(source, self.as_text, self.kinds)


BY_SUFFIX = Dispatch()


def kind_of_record(record: DocumentRecord) -> Kind:
    """The kind a stored document was ingested as, whatever its name is."""
    if record.source_class is SourceClass.EXTRACTED:
        return Kind(Loader.EXTRACTOR, record.media_type)
    return next((kind for kind in KINDS.values() if kind.media_type == record.media_type), PLAIN_TEXT)


def known_suffixes(kinds: Kinds) -> str:
    return ", ".join(sorted(kinds))


#: Beginnings of files that no text has, and what each says the file is.
_SIGNATURES = (
    (b"%PDF-", "a PDF"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (b"RIFF", "a RIFF file (WebP, WAV or AVI)"),
    (b"PK\x03\x04", "a ZIP archive (an office document, perhaps)"),
    (b"PK\x05\x06", "a ZIP archive"),
    (b"\x1f\x8b", "a gzip file"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ\x00", "an xz file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an older office document"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"%!PS-", "a PostScript file"),
    (b"{\\rtf", "an RTF document"),
)
_MARKUP = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<!doctype\s+html|<html[\s>]|<head[\s>]|<body[\s>])", re.IGNORECASE)
_HTML, _PDF = ("text/html", "application/xhtml+xml"), ("application/pdf",)
_TEXT = ("text/markdown", "text/plain")
#: A PDF may have other bytes before its header, so many at most.
_PDF_HEADER_WITHIN = 1024
#: What a file of this media type may begin with, although it has a signature.
_FITTING = {"a PDF": _PDF, "an HTML page": _HTML}


def looks_like(data: bytes) -> str | None:
    """What the first bytes say a file is, in words; None where they say nothing."""
    for beginning, said in _SIGNATURES:
        if data.startswith(beginning):
            return said
    return "an HTML page" if _MARKUP.match(data[:_PDF_HEADER_WITHIN]) else None


def contradiction(media_type: str, data: bytes) -> str | None:
    """What the first bytes say a PDF or an HTML file is instead, or a text file that is a PDF; None where they fit.

    Bytes that say nothing contradict nothing: whether they can be read is the extractor's business, as are all bytes of
    a format that somebody added, which may well be a PDF or a ZIP archive inside.
    """
    said = looks_like(data)
    if said is None or media_type in _FITTING.get(said, ()):
        return None
    if media_type in _PDF:
        return None if b"%PDF-" in data[:_PDF_HEADER_WITHIN] else said
    return said if media_type in _HTML or (said == "a PDF" and media_type in _TEXT) else None


def mislabelled(source: str, media_type: str, data: bytes) -> ReadFailure | None:
    """A file whose first bytes say that it is something else than its name says."""
    said = contradiction(media_type, data)
    return ReadFailure(source, ReadProblem.MISLABELLED, f"is {said}, by its first bytes") if said else None
