"""groundkit beside groundkit 0.2.1 and beside tantivy and SQLite put together by hand: one table, one run.

python bench/run.py --sizes 1000,5000,20000 --repeat 5 --only ingest,cold
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from process import CACHE, HERE, Cost, Runner, size_of
from record import write
from table import Results, table

GROUPS = ("ingest", "unchanged", "open", "cold", "warm", "change", "verify")
PEER_VERSION = "groundkit==0.2.1"
LIBRARIES = "import apsw, tantivy, attrs, click, returns.result"
QUERY = "lous rous mespea"
#: Of this many files on, the peer's runs take so long that one or two must do.
PEER_PATIENCE = 10_000
#: Of the file whose citations are verified, in bytes.
CITED_BYTES = 100_000


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,5000", help="files in each corpus, separated by commas")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each measure")
    parser.add_argument("--queries", type=int, default=200, help="warm searches for each number of words")
    parser.add_argument("--only", default=",".join(GROUPS), help=f"groups of measures: {','.join(GROUPS)}")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where corpora, indexes and the peer live")
    parser.add_argument("--peer-python", help="the Python of an environment with groundkit 0.2.1; else one is made")
    parser.add_argument("--no-peer", action="store_true", help="leave groundkit 0.2.1 out")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="the core everything runs on")
    parser.add_argument("--label", default="run", help="the beginning of the result's file name")
    return parser.parse_args()


def peer_python(cache: Path) -> str:
    """An environment of its own for the peer, made on first use."""
    environment = cache / "peer"
    python = environment / "bin" / "python"
    if not python.exists():
        subprocess.run(["uv", "venv", "-q", "--python", sys.executable, str(environment)], check=True)
        subprocess.run(["uv", "pip", "install", "-q", "--python", str(python), PEER_VERSION], check=True)
    return str(python)


class Bench:
    """One size of corpus. Ours, the peer and the one by hand take turns, so that a busy machine disturbs all alike."""

    def __init__(self, options: argparse.Namespace, peer: str | None, files: int) -> None:
        self.options, self.peer, self.files = options, peer, files
        self.runner = Runner(options.cache)
        self.corpus = options.cache / f"corpus-{files}"
        self.work = options.cache / f"work-{os.getpid()}"
        self.gk = [sys.executable, "-m", "groundkit"]
        self.grk = [str(Path(peer).with_name("grk"))] if peer else []
        self.peer_repeat = options.repeat if files < PEER_PATIENCE else 1
        self.results: Results = defaultdict(list)

    def run(self, groups: list[str]) -> Results:
        make = f"import corpus, pathlib; corpus.make(pathlib.Path({str(self.corpus)!r}), {self.files})"
        subprocess.run([sys.executable, "-c", make], cwd=HERE, check=True)
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        try:
            self.warmed()
            for group in GROUPS:
                if group in groups or group == "ingest":
                    print(f"{self.files} files: {group}", file=sys.stderr, flush=True)
                    getattr(self, group)(self.options.repeat if group in groups else 1)
        finally:
            shutil.rmtree(self.work, ignore_errors=True)
        return self.results

    def note(self, measure: str, who: str, cost: Cost) -> None:
        for unit, value in (("wall", cost.wall), ("cpu", cost.cpu), ("memory", cost.memory)):
            self.results[measure, unit, who].append(value)

    def told(self, who: str, *command: str | int | Path) -> None:
        python, script = {
            "groundkit": (sys.executable, "ours.py"),
            "0.2.1": (self.peer or "", "peer.py"),
            "tantivy": (sys.executable, "by_hand.py"),
        }[who]
        for name, units in self.runner.told(python, script, command, ours=who != "0.2.1").items():
            for unit, values in units.items():
                self.results[name, unit, who].extend(values)

    def turns(self, repeat: int) -> Iterator[tuple[int, bool]]:
        """Numbers of runs, and whether the peer takes part in this one."""
        for number in range(repeat):
            yield number, self.peer is not None and number < min(repeat, self.peer_repeat)

    def warmed(self) -> None:
        """Once without counting, so that bytecode is there and libraries are in the page cache."""
        self.runner.cost([*self.gk, "search", "--index-dir", str(self.work), "x"], codes=(0, 1, 2))
        self.runner.cost([*self.gk, "ingest", "--index-dir", str(self.work / "warm"), str(HERE / "README.md")])
        if self.peer:
            self.runner.cost(
                [*self.grk, "ingest", "--index-dir", str(self.work / "peer"), str(HERE / "README.md")], False
            )
            self.runner.cost([*self.grk, "search", "--index-dir", str(self.work / "peer"), "x"], False)

    # -- groups of measures

    def ingest(self, repeat: int) -> None:
        for _, with_peer in self.turns(repeat):
            for name in ("gk", "hand") + ("grk",) * with_peer:
                shutil.rmtree(self.work / name, ignore_errors=True)
            corpus = str(self.corpus)
            self.note(
                "ingest", "groundkit", self.runner.cost([*self.gk, "ingest", "--index-dir", self.at("gk"), corpus])
            )
            by_hand = [sys.executable, str(HERE / "by_hand.py"), "ingest", corpus, self.at("hand")]
            self.note("ingest", "by hand", self.runner.cost(by_hand))
            if with_peer:
                self.note(
                    "ingest",
                    "0.2.1",
                    self.runner.cost([*self.grk, "ingest", "--index-dir", self.at("grk"), corpus], False),
                )
        whole = size_of(self.corpus)
        for who, name in (("groundkit", "gk"), ("by hand", "hand"), ("0.2.1", "grk")):
            if who != "0.2.1" or self.peer:
                self.results["index / corpus", "ratio", who] = [size_of(self.work / name) / whole]

    def unchanged(self, repeat: int) -> None:
        for _, with_peer in self.turns(repeat):
            again = ["ingest", "--index-dir", self.at("gk"), str(self.corpus)]
            self.note("unchanged", "groundkit", self.runner.cost([*self.gk, *again]))
            if with_peer:
                again = ["ingest", "--index-dir", self.at("grk"), str(self.corpus)]
                self.note("unchanged", "0.2.1", self.runner.cost([*self.grk, *again], False))

    def open(self, repeat: int) -> None:
        self.told("groundkit", "opening", self.at("gk"), repeat + 1)
        if self.peer:
            self.told("0.2.1", "opening", self.at("grk"), min(self.peer_repeat, 3))

    def cold(self, repeat: int) -> None:
        for _, with_peer in self.turns(2 * repeat):
            search = ["search", "--index-dir", self.at("gk"), QUERY]
            self.note("cold search", "groundkit", self.runner.cost([*self.gk, *search]))
            self.note("cold search", "libraries", self.runner.cost([sys.executable, "-c", LIBRARIES]))
            self.note("gk --help", "groundkit", self.runner.cost([*self.gk, "--help"]))
            self.results["gk --help", "cpu", "libraries"] = self.results["cold search", "cpu", "libraries"]
            if with_peer and len(self.results["cold search", "wall", "0.2.1"]) < min(repeat, 3):
                search = ["search", "--index-dir", self.at("grk"), QUERY]
                self.note("cold search", "0.2.1", self.runner.cost([*self.grk, *search], False))

    def warm(self, repeat: int) -> None:
        for number in range(3):
            self.told("groundkit", "warm", self.at("gk"), self.options.queries)
            self.told("tantivy", "warm", self.at("hand"), self.options.queries)
            if self.peer and number == 0:
                self.told("0.2.1", "warm", self.at("grk"), self.options.queries if self.files < 2000 else 20)

    def change(self, repeat: int) -> None:
        source = "part000/chapter00/page000007.md"
        self.told("groundkit", "changing", self.at("gk"), self.corpus, source, repeat)
        path = self.corpus / source
        before = path.read_bytes()
        for number, with_peer in self.turns(repeat):
            path.write_bytes(before + f"\n\nword{number}\n".encode())
            one = ["ingest", "--index-dir", self.at("gk"), str(path)]
            self.note("change, process", "groundkit", self.runner.cost([*self.gk, *one]))
            if with_peer and number < 3:
                one = ["ingest", "--index-dir", self.at("grk"), "--base-dir", str(self.corpus), str(path)]
                self.note("change, process", "0.2.1", self.runner.cost([*self.grk, *one], False))
        path.write_bytes(before)
        if self.peer:
            self.told("0.2.1", "changing", self.at("grk"), self.corpus, source, min(self.peer_repeat, 2))

    def verify(self, repeat: int) -> None:
        base = self.work / "cited"
        base.mkdir()
        parts = (path.read_text() for path in sorted(self.corpus.rglob("*.md")))
        text = ""
        while len(text) < CITED_BYTES:
            text += next(parts)
        (base / "long.md").write_text(text)
        self.told("groundkit", "verifying", self.at("cited-index"), base, "long.md", repeat)
        if self.peer:
            self.told("0.2.1", "verifying", base, "long.md", repeat)

    def at(self, name: str) -> str:
        return str(self.work / name)


def main() -> None:
    options = arguments()
    os.sched_setaffinity(0, {options.core})
    options.cache = options.cache.resolve()
    options.cache.mkdir(parents=True, exist_ok=True)
    peer = None if options.no_peer else os.path.abspath(options.peer_python or peer_python(options.cache))
    results: dict[int, Results] = {}
    for files in map(int, options.sizes.split(",")):
        results[files] = Bench(options, peer, files).run(options.only.split(","))
        told = table(f"{files} files", results[files])
        print(f"\n{told}\n", flush=True)
    write(options.label, options.repeat, {f"{files} files": each for files, each in results.items()})


if __name__ == "__main__":
    main()
