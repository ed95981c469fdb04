"""What the service says of itself: lines, counts and spans that repeat nothing of what was asked."""

import io
import json
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from prometheus_client.parser import text_string_to_metric_families

import groundkit.service
from groundkit.service.journal import Journal, Told, place_of, quiet_foreign_loggers
from groundkit.service.labels import OPERATIONS, SURFACES
from groundkit.service.metrics import CONTENT_TYPE, KINDS, Metrics
from groundkit.service.operations import OPERATIONS as CARRIED_OUT
from groundkit.service.tracing import ALLOWED, span

NOON = datetime(2026, 7, 1, 14, 0, tzinfo=timezone(timedelta(hours=2)))
HOSTILE = st.text() | st.text('\n\r\0\x1b\x85\u2028"\\{}', max_size=10)
SECRET = "what was asked"


def journal(stream: io.StringIO) -> Journal:
    return Journal(stream, lambda: NOON)


def told(**changes: str) -> Told:
    return Told(**{"request_id": "1", "surface": "rest", "operation": "search", "route": "/v1/search", **changes})


# The journal


def test_a_request_is_one_line_of_what_it_was_and_how_it_ended() -> None:
    stream = io.StringIO()
    facts = told()
    facts.results, facts.problem = 3, "busy"
    journal(stream).request(facts, "POST", 200, 1.23456, 700)
    assert json.loads(stream.getvalue()) == {
        "time": "2026-07-01T12:00:00.000+00:00",
        "level": "info",
        "event": "request",
        "request_id": "1",
        "surface": "rest",
        "operation": "search",
        "method": "POST",
        "route": "/v1/search",
        "status": 200,
        "ms": 1.235,
        "results": 3,
        "bytes": 700,
        "problem": "busy",
    }


@given(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE)
@example("\n{}", "\u2028", "\x85", "\x1b[2J", '"}')
def test_no_word_forges_a_line_and_a_word_of_others_is_not_repeated(
    name: str, surface: str, operation: str, method: str, route: str
) -> None:
    stream = io.StringIO()
    log = journal(stream)
    log.request(told(request_id=name, surface=surface, operation=operation, route=route), method, 400, 1, 1, name)
    log.foreign(name, surface, route)
    log.event(name)
    text = stream.getvalue()
    assert text.isascii() and text.count("\n") == 3 == len(text.splitlines())
    line = json.loads(text.splitlines()[0])
    assert line["surface"] in {*SURFACES, "other"} and line["operation"] in {*OPERATIONS, "other"}
    assert line["method"] == "other" or line["method"].isupper()
    assert line["route"] == route and line["problem"] == name


def failing() -> Exception:
    try:
        raise LookupError(SECRET)
    except LookupError as error:
        return error


def test_a_failure_is_told_by_type_and_place_alone() -> None:
    stream = io.StringIO()
    journal(stream).fault("1", failing())
    line = json.loads(stream.getvalue())
    assert line["error"] == "LookupError" and line["level"] == "error" and SECRET not in stream.getvalue()
    file, _, number = line["at"].rpartition(":")
    assert file == "integration/test_service_journal.py" and int(number) > 0
    assert place_of(ValueError(SECRET)) == "nowhere"


