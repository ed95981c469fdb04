"""An evaluation as data for JSON. What was measured in seconds stands apart, at the end: all else is the same at each run."""

from collections.abc import Mapping, Sequence
from typing import Any

from groundkit.core.evaluation import Evaluation, Latency, Outcome, QueryRow, Shortfall, StageResult
from groundkit.core.metrics import DEPTH
from groundkit.core.significance import PERMUTATIONS, SEED, Comparison


def evaluation_data(evaluation: Evaluation, short: Sequence[Shortfall] = ()) -> dict[str, Any]:
    """Dicts, lists, strings and numbers, keys in a fixed order."""
    return {
        "judged": evaluation.judged,
        "documents": evaluation.documents,
        "failed": evaluation.failed,
        "missing": list(evaluation.missing),
        "depth": DEPTH,
        "permutations": PERMUTATIONS,
        "seed": SEED,
        "counted": evaluation.counted,
        "unanswerable": evaluation.unanswerable,
        "unjudged": evaluation.unjudged,
        "stages": [_stage(each) for each in evaluation.stages],
        "shortfalls": [{"bound": str(each.bound), "stage": each.stage, "reached": each.reached} for each in short],
        "queries": [_row(row) for row in evaluation.rows],
        "latency_ms": [_latency(each) for each in evaluation.latencies],
    }


def _stage(stage: StageResult) -> dict[str, Any]:
    return {
        "name": stage.name,
        "means": dict(stage.means),
        "beside_bm25": {metric: _comparison(each) for metric, each in stage.beside.items()},
        "rightly_empty": stage.rightly_empty,
        "wrongly_empty": stage.wrongly_empty,
        "refused": stage.refused,
    }


def _comparison(found: Comparison) -> dict[str, Any]:
    return {
        "difference": found.difference,
        "p": found.p,
        "exact": found.exact,
        "wins": found.wins,
        "ties": found.ties,
        "losses": found.losses,
    }


def _row(row: QueryRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "query": row.text,
        "answerable": row.answerable,
        "relevant": row.relevant,
        "stages": {stage: _outcome(each) for stage, each in row.outcomes.items()},
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    scores: Mapping[str, float] | None = outcome.scores
    said = {"found": outcome.found, "scores": None if scores is None else dict(scores)}
    return said | ({"refused": outcome.refused} if outcome.refused else {})


def _latency(latency: Latency) -> dict[str, Any]:
    return {
        "stage": latency.stage,
        "part": latency.part,
        "count": latency.count,
        "p50": latency.p50,
        "p95": latency.p95,
        "p99": latency.p99,
    }
