"""Failures of requests that several use cases share."""

import re

from attrs import frozen

from groundkit.core.paths import is_url


@frozen
class AmbiguousChunk:
    """A beginning of a chunk id that fits several; the first of them."""

    prefix: str
    ids: tuple[str, ...]


@frozen
class NoBaseGiven:
    """A local path, and no base directory to name it against."""


@frozen
class UnsupportedSource:
    """A source of a kind that this version does not ingest."""

    source: str
    detail: str


def web_refused(path: str) -> UnsupportedSource | None:
    """Why a path is no path but a URL, and so not ingested; None for a path."""
    return UnsupportedSource(_host_of(path), "web pages are not ingested yet") if is_url(path) else None


def _host_of(url: str) -> str:
    """A URL's scheme and host, without what might be a secret in it."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{re.split(r'[/?#]', rest, maxsplit=1)[0].rpartition('@')[2]}"