class Gone(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError(text)


def test_a_stream_that_is_gone_takes_nobody_with_it() -> None:
    closed = io.StringIO()
    closed.close()
    for stream in (Gone(), closed):
        journal(stream).event("listening", port=1)


def test_lines_of_threads_are_never_mixed() -> None:
    stream = io.StringIO()
    log = journal(stream)
    threads = [
        threading.Thread(target=lambda n=number: [log.event("listening", port=n) for _ in range(200)])
        for number in range(4)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    ports = [json.loads(line)["port"] for line in stream.getvalue().splitlines()]
    assert sorted(ports) == sorted([0, 1, 2, 3] * 200)


@pytest.mark.parametrize(
    "name", ["uvicorn.error", "uvicorn.asgi", "mcp.server.lowlevel", "asyncio", "starlette.x", "anyio"]
)
def test_what_libraries_log_is_told_by_place_alone_until_it_is_given_back(name: str) -> None:
    stream = io.StringIO()
    logger = logging.getLogger(name)
    before = logger.handlers, logger.propagate
    lines = quiet_foreign_loggers(journal(stream))
    try:
        logger.error("%s and more", SECRET, exc_info=failing(), extra={"color_message": SECRET})
        logger.info(SECRET)
    finally:
        lines.restore()
    assert (logger.handlers, logger.propagate) == before
    (line,) = map(json.loads, stream.getvalue().splitlines())
    assert (line["level"], line["logger"]) == ("error", name)
    assert line["at"].startswith("test_service_journal:") and SECRET not in stream.getvalue()


# Metrics


def samples(metrics: Metrics) -> dict[tuple[str, ...], float]:
    families = text_string_to_metric_families(metrics.text().decode())
    found = [each for family in families for each in family.samples]
    return {(each.name, *(each.labels[label] for label in sorted(each.labels))): each.value for each in found}


def test_requests_are_counted_by_words_of_ours_and_timed() -> None:
    metrics = Metrics(lambda: 7)
    for _ in range(3):
        metrics.begun()
    metrics.ended("search", "rest", 200, 0.02)
    metrics.ended("search", "mcp", 503, 0.3)
    found = samples(metrics)
    assert found["groundkit_requests_total", "search", "2xx", "rest"] == 1
    assert found["groundkit_requests_total", "search", "5xx", "mcp"] == 1
    assert found["groundkit_request_seconds_count", "search"] == 2
    assert found["groundkit_request_seconds_bucket", "0.025", "search"] == 1
    assert (found[("groundkit_in_flight",)], found[("groundkit_waiting",)]) == (1, 7)
    assert CONTENT_TYPE.startswith("text/plain")


@given(st.lists(st.tuples(HOSTILE, HOSTILE, st.integers(0, 599), HOSTILE), max_size=20))
def test_no_label_is_a_word_of_others(requests: list[tuple[str, str, int, str]]) -> None:
    metrics = Metrics()
    for operation, surface, status, kind in requests:
        metrics.begun()
        metrics.ended(operation, surface, status, 1)
        metrics.refused(kind)
    ours = {*OPERATIONS, *SURFACES, *KINDS, "other", "none", *(f"{digit}xx" for digit in range(6))}
    labels = {label for name, *labels in samples(metrics) if "bucket" not in name for label in labels}
    assert labels <= ours


def test_two_services_of_a_process_count_apart() -> None:
    one, other = Metrics(), Metrics()
    one.refused("busy")
    assert ("groundkit_refused_total", "busy") not in samples(other)


def test_every_operation_and_every_problem_has_a_name_to_be_counted_by() -> None:
    import ast

    folder = Path(groundkit.service.__path__[0])
    calls = [
        node
        for file in folder.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Problem"
    ]
    kinds = {call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant)}
    assert len(kinds) > 10 and kinds <= set(KINDS)
    assert set(CARRIED_OUT) <= set(OPERATIONS)


# Spans


@pytest.fixture(scope="module")
def exporter() -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        provider = TracerProvider()
        trace.set_tracer_provider(provider)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> Iterator[InMemorySpanExporter]:
    exporter.clear()
    yield exporter
    exporter.clear()


def only(spans: InMemorySpanExporter) -> ReadableSpan:
    (found,) = spans.get_finished_spans()
    return found


def test_a_span_has_its_words_and_counts(spans: InMemorySpanExporter) -> None:
    with span("search", surface="mcp", mode="bm25") as opened:
        opened.note(results=3, truncated=False, status=200)
    found = only(spans)
    assert found.name == "groundkit.search"
    assert found.attributes == {
        "groundkit.surface": "mcp",
        "groundkit.mode": "bm25",
        "groundkit.results": 3,
        "groundkit.truncated": False,
        "groundkit.status": 200,
    }


def test_a_failure_is_its_type_alone(spans: InMemorySpanExporter) -> None:
    with pytest.raises(LookupError), span("search"):
        raise LookupError(SECRET)
    found = only(spans)
    assert found.status.status_code is StatusCode.ERROR and not found.events
    assert found.attributes == {"error.type": "LookupError"} and SECRET not in found.to_json()


@pytest.mark.parametrize("name", ["query", "text", "chunk_id", "path", "collection", "source", "", "groundkit.results"])
def test_any_other_attribute_is_refused_at_once(spans: InMemorySpanExporter, name: str) -> None:
    assert name not in ALLOWED
    with pytest.raises(ValueError, match="attribute"), span("search", **{name: 1}):
        pytest.fail("it began")
    with pytest.raises(ValueError, match="attribute"), span("search") as opened:
        opened.note(**{name: SECRET})
    assert all(SECRET not in each.to_json() for each in spans.get_finished_spans())


@pytest.mark.parametrize(("name", "value"), [("results", SECRET), ("status", True), ("truncated", 1), ("surface", 3)])
def test_an_attribute_is_of_its_type(name: str, value: str | int) -> None:
    with pytest.raises(ValueError, match="type"), span("search", **{name: value}):
        pytest.fail("it began")


@given(HOSTILE)
def test_a_word_of_others_is_not_repeated(spans_word: str) -> None:
    with span("search", surface=spans_word) as opened:
        opened.note(operation=spans_word)
    if spans_word not in OPERATIONS:
        with pytest.raises(ValueError, match="operation"), span(spans_word):
            pytest.fail("it began")


def test_the_words_of_others_are_other(spans: InMemorySpanExporter) -> None:
    with span("search", surface=SECRET, mode=SECRET, verdict=SECRET, operation=SECRET):
        pass
    assert set((only(spans).attributes or {}).values()) == {"other"}


def test_without_opentelemetry_a_span_is_nothing_and_still_refuses() -> None:
    program = """
import sys
sys.modules["opentelemetry"] = None
from groundkit.service.tracing import span
with span("search", surface="rest") as opened:
    opened.note(results=1)
try:
    with span("search", query="x"):
        pass
except ValueError:
    print("refused")
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout == "refused\n"


def test_tracing_is_not_loaded_before_a_span() -> None:
    program = "import sys, groundkit.service.tracing; print('opentelemetry' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout == "False\n"
