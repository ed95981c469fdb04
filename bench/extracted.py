"""Ingesting and verifying PDF and HTML, beside pypdf and BeautifulSoup called directly: tables of one run.

python bench/extracted.py --repeat 5 --only made,real,html,citations
"""

import argparse
import logging
import os
import shutil
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

from directly import files
from documents import PAGES, html_pages, make_pdfs, real_pdfs
from process import CACHE, HERE, Cost, Runner
from record import write
from table import Results, Row, table

GROUPS = ("made", "real", "html", "citations")
US = "groundkit"
#: How much more processor time an ingest may take than the library called directly, and how much longer.
MORE = 1.1
#: What a thousand citations may take beyond one reading of their file, in seconds.
BEYOND = 0.050
PARTS = ("extractor", "extracted by a worker", "through the pipe", "cutting", "writing")


def arguments() -> argparse.Namespace:
    shared = Path(os.environ.get("GK_SHARED") or HERE.parents[1] / "shared")
    cores = len(os.sched_getaffinity(0))
    jobs = ",".join(str(each) for each in sorted({1, 2, cores}))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5, help="runs of each measure")
    parser.add_argument("--only", default=",".join(GROUPS), help=f"groups of measures: {','.join(GROUPS)}")
    parser.add_argument("--pdfs", type=int, default=8, help=f"PDF files of {PAGES} pages to make")
    parser.add_argument("--copies", type=int, default=3, help="how often the HTML pages are ingested")
    parser.add_argument("--jobs", default=jobs, help="extractions at a time, each number with as many cores")
    parser.add_argument("--shared", type=Path, default=shared, help="where data/pdf and data/html lie")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where corpora and indexes live")
    parser.add_argument("--label", default="extracted", help="the beginning of the result's file name")
    return parser.parse_args()


