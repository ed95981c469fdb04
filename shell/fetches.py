"""The pages of an ingest that are being fetched, while the other sources go on."""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from queue import Empty, Full, Queue
from threading import Event, Lock, Thread
from typing import TypeAlias

from groundkit.core.fetching import FetchAnswer, FetchFailed, FetchProblem, FetchRequest
from groundkit.core.ports import Fetcher
from groundkit.core.result import Failure, Result

Answered: TypeAlias = tuple[FetchRequest, Result[FetchAnswer, FetchFailed]]

#: Pages fetched at a time; so many more may wait in memory to be taken.
AT_ONCE = 8
#: How often a wait looks up whether it was interrupted, in seconds.
_BREATH = 0.1


def by_turns(requests: Sequence[FetchRequest]) -> list[FetchRequest]:
    """One of each host after the other: a host is asked for few pages at a time, and the others need not wait for it."""
    asked: Counter[str] = Counter()
    turns = []
    for number, each in enumerate(requests):
        turns.append((asked[each.url.host], number, each))
        asked[each.url.host] += 1
    return [each for *_, each in sorted(turns, key=itemgetter(0, 1))]


class Fetches:
    """Fetches pages in threads of its own. Close it."""

    def __init__(self, begin: Callable[[], Fetcher], requests: Sequence[FetchRequest]) -> None:
        self._begin = begin
        self._waiting = deque(by_turns(requests))
        self._left = len(requests)
        self._answers: Queue[Answered] = Queue(maxsize=AT_ONCE)
        self._stopped = Event()
        self._fetcher: Fetcher | None = None
        self._lock = Lock()

    @property
    def empty(self) -> bool:
        """Whether every request was answered and the answer taken."""
        return self._left == 0

    def start(self) -> None:
        """Begin, if there is anything to fetch."""
        if not self._waiting:
            return
        self._fetcher = self._begin()
        for number in range(min(AT_ONCE, len(self._waiting))):
            Thread(target=self._work, args=(self._fetcher,), name=f"gk-fetch-{number}", daemon=True).start()

    def answered(self, wait: bool) -> Iterator[Answered]:
        """What has been answered; with `wait`, at least one unless none is under way. Each is taken when it is asked for."""
        while self._left:
            try:
                answer = self._answers.get(timeout=_BREATH) if wait else self._answers.get_nowait()
            except Empty:
                if wait:
                    continue
                return
            wait = False
            self._left -= 1
            yield answer

    def close(self) -> None:
        """End what is under way. Closing twice does nothing."""
        self._stopped.set()
        if self._fetcher is not None:
            self._fetcher.close()

    def _work(self, fetcher: Fetcher) -> None:
        while not self._stopped.is_set():
            with self._lock:
                if not self._waiting:
                    return
                next_request = self._waiting.popleft()
            self._answer(fetcher, next_request)

    def _answer(self, fetcher: Fetcher, request: FetchRequest) -> None:
        answer: Result[FetchAnswer, FetchFailed]
        try:
            answer = fetcher.fetch(request)
        except Exception as error:  # noqa: BLE001 - a fetcher of somebody's own; ours raises nothing
            answer = Failure(FetchFailed(FetchProblem.PROTOCOL, f"the fetcher raised {type(error).__name__}"))
        while not self._stopped.is_set():
            try:
                self._answers.put((request, answer), timeout=_BREATH)
            except Full:
                continue
            return
