"""What an ingest does with each source: known, found and settings in, actions out."""

from collections.abc import Iterable
from typing import TypeAlias

from attrs import frozen

from groundkit.core.extraction import NotExtracted
from groundkit.core.fingerprint import processing_fingerprint
from groundkit.core.model import DocumentRecord, SourceClass
from groundkit.core.paths import lies_below
from groundkit.core.sources import ReadFailure
from groundkit.core.walking import in_scope


@frozen
class Add:
    """A new source."""


@frozen
class Replace:
    """A known source whose chunks change."""


@frozen
class Rebind:
    """The same chunks; what is recorded about the document changes."""


@frozen
class Keep:
    """Nothing changed."""


@frozen
class Remove:
    """A known source that is no longer found."""

    source: str


@frozen
class Fail:
    """A source that could not be read. Its last good version stays."""

    failure: ReadFailure | NotExtracted


Action: TypeAlias = Add | Replace | Rebind | Keep | Remove | Fail


def before_reading(known: DocumentRecord | None, fingerprint: str) -> Keep | None:
    """Same bytes, same extractor, same cutting: nothing is to be done, and the text need not be decoded."""
    if known is not None and known.fingerprint == fingerprint:
        return Keep()
    return None


def after_extracting(known: DocumentRecord | None, digest: str, chunker: str) -> Rebind | None:
    """The stored chunks are those of the new extraction, which need not be cut: both have one digest, and one chunker.

    What differs is who extracted it, or bytes that are not in the text.
    """
    if known is None or known.extraction is None or known.extraction.digest != digest:
        return None
    cut_alike = processing_fingerprint(known.extraction.source_digest, known.extractor, chunker)
    return Rebind() if known.fingerprint == cut_alike else None


def after_reading(known: DocumentRecord | None, document_id: str, same_chunks: bool) -> Add | Replace | Rebind:
    """What the newly read version of a source means for the one that is stored.

    `same_chunks`: the stored chunks are, to the last span and locator, those that the new version has.
    """
    if known is None:
        return Add()
    if known.document_id == document_id and same_chunks:
        return Rebind()
    return Replace()


@frozen
class Removals:
    """Sources to remove, and sources that a guard kept although they were not found."""

    removed: tuple[str, ...] = ()
    held_back: tuple[str, ...] = ()


def removals(
    known: Iterable[DocumentRecord],
    paths: tuple[str, ...],
    found: frozenset[str],
    untold: tuple[str, ...],
    prune_all: bool,
) -> Removals:
    """Known local sources below the asked paths that the walk did not find.

    `untold` are paths about which the walk could say nothing (missing when named, unreadable): they keep what they held.
    A path below which nothing at all was found does not lose everything, unless `prune_all` says so.
    """
    local = [each.source for each in known if each.source_class is not SourceClass.SNAPSHOT]
    gone = [each for each in local if each not in found and in_scope(paths, each) and not in_scope(untold, each)]
    empty = () if prune_all else tuple(path for path in paths if not any(lies_below(each, path) for each in found))
    held = [each for each in gone if in_scope(empty, each)]
    return Removals(tuple(sorted(set(gone).difference(held))), tuple(sorted(set(held))))
