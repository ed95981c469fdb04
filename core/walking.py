"""What a walk is asked for, and what it does with each name it meets."""

from collections.abc import Iterable
from enum import Enum, StrEnum
from typing import TypeAlias

from attrs import frozen

from groundkit.core.kinds import BY_SUFFIX, PLAIN_TEXT, Dispatch, Kind, known_suffixes, suffix_of
from groundkit.core.paths import lies_below
from groundkit.core.sources import EntryKind, ReadFailure, ReadProblem, is_utf8, link_refused, outside_refused, shown


@frozen
class WalkRequest:
    """Paths relative to the base (posix separators, "" is the base itself).

    `dispatch` says what each file is taken as. A file named here by itself is taken although ignore rules or a leading dot
    would hide it.
    """

    paths: tuple[str, ...]
    dispatch: Dispatch = BY_SUFFIX


class SkipReason(StrEnum):
    HIDDEN = "hidden"
    IGNORED = "ignored"
    SYMLINK = "symlink"
    UNKNOWN_SUFFIX = "unknown_suffix"
    NAME_NOT_UTF8 = "name_not_utf8"
    INDEX_DIRECTORY = "index_directory"


@frozen
class FoundFile:
    source: str
    kind: Kind


@frozen
class FoundSkipped:
    """Passed over on purpose. `rule` names what decided: `.gitignore:3: *.log`, the link's target, the suffix.

    A skipped directory stands for all below it. A name that is no UTF-8 is shown with its bytes as `\\xff`.
    """

    source: str
    reason: SkipReason
    rule: str


@frozen
class FoundFailed:
    """A path that could not be looked at. As a directory it stands for all below it, which keeps what it held."""

    failure: ReadFailure
    directory: bool = False


Found: TypeAlias = FoundFile | FoundSkipped | FoundFailed


class Decision(Enum):
    TAKEN = "taken"
    SKIPPED = "skipped"
    FAILED = "failed"


@frozen
class Explanation:
    """What happens to a path, and the rule that decides it, as a sentence's worth of facts."""

    source: str
    decision: Decision
    rule: str


#: Weakest first: where two of one directory disagree, the later one decides.
IGNORE_FILES = (".gitignore", ".ignore", ".gkignore")

INDEX_DIRECTORY = ".groundkit"


def source_of(found: Found) -> str:
    return found.failure.source if isinstance(found, FoundFailed) else found.source


def in_scope(paths: Iterable[str], source: str) -> bool:
    """Whether a source is one of the asked paths or lies below one: only of such a source can a walk say that it is gone."""
    return any(lies_below(source, path) for path in paths)


@frozen
class Entry:
    """A name in a directory: its source, what it is, where a link points, whether it is the index directory."""

    source: str
    kind: EntryKind
    target: str = ""
    is_index: bool = False

    @property
    def name(self) -> str:
        return self.source.rpartition("/")[2]


def judge(entry: Entry, ignored_by: str | None, dispatch: Dispatch) -> Found | None:
    """What a walk does with an entry it meets; None for a directory to go into. `ignored_by` is the rule that hides it."""
    if not is_utf8(entry.source):
        return FoundSkipped(shown(entry.source), SkipReason.NAME_NOT_UTF8, shown(entry.name))
    if entry.is_index or entry.name == INDEX_DIRECTORY:
        return FoundSkipped(entry.source, SkipReason.INDEX_DIRECTORY, entry.name)
    if entry.name.startswith("."):
        return FoundSkipped(entry.source, SkipReason.HIDDEN, entry.name)
    if ignored_by is not None:
        return FoundSkipped(entry.source, SkipReason.IGNORED, ignored_by)
    if entry.kind is EntryKind.LINK:
        return FoundSkipped(entry.source, SkipReason.SYMLINK, shown(entry.target))
    if entry.kind is EntryKind.DIRECTORY:
        return None
    kind = dispatch.kind_of(entry.source)
    if kind is None:
        return FoundSkipped(entry.source, SkipReason.UNKNOWN_SUFFIX, suffix_of(entry.source))
    return _taken(entry, kind)


def judge_named(entry: Entry, dispatch: Dispatch) -> Found | None:
    """What a walk does with a path it was asked for by name; None for a directory to go into.

    Neither a leading dot nor an ignore rule hides it, and what cannot be taken is a failure.
    """
    if not is_utf8(entry.source):
        return failed(shown(entry.source), ReadProblem.NAME_NOT_UTF8, "the name is not UTF-8")
    if entry.is_index or INDEX_DIRECTORY in entry.source.split("/"):
        return FoundSkipped(entry.source, SkipReason.INDEX_DIRECTORY, entry.name)
    if entry.kind is EntryKind.LINK:
        return FoundFailed(link_refused(entry.source, entry.source, entry.target), directory=True)
    if entry.kind is EntryKind.DIRECTORY:
        return None
    kind = dispatch.kind_of(entry.source)
    if kind is None and entry.kind is EntryKind.FILE:
        suffix = suffix_of(entry.source)
        said = f"unknown suffix {suffix}" if suffix else "no suffix"
        detail = f"{said}; known are {known_suffixes(dispatch.kinds)}; or take it with --as text"
        return failed(entry.source, ReadProblem.UNKNOWN_SUFFIX, detail)
    return _taken(entry, kind or PLAIN_TEXT)


def _taken(entry: Entry, kind: Kind) -> Found:
    if entry.kind is EntryKind.FILE:
        return FoundFile(entry.source, kind)
    return failed(entry.source, ReadProblem.NOT_REGULAR, EntryKind.OTHER.value)


def failed(source: str, problem: ReadProblem, detail: str, directory: bool = False) -> FoundFailed:
    return FoundFailed(ReadFailure(source, problem, detail), directory)


def outside_base(path: str) -> FoundFailed:
    """A path asked for that names nothing below the base directory."""
    return FoundFailed(outside_refused(path), directory=True)


def explanation(source: str, found: Found | EntryKind | None) -> Explanation:
    """What decides about a path in words: what a walk finds of it, a directory to go into, or nothing there (None)."""
    match found:
        case None:
            return Explanation(source, Decision.FAILED, f"{ReadProblem.MISSING.value}: there is no such file")
        case EntryKind():
            return Explanation(source, Decision.TAKEN, found.value)
        case FoundFile():
            return Explanation(source, Decision.TAKEN, found.kind.media_type)
        case FoundSkipped():
            rule = f"{found.reason.value}: {found.rule}{_where(found, source)}"
            return Explanation(shown(source), Decision.SKIPPED, rule)
        case FoundFailed():
            rule = f"{found.failure.problem.value}: {found.failure.detail}{_where(found, source)}"
            return Explanation(shown(source), Decision.FAILED, rule)


def _where(found: Found, source: str) -> str:
    """Names the directory above that decided."""
    decided = source_of(found)
    return "" if decided == shown(source) else f" (at {decided or 'the base directory'})"
