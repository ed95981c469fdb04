"""Servers as processes: started on given cores, waited for, watched and stopped."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from asking import PATIENCE, Connection, Request, encoded
from clock import Spent

#: Between two attempts to connect to a server that starts, and that it has to stop, in seconds.
_AGAIN, _STOP = 0.002, 10.0
_PROTOCOL = "2025-06-18"


@dataclass(frozen=True)
class Server:
    """A process that was started at `began`."""

    process: subprocess.Popen[bytes]
    began: float
    log: Path

    @property
    def cpu(self) -> float:
        """Seconds of processor so far, of all its threads."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def memory(self) -> float:
        """The most it has held so far, in MB."""
        told = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in told.splitlines() if line.startswith("VmHWM")) / 1024

    def spent(self) -> Spent:
        return Spent(time.perf_counter() - self.began, self.cpu)

    def fail(self, what: str) -> None:
        sys.exit(f"{what}\n{self.log.read_text(errors='replace')[-3000:]}")

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(_STOP)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def on(cores: set[int]) -> Iterator[None]:
    """A child process keeps the cores its parent had when it was started."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def started(
    command: Sequence[str], environment: Mapping[str, str], cores: set[int], log: Path, speaks: bool = False
) -> Iterator[Server]:
    """`speaks`: it is spoken to over standard input and output."""
    pipe = subprocess.PIPE if speaks else subprocess.DEVNULL
    with log.open("wb") as errors, on(cores):
        began = time.perf_counter()
        process = subprocess.Popen(
            command, env=environment, stdin=pipe, stdout=subprocess.PIPE if speaks else errors, stderr=errors
        )
    server = Server(process, began, log)
    try:
        yield server
    finally:
        server.stop()
        for each in (process.stdin, process.stdout):
            if each is not None:
                each.close()


def first_answer(server: Server, port: int, request: Request) -> tuple[Spent, bytes]:
    """From the start to the answer, which is asked for until somebody listens."""
    asked = encoded(port, request)
    while time.perf_counter() - server.began < PATIENCE and server.process.poll() is None:
        try:
            connection = Connection(port)
        except ConnectionRefusedError:
            time.sleep(_AGAIN)
            continue
        body = connection.ask(asked)
        spent = server.spent()
        connection.close()
        return spent, body
    server.fail(f"no server on port {port}")
    raise AssertionError


def spoken(server: Server, tool: str, arguments: Mapping[str, object]) -> tuple[Spent, Spent]:
    """MCP over standard input and output: from the start to the end of the handshake, and to the answer of a tool."""
    said, heard = server.process.stdin, server.process.stdout
    assert said is not None and heard is not None
    about = {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    _say(said, {"id": 0, "method": "initialize", "params": about})
    _hear(server, heard, 0)
    greeted = server.spent()
    _say(said, {"method": "notifications/initialized"})
    _say(said, {"id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
    answer = _hear(server, heard, 1)
    answered = server.spent()
    if answer.get("isError"):
        server.fail(f"{tool}: {answer}")
    return greeted, answered


def _say(said: IO[bytes], message: Mapping[str, object]) -> None:
    said.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    said.flush()


def _hear(server: Server, heard: IO[bytes], number: int) -> dict[str, object]:
    for line in heard:
        message = json.loads(line)
        if message.get("id") == number:
            if "result" not in message:
                server.fail(f"an error of MCP: {message}")
            result: dict[str, object] = message["result"]
            return result
    server.fail("the server of MCP ended")
    raise AssertionError
