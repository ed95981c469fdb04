"""What broke the service once: each test is a request, a document or a neighbour that it did not survive as it should."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, TypeVar

import pytest
from commands import environment
from integration.support import put
from integration.test_service_stdio import HELLO, READY, Talk, call
from service_support import PATIENCE, PythonSurface, Reply, Served, served

import groundkit
from groundkit.collection import Collection
from groundkit.core.extraction import Hint
from groundkit.core.ports import ExtractionJob
from groundkit.core.result import Failure, Success
from groundkit.core.settings import Settings, limits_for
from groundkit.extracting import Extracting, Memo
from groundkit.service.journal import Journal
from groundkit.service.limits import Limits
from groundkit.service.operations import OPERATIONS
from groundkit.service.resources import page_of_resources
from groundkit.service.runtime import Runtime
from groundkit.testing.memory_extraction import InlineExtractions
from groundkit.testing.sample_extractors import Lines

T = TypeVar("T")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("world")
    put(base, {"tides.md": "# Tides\n\nThe harbour floods at the spring tide.", "notes.txt": "Nothing of the tide."})
    with groundkit.open(base / ".groundkit", base=base) as kb:
        kb.ingest("")
    return base / ".groundkit"


@pytest.fixture(scope="module")
def server(index: Path) -> Iterator[Served]:
    with served(index) as running:
        yield running


def soon(work: Callable[[], T]) -> T:
    """What comes of it, unless it takes for ever."""
    found: list[T] = []
    thread = threading.Thread(target=lambda: found.append(work()), daemon=True)
    thread.start()
    thread.join(PATIENCE / 4)
    assert not thread.is_alive(), "there is no end to it"
    return found[0]


# -- documents


def put_deep(base: Path, text: str) -> str:
    """A document whose name alone is longer than the least budget of an answer."""
    names = ["潮" * 80] * 14
    here = os.open(base, os.O_RDONLY)
    for name in names:
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    with os.fdopen(os.open("deep.md", os.O_CREAT | os.O_WRONLY, dir_fd=here), "w", encoding="utf-8") as file:
        file.write(text)
    os.close(here)
    return "/".join([*names, "deep.md"])


def test_a_name_beyond_every_budget_leaves_no_room_for_a_neighbourhood_and_is_answered(tmp_path: Path) -> None:
    source = put_deep(tmp_path, "The mill is at work.")
    with groundkit.open(tmp_path / "index", base=tmp_path) as kb:
        kb.ingest("")
        (hit, *_) = kb.search("mill", limit=1)
    python = PythonSurface(tmp_path / "index")
    reply: Reply = soon(lambda: python.ask("fetch_chunk", {"chunk_id": hit.chunk_id, "max_chars": 2000}))
    python.runtime.close()
    assert reply.data is not None
    assert reply.data["citation"]["source"] == source
    assert (reply.data["text"], reply.data["before"], reply.data["after"]) == ("The mill is at work.", "", "")


# -- requests


def test_an_unknown_chunk_is_told_of_whatever_the_caller_keeps(server: Served) -> None:
    status, headers, body = server.request("GET", "/v1/fetch_chunk?chunk_id=ffff", headers={"if-none-match": "*"})
    assert (status, b'"found":false' in body) == (404, True)
    again, _, body = server.request("GET", "/v1/fetch_chunk?chunk_id=ffff", headers={"if-none-match": headers["etag"]})
    assert (again, b'"found":false' in body) == (404, True)


@pytest.mark.parametrize("name", [*OPERATIONS])
def test_made_up_fields_without_number_are_told_in_a_few_words(index: Path, name: str) -> None:
    python = PythonSurface(index)
    said = python.ask(name, {f"made_up_{n}": n for n in range(20_000)}).problem
    python.runtime.close()
    assert "'made_up_0' is no known field" in said and " more" in said
    assert len(said) < 2000


# -- whoever started `gk mcp`


@contextmanager
def started(*command: str) -> Iterator[Talk]:
    """A process that speaks the protocol, and whose lines nobody reads unless the test does."""
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, *command], stdin=pipe, stdout=pipe, stderr=pipe, env=environment())
    try:
        yield Talk(process)
    finally:
        process.kill()
        process.wait()
        for each in (process.stdin, process.stdout, process.stderr):
            assert each is not None
            with suppress(BrokenPipeError):
                each.close()


def test_lines_that_nobody_reads_hold_up_no_answer(index: Path) -> None:
    with started("-m", "groundkit", "mcp", "--index-dir", str(index)) as assistant:
        assistant.send(HELLO, READY)
        for number in range(2, 602):  # some 100 KB of lines, more than a pipe holds
            assistant.send(call(number, "list_collections"))
            answer = soon(partial(assistant.answer, number))
            assert not answer["result"]["isError"]


def test_the_lines_that_were_lost_are_counted() -> None:
    source, sink = os.pipe()
    with os.fdopen(source) as read, os.fdopen(sink, "w") as write:
        journal = Journal(write)
        for _ in range(2000):
            soon(partial(journal.event, "started"))
        os.set_blocking(source, False)
        kept = [json.loads(line) for line in iter(read.readline, "")]
        journal.event("ended")
        assert json.loads(read.readline())["lost"] == 2000 - len(kept) > 0
        journal.event("ended")
        assert "lost" not in json.loads(read.readline())


@pytest.mark.parametrize("asked", [[], [call(2, "search", query="tide")]])
def test_it_ends_when_nobody_reads_its_answers_though_its_input_stays_open(index: Path, asked: list[Any]) -> None:
    with started("-m", "groundkit", "mcp", "--index-dir", str(index)) as assistant:
        assistant.send(HELLO, READY)
        assistant.answer(1)
        assert assistant.process.stdout is not None and assistant.process.stderr is not None
        assistant.process.stdout.close()
        assistant.send(*asked)
        assert assistant.process.wait(PATIENCE / 4) == 0
        assert all(json.loads(line)["event"] == "request" for line in assistant.process.stderr)


#: A service whose collections cannot be opened, because of a bug that says what it should not.
BROKEN = """
from pathlib import Path
from groundkit.service.resources import page_of_resources
from groundkit.service.runtime import Runtime
from groundkit.service.stdio import serve_stdio

