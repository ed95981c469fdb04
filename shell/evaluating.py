"""An evaluation: every judged query asked of every stage, and what came back counted. ADR 0035."""

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from attrs import evolve

from groundkit.core.evaluation import BASELINE, WHOLE, Evaluation, Seen, Stage, evaluated
from groundkit.core.judged import JudgedQuery
from groundkit.core.metrics import DEPTH
from groundkit.core.modes import Mode

#: Told of each search that is done: how many of how many, and of which stage it was.
Progress = Callable[[int, int, str], object]


class Searching(Protocol):
    """Whatever is evaluated: what a stage finds for a query, the best first, at most `limit` hits.

    Of a query whose whole documents are judged (`by_document`), one hit of each source. A query that a stage refuses is
    a `Seen` with a reason; an exception ends the evaluation.
    """

    def __call__(self, query: JudgedQuery, stage: Stage, limit: int) -> Seen: ...


def stages_of(modes: Sequence[Mode], rerank: str | None) -> list[Stage]:
    """The stages of some modes: BM25 first, because all others stand beside it; last, the richest of them reranked."""
    ordered = [mode for mode in Mode if mode in modes or mode is Mode.BM25]
    return [*map(Stage, ordered), *([] if rerank is None else [Stage(ordered[-1], rerank)])]


def evaluate_searches(
    searching: Searching,
    judged: str,
    queries: Sequence[JudgedQuery],
    stages: Sequence[Stage],
    on_progress: Progress | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Evaluation:
    """Ask every query of every stage. All stages of a query come one after another, so that each meets the same machine."""
    if queries:
        # What is loaded at the first search (a model, a matrix) is in nobody's latency.
        for stage in stages:
            searching(queries[0], stage, DEPTH)
    seen: dict[str, list[Seen]] = {stage.name: [] for stage in stages}
    total = len(queries) * len(stages)
    for query in queries:
        for stage in stages:
            seen[stage.name].append(_timed(searching, query, stage, clock))
            if on_progress is not None:
                on_progress(sum(map(len, seen.values())), total, stage.name)
    return evaluated(judged, queries, seen, BASELINE)


def _timed(searching: Searching, query: JudgedQuery, stage: Stage, clock: Callable[[], float]) -> Seen:
    started = clock()
    found = searching(query, stage, DEPTH)
    parts = tuple(each for each in found.seconds if each[0] != WHOLE)
    return evolve(found, seconds=((WHOLE, clock() - started), *parts))
