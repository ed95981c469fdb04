"""One contract for every surface of the service, and the same answers from all of them, field by field."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import environment
from integration.support import put
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from service_support import McpSurface, PythonSurface, RestSurface, Served, Surface, over_http, over_stdio, served

import groundkit
from groundkit.service.operations import OPERATIONS

TEXTS = {
    "tides.md": "# Tides\n\n" + "\n\n".join(
        f"## Tide {n}\n\nThe harbour floods at the spring tide number {n}; \"quoted\" words\\ and\ttabs, é, 潮, 🌊." * 3
        for n in range(8)
    ),
    "notes/drifted.md": "The ferry to the island leaves at nine, and the tide is high.",
    "notes/gone.txt": "Nobody remembers the old tide tables of the mill.",
    "empty.md": "",
}  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three collections; in one of them a document was edited and another one removed since."""
    base = tmp_path_factory.mktemp("world")
    put(base, TEXTS)
    index = base / ".groundkit"
    with groundkit.open(index, base=base) as kb:
        kb.ingest("")
    with groundkit.open(index, base=base, collection="second.one") as kb:
        kb.ingest("notes")
    with groundkit.open(index, base=base, collection="third") as kb:
        kb.ingest("empty.md")
    (base / "notes/drifted.md").write_text("The ferry to the island leaves at ten, and the tide is high.")
    (base / "notes/gone.txt").unlink()
    return index


@pytest.fixture(scope="module")
def server(world: Path) -> Iterator[Served]:
    with served(world) as running:
        yield running


@pytest.fixture(scope="module")
def surfaces(world: Path, server: Served) -> Iterator[dict[str, Surface]]:
    python = PythonSurface(world)
    with open(os.devnull, "w") as errors:
        stdio, http = over_stdio(world, errors=errors), over_http(server)
        yield {
            "python": python,
            "rest": RestSurface(server),
            "query": RestSurface(server, by_query=True),
            "stdio": stdio,
            "http": http,
        }
        http.close()
        stdio.close()
    python.runtime.close()


SURFACES = ("python", "rest", "query", "stdio", "http")


@pytest.fixture(params=SURFACES)
def surface(request: pytest.FixtureRequest, surfaces: dict[str, Surface]) -> Surface:
    return surfaces[request.param]


def answer(surface: Surface, name: str, **arguments: Any) -> dict[str, Any]:
    reply = surface.ask(name, arguments)
    assert reply.data is not None, reply.problem
    return reply.data


def problem(surface: Surface, name: str, **arguments: Any) -> str:
    reply = surface.ask(name, arguments)
    assert reply.data is None
    return reply.problem


# -- the contract, on each surface


def test_a_search_says_what_the_collection_says(surface: Surface, world: Path) -> None:
    data = answer(surface, "search", query="spring tide", limit=50, max_chars=200_000)
    with groundkit.open(world) as kb:
        found = kb.answer("spring tide", limit=50, verify=True)
    assert data["matches"] == found.matches == len(found.hits)
    for told, hit in zip(data["results"], found.hits, strict=True):
        assert (told["score"], told["text"], told["place"]) == (hit.score, hit.text, hit.place)
        cited, citation = told["citation"], hit.citation
        assert (cited["chunk_id"], cited["document_id"]) == (citation.chunk_id, citation.document_id)
        assert (cited["source"], cited["start"], cited["end"]) == (citation.source, *_ends(citation))
        assert cited["digest"] == citation.digest
        assert hit.verification is not None
        assert told["verification"]["verdict"] == hit.verification.verdict
        assert told["verification"]["detail"] == hit.verification.detail


def _ends(citation: groundkit.Citation) -> tuple[int, int]:
    return citation.start_offset, citation.end_offset


