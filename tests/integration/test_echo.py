"""The echo check in a whole collection: every broken answerer is told by the fault it has."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from click.testing import CliRunner

from groundkit.adapters.posting import HttpPoster
from groundkit.cli.echo import echo_command
from groundkit.collection import Collection
from groundkit.core.echo import EchoOutcome, EchoReport, echo_plan
from groundkit.core.posting import endpoint_of
from groundkit.echo import EchoAnswer, echo_data, http_answerer, run_echo, search_answerer
from groundkit.portable_json import citation_data

PLAN = echo_plan("groundkit", 4, absent=1)
MARKERS = {each.text: each.marker for each in PLAN.questions}
DECOYS = {each.text: each.decoy for each in PLAN.questions}


def with_marker(kb: Collection, marker: str | None) -> Any:
    return next((each for each in kb.citations() if marker and marker in kb.resolve_citation(each)), None)


def first_passage(question: str, kb: Collection) -> EchoAnswer:
    # The passage of the last subject is nobody's decoy among the first two.
    return EchoAnswer("see there", (next(iter(kb.citations())),))


def decoy_taker(question: str, kb: Collection) -> EchoAnswer:
    found = with_marker(kb, DECOYS[question])
    return EchoAnswer(f"It is {DECOYS[question]}.", (found,) if found else ())


def inventor(question: str, kb: Collection) -> EchoAnswer:
    found = with_marker(kb, MARKERS[question])
    return EchoAnswer("It is " + "Z" * 20, (found,) if found else ())


def silent(question: str, kb: Collection) -> EchoAnswer:
    return EchoAnswer("")


def forger(question: str, kb: Collection) -> EchoAnswer:
    return EchoAnswer(f"It is {MARKERS[question]}.", ("0" * 32,))


def drifter(question: str, kb: Collection) -> EchoAnswer:
    found = with_marker(kb, MARKERS[question])
    if found is None:
        return EchoAnswer("")
    assert kb.base is not None
    path = kb.base / found.source
    said = path.read_text(encoding="utf-8")
    path.write_text("A line before it.\n" + said, encoding="utf-8")
    return EchoAnswer("see there", (found.chunk_id,))


def by_id(question: str, kb: Collection) -> EchoAnswer:
    found = with_marker(kb, MARKERS[question])
    return EchoAnswer(str(MARKERS[question]), (found.chunk_id,)) if found else EchoAnswer("")


def by_json(question: str, kb: Collection) -> EchoAnswer:
    found = with_marker(kb, MARKERS[question])
    return EchoAnswer("", (citation_data(kb.portable(found)),)) if found else EchoAnswer("")


def outcomes(report: EchoReport) -> list[EchoOutcome]:
    return [row.outcome for row in report.rows]


R, W, D, I = EchoOutcome.RIGHT, EchoOutcome.WRONG, EchoOutcome.DECOY, EchoOutcome.INVENTED
LOST, NO, BARE = EchoOutcome.UNRESOLVABLE, EchoOutcome.UNCITED, EchoOutcome.UNSUPPORTED


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (search_answerer, [R, R, R, R, R]),
        (by_id, [R, R, R, R, R]),
        (by_json, [R, R, R, R, R]),
        (first_passage, [R, D, W, W, I]),
        (decoy_taker, [D, D, D, D, R]),
        (inventor, [BARE, BARE, BARE, BARE, I]),
        (silent, [NO, NO, NO, NO, R]),
        (forger, [LOST, LOST, LOST, LOST, I]),
    ],
)
def test_every_answerer_is_told_by_its_fault(answer: Callable[..., EchoAnswer], expected: list[EchoOutcome]) -> None:
    assert outcomes(run_echo(answer, subjects=4, absent=1)) == expected


def test_a_citation_of_what_has_changed_since_is_none() -> None:
    report = run_echo(drifter, subjects=2, absent=0)
    assert EchoOutcome.UNRESOLVABLE in outcomes(report)
    assert EchoOutcome.RIGHT not in outcomes(report)


@pytest.mark.parametrize("given", [7, None, "echo-01.md:3", {"schema": 1}, "", ["a"]])
def test_what_is_no_citation_does_not_resolve(given: object) -> None:
    report = run_echo(lambda question, kb: EchoAnswer("", (given,)), subjects=2, absent=0)
    assert set(outcomes(report)) == {EchoOutcome.UNRESOLVABLE}


def test_the_documents_lie_where_they_were_wanted(tmp_path: Path) -> None:
    report = run_echo(search_answerer, subjects=4, absent=1, directory=tmp_path)
    assert sorted(each.name for each in (tmp_path / "documents").iterdir()) == ["echo-01.md"]
    assert echo_data(report)["score"] == 1.0


@contextmanager
def answering(answer: Callable[[dict[str, Any]], bytes]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            said = answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *args: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/ask"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def sound(body: dict[str, Any]) -> bytes:
    marker = MARKERS[body["question"]]
    ids = [each["id"] for each in body["passages"] if marker and marker in each["text"]]
    return json.dumps({"answer": f"It is {marker}." if ids else "None.", "citations": ids}).encode()


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (sound, EchoOutcome.RIGHT),
        (lambda body: b"[]", EchoOutcome.FAILED),
        (lambda body: b"{", EchoOutcome.FAILED),
        (lambda body: b'{"answer": 1}', EchoOutcome.FAILED),
        (lambda body: b'{"answer": "", "citations": "all"}', EchoOutcome.FAILED),
    ],
)
def test_an_endpoint_answers_over_http(answer: Callable[[dict[str, Any]], bytes], outcome: EchoOutcome) -> None:
    with answering(answer) as url:
        poster = HttpPoster(endpoint_of(url, True, "").unwrap(), seconds=20, pauses=())
        report = run_echo(http_answerer(poster), subjects=4, absent=1)
        poster.close()
    assert set(outcomes(report)) == {outcome}


def test_the_command_needs_no_server_and_exits_with_0() -> None:
    said = CliRunner().invoke(
        echo_command, ["--subjects", "4", "--absent", "1", "--format", "json"], standalone_mode=False
    )
    assert (said.return_value, json.loads(said.stdout)["right"]) == (0, 5)


def test_the_command_says_no_below_its_threshold() -> None:
    with answering(lambda body: b'{"answer": "", "citations": []}') as url:
        of = ["--url", url, "--local", "--subjects", "4", "--absent", "4"]
        failed = CliRunner().invoke(echo_command, of, standalone_mode=False)
        enough = CliRunner().invoke(echo_command, [*of, "--fail-under", "0.5"], standalone_mode=False)
    assert (failed.return_value, enough.return_value) == (1, 0)
    assert "no_citation" in failed.stdout
    assert "4 of 8 right" in failed.stdout
