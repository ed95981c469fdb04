"""The twin of `groundkit.adapters.files`: sources in a dictionary, decided one by one instead of walked."""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from attrs import define, field, frozen

from groundkit.adapters.files.ignore import LARGEST_IGNORE_FILE, Rules, hiding_rule, ignore_file
from groundkit.core.fingerprint import bytes_digest
from groundkit.core.kinds import BY_SUFFIX, Dispatch
from groundkit.core.paths import is_asked_path, parents_of
from groundkit.core.result import Failure, Result, Success
from groundkit.core.sources import (
    EntryKind,
    ReadFailure,
    ReadProblem,
    ReadSource,
    is_utf8,
    link_refused,
    name_refused,
    shown,
)
from groundkit.core.walking import (
    IGNORE_FILES,
    Entry,
    Explanation,
    Found,
    FoundFailed,
    FoundFile,
    FoundSkipped,
    WalkRequest,
    explanation,
    failed,
    judge,
    judge_named,
    outside_base,
    source_of,
)


@frozen
class Folder:
    """A directory, which may be empty."""


@frozen
class Link:
    """A symbolic link."""

    target: str


@frozen
class Special:
    """A FIFO, device or socket."""


@frozen
class Unreadable:
    """A file or directory that may not be opened."""

    directory: bool = False


@frozen
class Changing:
    """A file that is never twice the same."""


Node: TypeAlias = bytes | Folder | Link | Special | Unreadable | Changing
Tree: TypeAlias = Mapping[str, Node]

_REFUSALS = {
    Folder: ReadProblem.NOT_REGULAR,
    Special: ReadProblem.NOT_REGULAR,
    Unreadable: ReadProblem.UNREADABLE,
    Changing: ReadProblem.CHANGING,
}


