"""What pypdf says while it reads. Some of its limits and repairs raise nothing: its log is where lost text shows."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock

from groundkit.adapters.pdf.messages import Weight, meaning_of

#: So many different sentences are kept of one document, and so many of the pages that each is about.
SENTENCES_LIMIT = 200
PAGES_NAMED = 3
SAID_LIMIT = 200

_REFERENCE = re.compile(r"IndirectObject\((\d+), (\d+), \d+\)")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")


def said(error: BaseException) -> str:
    """Name and message of an exception, in one line, the same wherever and whenever it is raised."""
    name = type(error).__name__
    if isinstance(error, RecursionError):
        # Its message depends on where the stack happened to end.
        return f"{name}: nested too deeply"
    message = _ADDRESS.sub("…", _REFERENCE.sub(r"object \1 \2", str(error)))
    line = " ".join("".join(each if each.isprintable() else " " for each in message).split())[:SAID_LIMIT]
    return f"{name}: {line}" if line else name


def starved(error: BaseException | None) -> bool:
    """Whether want of memory is behind an exception: pypdf wraps `MemoryError` in places."""
    for _ in range(100):
        if error is None:
            return False
        if isinstance(error, MemoryError):
            return True
        error = error.__cause__ or error.__context__
    return False


class _Pages:
    """The first few pages that something is about, and how many there are more."""

    def __init__(self) -> None:
        self.named: list[int] = []
        self.last: int | None = None
        self.more = 0

    def add(self, page: int | None) -> None:
        if page is None or page == self.last:
            return
        self.last = page
        if len(self.named) < PAGES_NAMED:
            self.named.append(page)
        else:
            self.more += 1

    def __str__(self) -> str:
        if not self.named:
            return ""
        word = "page" if len(self.named) == 1 else "pages"
        more = f" and {self.more} more" if self.more else ""
        return f"{word} {', '.join(map(str, self.named))}{more}: "


class Heard:
    """What was lost, and what is to be noted, of one document, each sentence once with its pages.

    `page` is the one being read, from 1, None outside of them; `deaf` while what is read has no bearing on the text.
    """

    def __init__(self) -> None:
        self.page: int | None = None
        self.deaf = False
        self.starved = False
        self._lost: dict[str, _Pages] = {}
        self._notes: dict[str, _Pages] = {}

    def lose(self, sentence: str) -> None:
        self._add(self._lost, sentence)

    def note(self, sentence: str) -> None:
        self._add(self._notes, sentence)

    def take(self, record: logging.LogRecord) -> None:
        values = record.args if isinstance(record.args, dict) else {}
        self.starved |= any(starved(each) for each in values.values() if isinstance(each, BaseException))
        if self.deaf:
            return
        meaning = meaning_of(str(record.msg))
        if meaning.weight is Weight.IGNORED:
            return
        sentence = meaning.sentence.format_map({name: _plain(each) for name, each in values.items()})
        self._add(self._lost if meaning.weight is Weight.LOST else self._notes, sentence)

    def lost(self) -> tuple[str, ...]:
        return tuple(f"{pages}{sentence}" for sentence, pages in self._lost.items())

    def notes(self) -> tuple[str, ...]:
        return tuple(f"{pages}{sentence}" for sentence, pages in self._notes.items())

    def _add(self, known: dict[str, _Pages], sentence: str) -> None:
        if sentence in known or len(known) < SENTENCES_LIMIT:
            known.setdefault(sentence, _Pages()).add(self.page)


def _plain(value: object) -> str:
    """Numbers, names and exceptions can be told; other objects show addresses, or whole files."""
    if isinstance(value, BaseException):
        return said(value)
    return str(value)[:60] if isinstance(value, (int, str)) else type(value).__name__


_HEARD: ContextVar[Heard | None] = ContextVar("groundkit_pdf_heard", default=None)


class _Ear(logging.Handler):
    """Takes what is said in an extraction; what the rest of the process has pypdf say goes where it went before."""

    def __init__(self, propagate: bool, level: int) -> None:
        super().__init__()
        self.before = propagate, level

    def emit(self, record: logging.LogRecord) -> None:
        heard = _HEARD.get()
        propagate, level = self.before
        if heard is not None:
            heard.take(record)
        elif propagate and record.levelno >= level:
            logging.getLogger().callHandlers(record)


class _Listening:
    """pypdf's loggers, opened while at least one extraction runs in the process, whatever the process made of them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._running = 0
        self._before: list[tuple[logging.Logger, int, bool, bool]] = []
        self._disabled = logging.NOTSET
        self._ear: _Ear | None = None

    def begin(self) -> None:
        with self._lock:
            self._running += 1
            if self._running == 1:
                self._open()

    def end(self) -> None:
        with self._lock:
            self._running -= 1
            if self._running == 0:
                self._restore()

    def _open(self) -> None:
        top = logging.getLogger("pypdf")
        self._ear = _Ear(top.propagate, top.getEffectiveLevel())
        self._disabled = logging.root.manager.disable
        self._before = [(each, each.level, each.disabled, each.propagate) for each in _loggers(top)]
        logging.disable(logging.NOTSET)
        for each in _loggers(top):
            each.setLevel(logging.NOTSET)
            each.disabled, each.propagate = False, True
        top.setLevel(logging.WARNING)
        top.propagate = False
        top.addHandler(self._ear)

    def _restore(self) -> None:
        for each, level, disabled, propagate in self._before:
            each.setLevel(level)
            each.disabled, each.propagate = disabled, propagate
        logging.disable(self._disabled)
        if self._ear is not None:
            logging.getLogger("pypdf").removeHandler(self._ear)


def _loggers(top: logging.Logger) -> list[logging.Logger]:
    known = list(logging.root.manager.loggerDict.items())
    return [top, *(each for name, each in known if name.startswith("pypdf.") and isinstance(each, logging.Logger))]


_LISTENING = _Listening()


@contextmanager
def hearing() -> Iterator[Heard]:
    """All that pypdf says in this context, in this thread, until the end."""
    heard = Heard()
    token = _HEARD.set(heard)
    _LISTENING.begin()
    try:
        yield heard
    finally:
        _LISTENING.end()
        _HEARD.reset(token)
