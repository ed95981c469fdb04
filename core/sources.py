"""What a source is, decided once: its name, its loader, and what a walk found of it."""

from enum import Enum, StrEnum
from typing import TypeAlias

from attrs import field, frozen


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