def opened(name: str) -> object:
    raise LookupError("secret of /home/somebody")

with Runtime(Path(), opened=opened) as runtime:
    serve_stdio(runtime)
"""


def test_a_bug_is_written_down_as_a_line_and_nothing_of_it_reaches_the_assistant() -> None:
    read = {"jsonrpc": "2.0", "id": 3, "method": "resources/read", "params": {"uri": "groundkit://default/aa"}}
    with started("-c", BROKEN) as assistant:
        assistant.send(HELLO, READY, call(2, "search", query="tide"), read)
        answers = json.dumps([assistant.answer(2), assistant.answer(3)])
        assert assistant.process.stdin is not None and assistant.process.stderr is not None
        assistant.process.stdin.close()
        assert assistant.process.wait(PATIENCE) == 0
        lines = assistant.process.stderr.read().decode()
    assert "This is a bug in groundkit" in answers
    assert "secret" not in answers and "secret" not in lines
    faults = [each for each in map(json.loads, lines.splitlines()) if "error" in each]
    assert {each["error"] for each in faults} == {"LookupError"} and len(faults) == 2


# -- work without end


def test_a_collection_that_takes_long_to_open_holds_up_nobody_else(index: Path) -> None:
    meant, may_go = threading.Event(), threading.Event()

    def opened(name: str) -> Collection:
        if name == "slow":
            meant.set()
            may_go.wait(PATIENCE)
        return groundkit.open(index, collection="default")

    with Runtime(index, opened=opened) as runtime:
        assert runtime.collection("default").chunk_count == 2
        slow = runtime.submit(lambda: runtime.collection("slow").chunk_count)
        assert meant.wait(PATIENCE)
        try:
            # The first is what the event loop of a server does with each request.
            other = soon(lambda: runtime.submit(lambda: runtime.collection("default").chunk_count))
            assert other.result(PATIENCE) == 2
        finally:
            may_go.set()
        assert slow.result(PATIENCE) == 2


#: A service with work that never ends.
STUCK = """
import sys, time
from pathlib import Path
from groundkit.cli.serving import running
from groundkit.service.limits import Limits
from groundkit.service.resources import page_of_resources
from groundkit.service.runtime import Runtime
from groundkit.service.server import Bind, serve

