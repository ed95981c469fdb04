"""Failures of requests that several use cases share."""

from attrs import frozen


@frozen
class AmbiguousChunk:
    """A beginning of a chunk id that fits several; the first of them."""

    prefix: str
    ids: tuple[str, ...]


@frozen
class NoBaseGiven:
    """A local path, and no base directory to name it against."""


@frozen
class UnknownNames:
    """Sources or chunks that the collection does not know."""

    names: tuple[str, ...]


@frozen
class UnsupportedSource:
    """A source of a kind that this version does not ingest."""

    source: str
    detail: str
