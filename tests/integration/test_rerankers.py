"""Rerankers: the twin, one over HTTP against a server that behaves and servers that do not, and fastembed's."""

import gzip
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from attrs import Factory, define

from groundkit.adapters.posting import HttpPoster
from groundkit.adapters.rerankers import FastembedReranker, HttpReranker
from groundkit.core.posting import Endpoint, PostProblem, below, endpoint_of
from groundkit.core.reranking import RerankFailed, RerankProblem
from groundkit.core.result import Failure, Success
from groundkit.core.retrieval_ports import Reranker
from groundkit.requests import ModelEndpoint
from groundkit.rerankers import reranker, reranker_endpoint
from groundkit.testing.reranker_contract import RerankerContract
from groundkit.testing.word_reranker import WordReranker

SECRET = "sk-very-secret"


@define
class Said:
    """A response: status, headers, body; sent in pieces with a pause between them."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = Factory(dict)
    piece: int = 1 << 20
    pause: float = 0.0


@define
class Asked:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@contextmanager
def serving(answer: Callable[[Asked], Said]) -> Iterator[tuple[str, list[Asked]]]:
    """A server on this machine; its URL and what it was asked."""
    seen: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            read = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append(Asked(self.path, {k.lower(): v for k, v in self.headers.items()}, json.loads(read)))
            said = answer(seen[-1])
            self.send_response(said.status)
            for name, value in said.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(said.body)))
            self.end_headers()
            try:
                for start in range(0, len(said.body), said.piece):
                    self.wfile.write(said.body[start : start + said.piece])
                    self.wfile.flush()
                    time.sleep(said.pause)
            except OSError:
                self.close_connection = True

        def log_message(self, *args: object) -> None:
            """Nobody reads it."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, *args: object) -> None:
            """A client that has gone is no error."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def results(asked: Asked) -> list[tuple[int, float]]:
    texts = asked.body.get("documents") or asked.body["texts"]
    scores = WordReranker().scores(asked.body["query"], texts).unwrap()
    # Servers answer with the best first.
    return sorted(enumerate(scores), key=lambda each: -each[1])


def like_cohere(asked: Asked) -> Said:
    return Said(json.dumps({"results": [{"index": n, "relevance_score": s} for n, s in results(asked)]}).encode())


def like_tei(asked: Asked) -> Said:
    return Said(json.dumps([{"index": n, "score": s} for n, s in results(asked)]).encode())


def over_http(url: str, model: str = "", key: str = "", seconds: float = 20, most: int = 100_000) -> HttpReranker:
    return HttpReranker(HttpPoster(Endpoint(url, True, key), seconds, most, (0.0, 0.0)), model)


class TestTwin(RerankerContract):
    def make(self) -> Reranker:
        return WordReranker()


class _OverHttp(RerankerContract):
    def make(self) -> Reranker:
        self.made.append(over_http(self.url, self.model))
        return self.made[-1]

    model = ""
    answer = staticmethod(like_tei)

    @pytest.fixture(autouse=True)
    def server(self) -> Iterator[None]:
        self.made: list[HttpReranker] = []
        with serving(self.answer) as (self.url, _):
            yield
            for each in self.made:
                each.close()


class TestLikeTei(_OverHttp):
    pass


class TestLikeCohere(_OverHttp):
    model = "rerank-1"
    answer = staticmethod(like_cohere)


def refused(answer: Callable[[Asked], Said], **how: Any) -> tuple[RerankFailed, int]:
    """What a server that misbehaves comes to, and how often it was asked."""
    with serving(answer) as (url, seen):
        model = over_http(url, key=SECRET, **how)
        said = model.scores("a question", ["one text", "two texts"])
        model.close()
    assert isinstance(said, Failure)
    assert not any(each in said.failure().detail for each in (SECRET, "question", "texts are", "hidden"))
    return said.failure(), len(seen)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "hidden",
        "{}",
        "[]",
        "null",
        '{"results": null}',
        '[{"index": 0, "score": 1}]',
        '[{"index": 0, "score": 1}, {"index": 0, "score": 1}]',
        '[{"index": 0, "score": 1}, {"index": 2, "score": 1}]',
        '[{"index": 0, "score": 1}, {"index": -1, "score": 1}]',
        '[{"index": 0, "score": 1}, {"index": 1, "score": 1}, {"index": 1, "score": 1}]',
        '[{"index": 0, "score": 1}, {"index": 1, "score": "1"}]',
        '[{"index": 0, "score": 1}, {"index": 1, "score": true}]',
        '[{"index": 0, "score": 1}, {"index": true, "score": 1}]',
        '[{"index": 0, "score": 1}, {"index": 1}]',
        '[{"index": 0, "score": 1}, 1]',
        '[{"index": 0, "score": 1}, {"index": 1, "score": 1' + "0" * 400 + "}]",
        "[" * 50_000,
    ],
)
def test_an_answer_that_is_none_is_refused_and_not_asked_for_again(body: str) -> None:
    failed, asked = refused(lambda _: Said(body.encode()))
    assert (failed.problem, asked) == (RerankProblem.ANSWER, 1)


@pytest.mark.parametrize(("status", "asked"), [(401, 1), (404, 1), (422, 1), (302, 1), (500, 3), (429, 3), (503, 3)])
def test_a_status_is_told_and_only_what_may_pass_is_tried_again(status: int, asked: int) -> None:
    failed, times = refused(lambda _: Said(b"hidden", status, {"Location": "/other"}))
    assert (failed.problem, times) == (RerankProblem.REFUSED, asked)
    assert str(status) in failed.detail


def test_what_passes_is_answered_in_the_end() -> None:
    answers = iter([Said(b"", 503), Said(b"", 429)])
    with serving(lambda asked: next(answers, None) or like_tei(asked)) as (url, seen):
        model = over_http(url)
        assert model.scores("a b", ["a b", "c"]).unwrap()[0] > 1
        model.close()
    assert len(seen) == 3


def test_an_answer_beyond_its_bytes_is_not_read() -> None:
    failed, _ = refused(lambda _: Said(b" " * 100_000), most=1000)
    assert (failed.problem, "1000 bytes" in failed.detail) == (RerankProblem.ANSWER, True)


def test_a_compressed_answer_is_not_unpacked() -> None:
    packed = gzip.compress(b'[{"index": 0, "score": 1}, {"index": 1, "score": 2}]')
    failed, _ = refused(lambda _: Said(packed, 200, {"Content-Encoding": "gzip"}))
    assert failed.problem is RerankProblem.ANSWER


def test_a_server_that_drips_is_left_when_its_time_is_over() -> None:
    failed, _ = refused(lambda _: Said(b" " * 10_000, piece=1, pause=0.05), seconds=0.4)
    assert (failed.problem, "0.4 s" in failed.detail) == (RerankProblem.UNREACHABLE, True)


def test_where_nobody_listens_is_unreachable() -> None:
    with serving(like_tei) as (url, _):
        pass
    model = over_http(url)
    said = model.scores("a", ["b"])
    model.close()
    assert isinstance(said, Failure)
    assert said.failure().problem is RerankProblem.UNREACHABLE


def test_the_key_goes_into_one_header_and_nowhere_else() -> None:
    with serving(like_cohere) as (url, seen):
        model = over_http(f"{url}/v1/rerank", "rerank-1", SECRET)
        model.scores("a", ["b"]).unwrap()
        assert SECRET not in repr(model) + repr(Endpoint(url, True, SECRET)) + model.identity
        model.close()
    assert seen[0].headers["authorization"] == f"Bearer {SECRET}"
    assert (seen[0].path, seen[0].body) == ("/v1/rerank", {"model": "rerank-1", "query": "a", "documents": ["b"]})


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "10.0.0.1", "[::1]"])
def test_this_machine_and_its_network_are_asked_only_if_that_is_allowed(host: str) -> None:
    poster = HttpPoster(endpoint_of(f"https://{host}:9/", False, "").unwrap(), 5, pauses=())
    said = poster.post({})
    poster.close()
    assert isinstance(said, Failure)
    assert (said.failure().problem, "allowed" in said.failure().detail) == (PostProblem.CONFIGURATION, True)


@pytest.mark.parametrize("host", ["169.254.169.254", "[fe80::1]", "224.0.0.1", "0.0.0.0", "[::ffff:169.254.169.254]"])
@pytest.mark.parametrize("local", [False, True])
def test_where_no_server_is_nobody_is_asked(host: str, local: bool) -> None:
    """A link-local address is where clouds tell machines their secrets."""
    poster = HttpPoster(endpoint_of(f"https://{host}:9/", local, "").unwrap(), 5, pauses=())
    said = poster.post({})
    poster.close()
    assert isinstance(said, Failure)
    assert (said.failure().problem, "nobody's" in said.failure().detail) == (PostProblem.CONFIGURATION, True)


def test_without_https_no_key_goes_out_of_the_network() -> None:
    poster = HttpPoster(endpoint_of("http://1.1.1.1:9/", True, SECRET).unwrap(), 5, pauses=())
    said = poster.post({})
    poster.close()
    assert isinstance(said, Failure)
    assert "without https" in said.failure().detail


def test_a_server_says_when_it_is_to_be_asked_again() -> None:
    slept: list[float] = []
    with serving(lambda _: Said(b"[]") if slept else Said(b"", 503, {"Retry-After": "7"})) as (url, _):
        poster = HttpPoster(endpoint_of(url, True, "").unwrap(), 20, pauses=(0.5,), sleep=slept.append)
        assert poster.post({}) == Success([])
        poster.close()
    assert slept == [7.0]


def test_a_break_during_a_pause_ends_it() -> None:
    def broken_off(_: float) -> None:
        raise KeyboardInterrupt

    with serving(lambda _: Said(b"", 503)) as (url, seen):
        poster = HttpPoster(endpoint_of(url, True, "").unwrap(), 20, pauses=(0.5, 0.5), sleep=broken_off)
        with pytest.raises(KeyboardInterrupt):
            poster.post({})
        poster.close()
    assert len(seen) == 1


@pytest.mark.parametrize("asked", ["Wed, 21 Oct 2099 07:28:00 GMT", "-1", "1e9", "\u00b2", "nan", ""])
def test_what_is_no_number_of_seconds_asks_for_nothing(asked: str) -> None:
    slept: list[float] = []
    with serving(lambda _: Said(b"", 429, {"Retry-After": asked})) as (url, _):
        poster = HttpPoster(endpoint_of(url, True, "").unwrap(), 20, pauses=(0.5,), sleep=slept.append)
        poster.post({})
        poster.close()
    assert len(slept) == 1 and 0.5 <= slept[0] <= 0.75


def test_no_server_makes_anybody_wait_long_or_beyond_the_time_there_is() -> None:
    slept: list[float] = []
    with serving(lambda _: Said(b"", 429, {"Retry-After": "86400"})) as (url, seen):
        for seconds in (100, 29):
            where = endpoint_of(url, True, "").unwrap()
            poster = HttpPoster(where, seconds, pauses=(0.5,), sleep=slept.append, clock=lambda: 0.0)
            poster.post({})
            poster.close()
    assert (slept, len(seen)) == ([30.0], 3)


@pytest.mark.parametrize(("status", "todo"), [(401, "key"), (403, "key"), (404, "model")])
def test_a_refusal_says_what_to_look_at(status: int, todo: str) -> None:
    with serving(lambda _: Said(b"", status)) as (url, _):
        poster = HttpPoster(endpoint_of(url, True, SECRET).unwrap(), 20, pauses=())
        said = poster.post({})
        poster.close()
    assert isinstance(said, Failure)
    detail = said.failure().detail
    assert "127.0.0.1" in detail and todo in detail and SECRET not in detail


#: What a URL must not hold, since clients log URLs.
SECRETS_IN_URLS = (
    *("?key=pw", "?%6bey=pw", "?a=1;key=pw", "#key=pw", "?code=pw", "?jwt=pw", "?credential=pw", "?a=%26api_key%3Dpw"),
    *("?x=sk-abcdefghijklmnopqrstuvwx", "sk-abcdefghijklmnopqrstuvwx/v1", "?%2525252525256bey=pw"),
)


@pytest.mark.parametrize(
    ("url", "local", "key"),
    [
        ("http://example.org/", False, ""),
        ("ftp://example.org/", True, ""),
        ("https://user:pw@example.org/", True, ""),
        ("https:///x", True, ""),
        ("https://[x/", True, ""),
        ("https://example.org:x/", True, ""),
        ("https://example.org/a b", True, ""),
        ("https://example.org\\@other/", True, ""),
        ("", True, ""),
        *((f"https://example.org/{rest}", True, "") for rest in SECRETS_IN_URLS),
        ("https://example.org/", True, "a\nb"),
        ("https://example.org/", True, "schlüssel"),
    ],
)
def test_what_is_no_endpoint_is_refused(url: str, local: bool, key: str) -> None:
    said = endpoint_of(url, local, key)
    assert isinstance(said, Failure)
    assert "pw" not in said.failure().detail


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("https://a.example", "https://a.example/rerank"),
        ("https://a.example/v1/", "https://a.example/v1/rerank"),
        ("https://a.example/v2/rerank?x=1", "https://a.example/v2/rerank?x=1"),
        ("https://a.example/?api-version=2024-02-01", "https://a.example/rerank?api-version=2024-02-01"),
    ],
)
def test_the_path_of_the_service_is_added_once(url: str, asked: str) -> None:
    assert below(url, "/rerank") == asked
    assert isinstance(endpoint_of(asked, False, ""), Success)


ENVIRONMENT = {"GK_RERANKER_URL": "http://localhost:8080", "GK_RERANKER_LOCAL": "1", "GK_RERANKER_KEY": SECRET}


def test_an_endpoint_comes_from_what_is_given_then_from_the_environment() -> None:
    assert reranker_endpoint(None, ENVIRONMENT) == Success(Endpoint("http://localhost:8080/rerank", True, SECRET))
    given = ModelEndpoint("https://a.example/v1", False)
    assert reranker_endpoint(given, ENVIRONMENT) == Success(Endpoint("https://a.example/v1/rerank", False, SECRET))
    for environment in ({}, {**ENVIRONMENT, "GK_RERANKER_LOCAL": "0"}):
        said = reranker_endpoint(None, environment)
        assert isinstance(said, Failure)
        assert said.failure().problem is RerankProblem.CONFIGURATION


NOWHERE = reranker_endpoint(None, {})


@pytest.mark.parametrize(
    ("name", "identity"),
    [
        ("fastembed", "fastembed:Xenova/ms-marco-MiniLM-L-6-v2"),
        ("fastembed:a/b", "fastembed:a/b"),
        ("http", "http"),
        ("http:m:1", "http:m:1"),
        ("mine", "words"),
    ],
)
def test_a_reranker_is_known_by_its_name(name: str, identity: str) -> None:
    made = reranker(name, reranker_endpoint(None, ENVIRONMENT), {"mine": WordReranker}, environment={}).unwrap()
    assert made.identity == identity
    made.close()


@pytest.mark.parametrize("name", ["", "http:", "fastembed: ", "other", "mine:x"])
def test_a_name_that_nobody_has_is_unknown(name: str) -> None:
    said = reranker(name, NOWHERE, {"mine": WordReranker}, environment={})
    assert isinstance(said, Failure)
    assert said.failure().problem is RerankProblem.UNKNOWN


def test_a_server_that_is_not_named_is_told_only_to_those_who_want_it() -> None:
    assert reranker("http", NOWHERE, {}) == NOWHERE
    assert isinstance(reranker("fastembed", NOWHERE, {}, environment={}), Success)


def test_a_model_that_is_not_there_is_missing_and_not_fetched(tmp_path: Path) -> None:
    model = FastembedReranker("Xenova/ms-marco-MiniLM-L-6-v2", str(tmp_path / "nothing"))
    said = model.scores("a", ["b"])
    assert isinstance(said, Failure)
    assert said.failure().problem is RerankProblem.MISSING
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_fastembed_does_not_know_is_unknown() -> None:
    pytest.importorskip("fastembed", reason='needs the extra "rerank"')
    said = FastembedReranker("nobody/nothing").scores("a", ["b"])
    assert isinstance(said, Failure)
    assert said.failure().problem is RerankProblem.UNKNOWN


def tiny_cross_encoder(directory: Path) -> None:
    """A model whose score is how many of its tokens there are, with the files that fastembed wants."""
    onnx = pytest.importorskip("onnx", reason="builds its own model")
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    words: Sequence[str] = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "tide", "the")
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    directory.mkdir()
    tokenizer.save(str(directory / "tokenizer.json"))
    for name, data in {
        "config.json": {"pad_token_id": 0},
        "tokenizer_config.json": {"model_max_length": 64, "pad_token": "[PAD]"},
        "special_tokens_map.json": {
            "pad_token": "[PAD]",
            "unk_token": "[UNK]",
            "cls_token": "[CLS]",
            "sep_token": "[SEP]",
        },
    }.items():
        (directory / name).write_text(json.dumps(data))
    h = onnx.helper
    ids, mask = (
        h.make_tensor_value_info(n, onnx.TensorProto.INT64, ["b", "t"]) for n in ("input_ids", "attention_mask")
    )
    nodes = [
        h.make_node("Equal", ["input_ids", "tide"], ["is_tide"]),
        h.make_node("Cast", ["is_tide"], ["ones"], to=onnx.TensorProto.FLOAT),
        h.make_node("ReduceSum", ["ones", "axis"], ["logits"], keepdims=1),
    ]
    constants = [
        h.make_tensor("tide", onnx.TensorProto.INT64, [1], [words.index("tide")]),
        h.make_tensor("axis", onnx.TensorProto.INT64, [1], [1]),
    ]
    out = h.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, ["b", 1])
    graph = h.make_graph(nodes, "tiny", [ids, mask], [out], constants)
    (directory / "onnx").mkdir()
    made = h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=9)
    onnx.save(made, str(directory / "onnx" / "model.onnx"))


class TestFastembed(RerankerContract):
    """A model of our own in the place of one that it knows: nothing is fetched."""

    @pytest.fixture(autouse=True)
    def model(self, tmp_path: Path) -> None:
        pytest.importorskip("fastembed", reason='needs the extra "rerank"')
        self.directory = tmp_path / "model"
        tiny_cross_encoder(self.directory)

    def make(self) -> Reranker:
        return FastembedReranker("Xenova/ms-marco-MiniLM-L-6-v2", str(self.directory))

    def test_its_scores_are_those_of_the_model(self) -> None:
        assert self.make().scores("tide", ["the", "tide tide", "tide"]).unwrap() == (1.0, 3.0, 2.0)

    def test_a_damaged_model_is_missing(self) -> None:
        (self.directory / "onnx" / "model.onnx").write_bytes(b"no model")
        said = self.make().scores("a", ["b"])
        assert isinstance(said, Failure)
        assert said.failure().problem is RerankProblem.MISSING
