"""The runtime by itself: how much it takes on, what it says when that is too much, and how it ends."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from integration.support import put
from service_support import PATIENCE, served

import groundkit
from groundkit.service.problems import ProblemError
from groundkit.service.runtime import Room, Runtime


@pytest.fixture
def index(tmp_path: Path) -> Path:
    put(tmp_path, {f"{n}.md": f"The harbour of part {n} is open." for n in range(30)})
    with groundkit.open(tmp_path / ".groundkit", base=tmp_path) as kb:
        kb.ingest("")
    return tmp_path / ".groundkit"


def test_what_is_too_much_is_refused_at_once_and_room_comes_back(index: Path) -> None:
    may_end = threading.Event()
    with Runtime(index, room=Room(workers=2, waiting=3)) as runtime:
        taken = [runtime.submit(lambda: may_end.wait(PATIENCE)) for _ in range(5)]
        assert (runtime.pending, runtime.waiting) == (5, 3)
        with pytest.raises(ProblemError) as refused:
            runtime.submit(may_end.wait)
        assert (refused.value.problem.kind, refused.value.problem.status) == ("busy", 503)
        may_end.set()
        assert all(each.result(PATIENCE) for each in taken)
        assert runtime.submit(lambda: 7).result(PATIENCE) == 7


def test_work_that_raises_makes_room_again(index: Path) -> None:
    with Runtime(index, room=Room(workers=1, waiting=0)) as runtime:
        for _ in range(5):
            with pytest.raises(ZeroDivisionError):
                runtime.submit(lambda: 1 // 0).result(PATIENCE)
            while runtime.pending:
                pass


def test_a_closed_runtime_finishes_and_takes_no_more(index: Path) -> None:
    runtime = Runtime(index, room=Room(workers=1, waiting=4))
    begun, may_end = threading.Event(), threading.Event()

    def work() -> str:
        begun.set()
        may_end.wait(PATIENCE)
        return "done"

    first, second = runtime.submit(work), runtime.submit(work)
    assert begun.wait(PATIENCE)
    closing = threading.Thread(target=runtime.close)
    closing.start()
    while not second.done():
        pass
    may_end.set()
    closing.join(PATIENCE)
    assert first.result(PATIENCE) == "done" and second.cancelled()
    for attempt in (lambda: runtime.submit(work), lambda: runtime.ask("search", query="harbour")):
        with pytest.raises(ProblemError) as refused:
            attempt()
        assert refused.value.problem.kind == "closing"
    runtime.close()


def test_a_full_server_says_when_to_come_back_and_answers_again(index: Path) -> None:
    with served(index, "--workers", "1", "--waiting", "0") as server:
        with ThreadPoolExecutor(16) as many:
            asked = [many.submit(server.request, "GET", f"/v1/search?query=harbour+{n}&limit=30") for n in range(160)]
            answers = [each.result(PATIENCE) for each in asked]
        statuses = {status for status, _, _ in answers}
        assert statuses == {200, 503}
        for status, headers, body in answers:
            if status == 503:
                assert headers["retry-after"] == "1" and headers["content-type"] == "application/problem+json"
                assert b"busy" in body
        assert server.request("GET", "/v1/search?query=harbour")[0] == 200
        assert b'groundkit_refused_total{kind="busy"}' in server.request("GET", "/metrics")[2]
