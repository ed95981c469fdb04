"""Citations that can be checked. The public names load on first use."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groundkit.adapters.html import HtmlExtractor as HtmlExtractor
    from groundkit.adapters.pdf import PdfExtractor as PdfExtractor
    from groundkit.cite_values import AnswerCheck as AnswerCheck
    from groundkit.cite_values import CitedQuote as CitedQuote
    from groundkit.cite_values import MarkerCheck as MarkerCheck
    from groundkit.cite_values import MarkerState as MarkerState
    from groundkit.cite_values import QuoteCheck as QuoteCheck
    from groundkit.cite_values import QuoteState as QuoteState
    from groundkit.collection import Collection as Collection
    from groundkit.core.abstention import Abstained as Abstained
    from groundkit.core.annotation_selectors import Selectors as Selectors
    from groundkit.core.auditing import Finding as Finding
    from groundkit.core.briefs import VectorCounts as VectorCounts
    from groundkit.core.echo import EchoOutcome as EchoOutcome
    from groundkit.core.echo import EchoReport as EchoReport
    from groundkit.core.embedding import EmbeddingIdentity as EmbeddingIdentity
    from groundkit.core.embedding import EmbedFailed as EmbedFailed
    from groundkit.core.embedding import EmbedProblem as EmbedProblem
    from groundkit.core.embedding import Purpose as Purpose
    from groundkit.core.evaluation import Evaluation as Evaluation
    from groundkit.core.evaluation import Seen as Seen
    from groundkit.core.evaluation import Stage as Stage
    from groundkit.core.evaluation import StageResult as StageResult
    from groundkit.core.extraction import Anchor as Anchor
    from groundkit.core.extraction import Extraction as Extraction
    from groundkit.core.extraction import ExtractionFailed as ExtractionFailed
    from groundkit.core.extraction import ExtractionProblem as ExtractionProblem
    from groundkit.core.extraction import ExtractorMissing as ExtractorMissing
    from groundkit.core.extraction import Hint as Hint
    from groundkit.core.extraction import NotExtracted as NotExtracted
    from groundkit.core.extraction import Page as Page
    from groundkit.core.judged import JudgedQuery as JudgedQuery
    from groundkit.core.judged import JudgedRefused as JudgedRefused
    from groundkit.core.links import link_of as link_of
    from groundkit.core.live import Live as Live
    from groundkit.core.live import LiveState as LiveState
    from groundkit.core.model import Chunk as Chunk
    from groundkit.core.model import Citation as Citation
    from groundkit.core.model import Document as Document
    from groundkit.core.model import DocumentRecord as DocumentRecord
    from groundkit.core.model import ExtractionFacts as ExtractionFacts
    from groundkit.core.model import FetchFacts as FetchFacts
    from groundkit.core.model import FoundIn as FoundIn
    from groundkit.core.model import FromExtractor as FromExtractor
    from groundkit.core.model import FromSnapshot as FromSnapshot
    from groundkit.core.model import FromText as FromText
    from groundkit.core.model import Locator as Locator
    from groundkit.core.model import PageRange as PageRange
    from groundkit.core.model import Reason as Reason
    from groundkit.core.model import RetrievalResult as RetrievalResult
    from groundkit.core.model import SourceClass as SourceClass
    from groundkit.core.model import Span as Span
    from groundkit.core.model import SuspiciousPage as SuspiciousPage
    from groundkit.core.model import Verdict as Verdict
    from groundkit.core.model import Verification as Verification
    from groundkit.core.modes import Mode as Mode
    from groundkit.core.older import OldChunk as OldChunk
    from groundkit.core.older import OldStore as OldStore
    from groundkit.core.outline import Heading as Heading
    from groundkit.core.paths import is_within_base as is_within_base
    from groundkit.core.portable import CitationProblem as CitationProblem
    from groundkit.core.portable import CitationRefused as CitationRefused
    from groundkit.core.portable import PortableCitation as PortableCitation
    from groundkit.core.ports import Extractor as Extractor
    from groundkit.core.reranking import RerankFailed as RerankFailed
    from groundkit.core.reranking import RerankProblem as RerankProblem
    from groundkit.core.result import Failure as Failure
    from groundkit.core.result import Success as Success
    from groundkit.core.retrieval_ports import Embedder as Embedder
    from groundkit.core.retrieval_ports import Reranker as Reranker
    from groundkit.core.searching import ScoreParts as ScoreParts
    from groundkit.core.searching import TermPart as TermPart
    from groundkit.core.settings import Settings as Settings
    from groundkit.core.significance import Comparison as Comparison
    from groundkit.core.snippets import Snippet as Snippet
    from groundkit.core.units import OffsetMap as OffsetMap
    from groundkit.core.units import SpanUnits as SpanUnits
    from groundkit.core.walking import Explanation as Explanation
    from groundkit.core.walking import FoundFailed as FoundFailed
    from groundkit.core.walking import FoundFile as FoundFile
    from groundkit.core.walking import FoundSkipped as FoundSkipped
    from groundkit.core.web_failures import FetchFailed as FetchFailed
    from groundkit.core.web_failures import FetchProblem as FetchProblem
    from groundkit.core.web_failures import NotFetched as NotFetched
    from groundkit.core.web_failures import UrlProblem as UrlProblem
    from groundkit.core.web_failures import UrlRefused as UrlRefused
    from groundkit.core.word_diff import Change as Change
    from groundkit.core.word_diff import DiffPart as DiffPart
    from groundkit.doctor import Diagnosis as Diagnosis
    from groundkit.drop import Removed as Removed
    from groundkit.echo import EchoAnswer as EchoAnswer
    from groundkit.echo import run_echo as run_echo
    from groundkit.errors import CitationError as CitationError
    from groundkit.errors import ConfigurationError as ConfigurationError
    from groundkit.errors import EmbeddingError as EmbeddingError
    from groundkit.errors import GroundkitError as GroundkitError
    from groundkit.errors import IndexIdentityError as IndexIdentityError
    from groundkit.errors import IngestionError as IngestionError
    from groundkit.errors import QueryError as QueryError
    from groundkit.errors import RetrievalError as RetrievalError
    from groundkit.errors import StorageError as StorageError
    from groundkit.extractors import active_extractors as active_extractors
    from groundkit.fetch import FetchedChunk as FetchedChunk
    from groundkit.ingest import FailedSource as FailedSource
    from groundkit.ingest import IngestReport as IngestReport
    from groundkit.ingest import LossySource as LossySource
    from groundkit.ingest import SourceEvent as SourceEvent
    from groundkit.opening import index_status as index_status
    from groundkit.opening import list_collections as list_collections
    from groundkit.opening import open as open
    from groundkit.requests import ModelEndpoint as ModelEndpoint
    from groundkit.searched import SearchAnswer as SearchAnswer
    from groundkit.status import BoundDocuments as BoundDocuments
    from groundkit.status import IncompleteDocument as IncompleteDocument
    from groundkit.status import IndexStatus as IndexStatus
    from groundkit.travelling import dump_citation as dump_citation
    from groundkit.travelling import dump_citations as dump_citations
    from groundkit.travelling import from_web_annotation as from_web_annotation
    from groundkit.travelling import load_citation as load_citation
    from groundkit.travelling import load_citations as load_citations
    from groundkit.travelling import selectors_of as selectors_of
    from groundkit.travelling import to_web_annotation as to_web_annotation
    from groundkit.trial import evaluate as evaluate
    from groundkit.uncollected import resolve_citation as resolve_citation
    from groundkit.uncollected import snapshot_dir_for as snapshot_dir_for
    from groundkit.uncollected import snapshot_path_for as snapshot_path_for
    from groundkit.uncollected import verify as verify
    from groundkit.uncollected import verify_citation as verify_citation
    from groundkit.uncollected import verify_each as verify_each
    from groundkit.verifying import Checked as Checked

_HOME = {
    name: module
    for module, names in {
        "groundkit.adapters.html": ("HtmlExtractor",),
        "groundkit.adapters.pdf": ("PdfExtractor",),
        "groundkit.cite_values": (
            "AnswerCheck",
            "CitedQuote",
            "MarkerCheck",
            "MarkerState",
            "QuoteCheck",
            "QuoteState",
        ),
        "groundkit.collection": ("Collection",),
        "groundkit.core.annotation_selectors": ("Selectors",),
        "groundkit.core.auditing": ("Finding",),
        "groundkit.core.extraction": (
            "Anchor",
            "Extraction",
            "ExtractionFailed",
            "ExtractionProblem",
            "ExtractorMissing",
            "Hint",
            "NotExtracted",
            "Page",
        ),
        "groundkit.core.web_failures": ("FetchFailed", "FetchProblem", "NotFetched", "UrlProblem", "UrlRefused"),
        "groundkit.core.links": ("link_of",),
        "groundkit.core.live": ("Live", "LiveState"),
        "groundkit.core.model": (
            "Chunk",
            "Citation",
            "Document",
            "DocumentRecord",
            "ExtractionFacts",
            "FetchFacts",
            "FoundIn",
            "FromExtractor",
            "FromSnapshot",
            "FromText",
            "Locator",
            "PageRange",
            "Reason",
            "RetrievalResult",
            "SourceClass",
            "Span",
            "SuspiciousPage",
            "Verdict",
            "Verification",
        ),
        "groundkit.core.older": (
            "OldChunk",
            "OldStore",
        ),
        "groundkit.core.outline": ("Heading",),
        "groundkit.core.paths": ("is_within_base",),
        "groundkit.core.portable": ("CitationProblem", "CitationRefused", "PortableCitation"),
        "groundkit.core.ports": ("Extractor",),
        "groundkit.core.result": (
            "Failure",
            "Success",
        ),
        "groundkit.core.settings": ("Settings",),
        "groundkit.core.units": ("OffsetMap", "SpanUnits"),
        "groundkit.core.word_diff": ("Change", "DiffPart"),
        "groundkit.core.walking": (
            "Explanation",
            "FoundFailed",
            "FoundFile",
            "FoundSkipped",
        ),
        "groundkit.doctor": ("Diagnosis",),
        "groundkit.drop": ("Removed",),
        "groundkit.errors": (
            "CitationError",
            "ConfigurationError",
            "EmbeddingError",
            "GroundkitError",
            "IndexIdentityError",
            "IngestionError",
            "QueryError",
            "RetrievalError",
            "StorageError",
        ),
        "groundkit.extractors": ("active_extractors",),
        "groundkit.fetch": ("FetchedChunk",),
        "groundkit.ingest": (
            "FailedSource",
            "IngestReport",
            "LossySource",
            "SourceEvent",
        ),
        "groundkit.opening": (
            "index_status",
            "list_collections",
            "open",
        ),
        "groundkit.status": (
            "BoundDocuments",
            "IncompleteDocument",
            "IndexStatus",
        ),
        "groundkit.travelling": (
            "dump_citation",
            "dump_citations",
            "from_web_annotation",
            "load_citation",
            "load_citations",
            "selectors_of",
            "to_web_annotation",
        ),
        "groundkit.uncollected": (
            "resolve_citation",
            "snapshot_dir_for",
            "snapshot_path_for",
            "verify",
            "verify_citation",
            "verify_each",
        ),
        "groundkit.core.embedding": (
            "EmbedFailed",
            "EmbedProblem",
            "EmbeddingIdentity",
            "Purpose",
        ),
        "groundkit.core.retrieval_ports": (
            "Embedder",
            "Reranker",
        ),
        "groundkit.core.reranking": (
            "RerankFailed",
            "RerankProblem",
        ),
        "groundkit.core.modes": ("Mode",),
        "groundkit.core.searching": (
            "ScoreParts",
            "TermPart",
        ),
        "groundkit.core.snippets": ("Snippet",),
        "groundkit.core.briefs": ("VectorCounts",),
        "groundkit.core.abstention": ("Abstained",),
        "groundkit.requests": ("ModelEndpoint",),
        "groundkit.searched": ("SearchAnswer",),
        "groundkit.trial": ("evaluate",),
        "groundkit.core.evaluation": (
            "Evaluation",
            "Seen",
            "Stage",
            "StageResult",
        ),
        "groundkit.core.judged": (
            "JudgedQuery",
            "JudgedRefused",
        ),
        "groundkit.core.significance": ("Comparison",),
        "groundkit.core.echo": (
            "EchoOutcome",
            "EchoReport",
        ),
        "groundkit.echo": (
            "EchoAnswer",
            "run_echo",
        ),
        "groundkit.verifying": ("Checked",),
    }.items()
    for name in names
}
__all__ = sorted(_HOME)  # noqa: PLE0605, RUF100


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("groundkit")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
