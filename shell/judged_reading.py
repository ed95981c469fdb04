"""What files of judged queries are made of: lines, JSON objects, strings. What is wrong is noted, by file and line."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from attrs import Factory, frozen

from groundkit.core.judged import JudgedProblem

#: Problems after which nobody reads on.
MOST_PROBLEMS = 100

Line: TypeAlias = tuple[int, dict[str, Any]]


class Enough(Exception):
    """So much is wrong that nobody reads on."""


@frozen
class JudgedFile:
    """One file that is being read: its name for messages, and where problems of all files go."""

    path: Path
    name: str
    problems: list[JudgedProblem] = Factory(list)

    def wrong(self, line: int, key: str, detail: str) -> None:
        self.problems.append(JudgedProblem(self.name, line, key, detail))
        if len(self.problems) >= MOST_PROBLEMS:
            raise Enough


def text_of(file: JudgedFile) -> str:
    """The text of a file of UTF-8; with a problem and empty where it cannot be read."""
    try:
        data = file.path.read_bytes()
    except OSError as error:
        file.wrong(0, "", (error.strerror or str(error)).lower())
        return ""
    try:
        return data.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        file.wrong(data.count(b"\n", 0, error.start) + 1, "", "it is not UTF-8")
        return ""


def objects_of(file: JudgedFile) -> Iterator[Line]:
    """The JSON objects of a file with one on each line."""
    for number, line in enumerate(text_of(file).split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line, object_pairs_hook=_once, parse_constant=_no_number)
        except _NotOurs as error:
            file.wrong(number, error.key, error.why)
        except (ValueError, RecursionError):
            file.wrong(number, "", "it is not JSON")
        else:
            if isinstance(value, dict):
                yield number, value
            else:
                file.wrong(number, "", "an object is wanted")


class _NotOurs(Exception):
    def __init__(self, key: str, why: str) -> None:
        super().__init__(why)
        self.key, self.why = key, why


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        raise _NotOurs(next(name for name in names if names.count(name) > 1), "it is given more than once")
    return members


def _no_number(name: str) -> Any:
    raise _NotOurs("", f"{name} is no number of JSON")


def check_keys(file: JudgedFile, line: int, entry: dict[str, Any], known: Sequence[str], within: str) -> None:
    """A problem for each key that is none of those we know."""
    for key in entry:
        if key not in known:
            file.wrong(
                line, f"{within}.{key}" if within else key, f"there is no such key; there are {', '.join(known)}"
            )


def string_of(
    file: JudgedFile, line: int, entry: dict[str, Any], key: str, within: str = "", *, empty: bool = False
) -> str:
    """A string of Unicode; with a problem where there is none, or where it is blank and must not be."""
    value, where = entry.get(key), f"{within}.{key}" if within else key
    if type(value) is not str:
        file.wrong(line, where, "it is missing" if key not in entry else "a string is wanted")
        return ""
    if not value.strip() and not empty:
        file.wrong(line, where, "it is empty")
    if not value.isascii() and any("\ud800" <= sign <= "\udfff" for sign in value):
        file.wrong(line, where, "it holds half a surrogate pair, which is no character")
    return value
