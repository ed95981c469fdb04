"""One descent through directories, with few descriptors however deep it gets."""

import os
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import TypeAlias

from attrs import define, field, frozen

from groundkit.adapters.files.ignore import Rules, hiding_rule, rules_of
from groundkit.adapters.files.open import LIST, about, descend, failure, listed_name, target_of
from groundkit.core.kinds import Dispatch
from groundkit.core.paths import parents_of
from groundkit.core.sources import EntryKind, ReadFailure, is_utf8
from groundkit.core.walking import Entry, Found, FoundFailed, judge, source_of

#: Descriptors a walk holds at once, and how many it opens again when it comes back up.
_HELD, _REGAINED = 32, 16


#: Device and inode of the index directory, if there is one.
Index: TypeAlias = tuple[int, int] | None


@frozen
class Enter:
    """A directory the walk is to go into, with the rules that hold in it."""

    path: str
    rules: Rules


_Task: TypeAlias = Found | Enter


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


@define
class Walk:
    """Descents from asked directories. The stack is ours, and so is the number of descriptors, however deep it gets."""

    _reach: Callable[[str, int], int | ReadFailure]
    _roots: dict[str, Rules]
    _dispatch: Dispatch
    _index: Index
    _levels: list[_Level] = field(factory=list)

    def run(self, root: Enter) -> Iterator[Found]:
        todo: list[_Task] = [root]
        try:
            while True:
                task = todo.pop() if todo else None
                if isinstance(task, Enter):
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

    def _enter(self, task: Enter) -> FoundFailed | None:
        """Go into a directory. Nothing of it is told if it cannot be listed to its end."""
        descriptor = self._opened(task.path)
        if isinstance(descriptor, ReadFailure):
            return FoundFailed(about(task.path, descriptor), directory=True)
        level = _Level(task.path, descriptor, [])
        self._levels.append(level)
        if len(self._levels) > _HELD:
            self._levels[-_HELD - 1].close()
        try:
            level.todo = self._listed(descriptor, task)
        except OSError as error:
            self._levels.pop().close()
            return FoundFailed(failure(task.path, error), directory=True)
        return None

    def _opened(self, path: str) -> int | ReadFailure:
        if not self._levels:
            return self._reach(path, LIST)
        above = self._levels[-1]
        if above.descriptor is None:
            regained = self._regain()
            if regained is not None:
                return regained
        assert above.descriptor is not None
        below = path[len(above.path) + 1 :] if above.path else path
        return descend(above.descriptor, above.path, below.split("/"), LIST)

    def _regain(self) -> ReadFailure | None:
        """Open the innermost levels again, from the base down, on the way back up from a deep place."""
        start = max(0, len(self._levels) - _REGAINED)
        for above, level in zip([None, *self._levels[start:]], self._levels[start:], strict=False):
            if above is None or above.descriptor is None:
                descriptor = self._reach(level.path, LIST)
            else:
                below = level.path[len(above.path) + 1 :] if above.path else level.path
                descriptor = descend(above.descriptor, above.path, below.split("/"), LIST)
            if isinstance(descriptor, ReadFailure):
                return descriptor
            level.close()
            level.descriptor = descriptor
        return None

    def _listed(self, descriptor: int, directory: Enter) -> list[_Task]:
        prefix = directory.path + "/" if directory.path else ""
        tasks: list[tuple[str, _Task]] = []
        with os.scandir(descriptor) as entries:
            for listed in entries:
                entry = self._entry(descriptor, prefix + listed_name(listed.name), listed)
                tasks += self._tasks(descriptor, entry, directory.rules)
        tasks.sort(key=itemgetter(0), reverse=True)
        return [task for _, task in tasks]

    def _entry(self, descriptor: int, source: str, listed: os.DirEntry[str]) -> Entry:
        if listed.is_symlink():
            return Entry(source, EntryKind.LINK, target_of(descriptor, listed_name(listed.name)))
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
            yield entry.source + "/", Enter(entry.source, self._roots[entry.source])
            return
        judged = met(entry, rules, self._dispatch)
        if judged is None:
            own = rules_of(descriptor, entry)
            if not isinstance(own, ReadFailure):
                yield entry.source + "/", Enter(entry.source, rules + own)
                return
            judged = FoundFailed(own, directory=True)
        yield source_of(judged), judged
        if is_directory and len(self._roots) > 1:
            inside = [path for path in self._roots if path.startswith(entry.source + "/")]
            yield from ((path + "/", Enter(path, self._roots[path])) for path in outermost(inside))


def met(entry: Entry, rules: Rules, dispatch: Dispatch) -> Found | None:
    """`judge` by the rules that hold in the entry's directory. The base itself is always gone into."""
    if not entry.source:
        return None
    asks = rules and is_utf8(entry.source)
    return judge(entry, hiding_rule(rules, entry.source, entry.kind is EntryKind.DIRECTORY) if asks else None, dispatch)


def outermost(paths: Iterable[str]) -> list[str]:
    """Of these paths those that lie below no other, in the order of what lies below them."""
    asked = set(paths)
    kept = [path for path in asked if not path or not any(above in asked for above in ["", *parents_of(path)])]
    return sorted(kept, key=lambda path: path + "/")
