"""Every failure as one sentence, and its exit code. Document text and file names in it are made safe by whoever prints it."""

from typing import TypeAlias

from groundkit.bases import NotBelowBase
from groundkit.config import BadCollectionName, NoIndexDirectory, UnknownCollection
from groundkit.core.embedding import EmbedderNeeded, EmbedFailed, EmbedProblem, IdentityDiffers
from groundkit.core.extraction import NotExtracted
from groundkit.core.model import Verification
from groundkit.core.paths import PathProblem, PathRefused
from groundkit.core.ports import LockBusy, NoArchive
from groundkit.core.query import QueryProblem, QueryRefused
from groundkit.core.ranking import GhostRows
from groundkit.core.reranking import RerankFailed, RerankProblem
from groundkit.core.searching import NoVectors
from groundkit.core.settings import SettingsRefused
from groundkit.core.sources import ReadFailure
from groundkit.core.storage import LexicalFailure, LexicalProblem, StorageFailure, StorageProblem
from groundkit.core.web_failures import NotFetched, UrlRefused
from groundkit.embedding import VectorRefusedAt
from groundkit.ingest import BaseDiffers, NothingToIngest
from groundkit.ingest_values import EmbeddingStopped
from groundkit.reading import AnalyzerChanged, NeverPaired
from groundkit.requests import AmbiguousChunk, BadExtractor, NoBaseGiven, NotAPath, ServingRefused

#: A failure that is the machine's, or of what lies on it.
STORAGE_FAILURES = AnalyzerChanged | GhostRows | LexicalFailure | LockBusy | NeverPaired | StorageFailure
#: A failure that is the request's own fault; every other one is the machine's, but for one bad source.
_REQUESTS = (
    AmbiguousChunk
    | BadCollectionName
    | BadExtractor
    | BaseDiffers
    | NoArchive
    | NoBaseGiven
    | NoIndexDirectory
    | NotBelowBase
    | NothingToIngest
    | PathRefused
    | QueryRefused
    | SettingsRefused
    | UnknownCollection
    | NotAPath
    | ServingRefused
    | EmbedderNeeded
    | IdentityDiffers
    | NoVectors
)
#: A failure of what makes vectors or reads passages.
MODELS = EmbedFailed | EmbeddingStopped | RerankFailed | VectorRefusedAt

AnyFailure: TypeAlias = STORAGE_FAILURES | _REQUESTS | MODELS | ReadFailure | NotExtracted | NotFetched | UrlRefused

NEGATIVE, WRONG_REQUEST, MACHINE_SAID_NO = 1, 2, 3


_OF_THE_REQUEST = (
    EmbedProblem.UNKNOWN,
    EmbedProblem.MISSING,
    EmbedProblem.CONFIGURATION,
    RerankProblem.UNKNOWN,
    RerankProblem.MISSING,
    RerankProblem.CONFIGURATION,
)


def is_of_an_endpoint(failure: object) -> bool:
    """Whether it is a model's failure, and not that of who asked for the model."""
    if isinstance(failure, EmbedFailed | RerankFailed):
        return failure.problem not in _OF_THE_REQUEST
    return isinstance(failure, EmbeddingStopped | VectorRefusedAt)


def exit_code_of(failure: object) -> int:
    """The exit code of what an error carries; a verification is a negative answer."""
    if isinstance(failure, _REQUESTS):
        return WRONG_REQUEST
    if isinstance(failure, EmbedFailed | RerankFailed) and not is_of_an_endpoint(failure):
        return WRONG_REQUEST
    if isinstance(failure, ReadFailure) and not failure.source:
        return WRONG_REQUEST  # the base directory itself: nothing could begin
    if isinstance(failure, ReadFailure | NotExtracted | NotFetched | UrlRefused | Verification):
        return NEGATIVE
    return MACHINE_SAID_NO


_STORAGE = {
    StorageProblem.MISSING: "{artefact} does not exist",
    StorageProblem.DROPPED: "the collection was dropped",
    StorageProblem.FOREIGN: "{artefact} is not a groundkit store and is left alone: {detail}",
    StorageProblem.OLDER: "{artefact} is the store of an earlier version ({detail}); `gk files` and `gk show` still read it",
    StorageProblem.NEWER: "{artefact} was made by a newer version: {detail}",
    StorageProblem.DAMAGED: "{artefact} is damaged ({detail}); put a copy back, or `gk drop` the collection and ingest again",
    StorageProblem.FULL: "the disk is full ({detail}); what was committed stays",
    StorageProblem.BUSY: "{artefact} is in use by another process: {detail}",
    StorageProblem.DENIED: "{artefact} cannot be opened ({detail}); its directory has to be writable, even for a search",
    StorageProblem.FAILED: "{artefact}: {detail}",
}

_LEXICAL = {
    LexicalProblem.MISSING: "the lexical index is missing; `gk doctor --repair` makes it again from the store",
    LexicalProblem.DAMAGED: "the lexical index is damaged ({detail}); `gk doctor --repair` makes it again from the store",
    LexicalProblem.FULL: "the disk is full ({detail}); what was committed stays",
    LexicalProblem.BUSY: "the lexical index is in use by another process",
    LexicalProblem.DENIED: "the lexical index cannot be opened ({detail}); it has to be writable, even for a search",
    LexicalProblem.FAILED: "the lexical index: {detail}",
}