with running(Runtime(Path(), opened=lambda name: time.sleep(1000)), 0.5) as runtime:
    serve(runtime, Bind(port=0), Limits(answer_seconds=0.5))
"""


def test_a_server_ends_though_a_worker_does_not(index: Path) -> None:
    with started("-c", STUCK) as service:
        process = service.process
        assert process.stderr is not None
        port = json.loads(process.stderr.readline())["port"]
        with closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
            connection.request("GET", "/v1/search?query=tide")
            assert connection.getresponse().status == 504
        process.terminate()
        assert process.wait(PATIENCE / 4) == 0
        assert [json.loads(line)["event"] for line in process.stderr] == ["request", "ended"]


# -- what the server says of itself


def test_a_collection_that_was_damaged_while_it_was_served_is_not_ready(index: Path, tmp_path: Path) -> None:
    copied = tmp_path / ".groundkit"
    shutil.copytree(index, copied)
    put(tmp_path, {"tides.md": "# Tides"})
    with served(copied) as server:
        assert server.request("GET", "/readyz")[0] == 200
        (copied / "default.sqlite3").write_bytes(b"no database" * 1000)
        for path in ("/v1/search?query=tide", "/readyz"):
            status, _, body = server.request("GET", path)
            assert (status, json.loads(body)["type"]) == (503, "urn:groundkit:problem:storage")
            assert os.fsencode(tmp_path) not in body


@pytest.mark.parametrize(
    ("path", "kept", "told"),
    [
        ("/v1/search?limit=0", "", ("search", 400, "bad_request")),
        ("/v1/index_status?color=red", "", ("index_status", 400, "bad_request")),
        ("/?q=tide&mode=dense", "", ("search", 400, "no_vectors")),
        ("/nothing", "", ("other", 404, "not_found")),
        ("/v1/search?query=tide&verify=false", "-", ("search", 304, None)),
    ],
)
def test_every_problem_is_written_down_with_what_was_asked_for(
    server: Served, path: str, kept: str, told: tuple[str, int, str | None]
) -> None:
    headers = {"if-none-match": server.request("GET", path)[1]["etag"]} if kept else {}
    asked = server.request("GET", path, headers=headers)[1]["x-request-id"]
    line = soon(lambda: line_of(server, asked))
    assert (line["operation"], line["status"], line.get("problem")) == told


def line_of(server: Served, asked: str) -> dict[str, Any]:
    """The line of a request is written after its answer was sent."""
    while True:
        for each in server.events("request"):
            if each["request_id"] == asked:
                return each
        time.sleep(0.01)


# -- documents that take long to extract


class Endless(InlineExtractions):
    """Extractions of which those of certain bytes do not end before somebody says so."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.may_end = threading.Event(), threading.Event()

    def start(self, key: int, job: ExtractionJob) -> None:
        if job.data == b"endless":
            self.begun.set()
            self.may_end.wait(PATIENCE)
        super().start(key, job)


