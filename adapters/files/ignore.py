"""Ignore files: how they are found and read, their rules as pathspec translates them, and which of them decides."""

import os
import re
import stat
import warnings
from typing import TypeAlias

from attrs import evolve, frozen

from groundkit.adapters.files.open import LIST, READ, about, descend, failure, read_all, why_not_opened
from groundkit.core.result import Failure
from groundkit.core.sources import ReadFailure, ReadProblem
from groundkit.core.walking import IGNORE_FILES, Entry

LARGEST_IGNORE_FILE = 1024 * 1024


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


def rules_of(descriptor: int, entry: Entry) -> Rules | ReadFailure:
    opened = descend(descriptor, entry.source.rpartition("/")[0], [entry.name], LIST)
    if isinstance(opened, ReadFailure):
        return opened
    try:
        return rules_in(opened, entry.source)
    finally:
        os.close(opened)


def rules_in(directory: int, path: str) -> Rules | ReadFailure:
    """The ignore files of an open directory."""
    rules: Rules = ()
    for name in IGNORE_FILES:
        try:
            descriptor = os.open(name, READ, dir_fd=directory)
        except FileNotFoundError:
            continue
        except OSError as error:
            return about(path, why_not_opened(directory, name, name, error))
        try:
            read = _ignore_bytes(name, descriptor)
        except OSError as error:
            return failure(path, error, name)
        finally:
            os.close(descriptor)
        if isinstance(read, ReadFailure):
            return about(path, read)
        rules += (ignore_file(path, name, read),)
    return rules


def _ignore_bytes(name: str, descriptor: int) -> bytes | ReadFailure:
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        return b""
    result = read_all(name, descriptor, LARGEST_IGNORE_FILE)
    if isinstance(result, Failure):
        return evolve(result.failure(), problem=ReadProblem.UNREADABLE, detail=f"{name}: {result.failure().detail}")
    return result.unwrap().data
