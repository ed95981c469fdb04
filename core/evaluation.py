"""What an evaluation says: each stage's figures over judged queries, beside those of BM25. ADR 0035."""

import re
from collections.abc import Mapping, Sequence

from attrs import field, frozen

from groundkit.core.judged import Hit, JudgedQuery, labelled
from groundkit.core.metrics import METRICS, mean, percentile, scores
from groundkit.core.modes import Mode
from groundkit.core.result import Failure, Result, Success
from groundkit.core.significance import Comparison, compared

#: What every other stage stands beside.
BASELINE = "bm25"
PERCENTILES = (0.5, 0.95, 0.99)
#: The latency of a search as a whole, among those of its parts.
WHOLE = "search"


@frozen
class Stage:
    """One way to search: a mode, and the name of a model that reads the first hits again, if one does."""

    mode: Mode
    rerank: str | None = None

    @property
    def name(self) -> str:
        return self.mode.value if self.rerank is None else f"{self.mode.value}+rerank"


@frozen
class Seen:
    """What one search gave: hits, the best first; `refused` says why it gave an error instead.

    `seconds` are those of its parts, and of the whole under the name `search`.
    """

    hits: tuple[Hit, ...] = ()
    refused: str = ""
    seconds: tuple[tuple[str, float], ...] = field(default=(), eq=False)


@frozen
class Outcome:
    """One stage on one query: how many hits, the metrics (None where nothing is relevant), why it was refused (or "")."""

    found: int
    scores: Mapping[str, float] | None
    refused: str = ""


@frozen
class QueryRow:
    """One query, and each stage's outcome by the stage's name. `relevant` counts its targets with a gain."""

    id: str
    text: str
    answerable: bool
    relevant: int
    outcomes: Mapping[str, Outcome]

    @property
    def counted(self) -> bool:
        """Whether it has a part in the means."""
        return self.answerable and self.relevant > 0


@frozen
class StageResult:
    """One stage over all queries: mean metrics over the counted ones, and each metric beside BM25's (none of BM25 itself).

    `rightly_empty` of the unanswerable queries and `wrongly_empty` of the counted ones had no hit; `refused` gave an error.
    """

    name: str
    means: Mapping[str, float]
    beside: Mapping[str, Comparison]
    rightly_empty: int
    wrongly_empty: int
    refused: int


@frozen
class Latency:
    """How long a part of a stage's searches took: milliseconds that half, 95 and 99 of 100 did not exceed."""

    stage: str
    part: str
    count: int
    p50: float
    p95: float
    p99: float


@frozen
class Evaluation:
    """A judged set asked of a collection, stage by stage. Equal for equal judgements and rankings, whatever the latencies.

    `counted` queries are answerable and have something relevant; `unanswerable` ones should find nothing; `unjudged` ones are
    answerable, have nothing relevant and are in no mean. `documents` are those of the collection, `failed` those that could not
    be ingested, `missing` what is judged and is not in the collection: sources, passages, chunks.
    """

    judged: str
    stages: tuple[StageResult, ...]
    rows: tuple[QueryRow, ...]
    documents: int = 0
    failed: int = 0
    missing: tuple[str, ...] = ()
    latencies: tuple[Latency, ...] = field(default=(), eq=False)

    @property
    def counted(self) -> int:
        return sum(row.counted for row in self.rows)

    @property
    def unanswerable(self) -> int:
        return sum(not row.answerable for row in self.rows)

    @property
    def unjudged(self) -> int:
        return len(self.rows) - self.counted - self.unanswerable

    def stage(self, name: str) -> StageResult:
        """The stage of this name; KeyError where there is none."""
        return {each.name: each for each in self.stages}[name]


def evaluated(
    judged: str, queries: Sequence[JudgedQuery], seen: Mapping[str, Sequence[Seen]], baseline: str = BASELINE
) -> Evaluation:
    """The evaluation of what each stage (by name) gave for each query in turn. `baseline` should be among the stages."""
    rows = tuple(_row(query, {stage: each[at] for stage, each in seen.items()}) for at, query in enumerate(queries))
    stages = tuple(_stage(name, rows, baseline) for name in seen)
    timed = tuple(each for name, found in seen.items() for each in _latencies(name, found))
    return Evaluation(judged, stages, rows, latencies=timed)


