"""What lies below a base directory: a walk that follows no link, and which rule decides about a path."""

import heapq
import os
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path

from attrs import frozen

from groundkit.adapters.files.ignore import Rules, hiding_rule, rules_in
from groundkit.adapters.files.open import (
    LIST,
    PASS,
    about,
    descend,
    failure,
    kind_of_mode,
    name_bytes,
    target_of,
)
from groundkit.adapters.files.walk import Enter, Index, Walk, met, outermost
from groundkit.core.kinds import BY_SUFFIX, Dispatch
from groundkit.core.paths import is_asked_path, parents_of
from groundkit.core.sources import EntryKind, ReadFailure, ReadProblem, is_utf8
from groundkit.core.walking import (
    Entry,
    Explanation,
    Found,
    FoundFailed,
    FoundSkipped,
    WalkRequest,
    explanation,
    judge_named,
    outside_base,
    source_of,
)


@frozen
class Survey:
    """Of the directories that `reach` opens: the base ("") and those below it. The index directory is never gone into."""

    _reach: Callable[[str, int], int | ReadFailure]
    _index_directory: Path | None

    def walk(self, request: WalkRequest) -> Iterator[Found]:
        """See `SourceReader`.

        A path asked for by name is taken whatever hides it; where outer rules hide it, they do not count below it. A
        directory with an ignore file that cannot be read fails, since nobody knows what it wants hidden.
        """
        named: dict[str, Found] = {}
        roots: dict[str, Rules] = {}
        index = self._index()
        for path in set(request.paths):
            answer = self._named(path, request.dispatch, index)
            if isinstance(answer, tuple):
                roots[path] = answer
            else:
                named[source_of(answer)] = answer
        met = self._below(roots, request.dispatch, index)
        others = (found for found in met if source_of(found) not in named)
        yield from heapq.merge((named[source] for source in sorted(named)), others, key=source_of)

    def explain(self, source: str, dispatch: Dispatch | None) -> Explanation:
        """See `SourceReader`: what a walk of the whole base does with this path, or would if it existed."""
        if not is_asked_path(source):
            return explanation(source, outside_base(source))
        return explanation(source, self._decided(source, dispatch or BY_SUFFIX))

    def _decided(self, source: str, dispatch: Dispatch) -> Found | EntryKind | None:
        """What decides about a path on the way down to it; if nothing does, a directory, or None if nothing is there."""
        index = self._index()
        steps = ["", *parents_of(source), source] if source else [""]
        rules: Rules = ()
        with closing(self._way_down(source, LIST)) as way:
            for path, step, directory in zip(steps, [*steps[1:], None], way, strict=False):
                if isinstance(directory, ReadFailure):
                    return FoundFailed(directory, directory=True)
                own = rules_in(directory, path)
                if isinstance(own, ReadFailure):
                    return FoundFailed(own, directory=True)
                rules += own
                if step is None:
                    break
                entry = _looked_at(directory, step, index)
                if isinstance(entry, ReadFailure):
                    missing = entry.problem is ReadProblem.MISSING
                    return _supposed(step, source, rules, dispatch) if missing else FoundFailed(entry)
                found = met(entry, rules, dispatch)
                if found is not None:
                    return found
        return EntryKind.DIRECTORY

    def _way_down(self, path: str, flags: int) -> Generator[int | ReadFailure, None, None]:
        """Descriptors of the base and every directory down to this one, each open until the next is asked for."""
        current = self._reach("", flags)
        done = ""
        try:
            for name in path.split("/") if path else ():
                yield current
                if isinstance(current, ReadFailure):
                    return
                above, current = current, descend(current, done, [name], flags)
                os.close(above)
                done = f"{done}/{name}" if done else name
            yield current
        finally:
            if isinstance(current, int):
                os.close(current)

    def _index(self) -> Index:
        """Device and inode of the index directory, if it exists by now."""
        if self._index_directory is None:
            return None
        try:
            found = os.stat(self._index_directory)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _named(self, path: str, dispatch: Dispatch, index: Index) -> Found | Rules:
        """What comes of a path that was asked for: an answer, or the rules that hold in a directory to walk."""
        if not is_asked_path(path):
            return outside_base(path)
        entry = self._entry(path, index)
        if isinstance(entry, ReadFailure):
            return FoundFailed(entry, directory=True)
        judged = judge_named(entry, dispatch)
        if judged is not None:
            return judged
        rules = self._rules_down_to(path)
        return FoundFailed(rules, directory=True) if isinstance(rules, ReadFailure) else rules

    def _entry(self, path: str, index: Index) -> Entry | ReadFailure:
        """What stands at a path."""
        if not is_utf8(path):
            return Entry(path, EntryKind.OTHER)
        above = self._reach(path.rpartition("/")[0], PASS)
        if isinstance(above, ReadFailure):
            return about(path, above)
        try:
            return _looked_at(above, path, index)
        finally:
            os.close(above)

    def _rules_down_to(self, path: str) -> Rules | ReadFailure:
        """The rules that hold in a directory asked for by name."""
        rules: Rules = ()
        with closing(self._way_down(path, PASS)) as way:
            for step, directory in zip(["", *parents_of(path), path] if path else [""], way, strict=False):
                if step and hiding_rule(rules, step, is_directory=True) is not None:
                    rules = ()
                own = directory if isinstance(directory, ReadFailure) else rules_in(directory, step)
                if isinstance(own, ReadFailure):
                    return about(path, own)
                rules += own
        return rules

    def _below(self, roots: dict[str, Rules], dispatch: Dispatch, index: Index) -> Iterator[Found]:
        """Everything below the asked directories, in order."""
        walk = Walk(self._reach, roots, dispatch, index)
        for path in outermost(roots):
            yield from walk.run(Enter(path, roots[path]))


def _looked_at(above: int, path: str, index: Index) -> Entry | ReadFailure:
    """What a directory holds under the last part of a path."""
    if not is_utf8(path):
        return Entry(path, EntryKind.OTHER)
    name = path.rpartition("/")[2]
    try:
        found = os.stat(name_bytes(name or "."), dir_fd=above, follow_symlinks=False)
    except OSError as error:
        return failure(path, error)
    kind = kind_of_mode(found.st_mode)
    target = target_of(above, name) if kind is EntryKind.LINK else ""
    return Entry(path, kind, target, index == (found.st_dev, found.st_ino))


def _supposed(path: str, source: str, rules: Rules, dispatch: Dispatch) -> FoundSkipped | None:
    """What would be passed over if a source existed of which nothing from this path on does."""
    for step in [path, *(above for above in parents_of(source) if len(above) > len(path)), source]:
        found = met(Entry(step, EntryKind.FILE if step == source else EntryKind.DIRECTORY), rules, dispatch)
        if isinstance(found, FoundSkipped):
            return found
    return None