def test_verdicts_are_told_with_what_changed(surface: Surface) -> None:
    by_source = {
        each["citation"]["source"]: each for each in answer(surface, "search", query="ferry mill", limit=50)["results"]
    }
    assert by_source["notes/drifted.md"]["verification"]["verdict"] == "drifted"
    assert by_source["notes/gone.txt"]["verification"]["reason"] == "source_missing"
    chunk = answer(surface, "fetch_chunk", chunk_id=by_source["notes/drifted.md"]["citation"]["chunk_id"])
    told = chunk["verification"]
    assert (told["verdict"], told["reason"]) == ("drifted", "edited")
    assert "ten" in told["found"] and chunk["text"].count("nine") == 1
    assert {(each["change"], each["text"]) for each in told["diff"]} >= {("removed", "nine"), ("added", "ten")}


def test_a_passage_stands_in_its_place(surface: Surface, world: Path) -> None:
    hit = answer(surface, "search", query="tide 4", limit=1)["results"][0]
    chunk = answer(surface, "fetch_chunk", chunk_id=hit["id"], context=300)
    text = TEXTS["tides.md"]
    start, end = chunk["citation"]["start"], chunk["citation"]["end"]
    assert text[start:end] == chunk["text"] == hit["text"]
    assert text[chunk["context_start"] : start] == chunk["before"] != ""
    assert text[end : end + len(chunk["after"])] == chunk["after"]
    after = answer(surface, "fetch_chunk", chunk_id=chunk["next"])
    assert after["previous"] == chunk["id"] and after["citation"]["start"] >= start


def test_collections_and_their_contents_are_told(surface: Surface) -> None:
    listed = answer(surface, "list_collections")["collections"]
    assert [each["name"] for each in listed] == ["default", "second.one", "third"]
    assert [each["problem"] for each in listed] == [None, None, None]
    status = answer(surface, "index_status", collection="second.one")
    assert (status["documents"], status["chunks"]) == (2, listed[1]["chunks"])


def test_unknown_ids_are_answers(surface: Surface) -> None:
    for chunk_id in ("0" * 32, "nonsense", "../../etc/passwd", "default/" + "f" * 32, "", "\x00\u202e<script>"):
        told = answer(surface, "fetch_chunk", chunk_id=chunk_id)
        assert (told["found"], told["citation"], told["text"]) == (False, None, "")
        assert told["verification"]["verdict"] == "unresolvable"
        assert told["verification"]["reason"] == "unknown_chunk"


def test_an_unknown_collection_is_named_beside_those_there_are(surface: Surface) -> None:
    for name in ("search", "index_status", "fetch_chunk"):
        more = {"search": {"query": "tide"}, "fetch_chunk": {"chunk_id": "0" * 32}}.get(name, {})
        said = problem(surface, name, collection="nope", **more)
        assert "no collection nope" in said and "second.one" in said


def test_a_wrong_field_is_named_with_the_nearest_right_one(surface: Surface) -> None:
    assert "'limti' is no known field; did you mean limit?" in problem(surface, "search", query="tide", limti=3)
    assert "query is missing" in problem(surface, "search", limit=3)
    assert "limit" in problem(surface, "search", query="tide", limit=0)
    assert "mode" in problem(surface, "search", query="tide", mode="magic")


@pytest.mark.parametrize(
    "field", ["path", "base", "base_dir", "index_dir", "embedder", "model_url", "endpoint", "rerank"]
)
@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_no_request_names_a_path_or_a_model(surface: Surface, name: str, field: str) -> None:
    required = {"search": {"query": "tide"}, "fetch_chunk": {"chunk_id": "0" * 32}}.get(name, {})
    assert f"'{field}' is no known field" in problem(surface, name, **required, **{field: "/etc/passwd"})


def test_a_query_that_asks_for_nothing_says_so(surface: Surface) -> None:
    told = answer(surface, "search", query="-tide")
    assert told["results"] == [] and "only says what is not wanted" in told["refused"]
    for nothing in ("", " ", "?!"):
        told = answer(surface, "search", query=nothing)
        assert (told["matches"], told["refused"]) == (0, "the query holds no word, and signs are not indexed")


