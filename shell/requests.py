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


@frozen
class BadExtractor:
    """Something given as an extractor that cannot be one: which of them, and what is wrong with it."""

    number: int
    wrong: str


def no_extractor(given: object) -> str | None:
    """What keeps something from being an extractor at a glance; None if nothing does. Nothing of it is called."""
    if isinstance(given, type):
        return f"it is a class; give an instance: {given.__name__}()"
    for name in ("identity", "media_types", "extract"):
        if not (hasattr(type(given), name) or name in getattr(given, "__dict__", {})):
            return f"a {type(given).__name__} has no {name}"
    return None


def web_refused(path: str) -> UnsupportedSource | None:
    """Why a path is no path but a URL, and so not ingested; None for a path."""
    return UnsupportedSource(_host_of(path), "web pages are not ingested yet") if is_url(path) else None


def _host_of(url: str) -> str:
    """A URL's scheme and host, without what might be a secret in it."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{re.split(r'[/?#]', rest, maxsplit=1)[0].rpartition('@')[2]}"
