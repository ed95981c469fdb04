"""Medians side by side, as ratios beside the budget of each. A ratio over its budget is marked."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median
from typing import TypeAlias

#: Values by measure, unit and who was measured.
Results: TypeAlias = dict[tuple[str, str, str], list[float]]

US, PEER = "groundkit", "0.2.1"


@dataclass(frozen=True)
class Row:
    """A measure with its budgets: as a ratio to the peer, as one to another yardstick, and as a figure."""

    measure: str
    unit: str
    peer: float | None = None
    other: str = ""
    to_other: float | None = None
    most: float | None = None


ROWS = (
    Row("ingest", "wall", 1 / 4, "by hand", 2.5),
    Row("ingest", "cpu", 1 / 4, "by hand", 2.5),
    Row("ingest", "memory", None, "by hand", None, 250),
    Row("index / corpus", "ratio", None, "by hand", None, 1.6),
    Row("unchanged", "wall", 1 / 4),
    Row("unchanged", "cpu", 1 / 4),
    Row("unchanged", "memory"),
    Row("change open", "wall", 1 / 200),
    Row("change open", "cpu", 1 / 200),
    Row("change open, whole folder", "wall"),
    Row("change open, whole folder", "cpu"),
    Row("change, process", "wall"),
    Row("change, process", "cpu"),
    Row("open", "wall", most=0.020),
    Row("open", "cpu", most=0.020),
    Row("cold search", "wall", 1 / 80, "libraries", 2),
    Row("cold search", "cpu", 1 / 80, "libraries", 2),
    Row("cold search", "memory", None, "libraries", None, 120),
    Row("gk --help", "cpu", None, "libraries"),
    Row("warm 1 p50", "cpu", None, "tantivy", 3),
    Row("warm 1 p95", "cpu", None, "tantivy"),
    Row("warm 3 p50", "cpu", None, "tantivy", 3),
    Row("warm 3 p95", "cpu", None, "tantivy"),
    Row("warm 8 p50", "wall", 1 / 100, "tantivy", 3),
    Row("warm 8 p50", "cpu", 1 / 100, "tantivy", 3),
    Row("warm 8 p95", "cpu", None, "tantivy"),
    Row("warm 8 verified p50", "cpu"),
    Row("verify", "wall", 1 / 4),
    Row("verify", "cpu", 1 / 4),
    Row("verify one by one", "cpu"),
)

_SHOWN: dict[str, Callable[[float], str]] = {
    "memory": lambda value: f"{value:.0f} MB",
    "ratio": lambda value: f"{value:.2f}",
    "pages/s": lambda value: f"{value:.0f}",
    "MB/s": lambda value: f"{value:.2f}",
    "requests/s": lambda value: f"{value:.0f}",
    "KB": lambda value: f"{value:.1f}",
    "passages": lambda value: f"{value:.1f}",
}
#: Units that a row has to say.
_NAMED = ("cpu", "memory", "pages/s", "MB/s", "requests/s", "KB", "passages")


def table(what: str, results: Results, rows: Iterable[Row] = ROWS, peer: str = PEER) -> str:
    """One line for each row that was measured, without columns that stay empty."""
    head = [what, US, peer, "ratio", "budget", "beside", "that", "ratio", "budget", "at most"]
    lines = [_cells(row, results, peer) for row in rows if (row.measure, row.unit, US) in results]
    used = [at for at, column in enumerate(zip(*lines, strict=True)) if any(column)]
    shown = [["---" if at == 0 else "---:" for at in used], *([line[at] for at in used] for line in lines)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [[head[at] for at in used], *shown])


def _cells(row: Row, results: Results, peer: str) -> list[str]:
    ours = _middle(row, US, results)
    assert ours is not None
    over = row.most is not None and ours > row.most
    other = row.other if _middle(row, row.other, results) is not None else ""
    return [
        f"{row.measure}, {row.unit}" if row.unit in _NAMED else row.measure,
        _shown(row, ours, results, US) + (" **over**" if over else ""),
        *_beside(row, ours, peer, row.peer, results),
        other,
        *_beside(row, ours, other, row.to_other, results),
        "" if row.most is None else _figure(row, row.most),
    ]


def _beside(row: Row, ours: float, who: str, budget: float | None, results: Results) -> tuple[str, str, str]:
    theirs = _middle(row, who, results)
    return _shown(row, theirs, results, who), *_ratio(ours, theirs, budget)


def _middle(row: Row, who: str, results: Results) -> float | None:
    values = results.get((row.measure, row.unit, who))
    return median(values) if values else None


def _shown(row: Row, value: float | None, results: Results, who: str) -> str:
    """With the number of runs, where it is small."""
    if value is None:
        return ""
    runs = len(results[row.measure, row.unit, who])
    few = f" ({runs}×)" if runs < 5 and row.unit in ("wall", "cpu", "memory") and "warm" not in row.measure else ""
    return _figure(row, value) + few


def _figure(row: Row, value: float) -> str:
    if row.unit in _SHOWN:
        return _SHOWN[row.unit](value)
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.{1 if value >= 0.01 else 3}f} ms"


def _ratio(ours: float, theirs: float | None, budget: float | None) -> tuple[str, str]:
    if theirs is None:
        return "", ""
    ratio = ours / theirs
    over = " **over**" if budget is not None and ratio > budget else ""
    return _as_ratio(ratio) + over, "" if budget is None else _as_ratio(budget)


def _as_ratio(ratio: float) -> str:
    return f"1/{1 / ratio:.0f}" if ratio < 0.1 else f"1/{1 / ratio:.1f}" if ratio < 0.9 else f"{ratio:.2f}"
