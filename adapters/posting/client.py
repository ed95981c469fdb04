"""Posts JSON to one endpoint: no proxy or login of the environment, no redirects, bounded in size, time and attempts."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from hashlib import sha256
from ipaddress import ip_network
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from groundkit.core.addresses import judge, parsed
from groundkit.core.posting import PASSING, Endpoint, PostFailed, PostProblem
from groundkit.core.result import Failure, Result, Success

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import httpx

#: Address, headers, and the name for the certificate.
_Way: TypeAlias = tuple[str, dict[str, str], dict[str, object]]
_LONGEST_WAIT = 30.0
_RUNNING = "is a server running there, at this port?"
_TODO = {
    401: "is the key set, and the right one?",
    403: "is the key set, and the right one?",
    404: "are the path of the address and the model's name right?",
}
_MISSING = 'httpx is not installed: pip install "groundkit[dense]"'


class HttpPoster:
    """`seconds` are for one answer with all its attempts but the `pauses` before each but the first; `most` is in bytes."""

    def __init__(
        self,
        endpoint: Endpoint,
        seconds: float = 60.0,
        most: int = 8 * 1024 * 1024,
        pauses: Sequence[float] = (0.5, 2.0),
        sleep: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._endpoint, self._seconds, self._most, self._pauses = endpoint, seconds, most, tuple(pauses)
        self._sleep, self._clock = sleep, clock
        self._client: httpx.Client | None = None

    def __repr__(self) -> str:
        return f"HttpPoster({self._endpoint.host!r})"

    def post(self, body: dict[str, object]) -> Result[object, PostFailed]:
        """The answer of the endpoint. What may pass (no connection, a busy server) is tried again after each pause, or after
        as long as the server asks for (`Retry-After`, half a minute at most)."""
        deadline = self._clock() + self._seconds
        answer = self._within(body, deadline)
        for attempt, least in enumerate(self._pauses):
            pause = max(least * self._spread(attempt), _asked_for(answer))
            if not _may_pass(answer) or self._clock() + pause >= deadline:
                break
            self._sleep(pause)
            answer = self._within(body, deadline)
        return _without_passing(answer)

    def _spread(self, attempt: int) -> float:
        """1 to 1.5, so that many who were sent away do not come back at once; the same for a process, an endpoint and an attempt."""
        return 1 + sha256(f"{os.getpid()} {self._endpoint.url} {attempt}".encode()).digest()[0] / 510

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def _within(self, body: dict[str, object], deadline: float) -> Result[object, _Failed]:
        """In a thread of its own: a server that sends byte by byte keeps every single timeout."""
        said: list[Result[object, _Failed]] = []
        asking = threading.Thread(target=lambda: said.append(self._asked(body, deadline)), daemon=True)
        asking.start()
        asking.join(max(0.0, deadline - self._clock()))
        if said:
            return said[0]
        self.close()
        return _failed(PostProblem.UNREACHABLE, f"{self._endpoint.host} did not answer in {self._seconds:g} s")

    def _asked(self, body: dict[str, object], deadline: float) -> Result[object, _Failed]:
        """The one place where exceptions of httpx and of sockets end."""
        host = self._endpoint.host
        try:
            import httpx
        except ImportError:
            return _failed(PostProblem.MISSING, _MISSING)
        try:
            return self._sent(body, deadline)
        except (httpx.ConnectError, httpx.ConnectTimeout, socket.gaierror) as error:
            return _failed(
                PostProblem.UNREACHABLE, f"{host} cannot be reached ({type(error).__name__}): {_RUNNING}", True
            )
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, RuntimeError, ValueError) as error:
            return _failed(PostProblem.UNREACHABLE, f"{host} gave no whole answer ({type(error).__name__})")

    def _sent(self, body: dict[str, object], deadline: float) -> Result[object, _Failed]:
        import httpx

        ways = self._ways()
        if isinstance(ways, Failure):
            return ways
        if self._client is None:
            self._client = httpx.Client(trust_env=False, follow_redirects=False)
        *others, last = ways.unwrap()
        for way in others:
            try:
                return self._posted(way, body, deadline)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue  # a name of several addresses, of which a server often listens at one
        return self._posted(last, body, deadline)

    def _posted(self, way: _Way, body: dict[str, object], deadline: float) -> Result[object, _Failed]:
        assert self._client is not None
        host, (url, headers, extensions) = self._endpoint.host, way
        left = max(0.1, deadline - self._clock())
        with self._client.stream(
            "POST", url, json=body, headers=headers, extensions=extensions, timeout=left
        ) as response:
            if response.status_code != 200:
                passing = response.status_code in PASSING
                wait = _seconds_in(response.headers.get("Retry-After", ""))
                return Failure(_Failed(_status(host, response.status_code), passing, wait))
            read = bytearray()
            for piece in response.iter_raw(65536):
                read += piece
                if len(read) > self._most:
                    return _failed(PostProblem.ANSWER, f"{host} answered with more than {self._most} bytes")
        return _parsed(bytes(read), host)

    def _ways(self) -> Result[list[_Way], _Failed]:
        """Where to connect: to the very addresses that were judged, by the name that the certificate has."""
        endpoint = self._endpoint
        # Nothing is decompressed: it could be larger than what is read of it.
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        if endpoint.key:
            headers["Authorization"] = f"Bearer {endpoint.key}"
        parts = urlsplit(endpoint.url)
        found = [str(each[4][0]) for each in socket.getaddrinfo(endpoint.host, None, type=socket.SOCK_STREAM)]
        for each in found:
            refused = _refused(each, endpoint, parts.scheme)
            if refused is not None:
                return _failed(PostProblem.CONFIGURATION, refused)
        if not found:
            return _failed(PostProblem.UNREACHABLE, f"{endpoint.host} has no address", True)
        port = "" if parts.port is None else f":{parts.port}"
        told = {**headers, "Host": parts.netloc}
        names: dict[str, object] = {"sni_hostname": endpoint.host}
        return Success(
            [(parts._replace(netloc=_bracketed(each) + port).geturl(), told, names) for each in _first_v4(found)]
        )


#: What a server here may have: this machine, and networks that are not routed (RFC 1918, 4193, 6598). Nothing link-local:
#: that is where clouds tell machines their secrets.
_HERE = tuple(
    map(
        ip_network,
        ("127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"),
    )
)


def _refused(address: str, endpoint: Endpoint, scheme: str) -> str | None:
    """Why this address is not connected to; None where it is."""
    if isinstance(judge(address), Success):
        if scheme == "https":
            return None
        return f"{endpoint.host} is on the internet, and without https everybody on the way could read what is sent"
    number = parsed(address)
    if number is None or not any(number in network for network in _HERE if network.version == number.version):
        return f"{endpoint.host} has the address {address}, which is nobody's server"
    return None if endpoint.allow_local else _local(endpoint.host)


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _first_v4(addresses: list[str]) -> list[str]:
    """Each once; servers on one's own machine mostly listen at the old address only."""
    return sorted(dict.fromkeys(addresses), key=lambda each: ":" in each)


