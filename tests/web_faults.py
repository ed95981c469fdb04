"""Ports that fail, or are killed, at a step that a test chooses."""

from typing import Any

from attrs import define

from groundkit.core.result import Failure
from groundkit.core.storage import LexicalFailure, LexicalProblem, StorageFailure, StorageProblem

#: Every step of a write that changes something outside, in the order in which they come.
STEPS = ("put", "settle", "stage", "apply", "declare", "remove", "discard", "drop", "remove_files")


class Killed(BaseException):
    """The process is gone; whoever catches this is another one."""


@define
class Fault:
    """What happens at the `countdown`-th of these steps: it fails, or the process is killed before or after it."""

    step: str = ""
    countdown: int = 0
    how: str = "fail"

    def reached(self, step: str) -> bool:
        if step != self.step:
            return False
        self.countdown -= 1
        return self.countdown == 0


class Faulty:
    """A port behind which a fault waits."""

    def __init__(self, real: Any, fault: Fault) -> None:
        self._real = real
        self._fault = fault

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        if name not in STEPS:
            return found

        def step(*given: Any) -> Any:
            if not self._fault.reached(name):
                return found(*given)
            if self._fault.how == "kill before":
                raise Killed
            if self._fault.how == "kill after":
                found(*given)
                raise Killed
            if name == "apply":
                return Failure(LexicalFailure(LexicalProblem.FULL, "no space"))
            return Failure(StorageFailure(StorageProblem.FULL, name, "no space"))

        return step