@define
class MemoryFiles:
    """`SourceReader` over `files`, which may be changed between calls. Directories above a source need not be named."""

    files: dict[str, Node] = field(factory=dict)

    def close(self) -> None:
        """Nothing is open."""

    def read(self, source: str, limit: int) -> Result[ReadSource, ReadFailure]:
        refused = name_refused(source)
        if refused is not None:
            return Failure(refused)
        node = self._reached(source)
        if isinstance(node, ReadFailure):
            return Failure(node)
        if not isinstance(node, bytes):
            return Failure(ReadFailure(source, _REFUSALS[type(node)], type(node).__name__))
        if len(node) > limit:
            return Failure(
                ReadFailure(
                    source, ReadProblem.TOO_LARGE, f"{len(node)} bytes, at most {limit} are read; --max-bytes raises it"
                )
            )
        return Success(ReadSource(source, node, bytes_digest(node)))

    def walk(self, request: WalkRequest) -> Iterator[Found]:
        named: dict[str, Found] = {}
        roots: dict[str, Rules] = {}
        for path in request.paths:
            answer = self._named(path, request.dispatch)
            if isinstance(answer, tuple):
                roots[path] = answer
            else:
                named[source_of(answer)] = answer
        for path in self._everything():
            above = [root for root in ("", *parents_of(path)) if root in roots]
            if above and path not in roots:
                found = self._met(path, above[-1], roots[above[-1]], request.dispatch)
                if isinstance(found, FoundFile | FoundSkipped | FoundFailed):
                    named.setdefault(source_of(found), found)
        yield from (named[source] for source in sorted(named))

    def explain(self, source: str, dispatch: Dispatch | None = None) -> Explanation:
        if not is_asked_path(source):
            return explanation(source, outside_base(source))
        rules = self._own_rules("")
        if isinstance(rules, ReadFailure):
            return explanation(source, FoundFailed(rules, directory=True))
        found = self._met(source, "", rules, dispatch or BY_SUFFIX) if source else EntryKind.DIRECTORY
        return explanation(source, found)

    def _everything(self) -> set[str]:
        return {*self.files} | {above for path in self.files for above in parents_of(path)}

    def _node(self, path: str) -> Node | None:
        if path == "" or any(known.startswith(path + "/") for known in self.files):
            return self.files.get(path, Folder())
        return self.files.get(path)

    def _reached(self, source: str) -> Node | ReadFailure:
        """What stands at a path, unless something on the way to it is no directory to go through."""
        for path in [*parents_of(source), source]:
            node = self._node(path)
            if isinstance(node, Link):
                return link_refused(source, path, node.target)
            if node is None or (path != source and not isinstance(node, Folder | Unreadable)):
                return ReadFailure(source, ReadProblem.MISSING, "no such file")
            if isinstance(node, Unreadable) and path != source:
                return ReadFailure(source, ReadProblem.UNREADABLE, "may not be entered")
        node = self._node(source)
        return ReadFailure(source, ReadProblem.MISSING, "no such file") if node is None else node

    def _entry(self, path: str) -> Entry | None:
        match self._node(path):
            case None:
                return None
            case Folder() | Unreadable(directory=True):
                return Entry(path, EntryKind.DIRECTORY)
            case Link(target):
                return Entry(path, EntryKind.LINK, target)
            case Special():
                return Entry(path, EntryKind.OTHER)
            case bytes() | Unreadable() | Changing():
                return Entry(path, EntryKind.FILE)

    def _own_rules(self, directory: str) -> Rules | ReadFailure:
        if isinstance(self._node(directory), Unreadable):
            return ReadFailure(directory, ReadProblem.UNREADABLE, "may not be listed")
        rules: Rules = ()
        for name in IGNORE_FILES:
            node = self._node(f"{directory}/{name}" if directory else name)
            if isinstance(node, bytes) and len(node) <= LARGEST_IGNORE_FILE:
                rules += (ignore_file(directory, name, node),)
            elif node is not None and not isinstance(node, Folder):
                return ReadFailure(directory, ReadProblem.UNREADABLE, f"{name} cannot be read")
        return rules

    def _named(self, path: str, dispatch: Dispatch) -> Found | Rules:
        if not is_asked_path(path):
            return outside_base(path)
        if not is_utf8(path):
            return failed(shown(path), ReadProblem.NAME_NOT_UTF8, "the name is not UTF-8")
        node = self._reached(path) if path else Folder()
        entry = self._entry(path)
        if isinstance(node, ReadFailure) and not isinstance(self._node(path), Link):
            return FoundFailed(node, directory=True)
        judged = judge_named(entry, dispatch) if entry is not None else None
        return judged or self._rules_down_to(path)

    def _rules_down_to(self, path: str) -> Found | Rules:
        rules: Rules = ()
        for directory in ["", *parents_of(path), path] if path else [""]:
            if directory and hiding_rule(rules, directory, is_directory=True) is not None:
                rules = ()
            own = self._own_rules(directory)
            if isinstance(own, ReadFailure):
                return failed(path, own.problem, own.detail, directory=True)
            rules += own
        return rules

    def _met(self, source: str, root: str, rules: Rules, dispatch: Dispatch) -> Found | EntryKind | None:
        """What decides about a path on the way down from a directory, whose rules these are."""
        way = [path for path in [*parents_of(source), source] if len(path) > len(root)]
        for path in way:
            entry = self._entry(path)
            there = entry is not None
            kind = EntryKind.FILE if path == source else EntryKind.DIRECTORY
            entry = entry or Entry(path, kind)
            hidden = hiding_rule(rules, path, entry.kind is EntryKind.DIRECTORY) if is_utf8(path) else None
            judged = judge(entry, hidden, dispatch)
            if judged is not None:
                return judged if there or isinstance(judged, FoundSkipped) else None
            own = self._own_rules(path) if there else ()
            if isinstance(own, ReadFailure):
                return FoundFailed(own, directory=True)
            rules = (*rules, *own)
        return EntryKind.DIRECTORY if self._entry(source) is not None else None
