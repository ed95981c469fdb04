"""The files below one base directory: a walk that follows no link, and reads that are all from one open.

Everything below the base is reached part by part through directory descriptors, so no path is too long and no
directory that is swapped for a link in between leads out. No descriptor is kept from one read to the next: it would
go on naming a directory that has since been renamed.
"""

import errno
import hashlib
import heapq
import os
import re
import stat
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import TypeAlias

from attrs import define, evolve, field, frozen

from groundkit.core.paths import is_asked_path, is_within_base, parents_of
from groundkit.core.result import Failure, Result, Success
from groundkit.core.sources import (
    IGNORE_FILES,
    Entry,
    EntryKind,
    Explanation,
    Found,
    FoundFailed,
    FoundSkipped,
    ReadFailure,
    ReadProblem,
    ReadSource,
    WalkRequest,
    explanation,
    is_utf8,
    judge,
    judge_named,
    link_refused,
    outside_refused,
    shown,
    source_of,
)

_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
#: Passing through needs no right to list, where the system can say so.
_PASS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW
#: A FIFO must not block, a terminal must not become ours.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
#: Descriptors a walk holds at once, and how many it opens again when it comes back up.
_HELD, _REGAINED = 32, 16
_LARGEST_IGNORE_FILE = 1024 * 1024
_AT_ONCE = 1024 * 1024
_NAMES_ARE_UTF8 = sys.getfilesystemencoding().replace("-", "").lower() == "utf8"

_PROBLEMS = {
    errno.ENOENT: ReadProblem.MISSING,
    errno.ENOTDIR: ReadProblem.MISSING,
    errno.ENAMETOOLONG: ReadProblem.MISSING,
    errno.ENXIO: ReadProblem.NOT_REGULAR,
    errno.ENODEV: ReadProblem.NOT_REGULAR,
}


@frozen
class _Rule:
    """One line: where and how it stands, what it fits, whether it hides that or brings it back."""

    line: str
    regex: re.Pattern[str]
    hides: bool


@frozen
class IgnoreFile:
    """The rules of one ignore file, the last first; they speak of what lies below its directory."""

    directory: str
    rules: tuple[_Rule, ...]

    def rule_for(self, source: str, is_directory: bool) -> _Rule | None:
        """The rule that decides about this path by itself, not about a directory above it."""
        below = source[len(self.directory) + 1 :] if self.directory else source
        whole = below + "/" if is_directory else below
        return next((rule for rule in self.rules if rule.regex.fullmatch(whole)), None)


#: The weakest first.
Rules: TypeAlias = tuple[IgnoreFile, ...]


def ignore_file(directory: str, name: str, data: bytes) -> IgnoreFile:
    """Rules as git reads them. A line that git would not understand, or that is no UTF-8, hides nothing."""
    place = f"{directory}/{name}" if directory else name
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    rules = [_rule(place, number, line.removesuffix("\r")) for number, line in enumerate(text.split("\n"), 1)]
    return IgnoreFile(directory, tuple(rule for rule in reversed(rules) if rule is not None))


def _rule(place: str, number: int, line: str) -> _Rule | None:
    # Only a walk that meets an ignore file pays for these.
    from pathspec.patterns.gitignore import GitIgnorePatternError
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    try:
        with warnings.catch_warnings():
            # A bracket in brackets is taken as it stands, which is what git does.
            warnings.simplefilter("ignore", FutureWarning)
            pattern = GitIgnoreSpecPattern(line)
            if pattern.regex is None:
                return None
            regex = re.compile(_steady(pattern.regex.pattern), re.DOTALL)
    except (GitIgnorePatternError, re.error):
        return None
    return _Rule(f"{place}:{number}: {line.strip()}", regex, hides=bool(pattern.include))


_STAR, _STARS, _ANY_PARTS = "[^/]*", r"\[\^/\]\*", "(?:/.+)?/"
_PLAIN = rf"(?:(?!{_STARS})(?:\\.|\[\^?\]?[^\]]*\]|[^\\/\[(*]))+"


#: What pathspec leaves open at the end, because it asks about files alone.
_OPEN_ENDED = {".": ".+", "(?P<ps_d>/)": ".+/"}


