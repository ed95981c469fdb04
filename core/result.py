"""The two-armed answer of whatever may fail where the caller has a choice.

An alias over the two classes of `returns`, because type checkers narrow a `match` over it and prove it complete, which
they cannot do with the library's own abstract `Result`.
"""

from typing import TypeAlias, TypeVar

from returns.result import Failure, Success

T = TypeVar("T")
E = TypeVar("E")

Result: TypeAlias = Success[T] | Failure[E]

__all__ = ["Failure", "Result", "Success"]
