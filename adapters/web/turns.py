"""Whose turn it is: how many exchanges are under way, with one host and in all, and the end of them all."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition
from typing import Final

from groundkit.adapters.web.lifeline import Lifeline, Stopped

WITH_ONE_HOST: Final = 2
IN_ALL: Final = 8


class Turns:
    """Exchanges wait here until there is room for them. Their time begins when their turn comes."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._with: Counter[str] = Counter()
        self._under_way: set[Lifeline] = set()
        self._closed = False

    @contextmanager
    def turn(self, host: str, seconds: float) -> Iterator[Lifeline]:
        """Raises `Stopped` once closed."""
        lifeline = self._begun(host, seconds)
        try:
            yield lifeline
        finally:
            with self._changed:
                self._under_way.discard(lifeline)
                self._with[host] -= 1
                self._changed.notify_all()
            lifeline.end()

    def close(self) -> None:
        """Stop what is under way, and let nothing begin any more."""
        with self._changed:
            self._closed = True
            stopped = tuple(self._under_way)
            self._changed.notify_all()
        for lifeline in stopped:
            lifeline.stop()

    def _begun(self, host: str, seconds: float) -> Lifeline:
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._room(host))
            if self._closed:
                raise Stopped
            lifeline = Lifeline(seconds)
            self._with[host] += 1
            self._under_way.add(lifeline)
            return lifeline

    def _room(self, host: str) -> bool:
        return self._with[host] < WITH_ONE_HOST and len(self._under_way) < IN_ALL