def _steady(regex: str) -> str:
    """An expression of pathspec's, to fit a whole path, taking the first fit of every wildcard but the last.

    The first fit is always as good as any. As it comes, `*a*a*a*a*b` takes minutes over one long name, and anyone's
    ignore file may say that.
    """
    regex = _OPEN_ENDED.get(regex, regex + ".+" if regex.endswith("/") else regex)
    regex = re.sub(f"(?:{_STARS}){{2,}}", _STAR, regex).replace("|$)", r"|\Z)")
    regex = re.sub(f"{_STARS}({_PLAIN})(?={_STARS})", r"(?>[^/]*?\1)", regex)
    first, *middle = regex.split(_ANY_PARTS)
    if not middle:
        return regex
    last = middle.pop()
    start = first.replace("^(?:.+/)?", "^(?>(?:.+?/)??", 1) + "(?=/))" if first.startswith("^(?:.+/)?") else first
    return start + "".join(f"(?>(?:/.+?)??/{each}(?=/))" for each in middle) + _ANY_PARTS + last


def hiding_rule(rules: Rules, source: str, is_directory: bool) -> str | None:
    """The rule that hides this path, by itself and not through a directory above it."""
    for file in reversed(rules):
        rule = file.rule_for(source, is_directory)
        if rule is not None:
            return rule.line if rule.hides else None
    return None


@frozen
class _Enter:
    """A directory the walk is to go into, with the rules that hold in it."""

    path: str
    rules: Rules


_Task: TypeAlias = Found | _Enter


