"""Files of judged queries: our JSON lines, or the `corpus`, `queries` and `qrels` files of test collections. Strictly read."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from groundkit.core.judged import (
    CorpusDocument,
    Judged,
    JudgedProblem,
    JudgedQuery,
    JudgedRefused,
    OfChunk,
    OfPassage,
    OfSource,
    Target,
    as_text,
    file_of,
)
from groundkit.core.result import Failure, Result, Success
from groundkit.judged_reading import Enough, JudgedFile, check_keys, objects_of, string_of, text_of

#: Judgements, best first, that a folder may have under a name we know.
_QRELS = ("qrels.tsv", "qrels/test.tsv")
_HEAD = ("query-id", "corpus-id", "score")
_CHUNK = re.compile("[0-9a-f]{32}")
_KEYS = ("id", "query", "relevant", "grades", "answerable")
_TARGET_KEYS = ("source", "text")
#: The id of an entry of a test collection, by either name it goes by.
_IDS = ("_id", "id")


def read_judged(path: Path) -> Result[Judged, JudgedRefused]:
    """The judged set of a JSON lines file, of a folder with a test collection, or of one `.tsv` of judgements in such a folder.

    Nothing is passed over: every unknown key, missing value and judgement of what is not there is a problem, by file and line.
    """
    problems: list[JudgedProblem] = []
    try:
        judged = _read(path, problems)
    except Enough:
        judged = None
    if problems or judged is None:
        return Failure(JudgedRefused(tuple(problems)))
    return Success(judged)


def is_judgements(path: Path) -> bool:
    """Whether a file is taken for the judgements of a test collection, by its name."""
    return path.suffix.lower() == ".tsv"


def _read(path: Path, problems: list[JudgedProblem]) -> Judged | None:
    if path.is_dir():
        qrels = next((path / name for name in _QRELS if (path / name).is_file()), None)
        if qrels is not None:
            return _collection(path, qrels, problems)
        problems.append(JudgedProblem(path.name, 0, "", f"it has none of {', '.join(_QRELS)}"))
        return None
    if is_judgements(path):
        inner = path.parent.name == "qrels" and not (path.parent / "corpus.jsonl").exists()
        return _collection(path.parent.parent if inner else path.parent, path, problems)
    return _own(JudgedFile(path, path.name, problems))


# -- our own


def _own(file: JudgedFile) -> Judged:
    queries: list[JudgedQuery] = []
    taken: dict[str, int] = {}
    for number, entry in objects_of(file):
        query = _query(file, number, entry)
        if query is not None and query.id in taken:
            file.wrong(number, "id", f"{query.id} is that of line {taken[query.id]}, too")
        elif query is not None:
            taken[query.id] = number
            queries.append(query)
    if not queries and not file.problems:
        file.wrong(0, "", "it holds no query")
    return Judged(file.name, tuple(queries))


def _query(file: JudgedFile, line: int, entry: dict[str, Any]) -> JudgedQuery | None:
    before = len(file.problems)
    check_keys(file, line, entry, _KEYS, "")
    text = string_of(file, line, entry, "query")
    name = string_of(file, line, entry, "id") if "id" in entry else str(line)
    answerable = entry.get("answerable", True)
    if type(answerable) is not bool:
        file.wrong(line, "answerable", "true or false is wanted")
    targets = _targets(file, line, entry)
    if answerable is True and not targets and len(file.problems) == before:
        file.wrong(line, "relevant", 'nothing answers it; a query without an answer has "answerable": false')
    if answerable is False and targets:
        file.wrong(line, "relevant", 'something answers it, and it has "answerable": false')
    if len(file.problems) > before:
        return None
    return JudgedQuery(name, text, targets, answerable)


def _targets(file: JudgedFile, line: int, entry: dict[str, Any]) -> tuple[tuple[Target, int], ...]:
    given, grades = entry.get("relevant", []), entry.get("grades")
    if type(given) is not list:
        file.wrong(line, "relevant", "a list is wanted")
        return ()
    targets = [_target(file, line, each, f"relevant[{at}]") for at, each in enumerate(given)]
    if grades is None:
        grades = [1] * len(given)
    if type(grades) is not list or len(grades) != len(given) or not all(type(each) is int for each in grades):
        file.wrong(line, "grades", f"a list of whole numbers is wanted, one for each of relevant ({len(given)})")
        return ()
    found = [target for target in targets if target is not None]
    twice = next((at for at, each in enumerate(targets) if each is not None and each in targets[:at]), None)
    if twice is not None:
        file.wrong(line, f"relevant[{twice}]", "it is given twice")
    return tuple(zip(found, grades, strict=True)) if len(found) == len(given) else ()


def _target(file: JudgedFile, line: int, given: Any, key: str) -> Target | None:
    if type(given) is str and given:
        return OfChunk(given) if _CHUNK.fullmatch(given) else OfSource(given)
    if type(given) is not dict:
        file.wrong(line, key, "a source, a chunk id, or an object with source and text is wanted")
        return None
    before = len(file.problems)
    check_keys(file, line, given, _TARGET_KEYS, key)
    source = string_of(file, line, given, "source", key)
    if "text" not in given:
        return OfSource(source) if len(file.problems) == before else None
    text = string_of(file, line, given, "text", key)
    return OfPassage(source, text) if len(file.problems) == before else None


# -- test collections


def _collection(folder: Path, qrels: Path, problems: list[JudgedProblem]) -> Judged:
    def file(path: Path) -> JudgedFile:
        return JudgedFile(path, path.relative_to(folder).as_posix(), problems)

    corpus = tuple(_documents(file(folder / "corpus.jsonl")))
    asked = _asked(file(folder / "queries.jsonl"))
    judgements = _judgements(file(qrels), asked, {each.id for each in corpus})
    queries = tuple(
        JudgedQuery(name, as_text(asked[name]), tuple(targets.items())) for name, targets in judgements.items()
    )
    if not queries and not problems:
        file(qrels).wrong(0, "", "it holds no judgement")
    name = folder.name if qrels.name == _QRELS[0] else f"{folder.name}/{qrels.relative_to(folder).as_posix()}"
    return Judged(name, queries, corpus)


def _documents(file: JudgedFile) -> Iterator[CorpusDocument]:
    taken: dict[str, int] = {}
    for line, entry in objects_of(file):
        name = _id(file, line, entry)
        check_keys(file, line, entry, (*_IDS, "title", "text", "metadata"), "")
        text = string_of(file, line, entry, "text", empty=True)
        title = string_of(file, line, entry, "title", empty=True) if "title" in entry else ""
        if name in taken:
            file.wrong(line, "id", f"{name} is that of line {taken[name]}, too")
        elif name and file_of(name) is None:
            file.wrong(line, "id", "it is too long for the name of a file")
        taken[name] = line
        yield CorpusDocument(name, title, text)


def _asked(file: JudgedFile) -> dict[str, str]:
    asked: dict[str, str] = {}
    for line, entry in objects_of(file):
        name = _id(file, line, entry)
        check_keys(file, line, entry, (*_IDS, "text", "metadata"), "")
        if name in asked:
            file.wrong(line, "id", f"{name} is given twice")
        asked[name] = string_of(file, line, entry, "text")
    return asked


def _judgements(file: JudgedFile, asked: dict[str, str], documents: set[str]) -> dict[str, dict[Target, int]]:
    """The judged queries in the order of the file; who is not in it is not asked."""
    found: dict[str, dict[Target, int]] = {}
    for line, row in _rows(file):
        if len(row) != len(_HEAD):
            file.wrong(line, "", f"three columns are wanted, {', '.join(_HEAD)}; it has {len(row)}")
            continue
        query, document, score = row
        before = len(file.problems)
        if line == 1 and row[0] == _HEAD[0]:
            if tuple(row) != _HEAD:
                file.wrong(line, "", f"the columns are {', '.join(row)}; {', '.join(_HEAD)} are wanted")
            continue
        if query not in asked:
            file.wrong(line, _HEAD[0], f"there is no query {query}")
        if document not in documents:
            file.wrong(line, _HEAD[1], f"there is no document {document}")
        if not re.fullmatch("-?[0-9]{1,9}", score):
            file.wrong(line, _HEAD[2], "a whole number is wanted")
        if len(file.problems) > before:
            continue
        targets = found.setdefault(query, {})
        target = OfSource(file_of(document) or document)
        if target in targets:
            file.wrong(line, _HEAD[1], f"{document} is judged twice for query {query}")
        targets[target] = int(score)
    return found


def _rows(file: JudgedFile) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(text_of(file).split("\n"), 1):
        if line.strip():
            yield number, line.rstrip("\r").split("\t")


def _id(file: JudgedFile, line: int, entry: dict[str, Any]) -> str:
    keys = [key for key in _IDS if key in entry]
    if len(keys) != 1:
        file.wrong(line, "id", "it is missing" if not keys else "there are both _id and id")
        return ""
    return string_of(file, line, entry, keys[0])
