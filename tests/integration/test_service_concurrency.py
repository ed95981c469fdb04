"""The service beside a process that writes: every answer is of one state, none is an error, and the next one sees the new state."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from commands import environment
from integration.support import put
from service_support import PATIENCE, McpSurface, RestSurface, Served, over_http, over_stdio, served

import groundkit

#: GK_SOAK_SECONDS asks for more.
SECONDS = float(os.environ.get("GK_SOAK_SECONDS", "10"))
DOCUMENTS = 12

WRITER = """
import sys, itertools, pathlib, groundkit
base, stop = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
with groundkit.open(base / ".groundkit", base=base) as kb:
    for version in itertools.count(1):
        if stop.exists():
            break
        for n in range(int(sys.argv[3])):
            (base / f"{n:02}.md").write_text(f"harbour version {version} number {n}, word{version}\\n")
        kb.ingest("")
        print(version, flush=True)
"""


@contextmanager
def writing(base: Path, end: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that writes one version after the other until the file `end` is there."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(base), str(end), str(DOCUMENTS)],
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def version_of(text: str) -> str:
    return text.split("version ")[1].split()[0]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    base = tmp_path / "base"
    put(base, {f"{n:02}.md": f"harbour version 0 number {n}, word0\n" for n in range(DOCUMENTS)})
    with groundkit.open(base / ".groundkit", base=base) as kb:
        kb.ingest("")
    return base


class Reader(threading.Thread):
    """Asks until it is told to stop; keeps what was wrong, and how long each answer took."""

    def __init__(self, surface: RestSurface | McpSurface, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self._surface = surface
        self._until = stop
        self.wrong: list[str] = []
        self.versions: list[int] = []
        self.seconds: list[float] = []

    def run(self) -> None:
        while not self._until.is_set():
            try:
                self._once()
            except Exception as error:  # noqa: BLE001 - whatever it is, it fails the test
                self.wrong.append(repr(error))

    def _once(self) -> None:
        data = self._asked("search", {"query": "harbour", "limit": 50, "verify": False, "max_chars": 200_000})
        seen = {version_of(each["text"]) for each in data["results"]}
        if len(seen) != 1 or data["matches"] != DOCUMENTS or len(data["results"]) != DOCUMENTS:
            self.wrong.append(f"{data['matches']} matches of versions {sorted(seen)}")
            return
        self.versions.append(int(seen.pop()))
        hit = data["results"][len(self.versions) % DOCUMENTS]
        chunk = self._asked("fetch_chunk", {"chunk_id": hit["id"]})
        if chunk["found"] and chunk["text"] != hit["text"]:
            self.wrong.append("a chunk with another text")

    def _asked(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        begun = time.perf_counter()
        reply = self._surface.ask(name, arguments)
        self.seconds.append(time.perf_counter() - begun)
        assert reply.data is not None, reply.problem
        return reply.data


@pytest.mark.slow
def test_no_answer_is_of_two_states_while_another_process_writes(base: Path, tmp_path: Path) -> None:
    index, end = base / ".groundkit", tmp_path / "end"
    stop = threading.Event()
    with served(index) as server, (tmp_path / "log").open("w") as log:
        stdio, http = over_stdio(index, errors=log), over_http(server)
        readers = [Reader(each, stop) for each in (RestSurface(server), RestSurface(server), stdio, http)]
        with writing(base, end) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            for reader in readers:
                reader.start()
            time.sleep(SECONDS)
            stop.set()
            end.touch()
            for reader in readers:
                reader.join(PATIENCE)
            written = [int(line) for line in writer.stdout]
            assert writer.wait(PATIENCE) == 0
        last = RestSurface(server).ask("search", {"query": "harbour", "limit": 50, "max_chars": 200_000}).data
        http.close()
        stdio.close()
    times = sorted(seconds for reader in readers for seconds in reader.seconds)
    print(f"{len(written)} writes, {len(times)} answers, p50 {times[len(times) // 2] * 1000:.1f} ms, "
          f"p99 {times[len(times) * 99 // 100] * 1000:.1f} ms")  # fmt: skip
    assert [reader.wrong for reader in readers] == [[], [], [], []]
    for reader in readers:
        assert reader.versions == sorted(reader.versions)
        assert len(set(reader.versions)) > 1
    assert last is not None and {version_of(each["text"]) for each in last["results"]} == {str(max(written))}


@pytest.fixture
def server(base: Path) -> Iterator[Served]:
    with served(base / ".groundkit") as running:
        yield running


def test_a_commit_is_seen_by_the_next_request(base: Path, server: Served) -> None:
    surface = RestSurface(server)
    for n in range(5):
        (base / "new.md").write_text(f"seahorse{n} in the bay")
        with groundkit.open(base / ".groundkit", base=base) as kb:
            kb.ingest("")
        found = surface.ask("search", {"query": f"seahorse{n}"}).data
        assert found is not None and found["matches"] == 1
        assert found["results"][0]["verification"]["verdict"] == "verified"


def test_a_collection_that_is_dropped_and_made_again_is_followed(base: Path, server: Served) -> None:
    surface = RestSurface(server)
    tag = server.request("GET", "/v1/search?query=harbour&verify=false")[1]["etag"]
    with groundkit.open(base / ".groundkit", base=base) as kb:
        kb.drop()
    assert "no collection default" in surface.ask("search", {"query": "harbour"}).problem
    for condition in ("anything", tag):
        plain = server.request("GET", "/v1/search?query=harbour&verify=false", headers={"if-none-match": condition})
        assert plain[0] == 404 and b"no collection default" in plain[2]
    assert surface.ask("list_collections", {}).data == {"collections": [], "truncated": False, "next_cursor": None}
    with groundkit.open(base / ".groundkit", base=base) as kb:
        kb.ingest("00.md")
    found = surface.ask("search", {"query": "harbour"}).data
    assert found is not None and found["matches"] == 1


def test_a_cursor_says_that_the_collection_changed(base: Path, server: Served) -> None:
    surface = RestSurface(server)
    first = surface.ask("search", {"query": "harbour", "limit": 2}).data
    assert first is not None
    again = {"query": "harbour", "limit": 2, "cursor": first["next_cursor"]}
    same = surface.ask("search", again).data
    assert same is not None and not same["changed"]
    (base / "new.md").write_text("another harbour")
    with groundkit.open(base / ".groundkit", base=base) as kb:
        kb.ingest("")
    later = surface.ask("search", again).data
    assert later is not None and later["changed"]


def test_an_entity_tag_holds_as_long_as_the_state_does(base: Path, server: Served) -> None:
    plain, checked = "/v1/search?query=harbour&verify=false", "/v1/search?query=harbour"
    for path in (plain, checked, "/v1/index_status", "/v1/list_collections"):
        status, headers, body = server.request("GET", path)
        assert status == 200 and body
        status, _, body = server.request("GET", path, headers={"if-none-match": headers["etag"]})
        assert (status, body) == (304, b"")
    _, before, _ = server.request("GET", plain)
    _, seen, _ = server.request("GET", checked)
    (base / "00.md").write_text("the mill is gone")
    assert server.request("GET", plain, headers={"if-none-match": before["etag"]})[0] == 304
    status, _, body = server.request("GET", checked, headers={"if-none-match": seen["etag"]})
    assert status == 200 and b"drifted" in body
    with groundkit.open(base / ".groundkit", base=base) as kb:
        kb.ingest("")
    status, after, _ = server.request("GET", plain, headers={"if-none-match": before["etag"]})
    assert status == 200 and after["etag"] != before["etag"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs here")
def test_a_fifo_in_place_of_a_source_hangs_no_worker(base: Path, server: Served) -> None:
    surface = RestSurface(server)
    found = surface.ask("search", {"query": "harbour", "limit": 50}).data
    assert found is not None
    for n in range(DOCUMENTS):
        (base / f"{n:02}.md").unlink()
        os.mkfifo(base / f"{n:02}.md")
    replies = [surface.ask("search", {"query": "harbour", "limit": 50}).data for _ in range(8)]
    for reply in replies:
        assert reply is not None
        assert {each["verification"]["verdict"] for each in reply["results"]} == {"unresolvable"}
    chunk = surface.ask("fetch_chunk", {"chunk_id": found["results"][0]["id"]}).data
    assert chunk is not None and chunk["verification"]["reason"] == "source_unreadable"


def test_descriptors_do_not_grow(base: Path, server: Served) -> None:
    def opened() -> int:
        return len(os.listdir(f"/proc/{server.process.pid}/fd"))

    if not os.path.isdir(f"/proc/{server.process.pid}/fd"):
        pytest.skip("descriptors cannot be counted here")
    surface = RestSurface(server)

    def ask(n: int) -> None:
        assert surface.ask("search", {"query": f"harbour {n}"}).data is not None
        surface.ask("search", {"query": "harbour", "collection": f"unknown{n}"})
        surface.ask("fetch_chunk", {"chunk_id": f"{n:032x}"})
        server.request("POST", "/v1/search", b"{" * n, {"content-type": "application/json"})

    for n in range(20):
        ask(n)
    before = opened()
    for n in range(100):
        ask(n)
    deadline = time.monotonic() + PATIENCE
    while opened() > before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert opened() <= before
    assert json.loads(server.request("GET", "/healthz")[2]) == {"status": "ok"}