@define
class _Level:
    """A directory the walk is in; `todo` in reverse order."""

    path: str
    descriptor: int | None
    todo: list[_Task]

    def close(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None


class Files:
    """`SourceReader` over a directory of this machine. OSError if that cannot be opened."""

    def __init__(self, base: Path, index_directory: Path | None = None) -> None:
        self._index_directory = index_directory
        self._base = os.open(base, os.O_RDONLY | os.O_DIRECTORY)

    def close(self) -> None:
        if self._base >= 0:
            os.close(self._base)
            self._base = -1

    def read(self, source: str, limit: int) -> Result[ReadSource, ReadFailure]:
        """See `SourceReader`. A file that changes meanwhile is read once more, then it is `CHANGING`."""
        result = self._read_once(source, limit)
        if isinstance(result, Failure) and result.failure().problem is ReadProblem.CHANGING:
            return self._read_once(source, limit)
        return result

    def walk(self, request: WalkRequest) -> Iterator[Found]:
        """See `SourceReader`.

        A path asked for by name is taken whatever hides it; where outer rules hide it, they do not count below it. A
        directory with an ignore file that cannot be read fails, since nobody knows what it wants hidden.
        """
        named: dict[str, Found] = {}
        roots: dict[str, Rules] = {}
        index = self._index()
        for path in set(request.paths):
            answer = self._named(path, request.as_text, index)
            if isinstance(answer, tuple):
                roots[path] = answer
            else:
                named[source_of(answer)] = answer
        met = self._below(roots, request.as_text, index)
        others = (found for found in met if source_of(found) not in named)
        yield from heapq.merge((named[source] for source in sorted(named)), others, key=source_of)

    def explain(self, source: str) -> Explanation:
        """See `SourceReader`: what a walk of the whole base does with this path, or would if it existed."""
        if not is_asked_path(source):
            return explanation(source, outside_refused(source))
        return explanation(source, self._decided(source))

    def _decided(self, source: str) -> Found | EntryKind | None:
        """What decides about a path on the way down to it; if nothing does, a directory, or None if nothing is there."""
        index, there = self._index(), True
        rules: Rules = ()
        for path in ["", *parents_of(source), source] if source else [""]:
            entry = self._entry(path, index) if there else None
            if isinstance(entry, ReadFailure) and entry.problem is not ReadProblem.MISSING:
                return FoundFailed(entry)
            if not isinstance(entry, Entry):
                there, entry = False, Entry(path, EntryKind.FILE if path == source else EntryKind.DIRECTORY)
            found = _met(entry, rules, as_text=False)
            if found is not None:
                return found if there or isinstance(found, FoundSkipped) else None
            own = self._own_rules(path) if there else ()
            if isinstance(own, ReadFailure):
                return FoundFailed(own, directory=True)
            rules = (*rules, *own)
        return EntryKind.DIRECTORY if there else None

    def _read_once(self, source: str, limit: int) -> Result[ReadSource, ReadFailure]:
        opened = self._open(source)
        if isinstance(opened, ReadFailure):
            return Failure(opened)
        try:
            return _read_all(source, opened, limit)
        except OSError as error:
            return Failure(_failure(source, error))
        finally:
            os.close(opened)

    def _open(self, source: str) -> int | ReadFailure:
        refused = _refused(source)
        if refused is not None:
            return refused
        parent, _, name = source.rpartition("/")
        above = self._directory(parent, _PASS)
        if isinstance(above, ReadFailure):
            return _about(source, above)
        try:
            return os.open(_bytes(name), _READ, dir_fd=above)
        except OSError as error:
            return _looked_into(above, name, source, error)
        finally:
            os.close(above)

    def _directory(self, path: str, flags: int) -> int | ReadFailure:
        """A descriptor of a directory below the base, which the caller closes."""
        return _descend(self._base, "", path.split("/") if path else ["."], flags)

    def _index(self) -> tuple[int, int] | None:
        """Device and inode of the index directory, if it exists by now."""
        if self._index_directory is None:
            return None
        try:
            found = os.stat(self._index_directory)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _named(self, path: str, as_text: bool, index: tuple[int, int] | None) -> Found | Rules:
        """What comes of a path that was asked for: an answer, or the rules that hold in a directory to walk."""
        if not is_asked_path(path):
            return outside_refused(path)
        entry = self._entry(path, index)
        if isinstance(entry, ReadFailure):
            return FoundFailed(entry, directory=True)
        judged = judge_named(entry, as_text)
        if judged is not None:
            return judged
        rules = self._rules_down_to(path)
        return FoundFailed(rules, directory=True) if isinstance(rules, ReadFailure) else rules

    def _entry(self, path: str, index: tuple[int, int] | None) -> Entry | ReadFailure:
        """What stands at a path."""
        if not is_utf8(path):
            return Entry(path, EntryKind.OTHER)
        parent, _, name = path.rpartition("/")
        above = self._directory(parent, _PASS)
        if isinstance(above, ReadFailure):
            return _about(path, above)
        try:
            found = os.stat(_bytes(name or "."), dir_fd=above, follow_symlinks=False)
            kind = _kind(found.st_mode)
            target = _target(above, name) if kind is EntryKind.LINK else ""
            return Entry(path, kind, target, index == (found.st_dev, found.st_ino))
        except OSError as error:
            return _failure(path, error)
        finally:
            os.close(above)

    def _own_rules(self, path: str) -> Rules | ReadFailure:
        """The rules of a directory's own ignore files. Fails if the directory cannot be listed, too."""
        directory = self._directory(path, _LIST)
        if isinstance(directory, ReadFailure):
            return directory
        try:
            return _rules_in(directory, path)
        finally:
            os.close(directory)

    def _rules_down_to(self, path: str) -> Rules | ReadFailure:
        """The rules that hold in a directory asked for by name."""
        rules: Rules = ()
        for directory in ["", *parents_of(path), path] if path else [""]:
            if directory and hiding_rule(rules, directory, is_directory=True) is not None:
                rules = ()
            own = self._own_rules(directory)
            if isinstance(own, ReadFailure):
                return _about(path, own)
            rules += own
        return rules

    def _below(self, roots: dict[str, Rules], as_text: bool, index: tuple[int, int] | None) -> Iterator[Found]:
        """Everything below the asked directories, in order."""
        walk = _Walk(self._directory, roots, as_text, index)
        for path in _outermost(roots):
            yield from walk.run(_Enter(path, roots[path]))


@define
class _Walk:
    """Descents from asked directories. The stack is ours, and so is the number of descriptors, however deep it gets."""

    _reach: Callable[[str, int], int | ReadFailure]
    _roots: dict[str, Rules]
    _as_text: bool
    _index: tuple[int, int] | None
    _levels: list[_Level] = field(factory=list)

    def run(self, root: _Enter) -> Iterator[Found]:
        todo: list[_Task] = [root]
        try:
            while True:
                task = todo.pop() if todo else None
                if isinstance(task, _Enter):
                    refused = self._enter(task)
                    if refused is not None:
                        yield refused
                elif task is not None:
                    yield task
                elif self._levels:
                    self._levels.pop().close()
                else:
                    return
                todo = self._levels[-1].todo if self._levels else []
        finally:
            while self._levels:
                self._levels.pop().close()

    def _enter(self, task: _Enter) -> FoundFailed | None:
        """Go into a directory. Nothing of it is told if it cannot be listed to its end."""
        descriptor = self._opened(task.path)
        if isinstance(descriptor, ReadFailure):
            return FoundFailed(_about(task.path, descriptor), directory=True)
        level = _Level(task.path, descriptor, [])
        self._levels.append(level)
        if len(self._levels) > _HELD:
            self._levels[-_HELD - 1].close()
        try:
            level.todo = self._listed(descriptor, task)
        except OSError as error:
            self._levels.pop().close()
            return FoundFailed(_failure(task.path, error), directory=True)
        return None

    def _opened(self, path: str) -> int | ReadFailure:
        if not self._levels:
            return self._reach(path, _LIST)
        above = self._levels[-1]
        if above.descriptor is None:
            regained = self._regain()
            if regained is not None:
                return regained
        assert above.descriptor is not None
        below = path[len(above.path) + 1 :] if above.path else path
        return _descend(above.descriptor, above.path, below.split("/"), _LIST)

    def _regain(self) -> ReadFailure | None:
        """Open the innermost levels again, from the base down, on the way back up from a deep place."""
        start = max(0, len(self._levels) - _REGAINED)
        for above, level in zip([None, *self._levels[start:]], self._levels[start:], strict=False):
            if above is None or above.descriptor is None:
                descriptor = self._reach(level.path, _LIST)
            else:
                below = level.path[len(above.path) + 1 :] if above.path else level.path
                descriptor = _descend(above.descriptor, above.path, below.split("/"), _LIST)
            if isinstance(descriptor, ReadFailure):
                return descriptor
            level.close()
            level.descriptor = descriptor
        return None

    def _listed(self, descriptor: int, directory: _Enter) -> list[_Task]:
        prefix = directory.path + "/" if directory.path else ""
        tasks: list[tuple[str, _Task]] = []
        with os.scandir(descriptor) as entries:
            for listed in entries:
                entry = self._entry(descriptor, prefix + _name(listed.name), listed)
                tasks += self._tasks(descriptor, entry, directory.rules)
        tasks.sort(key=itemgetter(0), reverse=True)
        return [task for _, task in tasks]

    def _entry(self, descriptor: int, source: str, listed: os.DirEntry[str]) -> Entry:
        if listed.is_symlink():
            return Entry(source, EntryKind.LINK, _target(descriptor, _name(listed.name)))
        if not listed.is_dir(follow_symlinks=False):
            return Entry(source, EntryKind.FILE if listed.is_file(follow_symlinks=False) else EntryKind.OTHER)
        is_index = False
        if self._index is not None and listed.inode() == self._index[1]:
            is_index = listed.stat(follow_symlinks=False).st_dev == self._index[0]
        return Entry(source, EntryKind.DIRECTORY, is_index=is_index)

    def _tasks(self, descriptor: int, entry: Entry, rules: Rules) -> Iterator[tuple[str, _Task]]:
        """What is to be done about an entry, each with its place in the order."""
        is_directory = entry.kind is EntryKind.DIRECTORY
        if is_directory and entry.source in self._roots:
            yield entry.source + "/", _Enter(entry.source, self._roots[entry.source])
            return
        judged = _met(entry, rules, self._as_text)
        if judged is None:
            own = _rules_of(descriptor, entry)
            if not isinstance(own, ReadFailure):
                yield entry.source + "/", _Enter(entry.source, rules + own)
                return
            judged = FoundFailed(own, directory=True)
        yield source_of(judged), judged
        if is_directory and len(self._roots) > 1:
            inside = [path for path in self._roots if path.startswith(entry.source + "/")]
            yield from ((path + "/", _Enter(path, self._roots[path])) for path in _outermost(inside))


def _met(entry: Entry, rules: Rules, as_text: bool) -> Found | None:
    """`judge` by the rules that hold in the entry's directory. The base itself is always gone into."""
    if not entry.source:
        return None
    asks = rules and is_utf8(entry.source)
    return judge(entry, hiding_rule(rules, entry.source, entry.kind is EntryKind.DIRECTORY) if asks else None, as_text)


def _outermost(paths: Iterable[str]) -> list[str]:
    """Of these paths those that lie below no other, in the order of what lies below them."""
    asked = set(paths)
    kept = [path for path in asked if not path or not any(above in asked for above in ["", *parents_of(path)])]
    return sorted(kept, key=lambda path: path + "/")


def _name(listed: str) -> str:
    """A listed name as UTF-8 reads it, whatever the locale says."""
    return listed if _NAMES_ARE_UTF8 else os.fsencode(listed).decode("utf-8", "surrogateescape")


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def _kind(mode: int) -> EntryKind:
    if stat.S_ISREG(mode):
        return EntryKind.FILE
    if stat.S_ISDIR(mode):
        return EntryKind.DIRECTORY
    return EntryKind.LINK if stat.S_ISLNK(mode) else EntryKind.OTHER


def _target(directory: int, name: str) -> str:
    """Where a link points, for a person to read."""
    try:
        return os.readlink(_bytes(name), dir_fd=directory).decode("utf-8", "surrogateescape")
    except OSError:
        return "?"


def _descend(start: int, start_path: str, names: list[str], flags: int) -> int | ReadFailure:
    """Open a directory below another one, part by part, following no link."""
    current, path = start, start_path
    for position, name in enumerate(names):
        above, path = current, f"{path}/{name}" if path else name
        try:
            current = os.open(_bytes(name), flags if position == len(names) - 1 else _PASS, dir_fd=above)
        except OSError as error:
            return _looked_into(above, name, path, error)
        finally:
            if above != start:
                os.close(above)
    return current


def _looked_into(directory: int, name: str, source: str, error: OSError) -> ReadFailure:
    """Why a name in a directory could not be opened; a link refuses in several ways."""
    try:
        kind = _kind(os.stat(_bytes(name), dir_fd=directory, follow_symlinks=False).st_mode)
    except OSError:
        return _failure(source, error)
    if kind is EntryKind.LINK:
        return link_refused(source, source, _target(directory, name))
    return _failure(source, error, source if error.errno == errno.ENOTDIR else "")


def _failure(source: str, error: OSError, what: str = "") -> ReadFailure:
    said = error.strerror or str(error)
    detail = f"{what}: {said}" if what else said
    return ReadFailure(source, _PROBLEMS.get(error.errno or 0, ReadProblem.UNREADABLE), detail)


def _about(source: str, failure: ReadFailure) -> ReadFailure:
    """The same failure, told of a source that it stands in the way of."""
    return evolve(failure, source=source)


def _refused(source: str) -> ReadFailure | None:
    if not is_within_base(source):
        return outside_refused(source).failure
    if not is_utf8(source):
        return ReadFailure(shown(source), ReadProblem.NAME_NOT_UTF8, "the name is not UTF-8")
    return None


def _read_all(source: str, descriptor: int, limit: int) -> Result[ReadSource, ReadFailure]:
    before = os.fstat(descriptor)
    if not stat.S_ISREG(before.st_mode):
        return Failure(ReadFailure(source, ReadProblem.NOT_REGULAR, _kind(before.st_mode).value))
    if before.st_size > limit:
        return Failure(_too_large(source, f"{before.st_size} bytes", limit))
    data = _bytes_of(descriptor, before.st_size, limit)
    after = os.fstat(descriptor)
    if len(data) > limit:
        return Failure(_too_large(source, "more bytes than its size says", limit))
    if (len(data), after.st_size, after.st_mtime_ns) != (before.st_size, before.st_size, before.st_mtime_ns):
        return Failure(ReadFailure(source, ReadProblem.CHANGING, "changed while it was read"))
    return Success(ReadSource(source, data, hashlib.sha256(data).hexdigest()))


def _bytes_of(descriptor: int, size: int, limit: int) -> bytes:
    """All bytes, or one more than the limit. A short read that gives the expected size is the end."""
    first = os.read(descriptor, min(size, limit) + 1)
    parts, count = [first], len(first)
    while parts[-1] and count != size and count <= limit:
        parts.append(os.read(descriptor, min(limit + 1 - count, _AT_ONCE)))
        count += len(parts[-1])
    return first if len(parts) == 1 else b"".join(parts)


def _too_large(source: str, size: str, limit: int) -> ReadFailure:
    return ReadFailure(source, ReadProblem.TOO_LARGE, f"{size}, at most {limit} are read")


def _rules_of(descriptor: int, entry: Entry) -> Rules | ReadFailure:
    opened = _descend(descriptor, entry.source.rpartition("/")[0], [entry.name], _LIST)
    if isinstance(opened, ReadFailure):
        return opened
    try:
        return _rules_in(opened, entry.source)
    finally:
        os.close(opened)


def _rules_in(directory: int, path: str) -> Rules | ReadFailure:
    """The ignore files of an open directory."""
    rules: Rules = ()
    for name in IGNORE_FILES:
        try:
            descriptor = os.open(name, _READ, dir_fd=directory)
        except FileNotFoundError:
            continue
        except OSError as error:
            return _about(path, _looked_into(directory, name, name, error))
        try:
            read = _ignore_bytes(name, descriptor)
        except OSError as error:
            return _failure(path, error, name)
        finally:
            os.close(descriptor)
        if isinstance(read, ReadFailure):
            return _about(path, read)
        rules += (ignore_file(path, name, read),)
    return rules


def _ignore_bytes(name: str, descriptor: int) -> bytes | ReadFailure:
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        return b""
    result = _read_all(name, descriptor, _LARGEST_IGNORE_FILE)
    if isinstance(result, Failure):
        return evolve(result.failure(), problem=ReadProblem.UNREADABLE, detail=f"{name}: {result.failure().detail}")
    return result.unwrap().data