class _Failed:
    def __init__(self, failure: PostFailed, passing: bool, wait: float) -> None:
        self.failure, self.passing, self.wait = failure, passing, wait


def _failed(problem: PostProblem, detail: str, passing: bool = False, wait: float = 0.0) -> Failure[_Failed]:
    return Failure(_Failed(PostFailed(problem, detail), passing, wait))


def _status(host: str, status: int) -> PostFailed:
    todo = _TODO.get(status, "")
    return PostFailed(PostProblem.REFUSED, f"{host} answered with status {status}{todo and f': {todo}'}", status)


def _seconds_in(header: str) -> float:
    """What a `Retry-After` asks for, in seconds; 0 for a date or nothing."""
    return min(float(header), _LONGEST_WAIT) if header.isascii() and header.isdecimal() and len(header) < 9 else 0.0


def _asked_for(answer: Result[object, _Failed]) -> float:
    return answer.failure().wait if isinstance(answer, Failure) else 0.0


def _local(host: str) -> str:
    return f"{host} is on this machine or network, which has to be allowed: --model-local, or GK_EMBEDDER_LOCAL=1 and GK_RERANKER_LOCAL=1"


def _may_pass(answer: Result[object, _Failed]) -> bool:
    return isinstance(answer, Failure) and answer.failure().passing


def _without_passing(answer: Result[object, _Failed]) -> Result[object, PostFailed]:
    return Failure(answer.failure().failure) if isinstance(answer, Failure) else answer


def _parsed(read: bytes, host: str) -> Result[object, _Failed]:
    try:
        return Success(json.loads(read))
    except (ValueError, RecursionError):
        return _failed(PostProblem.ANSWER, f"{host} did not answer with JSON")
