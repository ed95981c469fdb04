"""Posts JSON to one endpoint: no proxy or login of the environment, no redirects, bounded in size, time and attempts."""

from __future__ import annotations

import json
import socket
import threading
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from groundkit.core.addresses import judge
from groundkit.core.posting import PASSING, Endpoint, PostFailed, PostProblem
from groundkit.core.result import Failure, Result, Success

if TYPE_CHECKING:
    from collections.abc import Sequence

    import httpx

_MISSING = 'httpx is not installed: pip install "groundkit[dense]"'


class HttpPoster:
    """`seconds` are for one answer with all its attempts but the `pauses` before each but the first; `most` is in bytes."""

    def __init__(
        self,
        endpoint: Endpoint,
        seconds: float = 60.0,
        most: int = 8 * 1024 * 1024,
        pauses: Sequence[float] = (0.5, 2.0),
    ) -> None:
        self._endpoint, self._seconds, self._most, self._pauses = endpoint, seconds, most, tuple(pauses)
        self._client: httpx.Client | None = None

    def __repr__(self) -> str:
        return f"HttpPoster({self._endpoint.host!r})"

    def post(self, body: dict[str, object]) -> Result[object, PostFailed]:
        """The answer of the endpoint. What may pass (no connection, a busy server) is tried again after each pause."""
        deadline = time.monotonic() + self._seconds
        answer = self._within(body, deadline)
        for pause in self._pauses:
            if not _may_pass(answer) or time.monotonic() + pause >= deadline:
                break
            time.sleep(pause)
            answer = self._within(body, deadline)
        return _without_passing(answer)

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def _within(self, body: dict[str, object], deadline: float) -> Result[object, _Failed]:
        """In a thread of its own: a server that sends byte by byte keeps every single timeout."""
        said: list[Result[object, _Failed]] = []
        asking = threading.Thread(target=lambda: said.append(self._asked(body, deadline)), daemon=True)
        asking.start()
        asking.join(max(0.0, deadline - time.monotonic()))
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
            return _failed(PostProblem.UNREACHABLE, f"{host} cannot be reached ({type(error).__name__})", True)
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, RuntimeError, ValueError) as error:
            return _failed(PostProblem.UNREACHABLE, f"{host} gave no whole answer ({type(error).__name__})")

    def _sent(self, body: dict[str, object], deadline: float) -> Result[object, _Failed]:
        import httpx

        host = self._endpoint.host
        address = self._address()
        if isinstance(address, Failure):
            return address
        url, headers, extensions = address.unwrap()
        if self._client is None:
            self._client = httpx.Client(trust_env=False, follow_redirects=False)
        left = max(0.1, deadline - time.monotonic())
        with self._client.stream(
            "POST", url, json=body, headers=headers, extensions=extensions, timeout=left
        ) as response:
            if response.status_code != 200:
                passing = response.status_code in PASSING
                return _failed(PostProblem.REFUSED, f"{host} answered with status {response.status_code}", passing)
            read = bytearray()
            for piece in response.iter_raw(65536):
                read += piece
                if len(read) > self._most:
                    return _failed(PostProblem.ANSWER, f"{host} answered with more than {self._most} bytes")
        return _parsed(bytes(read), host)

    def _address(self) -> Result[tuple[str, dict[str, str], dict[str, object]], _Failed]:
        """Where to connect: to the very address that was judged, by the name that its certificate has."""
        endpoint = self._endpoint
        # Nothing is decompressed: it could be larger than what is read of it.
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        if endpoint.key:
            headers["Authorization"] = f"Bearer {endpoint.key}"
        if endpoint.allow_local:
            return Success((endpoint.url, headers, {}))
        parts = urlsplit(endpoint.url)
        found = [str(each[4][0]) for each in socket.getaddrinfo(endpoint.host, None, type=socket.SOCK_STREAM)]
        if not found or any(isinstance(judge(each), Failure) for each in found):
            return _failed(PostProblem.CONFIGURATION, _local(endpoint.host))
        bracketed = f"[{found[0]}]" if ":" in found[0] else found[0]
        port = "" if parts.port is None else f":{parts.port}"
        url = parts._replace(netloc=bracketed + port).geturl()
        return Success((url, {**headers, "Host": parts.netloc}, {"sni_hostname": endpoint.host}))


class _Failed:
    def __init__(self, failure: PostFailed, passing: bool) -> None:
        self.failure, self.passing = failure, passing


def _failed(problem: PostProblem, detail: str, passing: bool = False) -> Failure[_Failed]:
    return Failure(_Failed(PostFailed(problem, detail), passing))


def _local(host: str) -> str:
    return f"{host} is on this machine or network, which has to be allowed explicitly"


def _may_pass(answer: Result[object, _Failed]) -> bool:
    return isinstance(answer, Failure) and answer.failure().passing


def _without_passing(answer: Result[object, _Failed]) -> Result[object, PostFailed]:
    return Failure(answer.failure().failure) if isinstance(answer, Failure) else answer


def _parsed(read: bytes, host: str) -> Result[object, _Failed]:
    try:
        return Success(json.loads(read))
    except (ValueError, RecursionError):
        return _failed(PostProblem.ANSWER, f"{host} did not answer with JSON")
