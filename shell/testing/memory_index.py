"""The lexical index in memory: exact, small, and with the same contract as the real one."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TypeAlias

from attrs import evolve, field, frozen

from groundkit.core.briefs import Within
from groundkit.core.changes import LexicalDocument
from groundkit.core.query import LexicalQuery
from groundkit.core.ranking import Candidates, Occurrences, TermFacts, weights_of
from groundkit.core.result import Failure, Result, Success
from groundkit.core.storage import LexicalFailure, LexicalProblem, Mark, Statistics


@frozen
class _Posting:
    document_id: str
    terms: tuple[str, ...]
    occurrences: Occurrences


@frozen
class _Build:
    """What was last committed to one build."""

    mark: Mark | None = None
    rows: dict[int, _Posting] = field(factory=dict)


#: Builds by number. Given to several indexes, it is the disk they share.
Disk: TypeAlias = dict[int, _Build]


class MemoryIndex:
    """`groundkit.core.ports.LexicalIndex`; terms are the tokens themselves."""

    def __init__(self, disk: Disk | None = None, analyzer: str = "memory/1") -> None:
        self._disk: Disk = {} if disk is None else disk
        self._analyzer = analyzer

    @property
    def analyzer(self) -> str:
        return self._analyzer

    def terms(self, view: str) -> list[str]:
        return view.split()

    def searcher(self, build: int) -> Result["MemorySearcher", LexicalFailure]:
        held = self._disk.get(build)
        if held is None:
            return _missing(build)
        if held.mark is None:
            return Failure(LexicalFailure(LexicalProblem.DAMAGED, "the index names no generation"))
        return Success(MemorySearcher(held.mark, held.rows))

    def start(self, build: int) -> Result[None, LexicalFailure]:
        self._disk[build] = _Build()
        return Success(None)

    def apply(
        self, build: int, mark: Mark | None, documents: Sequence[LexicalDocument]
    ) -> Result[None, LexicalFailure]:
        held = self._disk.get(build)
        if held is None:
            return _missing(build)
        gone = {document.document_id for document in documents}
        rows = {row: posting for row, posting in held.rows.items() if posting.document_id not in gone}
        for document in documents:
            rows.update((row.row, self._posting(document.document_id, row.view)) for row in document.rows)
        self._disk[build] = evolve(held, mark=mark, rows=rows)
        return Success(None)

    def live(self, build: int) -> Result[dict[int, str], LexicalFailure]:
        held = self._disk.get(build)
        if held is None:
            return _missing(build)
        return Success({row: posting.document_id for row, posting in held.rows.items()})

    def check(self, build: int) -> Result[tuple[str, ...], LexicalFailure]:
        return Success(()) if build in self._disk else _missing(build)

    def discard(self, keep: int | None) -> Result[None, LexicalFailure]:
        for build in list(self._disk):
            if build != keep:
                del self._disk[build]
        return Success(None)

    def close(self) -> None:
        """Nothing is held open."""

    def _posting(self, document_id: str, view: str) -> _Posting:
        terms = tuple(self.terms(view))
        return _Posting(document_id, terms, Occurrences(len(terms), Counter(terms)))


class MemorySearcher:
    """`groundkit.core.ports.LexicalSearcher`: its native scores are the exact ones."""

    def __init__(self, mark: Mark, rows: dict[int, _Posting]) -> None:
        self._mark = mark
        self._rows = rows

    @property
    def mark(self) -> Mark:
        return self._mark

    @cached_property
    def _statistics(self) -> Statistics:
        lengths = [posting.occurrences.length for posting in self._rows.values()]
        return Statistics(len(lengths), sum(lengths), max(lengths, default=0))

    def facts(self, term: str) -> Result[TermFacts, LexicalFailure]:
        return Success(self._facts(term))

    def candidates(
        self, query: LexicalQuery, limit: int, within: Within | None = None
    ) -> Result[Candidates, LexicalFailure]:
        weights = weights_of({term: self._facts(term) for term in query.terms}, self._statistics)
        scored = [
            (row, weights.score(posting.occurrences))
            for row, posting in self._meeting(query, within)
            if any(term in posting.occurrences.counts for term in query.terms)
        ]
        scored.sort(key=lambda hit: (-hit[1], hit[0]))
        return Success(Candidates(tuple(scored[:limit]), len(scored)))

    def meeting(self, query: LexicalQuery, within: Within | None = None) -> Result[frozenset[int], LexicalFailure]:
        return Success(frozenset(row for row, _ in self._meeting(query, within)))

    def _facts(self, term: str) -> TermFacts:
        live = sum(term in posting.occurrences.counts for posting in self._rows.values())
        if not live:
            return TermFacts(0, 0.0, 0.0)
        alone = weights_of({term: TermFacts(live, 0.0, 0.0)}, self._statistics)
        return TermFacts(live, alone.terms[0].idf, alone.mean)

    def _meeting(self, query: LexicalQuery, within: Within | None) -> Iterator[tuple[int, _Posting]]:
        for row, posting in self._rows.items():
            if _inside(row, posting, within) and _meets(posting, query):
                yield row, posting


def _inside(row: int, posting: _Posting, within: Within | None) -> bool:
    return within is None or (
        (within.documents is None or posting.document_id in within.documents)
        and (within.rows is None or row in within.rows)
    )


def _meets(posting: _Posting, query: LexicalQuery) -> bool:
    counts = posting.occurrences.counts
    return (
        all(term in counts for term in query.required)
        and all(_stands(phrase, posting.terms) for phrase in query.phrases)
        and not any(term in counts for term in query.excluded)
        and not any(_stands(phrase, posting.terms) for phrase in query.excluded_phrases)
    )


def _stands(phrase: tuple[str, ...], terms: tuple[str, ...]) -> bool:
    size = len(phrase)
    return any(terms[at : at + size] == phrase for at in range(len(terms) - size + 1))


def _missing(build: int) -> Failure[LexicalFailure]:
    return Failure(LexicalFailure(LexicalProblem.MISSING, f"there is no build {build}"))
