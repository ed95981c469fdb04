"""Counts and times of the server for Prometheus, in a registry of their own. Labels are words of ours only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from groundkit.service.labels import OPERATIONS, SURFACES, known

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
#: Kinds of problems that are counted by name.
KINDS: Final = (
    *("too_many_headers", "misdirected", "foreign_origin", "no_token", "method", "media_type", "too_large", "too_slow"),
    *("bad_request", "busy", "out_of_time", "closing", "our_bug", "unknown_collection", "query_refused"),
    *("ambiguous_chunk", "no_vectors", "no_base", "configuration", "storage", "not_found"),
)
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """`waiting` is asked whenever they are read: requests that no worker has taken yet."""

    def __init__(self, waiting: Callable[[], int] = lambda: 0) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "groundkit_requests", "Requests answered.", ["operation", "surface", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "groundkit_request_seconds",
            "Seconds from a request's header to the end of its answer.",
            ["operation"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._refused = Counter("groundkit_refused", "Requests refused, by kind.", ["kind"], registry=self._registry)
        self._in_flight = Gauge("groundkit_in_flight", "Requests being answered.", registry=self._registry)
        Gauge("groundkit_waiting", "Requests that wait for a worker.", registry=self._registry).set_function(waiting)

    def begun(self) -> None:
        self._in_flight.inc()

    def ended(self, operation: str, surface: str, status: int, seconds: float) -> None:
        """After `begun`. Status 0 is a peer that was gone before its answer."""
        operation = known(operation, OPERATIONS)
        self._in_flight.dec()
        self._requests.labels(operation, known(surface, SURFACES), f"{status // 100}xx" if status else "none").inc()
        self._seconds.labels(operation).observe(seconds)

    def refused(self, kind: str) -> None:
        self._refused.labels(known(kind, KINDS)).inc()

    def text(self) -> bytes:
        """As Prometheus reads it, of `CONTENT_TYPE`."""
        return generate_latest(self._registry)
