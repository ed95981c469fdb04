"""How long the exact search of 100,000 vectors of 256 dimensions takes, and what comes before it: a table.

`python bench/vectors.py [rows] [dimensions]`. Vectors are drawn, the file is written to a temporary directory. *Cold* is
what a new process does with a file whose pages the system still has: map it, check it, search once.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from groundkit.adapters.vectors import VectorFiles
from groundkit.core.embedding import GRID, EmbeddingIdentity
from groundkit.core.result import Success
from groundkit.core.retrieval_ports import VectorKey, VectorRow, VectorSearcher
from groundkit.core.storage import Mark

TIMES = 50


def drawn(rows: int, dimensions: int) -> list[bytes]:
    vectors = np.random.default_rng(6).standard_normal((rows, dimensions))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return [each.tobytes() for each in np.rint(vectors * GRID).astype("<i2")]


def row(label: str, seconds: list[float]) -> None:
    print(f"| {label} | {statistics.median(seconds) * 1000:.1f} | {max(seconds) * 1000:.1f} |", flush=True)


def timed(work: Callable[[], object], times: int = TIMES) -> list[float]:
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return taken


def main(rows: int, dimensions: int) -> None:
    vectors = drawn(rows + 1, dimensions)
    query = vectors.pop()
    stored = [VectorRow(at, f"{at:032x}", vector) for at, vector in enumerate(vectors, 1)]
    key = VectorKey(Mark(1, "bench"), EmbeddingIdentity("bench", "", dimensions))
    few, many = frozenset(range(1, rows, 20)), frozenset(range(1, rows, 2))
    print(f"{rows:,} × {dimensions}\n\n| ms | median | worst |\n| --- | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.vectors"

        def searcher() -> VectorSearcher:
            return VectorFiles(path).searcher(key, lambda: Success(stored)).unwrap()

        row("made and written", timed(searcher, 1))
        row("cold: opened and searched", timed(lambda: searcher().nearest(query, 100), 10))
        warm = searcher()
        row("the nearest 10", timed(lambda: warm.nearest(query, 10)))
        row("the nearest 100", timed(lambda: warm.nearest(query, 100)))
        row("the nearest 100 of every 20th", timed(lambda: warm.nearest(query, 100, few)))
        row("the nearest 100 of every other", timed(lambda: warm.nearest(query, 100, many)))


if __name__ == "__main__":
    main(*(int(each) for each in (*sys.argv[1:], 100_000, 256)[:2]))
