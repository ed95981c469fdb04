"""Spans for OpenTelemetry where it is installed (extra `otel`): names of operations and counts, nothing that was asked or found."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Final

from groundkit.service.labels import OPERATIONS, SURFACES, known

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

#: Words of ours, each with what it may be.
_WORDS: Final = {
    "operation": OPERATIONS,
    "surface": SURFACES,
    "mode": ("bm25", "dense", "hybrid"),
    "verdict": ("verified", "drifted", "unresolvable"),
}
_COUNTS: Final = ("results", "collections", "chunks", "documents", "status", "waiting", "characters")
_FLAGS: Final = ("truncated", "verified", "abstained")
ALLOWED: Final = frozenset({*_WORDS, *_COUNTS, *_FLAGS})


class Noted:
    """A span that takes further attributes of `ALLOWED` while it is open."""

    def __init__(self, span: Span | None) -> None:
        self._span = span

    def note(self, **attributes: str | int | bool) -> None:
        """`ValueError` for any other name, whether spans are recorded or not."""
        checked = _checked(attributes)
        if self._span is not None:
            self._span.set_attributes(checked)


@contextmanager
def span(name: str, **attributes: str | int | bool) -> Iterator[Noted]:
    """Records what happens inside. A failure is its type only: messages quote what was asked."""
    if name not in OPERATIONS:
        raise ValueError(f"{name!r} is no operation")
    checked = _checked(attributes)
    tracer = _tracer()
    if tracer is None:
        yield Noted(None)
        return
    with tracer.start_as_current_span(
        f"groundkit.{name}", attributes=checked, record_exception=False, set_status_on_exception=False
    ) as opened:
        try:
            yield Noted(opened)
        except BaseException as error:
            _fail(opened, error)
            raise


def _checked(attributes: dict[str, str | int | bool]) -> dict[str, str | int | bool]:
    return {f"groundkit.{name}": _value(name, value) for name, value in attributes.items()}


def _value(name: str, value: str | int | bool) -> str | int | bool:
    if name in _WORDS and isinstance(value, str):
        return known(value, _WORDS[name])
    if (name in _COUNTS and type(value) is int) or (name in _FLAGS and type(value) is bool):
        return value
    raise ValueError(
        f"{name!r} may not be an attribute of a span" if name not in ALLOWED else f"{name!r} is of another type"
    )


def _fail(opened: Span, error: BaseException) -> None:
    from opentelemetry.trace import Status, StatusCode

    opened.set_attribute("error.type", type(error).__qualname__)
    opened.set_status(Status(StatusCode.ERROR))


@cache
def _tracer() -> Tracer | None:
    try:
        from opentelemetry.trace import get_tracer
    except ImportError:
        return None
    return get_tracer("groundkit")
