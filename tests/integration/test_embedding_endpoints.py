"""Embedders of servers, against servers on this machine that behave and that do not."""

import gzip
import json
import logging
import math
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from attrs import field, frozen

from groundkit.adapters.embedders.endpoint import BATCH, BATCH_CHARACTERS, EndpointEmbedder, batches
from groundkit.adapters.embedders.ollama import Ollama
from groundkit.adapters.embedders.openai import OpenAI
from groundkit.adapters.posting import HttpPoster
from groundkit.core.embedding import EmbedFailed, EmbedProblem, Purpose
from groundkit.core.posting import endpoint_of
from groundkit.core.result import Failure, Success
from groundkit.core.retrieval_ports import Embedder
from groundkit.embedders import EndpointSettings, embedder
from groundkit.embedding import VectorRefusedAt, vectors_of
from groundkit.testing.embedder_contract import EmbedderContract
from groundkit.testing.hash_embedder import HashEmbedder

KEY = "sesame-open-up"
DIMENSIONS = 16
DIGEST = "ab" * 32

Respond = Callable[["_Handler", dict[str, Any]], None]


@frozen
class Server:
    url: str
    asked: list[tuple[str, dict[str, Any], str]] = field(factory=list)


class _Handler(BaseHTTPRequestHandler):
    respond: Respond
    asked: list[tuple[str, dict[str, Any], str]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((self.path, body, self.headers.get("Authorization", "")))
        try:
            type(self).respond(self, body)
        except OSError:
            return  # whoever asked has gone

    def says(self, status: int, data: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content_Length": str(len(data)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed."""


@contextmanager
def serving(respond: Respond) -> Iterator[Server]:
    asked: list[tuple[str, dict[str, Any], str]] = []
    handler = type("_Bound", (_Handler,), {"respond": staticmethod(respond), "asked": asked})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield Server(f"http://127.0.0.1:{server.server_address[1]}", asked)
        finally:
            server.shutdown()
            thread.join()


def embedded(texts: Sequence[str]) -> list[list[float]]:
    return [list(each or [1.0] * DIMENSIONS) for each in HashEmbedder(DIMENSIONS).embed(texts, Purpose.QUERY).unwrap()]


def ollama_answer(body: dict[str, Any]) -> Any:
    if "input" not in body:
        return {"modelfile": f"# Modelfile\nFROM /models/blobs/sha256-{DIGEST}\nPARAMETER x 1\n"}
    return {"model": body["model"], "embeddings": embedded(body["input"])}


def openai_answer(body: dict[str, Any]) -> Any:
    """In the reverse order: only the index says what belongs to what."""
    data = [{"index": place, "embedding": each} for place, each in enumerate(embedded(body["input"]))]
    return {"object": "list", "data": data[::-1]}


def well(handler: _Handler, body: dict[str, Any]) -> None:
    answer = openai_answer if handler.path.endswith("/embeddings") else ollama_answer
    handler.says(200, json.dumps(answer(body)).encode())


def answering(answer: object) -> Respond:
    data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    return lambda handler, _: handler.says(200, data)


def made(name: str, server: Server) -> Embedder:
    return embedder(name, EndpointSettings(server.url, allow_local=True, key=KEY), {}).unwrap()


def impatient(url: str, seconds: float = 20.0, pauses: Sequence[float] = (), most: int = 10_000) -> EndpointEmbedder:
    """One that waits for nothing between its attempts."""
    where = endpoint_of(f"{url}/embeddings", True, KEY).unwrap()
    return EndpointEmbedder(HttpPoster(where, seconds, most, pauses), OpenAI(), "m")


def failed(of: Embedder, texts: Sequence[str] = ("tide", "ferry")) -> EmbedFailed:
    with closing(of):
        said = of.embed(texts, Purpose.DOCUMENT)
    assert isinstance(said, Failure)
    assert KEY not in repr((said, of))
    return said.failure()


class _Served(EmbedderContract):
    name: str

    @pytest.fixture(autouse=True)
    def server(self) -> Iterator[None]:
        with serving(well) as self.serving:
            yield

    def make(self) -> Embedder:
        return made(self.name, self.serving)


class TestOllama(_Served):
    name = "ollama:m"


class TestOpenAI(_Served):
    name = "openai:m"


def test_an_identity_holds_what_the_server_tells_and_not_where_it_is() -> None:
    with (
        serving(well) as server,
        closing(made("ollama:m:latest", server)) as ollama,
        closing(made("openai:m", server)) as openai,
    ):
        told = [ollama.identify().unwrap(), openai.identify().unwrap()]
    assert [(each.name, each.dimensions, each.digest) for each in told] == [
        ("ollama:m:latest", DIMENSIONS, DIGEST),
        ("openai:m", DIMENSIONS, ""),
    ]
    assert server.url not in repr(told) and KEY not in repr(told)
    assert [path for path, _, _ in server.asked] == ["/api/show", "/api/embed", "/embeddings"]


def test_a_server_that_is_not_asked_twice_who_it_is() -> None:
    with serving(well) as server, closing(made("openai:m", server)) as one:
        assert one.identify() == one.identify()
        assert len(server.asked) == 1


def test_a_digest_that_cannot_be_had_is_no_unknown_one() -> None:
    def without_show(handler: _Handler, body: dict[str, Any]) -> None:
        if handler.path == "/api/show":
            handler.says(404, b"")
        else:
            well(handler, body)

    with serving(without_show) as server, closing(made("ollama:m", server)) as one:
        said = one.identify().failure()
    assert said.problem is EmbedProblem.REFUSED
    assert "127.0.0.1" in said.detail and "ollama pull m" in said.detail


@pytest.mark.parametrize("answer", [{"embeddings": [[1.0]] * 2, "modelfile": 5}, {"embeddings": [[1.0]] * 2}])
def test_a_server_may_say_nothing_of_its_weights(answer: object) -> None:
    with serving(answering(answer)) as server:
        where = endpoint_of(server.url, True, "").unwrap()
        with closing(HttpPoster(where)) as show:
            assert Ollama(show).digest("m") == Success("")


def test_the_key_goes_to_the_server_and_nowhere_else(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.DEBUG), serving(well) as server, closing(made("ollama:m", server)) as one:
        one.identify()
        one.embed(("tide",), Purpose.QUERY)
        assert KEY not in repr(one)
    assert {key for _, _, key in server.asked} == {f"Bearer {KEY}"}
    assert KEY not in caplog.text and KEY not in "".join(capfd.readouterr())


def test_the_key_of_one_service_is_not_shown_to_another() -> None:
    with serving(well) as server:
        elsewhere = EndpointSettings(server.url, allow_local=True, openai_key=KEY)
        theirs = EndpointSettings(openai_url=server.url, allow_local=True, openai_key=KEY)
        for name, settings in (("openai:m", elsewhere), ("ollama:m", elsewhere), ("openai:m", theirs)):
            with closing(embedder(name, settings, {}).unwrap()) as one:
                one.embed(("tide",), Purpose.QUERY)
    assert [key for _, _, key in server.asked] == ["", "", f"Bearer {KEY}"]


@pytest.mark.parametrize("name", ["ollama:m", "openai:m"])
def test_blank_texts_are_not_sent(name: str) -> None:
    with serving(well) as server, closing(made(name, server)) as one:
        assert one.embed(("", " ", "\n"), Purpose.DOCUMENT).unwrap() == (None, None, None)
        one.embed(("", "tide", " "), Purpose.DOCUMENT)
    assert [body["input"] for _, body, _ in server.asked] == [["tide"]]


def test_half_a_surrogate_pair_does_not_cost_the_batch() -> None:
    with serving(well) as server, closing(made("openai:m", server)) as one:
        assert len(one.embed(("\ud800", "tide"), Purpose.DOCUMENT).unwrap()) == 2
    assert server.asked[0][1]["input"] == ["?", "tide"]


def test_batches_are_bounded_and_lose_nothing() -> None:
    texts = [*map(str, range(3 * BATCH + 1)), "x" * (BATCH_CHARACTERS + 5), "y" * BATCH_CHARACTERS, "z", "z"]
    parted = list(batches(texts))
    assert [each for batch in parted for each in batch] == texts
    for batch in parted:
        assert 1 <= len(batch) <= BATCH
        assert len(batch) == 1 or sum(map(len, batch)) <= BATCH_CHARACTERS
    with serving(well) as server, closing(made("openai:m", server)) as one:
        assert [list(each or ()) for each in one.embed(texts, Purpose.DOCUMENT).unwrap()] == embedded(texts)
    assert [body["input"] for _, body, _ in server.asked] == parted


def _data(*vectors: object) -> dict[str, object]:
    return {"data": [{"index": place, "embedding": each} for place, each in enumerate(vectors)]}


@pytest.mark.parametrize(
    "answer",
    [
        b"<html>Welcome</html>",
        b"",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"data": ' + b"9" * 5000 + b"}",
        None,
        [],
        7,
        {"error": "no"},
        {"data": "many"},
        _data([1.0]),
        _data([1.0], [1.0], [1.0]),
        {"data": [[1.0], [1.0]]},
        {"data": [{"index": 0, "embedding": [1.0]}] * 2},
        {"data": [{"index": place, "embedding": [1.0]} for place in (1, 2)]},
        {"data": [{"index": place, "embedding": [1.0]} for place in (False, True)]},
        {"data": [{"embedding": [1.0]}] * 2},
        _data([1.0], "AAAA"),
        _data([1.0], [[1.0]]),
        _data([1.0], ["1.0"]),
        _data([1.0], [True]),
        _data([1.0], [None]),
        _data([1.0], None),
        _data([1.0], [10**400]),
    ],
    ids=lambda answer: str(answer)[:40],
)
def test_answers_of_another_shape_are_refused_in_words(answer: object) -> None:
    with serving(answering(answer)) as server:
        said = failed(impatient(server.url, most=200_000))
    assert said.problem is EmbedProblem.ANSWER
    assert said.detail and "Welcome" not in said.detail


@pytest.mark.parametrize("answer", [{}, [], {"embeddings": None}, {"embeddings": [[1.0]]}, {"embeddings": [[1.0], 5]}])
def test_so_are_those_of_ollama(answer: object) -> None:
    with serving(answering(answer)) as server:
        assert failed(made("ollama:m", server)).problem is EmbedProblem.ANSWER


@pytest.mark.parametrize(
    "wrong", [[1.0], [1.0] * 17, [math.nan] * 16, [math.inf] * 16, [1e999] * 16, [0.0] * 16, [0] * 16]
)
def test_a_vector_that_is_none_is_refused_by_its_position(wrong: list[float]) -> None:
    def spoils(handler: _Handler, body: dict[str, Any]) -> None:
        vectors = [
            wrong if text == "bad" else each for text, each in zip(body["input"], embedded(body["input"]), strict=True)
        ]
        handler.says(200, json.dumps(_data(*vectors)).encode())

    with serving(spoils) as server, closing(made("openai:m", server)) as one:
        said = vectors_of(one, one.identify().unwrap(), ("tide", "", "tide", "bad"), Purpose.DOCUMENT)
    assert isinstance(said, Failure)
    refused = said.failure()
    assert isinstance(refused, VectorRefusedAt) and refused.position == 3


@pytest.mark.parametrize("vector", [[], [1.0] * 16_385])
def test_a_model_without_dimensions_or_with_too_many_is_refused(vector: list[float]) -> None:
    with serving(answering(_data(vector))) as server, closing(impatient(server.url, most=200_000)) as one:
        assert one.identify().failure().problem is EmbedProblem.ANSWER


def after(statuses: Sequence[int]) -> Respond:
    """Fails so often, then behaves."""
    left = iter(statuses)

    def respond(handler: _Handler, body: dict[str, Any]) -> None:
        status = next(left, 200)
        well(handler, body) if status == 200 else handler.says(status, b"{}")

    return respond


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_what_passes_is_tried_again(status: int) -> None:
    with serving(after([status, status])) as server, closing(impatient(server.url, pauses=(0.0, 0.0))) as one:
        assert isinstance(one.embed(("tide",), Purpose.QUERY), Success)
    assert len(server.asked) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_does_not_pass_is_not(status: int) -> None:
    with serving(after([status, status])) as server:
        said = failed(impatient(server.url, pauses=(0.0, 0.0)))
    assert said.problem is EmbedProblem.REFUSED and str(status) in said.detail
    assert len(server.asked) == 1


def test_a_server_that_stays_busy_is_given_up() -> None:
    with serving(after([503] * 9)) as server:
        assert failed(impatient(server.url, pauses=(0.0, 0.0))).problem is EmbedProblem.REFUSED
    assert len(server.asked) == 3


def test_redirects_are_not_followed() -> None:
    with serving(well) as elsewhere:
        to = f"{elsewhere.url}/embeddings"
        with serving(lambda handler, _: handler.says(307, b"", Location=to)) as server:
            assert failed(impatient(server.url)).problem is EmbedProblem.REFUSED
        assert elsewhere.asked == []


def test_a_dead_port_is_unreachable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        assert failed(impatient(f"http://127.0.0.1:{taken.getsockname()[1]}")).problem is EmbedProblem.UNREACHABLE


def test_an_answer_that_breaks_off_is_none() -> None:
    def breaks_off(handler: _Handler, _: dict[str, Any]) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"data":')

    with serving(breaks_off) as server:
        assert failed(impatient(server.url)).problem is EmbedProblem.UNREACHABLE


def test_an_answer_that_drips_ends_with_the_time_that_it_has() -> None:
    gone = threading.Event()

    def drips(handler: _Handler, _: dict[str, Any]) -> None:
        handler.send_response(200)
        handler.end_headers()
        try:
            while not gone.is_set():
                handler.wfile.write(b" ")
                handler.wfile.flush()
                time.sleep(0.02)
        except OSError:
            gone.set()

    with serving(drips) as server:
        assert failed(impatient(server.url, seconds=0.5)).problem is EmbedProblem.UNREACHABLE
        assert gone.wait(20)


def test_an_answer_without_end_is_left_where_it_is_too_large() -> None:
    sent: list[int] = []

    def pours(handler: _Handler, _: dict[str, Any]) -> None:
        handler.send_response(200)
        handler.end_headers()
        for _ in range(1024):
            handler.wfile.write(b"1" * 1024 * 1024)
            sent.append(1)

    with serving(pours) as server:
        said = failed(impatient(server.url))
    assert said.problem is EmbedProblem.ANSWER and "10000 bytes" in said.detail
    assert len(sent) < 1024


def test_a_compressed_answer_is_not_unpacked() -> None:
    bomb = gzip.compress(b" " * 20_000_000)
    with serving(lambda handler, _: handler.says(200, bomb, Content_Encoding="gzip")) as server:
        assert failed(impatient(server.url, most=100_000)).problem is EmbedProblem.ANSWER


def test_a_name_for_this_machine_has_to_be_allowed() -> None:
    settings = EndpointSettings("https://localhost:1", key=KEY)
    for name in ("openai:m", "ollama:m"):
        said = failed(embedder(name, settings, {}).unwrap())
        assert said.problem is EmbedProblem.CONFIGURATION and "allowed" in said.detail
