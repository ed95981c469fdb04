"""What an ingest is asked and what it answers."""

from collections.abc import Callable
from typing import TypeAlias

from attrs import Factory, frozen

from groundkit.core.embedding import EmbedderNeeded, EmbedFailed, IdentityDiffers
from groundkit.core.extraction import NotExtracted
from groundkit.core.model import SuspiciousPage
from groundkit.core.ports import LockBusy, NoArchive
from groundkit.core.settings import SettingsChange, SettingsRefused
from groundkit.core.sources import ReadFailure
from groundkit.core.web_failures import NotFetched, UrlRefused
from groundkit.embedding import VectorRefusedAt
from groundkit.keeping import UnsweptFile
from groundkit.writing import WriteFailure

#: Why a source could not be ingested: its file, its extraction, the URL as it is written, or what came of fetching it.
SourceRefused: TypeAlias = ReadFailure | NotExtracted | NotFetched | UrlRefused


@frozen
class IngestRequest:
    """Paths relative to the base directory and URLs; what is to be different about the collection's settings.

    With `keep_bodies`, the raw responses of pages are kept, too.
    `embedder` names what makes a vector for every chunk, those stored without one included; `forget_vectors` removes all.
    `wait` is how many seconds to wait for another writer, `jobs` how many sources to extract at a time. `strict` refuses
    documents of which text is missing. With `check` nothing is written: the report says what would be.
    """

    paths: tuple[str, ...]
    as_text: bool = False
    prune_all: bool = False
    change: SettingsChange = Factory(SettingsChange)
    wait: float = 10.0
    jobs: int = 1
    strict: bool = False
    check: bool = False
    urls: tuple[str, ...] = ()
    keep_bodies: bool = False
    embedder: str | None = None
    forget_vectors: bool = False


@frozen
class EmbeddingStopped:
    """Vectors could not be had: why, and how many documents were written before. Another ingest goes on from there."""

    why: EmbedFailed | VectorRefusedAt
    kept: int


@frozen
class NothingToIngest:
    """No file to ingest below these paths, and nothing known of them; nothing was created."""

    paths: tuple[str, ...]
    skipped: int


@frozen
class BaseDiffers:
    """The collection's sources lie below another base directory than the one given."""

    stored: str
    given: str


@frozen
class SourceEvent:
    """What was decided about one source: the how-manieth it is of how many, and its action."""

    source: str
    action: str
    done: int
    total: int


@frozen
class FailedSource:
    """A source that could not be ingested; `error` is the failure with its facts."""

    source: str
    error: SourceRefused

    @property
    def reason(self) -> str:
        """One word: a `ReadProblem`, an `ExtractionProblem`, a `FetchProblem`, a `UrlProblem`, `extractor_missing` or
        `incomplete`."""
        return self.error.reason

    @property
    def detail(self) -> str:
        return self.error.detail

    def __str__(self) -> str:
        return f"{self.source}: {self.detail}"


@frozen
class LossySource:
    """A source that was taken although its text is not all there, or not as it stands in the source: what is lost."""

    source: str
    losses: tuple[str, ...]
    incomplete: bool


@frozen
class IngestReport:
    """How many sources were added, replaced, rebound, kept, removed; the chunks written; what failed or was passed over.

    `embedded` are vectors made for chunks that were stored without. `formats` counts the documents that are up to date now, by media type; `losses` are those among the new ones whose text
    is not whole; `gone` are the removed sources, `held_back` those whose removal a guard prevented. `pending` says what is
    still to be finished by the next writer, though the write is accepted; `unswept` are files of documents that are gone,
    which the next write tries again to unlink.
    """

    added: int = 0
    updated: int = 0
    rebound: int = 0
    unchanged: int = 0
    removed: int = 0
    chunks: int = 0
    embedded: int = 0
    failed: tuple[FailedSource, ...] = ()
    losses: tuple[LossySource, ...] = ()
    formats: tuple[tuple[str, int], ...] = ()
    skipped: tuple[tuple[str, int], ...] = ()
    unknown_suffixes: tuple[tuple[str, int], ...] = ()
    gone: tuple[str, ...] = ()
    held_back: tuple[str, ...] = ()
    pending: WriteFailure | None = None
    suspicious: tuple[SuspiciousPage, ...] = ()
    unswept: tuple[UnsweptFile, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether nothing failed and nothing was held back."""
        return not (self.failed or self.held_back)


IngestRefused: TypeAlias = (
    NothingToIngest
    | BaseDiffers
    | SettingsRefused
    | LockBusy
    | WriteFailure
    | ReadFailure
    | NoArchive
    | EmbedFailed
    | EmbeddingStopped
    | IdentityDiffers
    | EmbedderNeeded
)
OnEvent: TypeAlias = Callable[[SourceEvent], object]
