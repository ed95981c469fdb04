"""This tree beside another one of ours, say that of an earlier commit: whole processes on text files, taking turns.

python bench/against.py DIRECTORY --sizes 1000,5000 --repeat 5

DIRECTORY goes on the path of the other one and holds its package `groundkit`, in whatever way.
"""

import argparse
import os
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import corpus
from process import CACHE, HERE, Runner
from record import write
from table import US, Results, Row, table

BEFORE = "before"
QUERY = "lous rous mespea"
#: How much more than before is worth a look.
MORE = 1.05
MEASURES = ("gk --help", "cold search", "unchanged", "change, process", "ingest")
ROWS = [Row(name, unit, MORE) for name in MEASURES for unit in ("wall", "cpu", "memory")]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="the directory that holds the other package groundkit")
    parser.add_argument("--sizes", default="1000,5000", help="files in each corpus, separated by commas")
    parser.add_argument("--repeat", type=int, default=5, help="ingests of each; of everything else three times as many")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where corpora and indexes live")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="the core everything runs on")
    parser.add_argument("--label", default="against", help="the beginning of the result's file name")
    return parser.parse_args()


class Bench:
    """One size of corpus, with a collection for each of the two."""

    def __init__(self, options: argparse.Namespace, files: int) -> None:
        self.repeat = options.repeat
        self.runners = {US: Runner(options.cache), BEFORE: Runner(options.cache, str(options.before.resolve()))}
        self.corpus = options.cache / f"corpus-{files}"
        self.work = options.cache / f"work-{os.getpid()}"
        self.results: Results = defaultdict(list)
        corpus.make(self.corpus, files)

    def run(self) -> Results:
        self.work.mkdir(parents=True)
        try:
            self.compile()
            for _ in self.turns(self.repeat):
                shutil.rmtree(self.work, ignore_errors=True)
                self.both("ingest", str(self.corpus))
            for _ in self.turns(3 * self.repeat):
                self.both("unchanged", str(self.corpus))
                self.cold()
            self.change()
        finally:
            shutil.rmtree(self.work, ignore_errors=True)
        return self.results

    def turns(self, count: int) -> Iterator[int]:
        """Each goes first in every other turn."""
        for number in range(count):
            yield number
            self.runners = dict(reversed(self.runners.items()))

    def compile(self) -> None:
        for _ in range(2):
            self.cold(codes=(0, 1, 2))
            self.both("ingest", str(HERE / "README.md"))
        self.results.clear()

    def cold(self, codes: tuple[int, ...] = (0,)) -> None:
        for who in self.runners:
            self.note("cold search", who, ["search", "--index-dir", self.index(who), QUERY], codes)
            self.note("gk --help", who, ["--help"])

    def both(self, measure: str, path: str) -> None:
        for who in self.runners:
            self.note(measure, who, ["ingest", "--index-dir", self.index(who), path])

    def change(self) -> None:
        path = self.corpus / "part000" / "chapter00" / "page000007.md"
        before = path.read_bytes()
        for number in self.turns(3 * self.repeat):
            path.write_bytes(before + f"\n\nword{number}\n".encode())
            self.both("change, process", str(path))
        path.write_bytes(before)

    def index(self, who: str) -> str:
        return str(self.work / who)

    def note(self, measure: str, who: str, command: list[str], codes: tuple[int, ...] = (0,)) -> None:
        cost = self.runners[who].cost([sys.executable, "-m", "groundkit", *command], codes=codes)
        for unit, value in (("wall", cost.wall), ("cpu", cost.cpu), ("memory", cost.memory)):
            self.results[measure, unit, who].append(value)


def main() -> None:
    options = arguments()
    os.sched_setaffinity(0, {options.core})
    options.cache = options.cache.resolve()
    results: dict[str, Results] = {}
    for files in map(int, options.sizes.split(",")):
        found = results[f"{files} files"] = Bench(options, files).run()
        told = table(f"{files} files", found, ROWS, peer=BEFORE)
        print(f"\n{told}\n", flush=True)
    write(options.label, options.repeat, results)


if __name__ == "__main__":
    main()