def _row(query: JudgedQuery, seen: Mapping[str, Seen]) -> QueryRow:
    gains = query.gains
    outcomes = {
        stage: Outcome(len(each.hits), scores(labelled(each.hits, query), gains), each.refused)
        for stage, each in seen.items()
    }
    return QueryRow(query.id, query.text, query.answerable, query.relevant, outcomes)


def _stage(name: str, rows: Sequence[QueryRow], baseline: str) -> StageResult:
    counted = [row for row in rows if row.counted]
    empty = [row for row in rows if not row.outcomes[name].found]
    values = _values(counted, name)
    beside = {}
    if name != baseline and counted and baseline in counted[0].outcomes:
        others = _values(counted, baseline)
        beside = {metric: compared(values[metric], others[metric]) for metric in METRICS}
    return StageResult(
        name,
        {metric: mean(each) for metric, each in values.items()},
        beside,
        sum(not row.answerable for row in empty),
        sum(row.counted for row in empty),
        sum(bool(row.outcomes[name].refused) for row in rows),
    )


def _values(rows: Sequence[QueryRow], stage: str) -> dict[str, list[float]]:
    found = [row.outcomes[stage].scores or {} for row in rows]
    return {metric: [each[metric] for each in found] for metric in METRICS}


def _latencies(stage: str, seen: Sequence[Seen]) -> list[Latency]:
    parts: dict[str, list[float]] = {}
    for each in seen:
        for part, seconds in each.seconds:
            parts.setdefault(part, []).append(seconds * 1000)
    return [
        Latency(stage, part, len(times), *(percentile(times, each) for each in PERCENTILES))
        for part, times in parts.items()
    ]


def losses(evaluation: Evaluation, stage: str, metric: str = "ndcg@10", most: int = 10) -> list[QueryRow]:
    """The queries on which a stage is worse than BM25, the worst first; by id where they are alike."""
    worse = [(difference, row) for difference, row in differences(evaluation, stage, metric) if difference < 0]
    return [row for _, row in sorted(worse, key=lambda each: (each[0], each[1].id))[:most]]


def differences(evaluation: Evaluation, stage: str, metric: str = "ndcg@10") -> list[tuple[float, QueryRow]]:
    """What a stage has more than BM25 of a metric on each counted query."""
    found = []
    for row in evaluation.rows:
        mine, other = (row.outcomes[name].scores for name in (stage, BASELINE)) if row.counted else (None, None)
        if mine is not None and other is not None:
            found.append((mine[metric] - other[metric], row))
    return found


@frozen
class Bound:
    """What a mean metric must reach: of one stage, or (None) of every one."""

    metric: str
    least: float
    stage: str | None = None

    def __str__(self) -> str:
        return f"{'' if self.stage is None else f'{self.stage}:'}{self.metric}={self.least:g}"


@frozen
class BoundRefused:
    """A text that is no bound, and why, for a person."""

    given: str
    why: str


@frozen
class Shortfall:
    """A stage that does not reach a bound, and what it reaches."""

    bound: Bound
    stage: str
    reached: float


_BOUND = re.compile(r"(?:([^:=]*):)?([^:=]*)=([^:=]*)")


def bound_of(text: str, stages: Sequence[str]) -> Result[Bound, BoundRefused]:
    """A bound as it is written, `ndcg@10=0.38` or `hybrid:ndcg@10=0.4`, on these stages."""
    parts = _BOUND.fullmatch(text)
    if parts is None:
        return Failure(BoundRefused(text, "METRIC=NUMBER or STAGE:METRIC=NUMBER is wanted"))
    stage, metric, number = parts.groups()
    if metric.lower() not in METRICS:
        return Failure(BoundRefused(text, f"the metrics are {', '.join(METRICS)}"))
    if stage is not None and stage not in stages:
        return Failure(BoundRefused(text, f"the stages of this run are {', '.join(stages)}"))
    try:
        least = float(number)
    except ValueError:
        least = -1.0
    if not 0 <= least <= 1:
        return Failure(BoundRefused(text, "a metric lies between 0 and 1"))
    return Success(Bound(metric.lower(), least, stage))


def shortfalls(evaluation: Evaluation, bounds: Sequence[Bound]) -> list[Shortfall]:
    """Where an evaluation does not reach bounds. Where no query counts, every mean is 0."""
    return [
        Shortfall(bound, stage.name, stage.means[bound.metric])
        for bound in bounds
        for stage in evaluation.stages
        if bound.stage in (None, stage.name) and stage.means[bound.metric] < bound.least
    ]
