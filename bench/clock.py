"""Timing inside a process, in seconds of wall clock and of processor."""

import json
import resource
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Self


@dataclass(frozen=True)
class Spent:
    """On a busy machine only `cpu` says much, and only `wall` has the waiting for the disk in it."""

    wall: float
    cpu: float


class Stopwatch:
    """`with Stopwatch() as watch: …`, then `watch.spent`."""

    spent: Spent

    def __enter__(self) -> Self:
        self._wall, self._cpu = time.perf_counter(), _processor()
        return self

    def __exit__(self, *_: object) -> None:
        cpu = _processor() - self._cpu
        self.spent = Spent(time.perf_counter() - self._wall, cpu)


def _processor() -> float:
    """Of this process and of those it has started and seen the end of."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def spent(action: Callable[[], object]) -> Spent:
    with Stopwatch() as watch:
        action()
    return watch.spent


@dataclass(frozen=True)
class Measures:
    """What a script has to tell: for each name and unit the values, printed as one line of JSON."""

    values: dict[str, dict[str, list[float]]] = field(default_factory=dict)

    def note(self, name: str, each: Spent) -> None:
        for unit, value in (("wall", each.wall), ("cpu", each.cpu)):
            self.values.setdefault(name, {}).setdefault(unit, []).append(value)

    def quantiles(self, name: str, many: Iterable[Spent]) -> None:
        """The middle and the one that nineteen of twenty do not exceed."""
        all_of_them = list(many)
        for unit in ("wall", "cpu"):
            ordered = sorted(getattr(each, unit) for each in all_of_them)
            self.values.setdefault(f"{name} p50", {})[unit] = [ordered[len(ordered) // 2]]
            self.values.setdefault(f"{name} p95", {})[unit] = [ordered[int(len(ordered) * 0.95)]]

    def tell(self) -> None:
        print(json.dumps(self.values))
