"""Queries that somebody has judged: what answers each of them, and which hits of a search are that. ADR 0035."""

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from attrs import frozen

from groundkit.core.filters import Field


@frozen
class OfSource:
    """Any passage of a source answers."""

    source: str


@frozen
class OfPassage:
    """A passage of a source that holds this text answers."""

    source: str
    text: str


@frozen
class OfChunk:
    """One chunk answers, by its id."""

    chunk_id: str


Target: TypeAlias = OfSource | OfPassage | OfChunk


@frozen
class JudgedQuery:
    """What is asked, and what answers it with what gain (0: judged, and no answer).

    Not `answerable`: the right answer is to find nothing, and there are no targets.
    """

    id: str
    text: str
    targets: tuple[tuple[Target, int], ...] = ()
    answerable: bool = True

    @property
    def by_document(self) -> bool:
        """Whether whole documents are judged: then each counts as its best chunk."""
        return all(isinstance(target, OfSource) for target, _ in self.targets)

    @property
    def relevant(self) -> int:
        """How many targets answer it."""
        return sum(gain > 0 for _, gain in self.targets)

    @property
    def gains(self) -> Mapping[str, int]:
        """The judgements by the ids that `labelled` gives."""
        return {_label(number): gain for number, (_, gain) in enumerate(self.targets)}


@frozen
class CorpusDocument:
    """A document of a test collection that is ingested for an evaluation."""

    id: str
    title: str
    text: str


@frozen
class Judged:
    """A judged set. `corpus`, if it brings its own documents, is what is searched; else a collection that is there already."""

    name: str
    queries: tuple[JudgedQuery, ...]
    corpus: tuple[CorpusDocument, ...] | None = None


@frozen
class JudgedProblem:
    """What is wrong at one place of a file: line from 1, the key (if one), and why, for a person."""

    file: str
    line: int
    key: str
    detail: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: {self.key}: {self.detail}" if self.key else f"{where}: {self.detail}"


@frozen
class JudgedRefused:
    """A judged set of which nothing is used, and everything that is wrong with it (one thing at least)."""

    problems: tuple[JudgedProblem, ...]

    def __str__(self) -> str:
        more = len(self.problems) - 1
        return str(self.problems[0]) + (f" (and {more} more)" if more else "")


@frozen
class Hit:
    """A hit of a search, as far as judgements are about it."""

    source: str
    chunk_id: str = ""
    text: str = ""


def labelled(hits: Sequence[Hit], query: JudgedQuery) -> list[str]:
    """The ranking of hits as ids that `query.gains` judges: a hit is the best target it meets that none before it met.

    A hit that meets only what was met before has that one's id again, so that metrics pass over it; what meets nothing has an
    id of its own. Documents that are judged as a whole stand once each.
    """
    order = sorted(range(len(query.targets)), key=lambda number: -query.targets[number][1])
    passages = [_flat(target.text) if isinstance(target, OfPassage) else "" for target, _ in query.targets]
    met: set[int] = set()
    labels = []
    for place, hit in enumerate(hits):
        meets = [number for number in order if _meets(hit, query.targets[number][0], passages[number])]
        new = next((number for number in meets if number not in met), None)
        met |= set() if new is None else {new}
        fallback = f"source:{hit.source}" if query.by_document else f"hit:{place}"
        labels.append(_label(new) if new is not None else _label(meets[0]) if meets else fallback)
    return labels


def _label(number: int) -> str:
    return f"target:{number}"


def _meets(hit: Hit, target: Target, passage: str) -> bool:
    match target:
        case OfSource():
            return hit.source == target.source
        case OfPassage():
            return hit.source == target.source and _holds(_flat(hit.text), passage)
        case OfChunk():
            return hit.chunk_id == target.chunk_id


def _holds(text: str, passage: str) -> bool:
    """Whether a text holds a passage, or that half of it which a cut between two chunks must leave whole."""
    half = len(passage) // 2
    return passage in text or (half >= _LEAST_HALF and (passage[:half] in text or passage[half:] in text))


def absent(passages: Sequence[str], text: str) -> list[str]:
    """Those passages that a document's text does not hold, whatever the white space."""
    flat = _flat(text)
    return [each for each in passages if _flat(each) not in flat]


#: Code points below which half a passage may stand anywhere.
_LEAST_HALF = 24


def _flat(text: str) -> str:
    return " ".join(text.split())


_FIELDS = "|".join(f"(?<={each}:)" for each in Field)
#: In this order: what one of them leaves, the next may make something of.
_SYNTAX = tuple(
    re.compile(sign, re.IGNORECASE) for sign in ('["“”„«»]', rf"(?:{_FIELDS})(?=\S)", r"(?<!\S)[+-]+(?=\S)")
)


def as_text(query: str) -> str:
    """A query of a test collection: words with blanks in place of every sign that would mean something in ours."""
    for sign in _SYNTAX:
        query = sign.sub(" ", query)
    return query


_PLAIN = re.compile(r"[a-z0-9_-](?:[a-z0-9._-]*[a-z0-9_-])?")
#: Bytes of a name that every file system takes, with `.md` behind it.
_MOST_NAME = 240


def file_of(document_id: str) -> str | None:
    """The name of the Markdown file of a document id; None where it has none: it is empty, too long or no Unicode.

    Every byte of its UTF-8 that is not a small letter, a digit, `_`, `-` or `.` is `%` and two digits, so that no two ids share a
    file on a system that takes A for a, and none is hidden.
    """
    if not document_id:
        return None
    try:
        name = _escaped(document_id)
    except UnicodeEncodeError:
        return None
    return f"{name}.md" if len(name) <= _MOST_NAME else None


def _escaped(document_id: str) -> str:
    if _PLAIN.fullmatch(document_id):
        return document_id
    safe = b"abcdefghijklmnopqrstuvwxyz0123456789_-"
    return "".join(chr(each) if each in safe else f"%{each:02x}" for each in document_id.encode())


def id_of(file: str) -> str:
    """The document id of a file that `file_of` named."""
    name = file.removesuffix(".md")
    return re.sub(rb"%([0-9a-f]{2})", lambda found: bytes([int(found[1], 16)]), name.encode()).decode()


def markdown_of(document: CorpusDocument) -> str:
    """A document as Markdown: its title as a heading, if it has one, and its text, less the line of the title if that comes first."""
    title = _flat(document.title)
    if not title:
        return document.text
    words = r"\s+".join(map(re.escape, title.split()))
    repeated = re.match(rf"\s*{words}[^\S\n]*(?:\n|\Z)", document.text)
    rest = document.text[repeated.end() :] if repeated else document.text
    return f"# {title}\n\n{rest.lstrip()}"
