"""Every failure as one sentence, and its exit code. Document text and file names in it are made safe by whoever prints it."""

from typing import TypeAlias

from groundkit.bases import NotBelowBase
from groundkit.config import BadCollectionName, NoIndexDirectory, UnknownCollection
from groundkit.core.extraction import NotExtracted
from groundkit.core.model import Verification
from groundkit.core.paths import PathProblem, PathRefused
from groundkit.core.ports import LockBusy, NoArchive
from groundkit.core.query import QueryProblem, QueryRefused
from groundkit.core.ranking import GhostRows
from groundkit.core.settings import SettingsRefused
from groundkit.core.sources import ReadFailure
from groundkit.core.storage import LexicalFailure, LexicalProblem, StorageFailure, StorageProblem
from groundkit.core.web_failures import NotFetched, UrlRefused
from groundkit.ingest import BaseDiffers, NothingToIngest
from groundkit.reading import AnalyzerChanged, NeverPaired
from groundkit.requests import AmbiguousChunk, BadExtractor, NoBaseGiven, NotAPath

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
)

AnyFailure: TypeAlias = STORAGE_FAILURES | _REQUESTS | ReadFailure | NotExtracted | NotFetched | UrlRefused

NEGATIVE, WRONG_REQUEST, MACHINE_SAID_NO = 1, 2, 3


def exit_code_of(failure: object) -> int:
    """The exit code of what an error carries; a verification is a negative answer."""
    if isinstance(failure, _REQUESTS):
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
    QueryProblem.TOO_MANY_PHRASES: "{} phrases",
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
    return _request_sentence(failure)


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
        case QueryRefused(problem, found, allowed):
            return f"the query has {_QUERY[problem].format(found)}; at most {allowed} are taken"
        case SettingsRefused(name, value, allowed):
            return f"{name.replace('_', ' ')} cannot be {value}: {allowed}"
        case UnknownCollection(name, directory, existing):
            there = f"there is {', '.join(existing)}" if existing else "there is none yet; `gk ingest PATH` makes one"
            return f"no collection {name} in {directory}: {there}"
        case NoArchive(command):
            return f"raw responses are kept as WARC records, for which a package is missing; {command}"
        case NotAPath(source):
            return f"{source} is a URL, not a path"
