"""What broke the service once: each test is a request, a document or a neighbour that it did not survive as it should."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from integration.support import put
from service_support import PATIENCE, PythonSurface, Reply, Served, served

import groundkit
from groundkit.service.operations import OPERATIONS

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
