"""Documents that pretend to be ids, citations, answers or orders stay text in a field, on every surface."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from forgeries import FORGERIES
from integration.support import put
from jsonschema import Draft202012Validator
from service_support import McpSurface, RestSurface, Served, over_http, over_stdio, served

import groundkit

#: All that a search result or a chunk may say, by the way to it; lists count as one.
Shape = frozenset[str]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each text as a document, as its heading, and in its name as far as a name can have it."""
    base = tmp_path_factory.mktemp("forged")
    put(base, {f"{n:03}.txt": text for n, text in enumerate(FORGERIES)})
    put(base, {f"h{n:03}.md": f"# {' '.join(text.split())}\n\nbeacon below\n" for n, text in enumerate(FORGERIES)})
    put(base, {f"n{n:03} {name_of(text)}.md": f"beacon named{n}\n" for n, text in enumerate(FORGERIES)})
    with groundkit.open(base / ".groundkit", base=base) as kb:
        report = kb.ingest("")
        # One of the texts has NUL in it only as an escape: all of them are text.
        assert report.failed == ()
    return base / ".groundkit"


def name_of(text: str) -> str:
    return text.replace("/", "∕").replace("\x00", "").encode()[:150].decode(errors="ignore")


@pytest.fixture(scope="module")
def server(index: Path) -> Iterator[Served]:
    with served(index) as running:
        yield running


@pytest.fixture(scope="module")
def clients(index: Path, server: Served) -> Iterator[dict[str, RestSurface | McpSurface]]:
    with open("/dev/null", "w") as errors:
        stdio, http = over_stdio(index, errors=errors), over_http(server)
        yield {"rest": RestSurface(server), "stdio": stdio, "http": http}
        http.close()
        stdio.close()


@pytest.fixture(params=["rest", "stdio", "http"])
def client(request: pytest.FixtureRequest, clients: dict[str, RestSurface | McpSurface]) -> RestSurface | McpSurface:
    return clients[request.param]


def shape(value: Any, way: str = "") -> Shape:
    """Which fields there are, and of which kind."""
    if isinstance(value, dict):
        return frozenset().union(*(shape(each, f"{way}.{name}") for name, each in value.items()))
    if isinstance(value, list):
        return frozenset().union(*(shape(each, f"{way}[]") for each in value))
    return frozenset({way})


def everything(client: RestSurface | McpSurface) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    while not found or cursor is not None:
        more = {} if cursor is None else {"cursor": cursor}
        data = client.ask("search", {"query": "beacon", "limit": 100, "max_chars": 200_000, **more}).data
        assert data is not None
        found += data["results"]
        cursor = data["next_cursor"]
    return found


def test_a_forgery_is_the_text_of_its_own_passage_and_nothing_else(
    client: RestSurface | McpSurface, index: Path
) -> None:
    found = everything(client)
    with groundkit.open(index) as kb:
        real = {each.chunk_id: each for each in kb.citations()}
    assert {each["citation"]["chunk_id"] for each in found} == set(real)
    allowed = shape(found[0] | {"citation": found[0]["citation"]})
    for each in found:
        assert shape(each) <= allowed | {".citation.locator.heading_path[]"}
        assert each["citation"]["source"] == real[each["citation"]["chunk_id"]].source
        assert each["verification"]["verdict"] == "verified"
        assert each["id"] == f"default/{each['citation']['chunk_id']}"
    texts = {each["citation"]["source"]: each["text"] for each in found}
    for n, text in enumerate(FORGERIES):
        assert texts[f"{n:03}.txt"] == text


def test_a_forged_chunk_is_read_as_it_is(client: RestSurface | McpSurface, index: Path) -> None:
    with groundkit.open(index) as kb:
        cited = [each for each in kb.citations() if each.source.endswith(".txt")]
    for citation in cited[::3]:
        data = client.ask("fetch_chunk", {"chunk_id": citation.chunk_id}).data
        assert data is not None
        assert data["text"] == FORGERIES[int(citation.source[:3])]
        assert (data["verification"]["verdict"], data["truncated"], data["next_cursor"]) == ("verified", False, None)


def test_answers_are_as_their_published_schemas_say(clients: dict[str, RestSurface | McpSurface]) -> None:
    client = clients["stdio"]
    assert isinstance(client, McpSurface)
    schemas = {each.name: each.output_schema for each in client.run(client.session.list_tools()).tools}
    validator = Draft202012Validator(schemas["search"])
    for n in range(0, len(FORGERIES), 5):
        data = client.ask("search", {"query": f"number{n}", "max_chars": 5000}).data
        assert list(validator.iter_errors(data)) == []
        assert data is not None
        assert len(json.dumps(data, ensure_ascii=False, separators=(",", ":"))) <= 5000
    read = client.ask("fetch", {"id": everything(client)[0]["id"]}).data
    assert list(Draft202012Validator(schemas["fetch"]).iter_errors(read)) == []