def test_an_address_of_a_chunk_is_as_good_as_its_id(surface: Surface) -> None:
    hit = answer(surface, "search", query="ferry", collection="second.one", limit=1)["results"][0]
    for chunk_id in (hit["url"], hit["id"]):
        assert answer(surface, "fetch_chunk", chunk_id=chunk_id)["text"] == hit["text"]
    assert "did you mean chunk_id?" in problem(surface, "fetch_chunk", id=hit["id"])


def test_a_check_says_only_what_there_is_to_say(surface: Surface) -> None:
    hit = answer(surface, "search", query="spring", limit=1)["results"][0]
    assert set(hit["verification"]) == {"verdict", "reason", "detail", "context_changed"}


def test_a_search_by_meaning_without_vectors_says_what_to_do(surface: Surface) -> None:
    assert "bm25" in problem(surface, "search", query="tide", mode="hybrid")


@pytest.mark.parametrize("budget", [2000, 2777, 5000])
def test_pages_of_any_budget_make_the_whole_answer(surface: Surface, budget: int) -> None:
    whole = answer(surface, "search", query="tide", limit=100, max_chars=200_000)
    texts: dict[int, str] = {}
    cursor, pages = None, 0
    while pages == 0 or cursor is not None:
        more = {} if cursor is None else {"cursor": cursor}
        data = answer(surface, "search", query="tide", limit=100, max_chars=budget, **more)
        assert len(json.dumps(data, ensure_ascii=False, separators=(",", ":"))) <= budget
        assert not data["changed"] and data["results"]
        for each in data["results"]:
            assert len(texts.setdefault(each["rank"], "")) == each["text_start"]
            texts[each["rank"]] += each["text"]
        cursor, pages = data["next_cursor"], pages + 1
        assert data["truncated"] == (cursor is not None)
    assert texts == {each["rank"]: each["text"] for each in whole["results"]}
    assert pages > 1


def test_a_long_passage_is_read_to_its_end(surface: Surface) -> None:
    hit = answer(surface, "search", query="tide", limit=1)["results"][0]
    text, cursor, pages = "", None, 0
    while pages == 0 or cursor is not None:
        more = {} if cursor is None else {"cursor": cursor}
        data = answer(surface, "fetch_chunk", chunk_id=hit["id"], max_chars=2000, context=0, **more)
        assert data["text_start"] == len(text)
        text, cursor, pages = text + data["text"], data["next_cursor"], pages + 1
    assert text == hit["text"]


def test_a_cursor_of_another_request_is_refused(surface: Surface) -> None:
    cursor = answer(surface, "search", query="tide", limit=2)["next_cursor"]
    assert cursor is not None
    assert "another request" in problem(surface, "search", query="ferry", cursor=cursor)
    assert "none that this server gave" in problem(surface, "search", query="tide", cursor="<script>")


# -- the same from all of them

QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "spring tide"}),
    ("search", {"query": '"old tide tables" +mill'}),
    ("search", {"query": "ferry island", "verify": False, "limit": 1}),
    ("search", {"query": "tide", "per_source": 1, "merge": True, "max_chars": 3000}),
    ("search", {"query": "潮 🌊 é", "collection": "second.one"}),
    ("search", {"query": "source:notes/* tide"}),
    ("search", {"query": "nothing like it anywhere"}),
    ("search", {"query": "-tide"}),
    ("search", {"query": "x" * 9000}),
    ("search", {"query": "tide", "collection": "third"}),
    ("search", {"query": "tide", "collection": "../x"}),
    ("search", {"query": "tide", "mode": "dense"}),
    ("search", {"query": "tide", "limit": 101}),
    ("search", {}),
    ("fetch_chunk", {"chunk_id": "f" * 32}),
    ("fetch_chunk", {"chunk_id": "third/" + "f" * 32}),
    ("fetch_chunk", {"chunk_id": "second.one/" + "f" * 32, "collection": "third"}),
    ("fetch_chunk", {}),
    ("list_collections", {}),
    ("list_collections", {"max_chars": 1}),
    ("index_status", {}),
    ("index_status", {"collection": "third"}),
    ("index_status", {"colection": "third"}),
]


