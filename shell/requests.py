"""Failures of requests that several use cases share."""

from attrs import frozen

from groundkit.core.url_kinds import is_url


@frozen
class AmbiguousChunk:
    """A beginning of a chunk id that fits several; the first of them."""

    prefix: str
    ids: tuple[str, ...]


@frozen
class NoBaseGiven:
    """A local path, and no base directory to name it against."""


@frozen
class ServingRefused:
    """Why a server must not be started like this."""

    why: str


@frozen
class NotAPath:
    """A URL where a path was meant; its secrets are masked."""

    source: str


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


def not_a_path(given: str) -> NotAPath | None:
    """Why something given as a path is none; None for a path."""
    if not is_url(given):
        return None
    from groundkit.core.masking import masked_url

    return NotAPath(masked_url(given))


@frozen
class ModelEndpoint:
    """Where embedders and rerankers of a server answer, and whether that may be on this machine or network.

    None: as the environment says. With `allow_download`, a reranker that runs here may fetch its model.
    """

    url: str | None = None
    allow_local: bool | None = None
    allow_download: bool = False
