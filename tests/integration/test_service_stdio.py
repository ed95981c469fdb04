"""`gk mcp` as an assistant meets it: what it loads before it is asked, what it writes, how it ends, what it survives."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from commands import environment, gk
from integration.support import put
from service_support import PATIENCE

import groundkit

HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}  # fmt: skip
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def call(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


class Talk:
    """A `gk mcp` and what goes back and forth, line by line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._come: dict[Any, dict[str, Any]] = {}

    def send(self, *messages: dict[str, Any] | bytes) -> None:
        assert self.process.stdin is not None
        for each in messages:
            self.process.stdin.write(each if isinstance(each, bytes) else json.dumps(each).encode() + b"\n")
        self.process.stdin.flush()

    def answer(self, number: int) -> dict[str, Any]:
        """The answer to this request, in whichever order they come. Every line on the way to it is the protocol's."""
        assert self.process.stdout is not None
        while number not in self._come:
            line = self.process.stdout.readline()
            assert line, "the server is gone"
            message = json.loads(line)
            assert message["jsonrpc"] == "2.0"
            self._come[message.get("id")] = message
        return self._come[number]


@contextmanager
def talk(index: Path, *python: str, errors: Path | None = None, options: tuple[str, ...] = ()) -> Iterator[Talk]:
    command = [sys.executable, *python, "-m", "groundkit", "mcp", "--index-dir", str(index), *options]
    with (
        (errors or Path("/dev/null")).open("wb") as log,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=environment()
        ) as process,
    ):
        try:
            yield Talk(process)
        finally:
            process.kill()


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("mcp")
    put(base, {"a.md": "# Harbour\n\nThe harbour is open.", "b.html": "<p>The harbour has a lamp.</p>"})
    with groundkit.open(base / ".groundkit", base=base) as kb:
        kb.ingest("")
    return base / ".groundkit"


def test_it_says_what_it_can_do_before_anything_is_opened(tmp_path: Path) -> None:
    errors = tmp_path / "errors"
    (tmp_path / "idx").mkdir()
    with talk(tmp_path / "idx", "-X", "importtime", errors=errors) as client:
        client.send(HELLO, READY, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
        assert client.answer(1)["result"]["serverInfo"]["name"] == "groundkit"
        assert len(client.answer(2)["result"]["tools"]) == 5
        client.process.stdin.close()  # type: ignore[union-attr]
        assert client.process.wait(PATIENCE) == 0
    loaded = set(re.findall(r"^import time:[^|]+\|[^|]+\|\s*(\w+)", errors.read_text(), re.MULTILINE))
    assert "mcp" in loaded
    assert not loaded & {"apsw", "tantivy", "numpy", "wordllama", "pypdf", "bs4"}


def test_every_line_of_its_output_is_the_protocol(index: Path) -> None:
    with talk(index) as client:
        client.send(HELLO, READY, call(2, "search", query="harbour"), call(3, "index_status"), call(4, "fetch", id="x"))
        found = client.answer(2)["result"]
        # The HTML file was extracted again for this, by a process that inherited our streams.
        assert [each["verification"]["verdict"] for each in found["structuredContent"]["results"]] == ["verified"] * 2
        client.answer(3)
        client.answer(4)
        client.process.stdin.close()  # type: ignore[union-attr]
        rest = client.process.stdout.read()  # type: ignore[union-attr]
        assert [json.loads(line)["jsonrpc"] for line in rest.splitlines()] == ["2.0"] * len(rest.splitlines())
        assert client.process.wait(PATIENCE) == 0


@pytest.mark.parametrize(
    "line",
    [
        b"garbage\n", b"\n", b"[]\n", b"null\n", b"{}\n", b"\xff\xfe\x00\n", b'{"jsonrpc":"2.0"}\n',
        b"[" * 100_000 + b"\n", b'{"jsonrpc":"2.0","id":9,"method":"' + b"x" * 3_000_000 + b'"}\n',
        b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":5}}\n',
        b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"search","arguments":[]}}\n',
        b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"search","arguments":{"query":"\\ud800"}}}\n',
    ],
    ids=lambda line: repr(line[:30]),
)  # fmt: skip
def test_a_broken_message_ends_nothing(index: Path, line: bytes) -> None:
    with talk(index) as client:
        client.send(HELLO, READY, line, call(2, "search", query="harbour"))
        assert client.answer(2)["result"]["structuredContent"]["matches"] == 2


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_it_though_it_waits_for_input(index: Path, sent: signal.Signals, code: int) -> None:
    with talk(index) as client:
        client.send(HELLO, READY, call(2, "search", query="harbour"))
        client.answer(2)
        client.process.send_signal(sent)
        assert client.process.wait(PATIENCE) == code


