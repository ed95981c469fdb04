"""What only REST has: its description, its header fields, its ways to ask, and what it says where there is no answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from integration.support import put
from jsonschema import Draft202012Validator
from service_support import Served, served

import groundkit
from groundkit.service.operations import OPERATIONS

JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    base = tmp_path_factory.mktemp("rest")
    put(base, {"a.md": "# Harbour\n\nThe harbour is open.", "b.txt": "The mill is closed; the harbour is not."})
    with groundkit.open(base / ".groundkit", base=base) as kb:
        kb.ingest("")
    with served(base / ".groundkit") as running:
        yield running


def problem(status: int, headers: dict[str, str], body: bytes) -> dict[str, object]:
    assert headers["content-type"] == "application/problem+json"
    told: dict[str, object] = json.loads(body)
    assert told["status"] == status
    assert str(told["type"]).startswith("urn:groundkit:problem:") and told["title"] and told["detail"]
    return told


def test_the_description_is_of_the_models_that_answer(server: Served) -> None:
    status, headers, body = server.request("GET", "/openapi.json")
    described = json.loads(body)
    assert (status, headers["content-type"], described["openapi"]) == (200, "application/json", "3.1.0")
    assert set(described["paths"]) == {f"/v1/{name}" for name in OPERATIONS}
    schemas = described["components"]["schemas"]
    for each in schemas.values():
        Draft202012Validator.check_schema(each)
    asked = {"search": {"query": "harbour"}, "fetch_chunk": {"chunk_id": "0" * 32}}
    for name, operation in OPERATIONS.items():
        _, _, body = server.request("POST", f"/v1/{name}", json.dumps(asked.get(name, {})).encode(), JSON)
        whole = {"$ref": f"#/components/schemas/{operation.answer.__name__}", "components": described["components"]}
        assert list(Draft202012Validator(whole).iter_errors(json.loads(body))) == []
        parameters = {each["name"] for each in described["paths"][f"/v1/{name}"]["get"]["parameters"]}
        assert parameters == set(operation.request.model_fields)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/searches", 404), ("GET", "/v1", 404), ("GET", "/v1/search/", 404), ("GET", "/static/../page.css", 404),
        ("GET", "/static/page.py", 404), ("GET", "/mcp", 405), ("POST", "/", 405), ("POST", "/healthz", 405),
        ("PUT", "/v1/search", 405), ("OPTIONS", "/v1/search", 405), ("DELETE", "/v1/search", 405),
        ("GET", "/v1/search", 400), ("GET", "/v1/search?query=a&query=b", 400), ("GET", "/v1/search?query=a&limit=ten", 400),
        ("GET", "/v1/search?query=a&limt=3", 400), ("GET", "/v1/search?query=a&collection=%00", 404),
        ("GET", "/v1/index_status?collection=..%2F..", 404),
    ],
)  # fmt: skip
def test_what_is_not_there_is_a_problem(server: Served, method: str, path: str, status: int) -> None:
    body = b"{}" if method in ("POST", "PUT") else None
    got, headers, sent = server.request(method, path, body, JSON)
    assert got == status
    problem(status, headers, sent)


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[]", b"null", b"{", b'{"query": "a"} x', b'{"query": NaN}', b'{"query": "\\ud800"}', b"\xff\xfe", b"[" * 50_000,
        b'{"query": "a", "limit": 1e400}', b'{"query": "a", "limit": 99999999999999999999999}', b'{"query": "a", "limit": true}',
        b'{"query": "a", "limit": "3"}', b'{"query": ["a"]}', b'{"query": "a", "collection": null}', b'{"query": "a", "": 1}',
    ],
    ids=lambda body: repr(body[:40]),
)  # fmt: skip
def test_a_body_that_is_no_request_is_a_problem(server: Served, body: bytes) -> None:
    got, headers, sent = server.request("POST", "/v1/search", body, JSON)
    assert got == 400
    problem(400, headers, sent)


def test_a_head_is_what_a_get_would_say(server: Served) -> None:
    path = "/v1/search?query=harbour&verify=false"
    _, whole, body = server.request("GET", path)
    status, headers, nothing = server.request("HEAD", path)
    assert (status, nothing) == (200, b"") and len(body) > 0
    for name in ("etag", "content-type", "content-length", "cache-control"):
        assert headers[name] == whole[name]


def test_a_tag_is_of_one_request_only(server: Served) -> None:
    paths = [
        f"/v1/search?query={word}&verify={check}"
        for word in ("harbour", "mill", "nothing")
        for check in ("true", "false")
    ]
    tags = [server.request("GET", path)[1]["etag"] for path in [*paths, "/v1/index_status", "/v1/list_collections"]]
    assert len(set(tags)) == len(tags)
    for path, tag in zip(paths, tags, strict=False):
        for given in (tag, f'"x", {tag}', f"W/{tag}", "*"):
            assert server.request("GET", path, headers={"if-none-match": given})[0] == 304, given
        assert server.request("GET", path, headers={"if-none-match": tags[-1]})[0] == 200


def test_health_readiness_and_metrics(server: Served) -> None:
    assert json.loads(server.request("GET", "/healthz")[2]) == {"status": "ok"}
    assert json.loads(server.request("GET", "/readyz")[2]) == {"status": "ready", "collections": 1}
    server.request("GET", "/v1/search?query=harbour")
    server.request("GET", "/v1/search?query=harbour&collection=nope")
    status, headers, body = server.request("GET", "/metrics")
    assert status == 200 and headers["content-type"].startswith("text/plain; version=")
    told = body.decode()
    assert 'groundkit_requests_total{operation="search",status="2xx",surface="rest"}' in told
    assert 'groundkit_refused_total{kind="unknown_collection"}' in told
    assert "harbour" not in told and "nope" not in told


def test_no_answer_lets_another_origin_read(server: Served) -> None:
    for path in ("/", "/v1/search?query=harbour", "/healthz", "/nowhere", "/static/page.js"):
        _, headers, _ = server.request("GET", path)
        assert not any(name.startswith("access-control-") for name in headers)
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["x-content-type-options"] == "nosniff"


def test_a_token_is_asked_for_everywhere_but_of_health(tmp_path: Path) -> None:
    put(tmp_path, {"a.md": "The harbour is open."})
    with groundkit.open(tmp_path / ".groundkit", base=tmp_path) as kb:
        kb.ingest("")
    with served(tmp_path / ".groundkit", GK_SERVE_TOKEN="a token of 16 or so".replace(" ", "-")) as server:
        for path in ("/", "/v1/search?query=harbour", "/metrics", "/readyz", "/openapi.json", "/mcp"):
            status, headers, body = server.request("GET", path)
            assert status == 401 and "Basic" in headers["www-authenticate"]
            problem(401, headers, body)
        assert server.request("GET", "/healthz")[0] == 200
        right = {"authorization": "Bearer a-token-of-16-or-so"}
        assert server.request("GET", "/v1/search?query=harbour", headers=right)[0] == 200
        assert "a-token" not in "".join(server.lines)
