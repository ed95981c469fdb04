"""Why an operation has no answer, the same on every surface: problem details (RFC 9457) over HTTP, an error text over MCP."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeVar

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pydantic import BaseModel, ValidationError

T = TypeVar("T")

#: How alike a name has to be to be suggested.
_ALIKE = 0.5
#: What such a field is called elsewhere.
_SYNONYMS = {"id": "chunk_id", "q": "query", "top_k": "limit", "k": "limit", "n": "limit", "index": "collection"}
#: Fields that are named of those that are wrong: there is no end to the ones that somebody can make up.
_NAMED = 10


@frozen
class Problem:
    """`kind` is a stable name, `status` that of HTTP, `detail` one sentence about this case, `hint` the way out, if there is one."""

    kind: str
    status: int
    title: str
    detail: str
    hint: str = ""

    @property
    def data(self) -> dict[str, object]:
        """As problem details."""
        told: dict[str, object] = {
            "type": f"urn:groundkit:problem:{self.kind}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
        }
        return told | ({"hint": self.hint} if self.hint else {})

    def __str__(self) -> str:
        return f"{self.title}: {self.detail}" + (f" ({self.hint})" if self.hint else "")


class ProblemError(Exception):
    """Raised by an operation instead of an answer."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def worked(work: Callable[[], T]) -> T:
    """What a piece of work on a collection gives; its failures as problems."""
    from groundkit.errors import GroundkitError

    try:
        return work()
    except GroundkitError as error:
        raise ProblemError(of_error(error)) from error


def bad_request(detail: str, hint: str = "") -> Problem:
    return Problem("bad_request", 400, "The request cannot be carried out", detail, hint)


def busy(waiting: int) -> Problem:
    return Problem(
        "busy", 503, "The server is busy", f"{waiting} requests are waiting already", "try again in a second"
    )


def out_of_time(seconds: float) -> Problem:
    return Problem("out_of_time", 504, "It took too long", f"there was no answer within {seconds:g} s", "ask for less")


def closing() -> Problem:
    return Problem("closing", 503, "The server is shutting down", "no further request is taken")


def our_bug() -> Problem:
    return Problem("our_bug", 500, "This is a bug in groundkit", "the server's log names the place")


def of_error(error: Exception) -> Problem:
    """What a `GroundkitError` is over the wire. It names no path of the machine."""
    from groundkit.config import BadCollectionName, UnknownCollection
    from groundkit.core.query import QueryRefused
    from groundkit.core.searching import NoVectors
    from groundkit.render import WRONG_REQUEST, exit_code_of
    from groundkit.requests import AmbiguousChunk

    failure = getattr(error, "failure", None)
    match failure:  # type: ignore[exhaustive-match]
        case UnknownCollection(name, _, existing):
            there = f"there is {', '.join(existing)}" if existing else "there is none yet"
            return Problem("unknown_collection", 404, "There is no such collection", f"no collection {name}", there)
        case BadCollectionName(name):
            return Problem("unknown_collection", 404, "There is no such collection", f"{name!r} is no collection name")
        case QueryRefused():
            return Problem("query_refused", 400, "The query cannot be carried out", str(error))
        case AmbiguousChunk():
            return Problem("ambiguous_chunk", 400, "Several chunks are meant", str(error), "give the whole chunk_id")
        case NoVectors():
            return Problem(
                "no_vectors",
                400,
                "The collection cannot be searched by meaning",
                str(error),
                "rank by words instead (mode bm25)",
            )
    if exit_code_of(failure) == WRONG_REQUEST:
        return Problem("configuration", 500, "The server's configuration does not allow it", str(error))
    return Problem("storage", 503, "The machine said no", str(error))


def of_validation(error: ValidationError, model: type[BaseModel]) -> Problem:
    """The fields that are wrong, by name; of an unknown one, the nearest that is known. No value is repeated."""
    errors = error.errors(include_url=False, include_context=False, include_input=False)
    wrong = [_told(tuple(each["loc"]), each["type"], each["msg"], model) for each in errors[:_NAMED]]
    more = [f"and {len(errors) - _NAMED} more"] if len(errors) > _NAMED else []
    return bad_request("; ".join(dict.fromkeys([*wrong, *more])), f"known fields: {', '.join(model.model_fields)}")


def _told(where: tuple[int | str, ...], kind: str, said: str, model: type[BaseModel]) -> str:
    name = ".".join(map(str, where))
    if kind == "extra_forbidden":
        return f"{short(name)} is no known field{did_you_mean(name, model.model_fields)}"
    if kind == "missing":
        return f"{name} is missing"
    return f"{name}: {said}" if name else said


def did_you_mean(name: str, known: Iterable[str]) -> str:
    names = list(known)
    meant = [each for each in (_SYNONYMS.get(name),) if each in names] or get_close_matches(
        name[:100], names, 1, _ALIKE
    )
    return f"; did you mean {meant[0]}?" if meant else ""


def short(name: str, most: int = 60) -> str:
    """A name that somebody sent, fit to be repeated."""
    shown = "".join(char if char.isprintable() else "�" for char in name[: most + 1])
    return repr(shown if len(shown) <= most else f"{shown[:most]}…")