def test_its_lines_hold_nothing_that_was_asked_or_found(index: Path, tmp_path: Path) -> None:
    errors = tmp_path / "errors"
    with talk(index, errors=errors) as client:
        client.send(HELLO, READY, call(2, "search", query="harbour zanzibar"), call(3, "zanzibar"),
                    call(4, "search", zanzibar=1), b"zanzibar\n", call(5, "fetch", id="zanzibar"))  # fmt: skip
        for number in (2, 3, 4, 5):
            client.answer(number)
        client.process.stdin.close()  # type: ignore[union-attr]
        assert client.process.wait(PATIENCE) == 0
    told = errors.read_text()
    assert "zanzibar" not in told and "harbour" not in told and str(index) not in told
    lines = [json.loads(line) for line in told.splitlines()]
    assert sorted(each["status"] for each in lines if each["event"] == "request") == [200, 400, 404]


def test_documents_that_are_not_there_are_told_when_they_are_meant(tmp_path: Path) -> None:
    put(tmp_path, {"docs/a.md": "The harbour is open."})
    with groundkit.open(tmp_path / "idx", base=tmp_path / "docs") as kb:
        kb.ingest("")
    (tmp_path / "docs").rename(tmp_path / "elsewhere")
    with talk(tmp_path / "idx") as client:
        client.send(HELLO, READY, call(2, "search", query="harbour"), call(3, "list_collections"))
        refused = client.answer(2)["result"]
        assert refused["isError"] and "--base-dir" in refused["content"][0]["text"]
        (listed,) = client.answer(3)["result"]["structuredContent"]["collections"]
        assert listed["problem"] is not None
    with talk(tmp_path / "idx", options=("--base-dir", str(tmp_path / "elsewhere"))) as client:
        client.send(HELLO, READY, call(2, "search", query="harbour"))
        (hit,) = client.answer(2)["result"]["structuredContent"]["results"]
        assert hit["verification"]["verdict"] == "verified"


def test_serving_is_refused_without_the_documents_beyond_this_machine_and_without_a_token(tmp_path: Path) -> None:
    put(tmp_path, {"docs/a.md": "The harbour is open."})
    with groundkit.open(tmp_path / "idx", base=tmp_path / "docs") as kb:
        kb.ingest("")
    serve = ("serve", "--index-dir", "idx", "--port", "0")
    (tmp_path / "token").write_text("short")
    for options, said in (
        (("--host", "0.0.0.0"), "--allow-remote"),
        (("--host", "0.0.0.0", "--allow-remote"), "needs a token"),
        (("--host", "0.0.0.0", "--allow-remote", "--token-file", "token"), "16 or more"),
        (("--token-file", "nowhere"), "cannot be read"),
        (("--allow-host", "*"), "--allow-host"),
        (("--base-dir", "nowhere"), "base directory"),
        (("--index-dir", "nowhere"), "there is no index directory"),
    ):
        ran = gk(tmp_path, *serve, *options)
        assert ran.code == 2 and said in ran.err, (options, ran.err)
        assert ran.stdout == b""
    (tmp_path / "notes" / ".groundkit").mkdir(parents=True)
    for command in ("serve", "mcp"):
        ran = gk(tmp_path, command, "--index-dir", "notes")
        assert ran.code == 2 and "--index-dir" in ran.err and ".groundkit" in ran.err
    ran = gk(tmp_path, *serve, "--host", "0.0.0.0", "--allow-remote", GK_SERVE_TOKEN="x" * 15)
    assert ran.code == 2 and "16 or more" in ran.err
