"""The bytes of a source, or why there are none, and how its name is shown."""

from enum import Enum, StrEnum

from attrs import field, frozen

from groundkit.core.paths import is_within_base


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
    MISLABELLED = "mislabelled"


@frozen
class ReadFailure:
    """Why a source has no bytes or no text: a sentence's worth of facts in `detail`, without absolute paths."""

    source: str
    problem: ReadProblem
    detail: str

    @property
    def reason(self) -> str:
        return self.problem.value


@frozen
class ReadSource:
    """All bytes of a source, from one open, and their SHA-256 in hex."""

    source: str
    data: bytes = field(repr=False)
    digest: str


def is_utf8(name: str) -> bool:
    """Whether a name was read as UTF-8; bytes that could not be stand in it as lone surrogates."""
    return name.isascii() or not any("\ud800" <= character <= "\udfff" for character in name)


def shown(name: str) -> str:
    """A name as it is reported: what was no UTF-8 in it stands as `\\xff`."""
    if is_utf8(name):
        return name
    try:
        return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # no file has such a name: these surrogates stand for no byte
        return name.encode("utf-8", "backslashreplace").decode()


class EntryKind(Enum):
    """What a name in a directory stands for, links not followed."""

    FILE = "a regular file"
    DIRECTORY = "a directory"
    LINK = "a symbolic link"
    OTHER = "not a regular file"


def link_refused(source: str, link: str, target: str) -> ReadFailure:
    """A source that is a symbolic link, or lies behind one."""
    return ReadFailure(source, ReadProblem.OUTSIDE_BASE, f"{link} is a symbolic link to {shown(target)}")


def outside_refused(path: str) -> ReadFailure:
    """What is no path below a base directory, by its parts alone."""
    return ReadFailure(shown(path), ReadProblem.OUTSIDE_BASE, "not a path below the base directory")


def name_refused(source: str) -> ReadFailure | None:
    """Why nothing is read under this name, by the name alone; None if it may be looked for."""
    if not is_within_base(source):
        return outside_refused(source)
    if not is_utf8(source):
        return ReadFailure(shown(source), ReadProblem.NAME_NOT_UTF8, "the name is not UTF-8")
    return None
