"""Keeps our own exchanges out of httpcore's debug log, where headers and targets stand in full."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

_LOGGERS: Final = ("httpcore.connection", "httpcore.http11")
_ours: ContextVar[bool] = ContextVar("groundkit_exchange", default=False)


def _is_somebody_elses(record: logging.LogRecord) -> bool:
    return not _ours.get()


@contextmanager
def unlogged() -> Iterator[None]:
    """What this thread does with httpcore within is not logged; what others do is."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_is_somebody_elses)  # once: adding it again does nothing
    before = _ours.set(True)
    try:
        yield
    finally:
        _ours.reset(before)
