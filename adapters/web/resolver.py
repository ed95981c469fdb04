"""The system's resolver, within a time."""

import socket
from typing import Final

from attrs import frozen

from groundkit.adapters.web.lifeline import Lifeline, OutOfTime
from groundkit.core.ports import NotResolved
from groundkit.core.result import Failure, Result, Success

_WORDS: Final = {
    socket.EAI_NONAME: "there is no such name",
    socket.EAI_AGAIN: "the name server gives no answer now",
    socket.EAI_FAIL: "the name server refuses to answer",
    getattr(socket, "EAI_NODATA", socket.EAI_NONAME): "there is no address for this name",
}


@frozen
class SystemResolver:
    """One `getaddrinfo` for each look-up, for both families."""

    def addresses(self, host: str, seconds: float) -> Result[tuple[str, ...], NotResolved]:
        try:
            found = Lifeline(seconds).wait_for(lambda: _looked_up(host), discard=len)
        except OutOfTime:
            return Failure(NotResolved(f"{host}: the look-up gave no answer within {seconds:.0f} s"))
        except socket.gaierror as error:
            return Failure(NotResolved(f"{host}: {_WORDS.get(error.errno or 0, 'the look-up failed')}"))
        except (OSError, UnicodeError):
            return Failure(NotResolved(f"{host}: the look-up failed"))
        return Success(found) if found else Failure(NotResolved(f"{host}: there is no address for this name"))


def _looked_up(host: str) -> tuple[str, ...]:
    # Bytes, so that Python's own (old) IDNA rules do not see the name.
    answers = socket.getaddrinfo(host.encode("ascii"), None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(answer[4][0]) for answer in answers))