_QUERY = {
    QueryProblem.TOO_LONG: "{} characters",
    QueryProblem.TOO_MANY_TERMS: "{} different words",
    QueryProblem.TOO_MANY_PHRASE_WORDS: "{} words in quotation marks",
    QueryProblem.TOO_MANY_PHRASES: "{} phrases and words with a sign",
    QueryProblem.TOO_MANY_CONDITIONS: "{} conditions on fields",
}
_ASKS_FOR_NOTHING = {
    QueryProblem.ONLY_EXCLUSIONS: "the query only says what is not wanted, so there is nothing to rank by: add a word that is wanted",
    QueryProblem.ONLY_CONDITIONS: "the query only says where to look, so there is nothing to rank by: add a word to look for",
}

_PATH = {
    PathProblem.OUTSIDE_BASE: "lies outside the base directory",
    PathProblem.NOT_ABSOLUTE: "is not an absolute path",
    PathProblem.HOLDS_NUL: "holds NUL, which no path can",
    PathProblem.ONLY_ROOT: "has no directory but the root in common with the others: give --base-dir",
}


def sentence(failure: AnyFailure) -> str:
    """What went wrong and, where there is one, the way out."""
    if isinstance(failure, ReadFailure):
        return f"{failure.source}: {failure.detail}" if failure.source else failure.detail
    if isinstance(failure, NotExtracted | NotFetched | UrlRefused):
        return f"{failure.source}: {failure.detail}"
    if isinstance(failure, STORAGE_FAILURES):
        return _storage_sentence(failure)
    if isinstance(failure, MODELS):
        return _model_sentence(failure)
    return _request_sentence(failure)


def _model_sentence(failure: MODELS) -> str:
    match failure:
        case EmbedFailed(_, detail) | RerankFailed(_, detail):
            return detail
        case VectorRefusedAt():
            return f"the embedder gave something that is no vector of it: {failure.detail}"
        case EmbeddingStopped(why, kept):
            return f"{_model_sentence(why)}; {kept} documents were written before that; the next `gk ingest` goes on from there"


def _storage_sentence(failure: STORAGE_FAILURES) -> str:
    match failure:
        case StorageFailure(problem, artefact, detail):
            return _STORAGE[problem].format(artefact=artefact, detail=detail)
        case LexicalFailure(problem, detail):
            return _LEXICAL[problem].format(detail=detail)
        case LockBusy(holder):
            who = f" ({holder})" if holder else ""
            return f"another process is writing to this collection{who}; try again when it is done"
        case GhostRows(rows):
            return (
                f"the lexical index names {len(rows)} chunks that the store does not hold; "
                "`gk doctor --repair` makes it again from the store"
            )
        case AnalyzerChanged(recorded, active):
            return (
                f"the collection was indexed with {recorded}, here is {active}; "
                "`gk ingest` or `gk doctor --repair` brings the index up to date"
            )
        case NeverPaired(attempts):
            return f"the lexical index does not fit the store ({attempts} tries); `gk doctor --repair` mends it"


def _request_sentence(failure: _REQUESTS) -> str:
    match failure:
        case AmbiguousChunk(prefix, ids):
            return f"several chunks begin with {prefix}: {', '.join(ids)}, …"
        case BadCollectionName(name):
            return f"{name!r} is no collection name: letters, digits, '.', '_' and '-', 64 at most, a letter or digit first"
        case BadExtractor(number, wrong):
            return f"extractors[{number}] is no extractor: {wrong}"
        case BaseDiffers(stored, given):
            return (
                f"the collection's sources lie below {stored}, not {given}; "
                "give paths below it, or use another collection (--collection NAME)"
            )
        case NoBaseGiven():
            return "the collection has no base directory yet, and none is given"
        case NoIndexDirectory(start):
            return (
                f"no .groundkit directory in {start} or above it; `gk ingest PATH` makes one, "
                "--index-dir or GK_INDEX_DIR name one"
            )
        case NotBelowBase(paths, base):
            return (
                f"{', '.join(paths)} does not lie below the collection's base directory {base}; "
                "use another collection (--collection NAME), or --base-dir at a collection's first ingest"
            )
        case NothingToIngest(paths, skipped):
            passed = f" ({skipped} passed over; `gk files` says why)" if skipped else ""
            return f"nothing to ingest in {', '.join(path or '.' for path in paths)}{passed}"
        case PathRefused(path, reason):
            return f"{path} {_PATH[reason]}"
        case QueryRefused(problem) if problem in _ASKS_FOR_NOTHING:
            return _ASKS_FOR_NOTHING[problem]
        case QueryRefused(problem, found, allowed):
            return f"the query has {_QUERY[problem].format(found)}; at most {allowed} are taken"
        case SettingsRefused(name, value, allowed):
            return f"{name.replace('_', ' ')} cannot be {value}: {allowed}"
        case UnknownCollection(name, directory, existing):
            there = f"there is {', '.join(existing)}" if existing else "there is none yet; `gk ingest PATH` makes one"
            return f"no collection {name} in {directory}: {there}"
        case NoArchive(command):
            return f"raw responses are kept as WARC records, for which a package is missing; {command}"
        case IdentityDiffers(recorded, active):
            return (
                f"the collection's vectors are of {recorded}, at work is {active}; give --embedder {recorded.name}, or "
                "`gk ingest --no-dense` removes the vectors, and the next one with --dense makes others"
            )
        case EmbedderNeeded(recorded):
            return (
                f"the collection has vectors of {recorded}: go on with `gk ingest --embedder {recorded.name}`, or take them "
                "out with `gk ingest --no-dense`"
            )
        case NoVectors(0):
            return "the collection has no vectors: `gk ingest --dense` makes them"
        case NoVectors(lacking):
            return (
                f"{lacking} chunks have no vector yet: `gk ingest --dense` goes on where an earlier one was interrupted"
            )
        case ServingRefused(why):
            return why
        case NotAPath(source):
            return f"{source} is a URL, not a path"