@pytest.mark.parametrize(("name", "arguments"), QUESTIONS, ids=[f"{n}-{a}"[:60] for n, a in QUESTIONS])
def test_all_surfaces_answer_alike(surfaces: dict[str, Surface], name: str, arguments: dict[str, Any]) -> None:
    replies = {each: surfaces[each].ask(name, arguments) for each in SURFACES}
    assert all(reply == replies["python"] for reply in replies.values()), replies


def test_every_chunk_is_told_alike(surfaces: dict[str, Surface]) -> None:
    hits = answer(surfaces["python"], "search", query="tide ferry mill", limit=100, max_chars=200_000)["results"]
    assert len(hits) > 5
    for hit in hits:
        replies = [surfaces[each].ask("fetch_chunk", {"chunk_id": hit["id"]}) for each in SURFACES]
        assert all(reply == replies[0] for reply in replies)


# -- what only MCP has


@pytest.fixture(params=["stdio", "http"])
def client(request: pytest.FixtureRequest, surfaces: dict[str, Surface]) -> McpSurface:
    found = surfaces[request.param]
    assert isinstance(found, McpSurface)
    return found


def test_tools_say_what_they_take_and_give_and_that_they_only_read(client: McpSurface) -> None:
    tools = {each.name: each for each in client.run(client.session.list_tools()).tools}
    assert set(tools) == {*OPERATIONS, "fetch"}
    for tool in tools.values():
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema is not None and tool.output_schema["type"] == "object"
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is True and tool.annotations.destructive_hint is False


def test_the_plain_pair_finds_and_reads(client: McpSurface) -> None:
    found = answer(client, "search", query="old tide tables")["results"]
    assert all({"id", "title", "url"} <= set(each) for each in found)
    read = answer(client, "fetch", id=found[0]["id"])
    assert set(read) == {"id", "title", "text", "url", "metadata"}
    assert read["id"] == found[0]["id"] and read["text"] == found[0]["text"]
    assert answer(client, "fetch", id="default/" + "0" * 32)["metadata"]["reason"] == "unknown_chunk"


def test_every_chunk_is_a_resource(client: McpSurface, world: Path) -> None:
    listed = client.run(client.session.list_resources()).resources
    with groundkit.open(world) as first, groundkit.open(world, collection="second.one") as second:
        expected = [f"groundkit://{kb.name}/{each.chunk_id}" for kb in (first, second) for each in kb.citations()]
    assert [each.uri for each in listed] == expected
    (content,) = client.run(client.session.read_resource(listed[0].uri)).contents
    assert json.loads(content.text) == answer(client, "fetch_chunk", chunk_id=_id(listed[0].uri), context=0)
    (template,) = client.run(client.session.list_resource_templates()).resource_templates
    assert template.uri_template == "groundkit://{collection}/{chunk_id}"


def _id(uri: str) -> str:
    return uri.removeprefix("groundkit://")


def test_an_unknown_tool_or_resource_is_an_error_of_the_protocol(client: McpSurface) -> None:
    from mcp.shared.exceptions import MCPError

    with pytest.raises(MCPError, match="did you mean search"):
        client.run(client.session.call_tool("serch", {}))
    for address in ("groundkit://default/" + "0" * 32, "file:///etc/passwd", "groundkit://nope/00"):
        with pytest.raises(MCPError):
            client.run(client.session.read_resource(address))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_clients_of_every_protocol_version_are_answered_alike(
    surfaces: dict[str, Surface], server: Served, world: Path, transport: str, mode: str
) -> None:
    command = ["-m", "groundkit", "mcp", "--index-dir", str(world)]
    process = StdioServerParameters(command=sys.executable, args=command, env=environment())
    target = process if transport == "stdio" else f"http://127.0.0.1:{server.port}/mcp"

    async def asked() -> list[Any]:
        async with Client(target, mode=mode) as client:
            return [(await client.call_tool(name, arguments)).structured_content for name, arguments in QUESTIONS[:9]]

    expected = [surfaces["python"].ask(name, arguments).data for name, arguments in QUESTIONS[:9]]
    assert asyncio.run(asked()) == expected
