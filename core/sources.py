"""What a source is, decided once: its name, its loader, and what a walk found of it."""

from collections.abc import Iterable
from enum import Enum, StrEnum
from typing import TypeAlias

from attrs import field, frozen

from groundkit.core.paths import lies_below


class Loader(StrEnum):
    """Who turns the bytes of a source into its text."""

    TEXT = "text"
    MARKDOWN = "markdown"


@frozen
class Kind:
    """What a suffix stands for: the loader and the media type that is recorded."""

    loader: Loader
    media_type: str


#: Suffixes are compared in lower case.
KINDS = {
    ".md": Kind(Loader.MARKDOWN, "text/markdown"),
    ".markdown": Kind(Loader.MARKDOWN, "text/markdown"),
    ".txt": Kind(Loader.TEXT, "text/plain"),
}
PLAIN_TEXT = Kind(Loader.TEXT, "text/plain")


@frozen
class WalkRequest:
    """Paths relative to the base (posix separators, "" is the base itself).

    `as_text` takes files of every suffix as plain text. A file named here by itself is taken although ignore rules or a
    leading dot would hide it.
    """

    paths: tuple[str, ...]
    as_text: bool = False


class SkipReason(StrEnum):
    HIDDEN = "hidden"
    IGNORED = "ignored"
    SYMLINK = "symlink"
    UNKNOWN_SUFFIX = "unknown_suffix"
    NAME_NOT_UTF8 = "name_not_utf8"
    INDEX_DIRECTORY = "index_directory"


class ReadProblem(StrEnum):
    MISSING = "source_missing"
    UNREADABLE = "source_unreadable"
    NOT_REGULAR = "not_regular"
    NOT_TEXT = "not_text"
    TOO_LARGE = "too_large"
    OUTSIDE_BASE = "outside_base"
    CHANGING = "changing"
    UNKNOWN_SUFFIX = "unknown_suffix"
    NAME_NOT_UTF8 = "name_not_utf8"


@frozen
class ReadFailure:
    """Why a source has no bytes or no text: a sentence's worth of facts in `detail`, without absolute paths."""

    source: str
    problem: ReadProblem
    detail: str


@frozen
class ReadSource:
    """All bytes of a source, from one open, and their SHA-256 in hex."""

    source: str
    data: bytes = field(repr=False)
    digest: str


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
KNOWN_SUFFIXES = ", ".join(sorted(KINDS))


def suffix_of(source: str) -> str:
    """The last suffix of the last part in lower case, or "". A leading dot begins no suffix."""
    name = source.rpartition("/")[2]
    dot = name.rfind(".")
    return name[dot:].lower() if dot > 0 else ""


def kind_of(source: str, as_text: bool = False) -> Kind | None:
    """What a file of this name is; None when its suffix stands for nothing. With `as_text` every file is plain text."""
    return PLAIN_TEXT if as_text else KINDS.get(suffix_of(source))


def kind_of_media_type(media_type: str) -> Kind:
    """The kind a stored document was ingested as, whatever its name is."""
    return next((kind for kind in KINDS.values() if kind.media_type == media_type), PLAIN_TEXT)


def is_utf8(name: str) -> bool:
    """Whether a name was read as UTF-8; bytes that could not be stand in it as lone surrogates."""
    return name.isascii() or not any("\ud800" <= character <= "\udfff" for character in name)


def shown(name: str) -> str:
    """A name as it is reported: what was no UTF-8 in it stands as `\\xff`."""
    if is_utf8(name):
        return name
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def source_of(found: Found) -> str:
    return found.failure.source if isinstance(found, FoundFailed) else found.source


def in_scope(paths: Iterable[str], source: str) -> bool:
    """Whether a source is one of the asked paths or lies below one: only of such a source can a walk say that it is gone."""
    return any(lies_below(source, path) for path in paths)


class EntryKind(Enum):
    """What a name in a directory stands for, links not followed."""

    FILE = "a regular file"
    DIRECTORY = "a directory"
    LINK = "a symbolic link"
    OTHER = "not a regular file"


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


def judge(entry: Entry, ignored_by: str | None, as_text: bool) -> Found | None:
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
    kind = kind_of(entry.source, as_text)
    if kind is None:
        return FoundSkipped(entry.source, SkipReason.UNKNOWN_SUFFIX, suffix_of(entry.source))
    return _taken(entry, kind)


def judge_named(entry: Entry, as_text: bool) -> Found | None:
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
    kind = kind_of(entry.source, as_text)
    if kind is None and entry.kind is EntryKind.FILE:
        known = f"{suffix_of(entry.source) or 'no suffix'}; known are {KNOWN_SUFFIXES}; or take it with --as text"
        return failed(entry.source, ReadProblem.UNKNOWN_SUFFIX, known)
    return _taken(entry, kind or PLAIN_TEXT)


def _taken(entry: Entry, kind: Kind) -> Found:
    if entry.kind is EntryKind.FILE:
        return FoundFile(entry.source, kind)
    return failed(entry.source, ReadProblem.NOT_REGULAR, EntryKind.OTHER.value)


def failed(source: str, problem: ReadProblem, detail: str, directory: bool = False) -> FoundFailed:
    return FoundFailed(ReadFailure(source, problem, detail), directory)


def link_refused(source: str, link: str, target: str) -> ReadFailure:
    """A source that is a symbolic link, or lies behind one."""
    return ReadFailure(source, ReadProblem.OUTSIDE_BASE, f"{link} is a symbolic link to {shown(target)}")


def outside_refused(path: str) -> FoundFailed:
    return failed(shown(path), ReadProblem.OUTSIDE_BASE, "not a path below the base directory", directory=True)


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
