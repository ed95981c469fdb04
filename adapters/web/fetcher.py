"""Fetches pages: one look-up, judged addresses, one exchange with at most one retry, no redirect followed."""

import ssl
from importlib import metadata
from threading import Lock
from typing import Final

from attrs import define, field

from groundkit.adapters.web.exchange import Caller, exchanged, out_of_time, stopped
from groundkit.adapters.web.lifeline import Lifeline, OutOfTime, Stopped
from groundkit.adapters.web.network import Dialer, SystemDialer
from groundkit.adapters.web.quiet import unlogged
from groundkit.adapters.web.tls import trusting
from groundkit.adapters.web.turns import Turns
from groundkit.core.addresses import judge
from groundkit.core.fetching import FetchAnswer, FetchFailed, FetchProblem, FetchRequest
from groundkit.core.ports import Resolver
from groundkit.core.result import Failure, Result, Success

#: Seconds before a connection that failed is tried once more.
PAUSE: Final = 1.0


def user_agent() -> str:
    return f"groundkit/{metadata.version('groundkit')}"


@define
class WebFetcher:
    """Fetches over HTTP/1.1. Of the environment only the trusted certificates count, no proxy.

    Without an `ssl_context`, `tls.trusting` makes one when it is first needed.
    """

    resolver: Resolver
    dialer: Dialer = field(factory=SystemDialer)
    ssl_context: ssl.SSLContext | None = None
    user_agent: str = field(factory=user_agent)
    pause: float = PAUSE
    _turns: Turns = field(factory=Turns, init=False)
    _lock: Lock = field(factory=Lock, init=False)

    def fetch(self, request: FetchRequest) -> Result[FetchAnswer, FetchFailed]:
        try:
            with unlogged(), self._turns.turn(request.url.host, request.limits.seconds) as lifeline:
                return self._fetched(request, lifeline)
        except Stopped:
            return Failure(stopped())
        except OutOfTime:
            return Failure(out_of_time(request.limits))

    def close(self) -> None:
        self._turns.close()

    def _fetched(self, request: FetchRequest, lifeline: Lifeline) -> Result[FetchAnswer, FetchFailed]:
        addresses = self._judged(request, lifeline)
        if isinstance(addresses, Failure):
            return addresses
        context = self._trust() if request.url.scheme == "https" else Success(None)
        if isinstance(context, Failure):
            return context
        caller = Caller(self.dialer, context.unwrap(), self.user_agent)
        first = exchanged(caller, request, addresses.unwrap(), lifeline)
        if isinstance(first, Success) or first.failure().problem is not FetchProblem.NOT_CONNECTED:
            return first
        lifeline.pause(self.pause)
        return exchanged(caller, request, addresses.unwrap(), lifeline)

    def _judged(self, request: FetchRequest, lifeline: Lifeline) -> Result[tuple[str, ...], FetchFailed]:
        """Every address of the host, all of them public, from one look-up."""
        found = self._looked_up(request, lifeline)
        if isinstance(found, Failure):
            return found
        judged = []
        for address in found.unwrap():
            verdict = judge(address)
            if isinstance(verdict, Failure):
                refused = verdict.failure()
                where = f"{request.url.host} is at {refused.address}: {refused.why}, not a public address"
                return Failure(FetchFailed(FetchProblem.ADDRESS_REFUSED, where))
            judged.append(verdict.unwrap())
        return Success(tuple(judged))

    def _looked_up(self, request: FetchRequest, lifeline: Lifeline) -> Result[tuple[str, ...], FetchFailed]:
        url = request.url
        if url.literal:
            return Success((url.host,))
        seconds = lifeline.left()
        answer = lifeline.wait_for(lambda: self.resolver.addresses(url.host, seconds), discard=lambda _: None)
        if isinstance(answer, Success):
            return answer
        lifeline.left()
        return Failure(FetchFailed(FetchProblem.NOT_RESOLVED, answer.failure().detail))

    def _trust(self) -> Result[ssl.SSLContext | None, FetchFailed]:
        with self._lock:
            try:
                self.ssl_context = self.ssl_context or trusting()
            except OSError:
                detail = "the trusted certificates cannot be read: see SSL_CERT_FILE and SSL_CERT_DIR"
                return Failure(FetchFailed(FetchProblem.CERTIFICATE, detail))
            return Success(self.ssl_context)
