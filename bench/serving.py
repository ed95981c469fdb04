"""Answering over HTTP and starting to, beside groundkit 0.2.1 and a web framework that does nothing: tables of one run.

python bench/serving.py --files 1000 --repeat 5 --clients 1,8 --seconds 2
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import corpus
from asking import Burst, Connection, Plan, Request, encoded
from process import CACHE, HERE, Runner
from record import write
from run import peer_python
from servers import Server, first_answer, free_port, on, spoken, started
from table import PEER, US, Results, Row, table

GROUPS = ("start", "load")
BARE = "framework"
#: So that no answer of ours is cut: ten passages are asked for, and ten come.
MAX_CHARS = 100_000
LIMIT = 10


def arguments() -> argparse.Namespace:
    cores = sorted(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1000, help="files in the corpus")
    parser.add_argument("--repeat", type=int, default=5, help="rounds, in each of which all take their turn")
    parser.add_argument("--clients", default="1,8", help="how many ask at once, separated by commas")
    parser.add_argument("--seconds", type=float, default=2, help="how long they ask in each turn")
    parser.add_argument("--least", type=int, default=100, help="answers they wait for, however long it takes")
    parser.add_argument("--words", type=int, default=3, help="words of running text in a query")
    parser.add_argument("--queries", type=int, default=500, help="different queries")
    parser.add_argument("--only", default=",".join(GROUPS), help=f"groups of measures: {','.join(GROUPS)}")
    parser.add_argument("--chunk-size", type=int, help="ours, in code points, instead of its default")
    parser.add_argument("--server-cores", default=str(cores[-1]), help="cores of every server, separated by commas")
    parser.add_argument("--client-core", type=int, default=cores[0], help="the core of the clients and of this")
    parser.add_argument("--peer-python", help="the Python of an environment with groundkit 0.2.1; else one is made")
    parser.add_argument("--no-peer", action="store_true", help="leave groundkit 0.2.1 out")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where corpora, indexes and the peer live")
    parser.add_argument("--label", default="serving", help="the beginning of the result's file name")
    return parser.parse_args()


@dataclass(frozen=True)
class Ours:
    """This tree."""

    index: Path
    who = US

    def serve(self, port: int) -> list[str]:
        return [sys.executable, "-m", "groundkit", "serve", "--index-dir", str(self.index), "--port", str(port)]

    def speak(self) -> list[str]:
        return [sys.executable, "-m", "groundkit", "mcp", "--index-dir", str(self.index)]

    def search(self, query: str, verify: bool = False) -> dict[str, object]:
        return {"query": query, "limit": LIMIT, "verify": verify, "max_chars": MAX_CHARS}

    def ids(self, answer: Any) -> list[str]:
        assert not answer["truncated"]
        return [each["citation"]["chunk_id"] for each in answer["results"]]

    def asked(self, queries: list[str], ids: list[str]) -> dict[str, list[Request]]:
        return {
            "search": [("POST", "/v1/search", self.search(each)) for each in queries],
            "search verified": [("POST", "/v1/search", self.search(each, True)) for each in queries],
            "fetch_chunk": [("POST", "/v1/fetch_chunk", {"chunk_id": each, "context": 0}) for each in ids],
            "fetch_chunk in context": [("POST", "/v1/fetch_chunk", {"chunk_id": each}) for each in ids],
        }


@dataclass(frozen=True)
class Peer:
    """groundkit 0.2.1, which has its passages checked by `fetch_chunk` only."""

    python: str
    index: Path
    base: Path
    who = PEER

    def _grk(self, command: str) -> list[str]:
        grk = str(Path(self.python).with_name("grk"))
        return [grk, command, "--index-dir", str(self.index), "--base-dir", str(self.base)]

    def serve(self, port: int) -> list[str]:
        return [*self._grk("serve"), "--port", str(port)]

    def speak(self) -> list[str]:
        return self._grk("serve-mcp")

    def search(self, query: str) -> dict[str, object]:
        return {"query": query, "top_k": LIMIT}

    def ids(self, answer: Any) -> list[str]:
        return [each["chunk_id"] for each in answer["results"]]

    def asked(self, queries: list[str], ids: list[str]) -> dict[str, list[Request]]:
        return {
            "search": [("POST", "/v1/search", self.search(each)) for each in queries],
            "fetch_chunk": [("GET", f"/v1/collections/default/chunks/{each}", None) for each in ids],
        }


@dataclass(frozen=True)
class Up:
    """A server that runs, and what it is asked, by measure."""

    who: str
    server: Server
    port: int
    asked: dict[str, list[Request]]


class Bench:
    """All servers run on the same cores, and only one at a time has something to do; the clients have a core of their own."""

    def __init__(self, options: argparse.Namespace, peer: str | None) -> None:
        self.options, self.runner = options, Runner(options.cache)
        self.corpus = options.cache / f"corpus-{options.files}"
        self.work = options.cache / f"work-{os.getpid()}"
        self.cores = {int(each) for each in options.server_cores.split(",")}
        self.clients = [int(each) for each in options.clients.split(",")]
        self.queries = list(corpus.queries(options.words, options.queries))
        self.ours = Ours(self.work / "gk")
        self.peer = Peer(peer, self.work / "grk", self.corpus) if peer else None
        self.both: list[Ours | Peer] = [self.ours, *([self.peer] if self.peer else [])]
        self.results: Results = defaultdict(list)

    def run(self, groups: list[str]) -> Results:
        corpus.make(self.corpus, self.options.files)
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        try:
            self.ingest()
            for group in groups:
                getattr(self, group)()
        finally:
            shutil.rmtree(self.work, ignore_errors=True)
        return self.results

    def ingest(self) -> None:
        size = ["--chunk-size", str(self.options.chunk_size)] if self.options.chunk_size else []
        ingest = ["ingest", "--index-dir", str(self.ours.index), *size, str(self.corpus)]
        self.runner.cost([sys.executable, "-m", "groundkit", *ingest])
        if self.peer:
            grk = str(Path(self.peer.python).with_name("grk"))
            self.runner.cost([grk, "ingest", "--index-dir", str(self.peer.index), str(self.corpus)], False)

    # -- from start to answer

    def start(self) -> None:
        for number in range(self.options.repeat + 1):
            noted: Results = self.results if number else defaultdict(list)  # the first time compiles
            for each in self.both:
                self.heard(noted, each)
                self.spoken(noted, each)

    def heard(self, noted: Results, each: Ours | Peer) -> None:
        port = free_port()
        with self.started(each.serve(port), each.who) as server:
            asked: Request = ("POST", "/v1/search", each.search(self.queries[0]))
            spent, _ = first_answer(server, port, asked)
            _note(noted, "start to first answer", each.who, spent.wall, spent.cpu)

    def spoken(self, noted: Results, each: Ours | Peer) -> None:
        with self.started(each.speak(), each.who, speaks=True) as server:
            greeted, answered = spoken(server, "search", each.search(self.queries[0]))
            _note(noted, "MCP: start to handshake", each.who, greeted.wall, greeted.cpu)
            _note(noted, "MCP: start to first answer", each.who, answered.wall, answered.cpu)

    # -- under load

    def load(self) -> None:
        with ExitStack() as stack:
            up = [self.up(stack, each) for each in self.both]
            up.append(self.bare(stack, up[0]))
            latencies: dict[tuple[str, str], list[float]] = defaultdict(list)
            for number in range(self.options.repeat):
                print(f"round {number + 1}", file=sys.stderr, flush=True)
                for measure in up[0].asked:
                    for clients in self.clients:
                        for each in _turned(up, number):
                            if measure in each.asked:
                                name = _name(measure, clients)
                                latencies[name, each.who] += self.burst(each, measure, clients, number)
            for (name, who), many in latencies.items():
                self.results[f"{name} p99", "latency", who] = [_quantile(many, 0.99)]
            for each in up:
                self.results["server", "memory", each.who] = [each.server.memory]

    def up(self, stack: ExitStack, each: Ours | Peer) -> Up:
        """Every query once, not counted: whatever is read and built for the first time is there then, and chunks are known."""
        port = free_port()
        server = stack.enter_context(self.started(each.serve(port), each.who))
        first_answer(server, port, ("POST", "/v1/search", each.search(self.queries[0])))
        connection = Connection(port)
        found: list[list[str]] = []
        for query in self.queries:
            request: Request = ("POST", "/v1/search", each.search(query))
            found.append(each.ids(json.loads(connection.ask(encoded(port, request)))))
        connection.close()
        self.results["search", "passages", each.who] = [sum(map(len, found)) / len(found)]
        ids = random.Random(corpus.SEED).sample(sorted({id for few in found for id in few}), self.options.queries)
        return Up(each.who, server, port, each.asked(self.queries, ids))

    def bare(self, stack: ExitStack, ours: Up) -> Up:
        """Answers every search with one of our answers."""
        asked = ours.asked["search"]
        answer = self.work / "answer.json"
        connection = Connection(ours.port)
        answer.write_bytes(connection.ask(encoded(ours.port, asked[0])))
        connection.close()
        port = free_port()
        command = [sys.executable, str(HERE / "bare.py"), str(port), str(answer)]
        server = stack.enter_context(self.started(command, BARE))
        first_answer(server, port, asked[0])
        return Up(BARE, server, port, {"search": asked})

    def burst(self, each: Up, measure: str, clients: int, number: int) -> list[float]:
        requests = list(each.asked[measure])
        random.Random(number).shuffle(requests)
        plan = Plan(each.port, clients, self.options.seconds, self.options.least, requests)
        before = each.server.cpu
        done = subprocess.run(
            [sys.executable, str(HERE / "asking.py")],
            input=json.dumps(asdict(plan)),
            capture_output=True,
            check=False,
            text=True,
        )
        if done.returncode:
            each.server.fail(done.stderr)
        burst, name = Burst(**json.loads(done.stdout)), _name(measure, clients)
        count = len(burst.latencies)
        answered = count + clients  # those before time was taken, too
        for what, unit, value in (
            (name, "requests/s", count / burst.elapsed),
            (f"{name} p50", "latency", _quantile(burst.latencies, 0.5)),
            (name, "cpu", (each.server.cpu - before) / answered),
            (measure, "KB", burst.received / count / 1000),
            (name, "client cpu", burst.cpu / burst.elapsed),
        ):
            self.results[what, unit, each.who].append(value)
        return burst.latencies

    def started(self, command: list[str], who: str, speaks: bool = False) -> Any:
        environment = self.runner.environment(who != PEER)
        log = self.work / f"{who.replace('.', '-')}-{len(list(self.work.iterdir()))}.log"
        return started(command, environment, self.cores, log, speaks)


def _note(noted: Results, measure: str, who: str, wall: float, cpu: float) -> None:
    noted[measure, "wall", who].append(wall)
    noted[measure, "cpu", who].append(cpu)


def _turned(up: list[Up], number: int) -> Iterator[Up]:
    """Another one begins in each round."""
    for at in range(len(up)):
        yield up[(number + at) % len(up)]


def _name(measure: str, clients: int) -> str:
    return f"{measure}, {clients} client{'s' * (clients > 1)}"


def _quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def rows(clients: list[int]) -> Iterator[Row]:
    for measure in ("start to first answer", "MCP: start to handshake", "MCP: start to first answer"):
        yield from (Row(measure, "wall"), Row(measure, "cpu"))
    for measure in ("search", "search verified", "fetch_chunk", "fetch_chunk in context"):
        yield from (Row(measure, "passages"), Row(measure, "KB"))
        for name in (_name(measure, each) for each in clients):
            yield Row(name, "requests/s", other=BARE)
            yield Row(f"{name} p50", "latency", other=BARE)
            yield Row(f"{name} p99", "latency", other=BARE)
            yield Row(name, "cpu", other=BARE)
    yield Row("server", "memory", other=BARE)


def noise(results: Results) -> str:
    """How far the rounds of a server that does the same each time lie apart."""
    told = (
        f"{name}: {min(values):.0f} to {max(values):.0f}"
        for (name, unit, who), values in results.items()
        if (unit, who) == ("requests/s", BARE)
    )
    return "requests/s of the framework, by round: " + "; ".join(told)


def main() -> None:
    options = arguments()
    options.cache = options.cache.resolve()
    options.cache.mkdir(parents=True, exist_ok=True)
    peer = None if options.no_peer else os.path.abspath(options.peer_python or peer_python(options.cache))
    with on({options.client_core}):
        bench = Bench(options, peer)
        results = bench.run(options.only.split(","))
    told = table(f"{options.files} files", results, rows(bench.clients))
    print(f"\n{told}\n\n{noise(results)}\n", flush=True)
    write(options.label, options.repeat, {f"{options.files} files": results})


if __name__ == "__main__":
    main()