def test_an_extraction_that_takes_long_holds_up_neither_what_is_known_nor_what_is_in_a_hurry() -> None:
    endless = Endless()
    with closing(Extracting(lambda _: endless, Memo())) as extracting:
        known = job_of(b"known")
        assert extracting.text(known, "known") == Success("known")
        slow = threading.Thread(target=extracting.text, args=(job_of(b"endless"), "endless"), daemon=True)
        slow.start()
        assert endless.begun.wait(PATIENCE)
        try:
            soon(lambda: extracting.expect("another", "lines/1"))
            assert soon(lambda: extracting.remembered(known, "known")) == Success("known")
            late = soon(lambda: extracting.text(job_of(b"another"), "another", within=0.05))
            assert isinstance(late, Failure) and late.failure().passing
        finally:
            endless.may_end.set()
        slow.join(PATIENCE)
        # Nothing is remembered of a turn that did not come.
        assert extracting.text(job_of(b"another"), "another", within=PATIENCE) == Success("another")


def job_of(data: bytes) -> ExtractionJob:
    return ExtractionJob(Lines(), Lines().identity, data, Hint("text/x-lines"), limits_for(Settings(), len(data)))


def test_where_a_link_leads_to_is_not_told(tmp_path: Path) -> None:
    put(tmp_path, {"tides.md": "The tide turns.", "somewhere/secret.md": "The tide turns."})
    with groundkit.open(tmp_path / ".groundkit", base=tmp_path) as kb:
        kb.ingest("tides.md")
    (tmp_path / "tides.md").unlink()
    (tmp_path / "tides.md").symlink_to(tmp_path / "somewhere/secret.md")
    python = PythonSurface(tmp_path / ".groundkit")
    told = python.ask("search", {"query": "tide"}).data
    assert told is not None
    chunk = python.ask("fetch_chunk", {"chunk_id": told["results"][0]["id"]}).data
    python.runtime.close()
    assert chunk is not None and chunk["verification"]["reason"] == "outside_base"
    assert "secret" not in json.dumps([told, chunk])


@pytest.fixture
def unasked(index: Path) -> Iterator[Served]:
    """A server that has counted nothing yet."""
    with served(index) as running:
        yield running


def test_who_gets_no_further_than_the_connection_is_counted_and_written_down(unasked: Served) -> None:
    def turned_away() -> list[tuple[int, str]]:
        return [(each["status"], each["problem"]) for each in unasked.events("turned_away")]

    def counted(kind: str) -> bytes:
        lines = unasked.request("GET", "/metrics")[2].splitlines()
        return next(
            (each for each in lines if each.startswith(b'groundkit_refused_total{kind="%b"}' % kind.encode())), b""
        )

    with socket.create_connection(("127.0.0.1", unasked.port), timeout=PATIENCE) as peer:
        peer.sendall(b"what is this\r\n\r\n")
        assert peer.recv(12) == b"HTTP/1.1 400"
    assert counted("bad_request").endswith(b" 1.0")
    with ExitStack() as peers:
        for _ in range(Limits().connections):
            peers.enter_context(socket.create_connection(("127.0.0.1", unasked.port), timeout=PATIENCE))
        with socket.create_connection(("127.0.0.1", unasked.port), timeout=PATIENCE) as peer:
            assert peer.recv(12) == b"HTTP/1.1 503"
    soon(lambda: until(lambda: counted("busy").endswith(b" 1.0")))
    assert turned_away()[:2] == [(400, "bad_request"), (503, "busy")]


def until(true: Callable[[], bool]) -> None:
    while not true():
        time.sleep(0.01)


def test_a_damaged_collection_hides_the_resources_of_no_other(tmp_path: Path) -> None:
    put(tmp_path, {"a.md": "The harbour is open."})
    for name in ("broken", "whole"):
        with groundkit.open(tmp_path / ".groundkit", base=tmp_path, collection=name) as kb:
            kb.ingest("")
    with Runtime(tmp_path / ".groundkit") as runtime:
        assert len(page_of_resources(runtime, None)[0]) == 2
        for each in (tmp_path / ".groundkit").glob("broken.sqlite3*"):
            each.write_bytes(b"no store at all" * 1000)
        listed, _ = page_of_resources(runtime, None)
        assert [each.address.partition("/c")[0].split("/")[2] for each in listed] == ["whole"]
