"""Exceptions of the public face, made in one place from the failures of the use cases, which they carry."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groundkit.core.model import Verdict, Verification
    from groundkit.ingest_values import IngestReport
    from groundkit.render import AnyFailure


class GroundkitError(Exception):
    """Base of everything groundkit raises on purpose. `failure` is the value it was made from, with its facts.

    `report` is that of a strict ingest, which did everything else before it raised.
    """

    def __init__(self, message: str, failure: object = None) -> None:
        super().__init__(message)
        self.failure = failure
        self.report: IngestReport | None = None


class ConfigurationError(GroundkitError):
    """The request or the settings cannot be carried out as they are."""


class IndexIdentityError(ConfigurationError):
    """A collection's vectors are of one embedder, and another one, or none, is at work."""


class EmbeddingError(GroundkitError):
    """An embedder or a reranker did not answer, or not with what it should."""


class IngestionError(GroundkitError):
    """A source could not be ingested."""


class StorageError(GroundkitError):
    """The collection's files, its lock or its index said no."""


class QueryError(GroundkitError, ValueError):
    """A query beyond the caps."""


class CitationError(GroundkitError, ValueError):
    """Data that was to be a citation is none; `failure` names everything that is wrong with it."""


class RetrievalError(GroundkitError):
    """A citation does not resolve to its text. `verdict` says whether it drifted or is unresolvable."""

    def __init__(self, verification: Verification) -> None:
        super().__init__(verification.detail, verification)
        self.verification = verification

    @property
    def verdict(self) -> Verdict:
        return self.verification.verdict


def error_of(failure: AnyFailure) -> GroundkitError:
    """The exception that a failure becomes at the public face."""
    # Only a run that fails pays for the words.
    from groundkit.core.embedding import EmbedderNeeded, IdentityDiffers
    from groundkit.core.extraction import ExtractorMissing, NotExtracted
    from groundkit.core.query import QueryRefused
    from groundkit.core.sources import ReadFailure
    from groundkit.core.web_failures import NotFetched, UrlRefused
    from groundkit.render import STORAGE_FAILURES, is_of_an_endpoint, sentence

    message = sentence(failure)
    if isinstance(failure, STORAGE_FAILURES):
        return StorageError(message, failure)
    if isinstance(failure, IdentityDiffers | EmbedderNeeded):
        return IndexIdentityError(message, failure)
    if is_of_an_endpoint(failure):
        return EmbeddingError(message, failure)
    if isinstance(failure, QueryRefused):
        return QueryError(message, failure)
    if isinstance(failure, NotExtracted) and isinstance(failure.why, ExtractorMissing):
        return ConfigurationError(message, failure)
    if isinstance(failure, ReadFailure | NotExtracted | NotFetched | UrlRefused):
        return IngestionError(message, failure)
    return ConfigurationError(message, failure)