class Bench:
    """Ours and the library called directly take turns. All run on one core, but for more jobs than one."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.runner = Runner(options.cache)
        self.cores = sorted(os.sched_getaffinity(0))
        self.work = options.cache / f"work-{os.getpid()}"
        self.jobs = [int(each) for each in options.jobs.split(",")]
        self.gk = [sys.executable, "-m", "groundkit"]

    # -- corpora

    def made(self) -> Results | str:
        return self.beside("pypdf", make_pdfs(self.options.cache / "made-pdf", self.options.pdfs))

    def real(self) -> Results | str:
        found = real_pdfs(self.options.shared / "data" / "pdf", self.options.cache / "real-pdf", self.runner)
        return found if isinstance(found, str) else self.beside("pypdf", found)

    def html(self) -> Results | str:
        pages = self.options.shared / "data" / "html" / "python-docs"
        found = html_pages(pages, self.options.cache / "html", self.options.copies)
        return found if isinstance(found, str) else self.beside("beautifulsoup", found)

    # -- measures

    def beside(self, who: str, corpus: Path) -> Results:
        results: Results = defaultdict(list)
        for number in range(self.options.repeat + 1):
            noted: Results = results if number else defaultdict(list)  # the first time compiles
            self.on(1)
            directly = [sys.executable, str(HERE / "directly.py"), who, str(corpus), "1"]
            self.cost(noted, "gk ingest", who, self.runner.cost(directly))
            self.told(noted, "", who, "directly.py", who, corpus, 2)
            self.told(noted, "", US, "ours_extracted.py", "parts", who, corpus, self.at("parts"))
            for jobs in self.jobs:
                self.on(jobs)
                shutil.rmtree(self.work / "gk", ignore_errors=True)
                ingest = ["ingest", "--index-dir", self.at("gk"), "--jobs", str(jobs), str(corpus)]
                self.cost(noted, f"gk ingest, jobs {jobs}", US, self.runner.cost([*self.gk, *ingest]))
                self.told(noted, f", jobs {jobs}", US, "ours_extracted.py", "ingesting", corpus, self.at("in"), jobs, 1)
        self.set_beside(results, who)
        self.rates(results, who, files(who, str(corpus)))
        return results

    def citations(self) -> Results:
        """A thousand of one file, in processes that know nothing of it yet."""
        results: Results = defaultdict(list)
        corpus = make_pdfs(self.options.cache / "cited-pdf", 1)
        self.on(1)
        for name, cache in (("plain", "0"), ("kept", "100000000")):
            ingest = ["ingest", "--index-dir", self.at(name), "--cache-bytes", cache, str(corpus)]
            self.runner.cost([*self.gk, *ingest])
        verify = [*self.gk, "verify", "--all", "--index-dir"]
        for number in range(self.options.repeat + 1):
            noted: Results = results if number else defaultdict(list)
            directly = [sys.executable, str(HERE / "directly.py"), "pypdf", str(corpus), "1"]
            self.cost(noted, "gk verify --all", "pypdf", self.runner.cost(directly))
            self.cost(noted, "gk verify --all", US, self.runner.cost([*verify, self.at("plain")]))
            self.cost(noted, "gk verify --all, kept on disk", US, self.runner.cost([*verify, self.at("kept")]))
            self.told(noted, "", US, "ours_extracted.py", "citing", self.at("plain"), corpus)
            self.told(noted, "", US, "ours_extracted.py", "citing_kept", self.at("kept"), corpus)
        for unit in ("wall", "cpu"):
            once = results.pop(("pypdf once", unit, US))
            for name in ("verify 1,000", "verify 1,000, once more", "verify 1,000, kept on disk"):
                results[name, unit, "pypdf"] = once
            results["gk verify --all, kept on disk", unit, "pypdf"] = results["gk verify --all", unit, "pypdf"]
        return results

    def set_beside(self, results: Results, who: str) -> None:
        """What each measure of ours stands beside: the same files by the library, or the same ingest by one worker."""
        for measure, unit, whose in list(results):
            if whose == US:
                name, _, jobs = measure.partition(", ")
                alone = "in process" if name in PARTS else name
                for other, those in ((who, (alone, unit, who)), ("jobs 1", (f"{name}, jobs 1", unit, US))):
                    if those in results and (jobs or other == who):
                        results[measure, unit, other] = results[those]

    def rates(self, results: Results, who: str, paths: list[Path]) -> None:
        """Of the middle run: pages, or bytes, for each second."""
        unit, amount = ("MB/s", sum(each.stat().st_size for each in paths) / 1e6)
        if who == "pypdf":
            unit, amount = "pages/s", float(sum(map(_pages, paths)))
        for measure, what, whose in list(results):
            if what == "wall" and ", jobs " in measure and whose != "jobs 1":
                results[measure, unit, whose] = [amount / median(results[measure, what, whose])]

    def on(self, cores: int) -> None:
        os.sched_setaffinity(0, self.cores[-cores:])

    def at(self, name: str) -> str:
        return str(self.work / name)

    def cost(self, results: Results, measure: str, who: str, cost: Cost) -> None:
        for unit, value in (("wall", cost.wall), ("cpu", cost.cpu), ("memory", cost.memory)):
            results[measure, unit, who].append(value)

    def told(self, results: Results, suffix: str, who: str, script: str, *command: str | int | Path) -> None:
        for name, units in self.runner.told(sys.executable, script, command).items():
            for unit, values in units.items():
                results[name + suffix, unit, who].extend(values)


def _pages(path: Path) -> int:
    from pypdf import PdfReader

    logging.disable(logging.CRITICAL)
    return len(PdfReader(path).pages)


def rows(who: str, jobs: list[int]) -> list[Row]:
    """One job has to be as good as the library alone; more of them stand beside one."""
    found = []
    for name in ("gk ingest", "in process"):
        for many in jobs:
            measure = f"{name}, jobs {many}"
            found += [Row(measure, rate, other=who) for rate in ("pages/s", "MB/s")]
            alone = many == 1
            found.append(Row(measure, "wall", other=who if alone else "jobs 1", to_other=MORE if alone else None))
            found.append(Row(measure, "cpu", other=who, to_other=MORE))
        found += [Row(f"{name}, jobs {many}", "memory", other=who) for many in jobs]
    return [
        *found,
        Row("worker comes up", "wall"),
        Row("first of a worker", "wall"),
        *(Row(name, "cpu", other=who) for name in PARTS),
    ]


CITED = (
    Row("verify 1,000", "wall", other="pypdf"),
    Row("verify 1,000", "cpu", other="pypdf"),
    Row("verify 1,000, beyond one reading", "wall", most=BEYOND),
    Row("verify 1,000, once more", "wall", other="pypdf", most=BEYOND),
    Row("verify 1,000, kept on disk", "wall", other="pypdf", most=BEYOND),
    Row("gk verify --all", "wall", other="pypdf"),
    Row("gk verify --all, kept on disk", "wall", other="pypdf"),
)


def main() -> None:
    options = arguments()
    options.cache = options.cache.resolve()
    bench = Bench(options)
    bench.work.mkdir(parents=True)
    results: dict[str, Results] = {}
    try:
        for group in (each for each in GROUPS if each in options.only.split(",")):
            print(group, file=sys.stderr, flush=True)
            found = getattr(bench, group)()
            if isinstance(found, str):
                print(f"{group} is left out: {found}", file=sys.stderr)
                continue
            who = "beautifulsoup" if group == "html" else "pypdf"
            told = table(group, found, CITED if group == "citations" else rows(who, bench.jobs), peer="")
            print(f"\n{told}\n", flush=True)
            results[group] = found
    finally:
        shutil.rmtree(bench.work, ignore_errors=True)
    write(options.label, options.repeat, results)


if __name__ == "__main__":
    main()
