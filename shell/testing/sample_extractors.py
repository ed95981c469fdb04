"""Extractors for tests, of a media type of their own, and jobs for them: one works, the others each fail in their way.

They stand in a module because a worker process has to be able to import them.
"""

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from groundkit.core.extraction import (
    Anchor,
    Extraction,
    ExtractionFailed,
    ExtractionProblem,
    Hint,
    Page,
)
from groundkit.core.outline import Heading
from groundkit.core.ports import ExtractionJob, Extractions, Extractor
from groundkit.core.result import Failure, Result, Success
from groundkit.core.settings import ExtractionLimits

MEDIA_TYPE = "application/x-lines"
SUFFIX = ".x"

__all__ = [
    "HINT", "LIMITS", "MEDIA_TYPE", "SUFFIX", "Anew", "Bare", "Burning", "Crashing", "DiesOnce", "Eating", "Exiting",
    "Garbling", "Hanging", "Leaving", "Lines", "Misplacing", "Mistyping", "Nothing", "Pid", "Printing", "Raising", "Random",
    "Recursing", "Refusing", "Sample", "Sleeping", "all_of", "job", "one_of", "problem_of",
]  # fmt: skip

Extracted = Result[Extraction, ExtractionFailed]

LIMITS = ExtractionLimits(seconds=20.0, cpu_seconds=10, memory=512_000_000)
HINT = Hint(MEDIA_TYPE)


@frozen
class Sample:
    """Reads the bytes as they stand, one way or another."""

    version: str = "1"

    @property
    def identity(self) -> str:
        return f"{type(self).__name__.lower()}@{self.version}"

    @property
    def media_types(self) -> frozenset[str]:
        return frozenset({MEDIA_TYPE})

    @property
    def suffixes(self) -> Mapping[str, str]:
        return {SUFFIX: MEDIA_TYPE}

    def extract(self, data: bytes, hint: Hint) -> Extracted:
        return Success(Extraction(data.decode()))


@frozen
class Lines(Sample):
    """Text is the bytes as UTF-8, capitals if `loud`. Form feed begins a page, `# ` a heading, `[name]` an anchor."""

    loud: bool = False

    @property
    def identity(self) -> str:
        return f"x@{self.version}"

    def extract(self, data: bytes, hint: Hint) -> Extracted:
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            return Failure(ExtractionFailed(ExtractionProblem.DAMAGED, f"byte {error.start} is no UTF-8"))
        return Success(_structured(text.upper() if self.loud else text))


def _structured(text: str) -> Extraction:
    pages, headings, anchors = [Page(0, "1")], list[Heading](), list[Anchor]()
    start = 0
    for line in text.splitlines(keepends=True):
        end = start + len(line)
        if line.startswith("\f"):
            pages.append(Page(start, str(len(pages) + 1)))
        if line.startswith("# "):
            headings.append(Heading(1, " ".join(line[2:].split())[:200], start, end))
        if line.startswith("[") and line.rstrip().endswith("]"):
            anchors.append(Anchor(start, line.rstrip()[1:-1]))
        start = end
    title = headings[0].text if headings else ""
    return Extraction(text, title, tuple(pages), tuple(headings), tuple(anchors))


@frozen
class Refusing(Sample):
    """Says properly that there is no text."""

    def extract(self, data: bytes, hint: Hint) -> Extracted:
        return Failure(ExtractionFailed(ExtractionProblem.NO_TEXT, "there is\nno text in it"))


@frozen
class Raising(Sample):
    def extract(self, data: bytes, hint: Hint) -> Extracted:
        raise ValueError("a bug\nof two lines")


@frozen
class Recursing(Sample):
    def extract(self, data: bytes, hint: Hint) -> Extracted:
        return self.extract(data, hint)


@frozen
class Nothing(Sample):
    def extract(self, data: bytes, hint: Hint) -> Extracted:
        return None  # type: ignore[return-value]


@frozen
class Bare(Sample):
    """Gives the extraction itself, not a `Success` of it."""

    def extract(self, data: bytes, hint: Hint) -> Extracted:
        return Extraction(data.decode())  # type: ignore[return-value]


@frozen
class Misplacing(Sample):
    """A page begins behind the end of the text."""

    def extract(self, data: bytes, hint: Hint) -> Extracted:
        return Success(Extraction("short", pages=(Page(0), Page(6))))


@frozen
class Mistyping(Sample):
    """Bytes where a text should be."""

    def extract(self, data: bytes, hint: Hint) -> Extracted:
        return Success(Extraction(data))  # type: ignore[arg-type]


@frozen
class Random(Sample):
    """Another text each time, under the same identity."""

    def extract(self, data: bytes, hint: Hint) -> Extracted:
        return Success(Extraction(f"{data.decode()} {os.urandom(8).hex()}"))


@frozen
class Anew(Sample):
    """Another identity in every process."""

    @property
    def identity(self) -> str:
        return f"anew@{os.getpid()}"


@frozen
class Crashing(Sample):
    """Ends its process as a fault in a C library does, with so many bytes in use."""

    holding: int = 0

    def extract(self, data: bytes, hint: Hint) -> Extracted:
        held = b"x" * self.holding
        signal.signal(signal.SIGSEGV, signal.SIG_DFL)
        ctypes.string_at(0)
        raise AssertionError(len(held))


@frozen
class Exiting(Sample):
    """Ends its process without a word, or, if `politely`, tries to."""

    politely: bool = False

    def extract(self, data: bytes, hint: Hint) -> Extracted:
        if self.politely:
            sys.exit(3)
        os._exit(3)


@frozen
class Hanging(Sample):
    """Waits for ever."""

    def extract(self, data: bytes, hint: Hint) -> Extracted:
        while True:
            time.sleep(3600)


@frozen
class Sleeping(Sample):
    """Takes so many seconds, and says who it was."""

    seconds: float = 0.1

    def extract(self, data: bytes, hint: Hint) -> Extracted:
        time.sleep(self.seconds)
        return Success(Extraction(str(os.getpid())))


@frozen
class Pid(Sample):
    """The text is the number of the process it was made in."""

    def extract(self, data: bytes, hint: Hint) -> Extracted:
        return Success(Extraction(str(os.getpid())))


_LEAKED: list[list[bytes]] = []


@frozen
class Eating(Sample):
    """Takes memory: all there is, or so many bytes, and then says who it was. Gives it back, unless it is a `leak`."""

    size: int | None = None
    leak: bool = False

    def extract(self, data: bytes, hint: Hint) -> Extracted:
        eaten = [b"x" * (self.size or 0)]
        while self.size is None:
            eaten.append(b"x" * 10_000_000)
        if self.leak:
            _LEAKED.append(eaten)
        return Success(Extraction(str(os.getpid())))


@frozen
class Burning(Sample):
    """Keeps a processor busy: for ever, or for so many seconds of it."""

    seconds: float | None = None

    def extract(self, data: bytes, hint: Hint) -> Extracted:
        end = None if self.seconds is None else time.process_time() + self.seconds
        while end is None or time.process_time() < end:
            pass
        return Success(Extraction(data.decode()))


@frozen
class Printing(Sample):
    """Writes to standard output and reads standard input, as a library may that means no harm."""

    def extract(self, data: bytes, hint: Hint) -> Extracted:
        print("noise " * 10_000, flush=True)
        os.write(1, b"more noise\n")
        return Success(Extraction(data.decode() + sys.stdin.read() + os.read(0, 10).decode()))


@frozen
class Garbling(Sample):
    """Writes to every descriptor it finds."""

    def extract(self, data: bytes, hint: Hint) -> Extracted:
        for descriptor in range(3, 30):
            try:
                os.write(descriptor, b"garbage " * 8)
            except OSError:
                continue
        return Success(Extraction(data.decode()))


@frozen
class Leaving(Sample):
    """Leaves a thread behind that never ends."""

    def extract(self, data: bytes, hint: Hint) -> Extracted:
        threading.Thread(target=time.sleep, args=(3600,)).start()
        return Success(Extraction(str(os.getpid())))


@frozen
class DiesOnce(Sample):
    """Kills its process the first time, while `marker` does not exist yet, and works from then on."""

    marker: str = ""

    def extract(self, data: bytes, hint: Hint) -> Extracted:
        if not Path(self.marker).exists():
            Path(self.marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return Success(Extraction(data.decode()))


def job(
    extractor: Extractor, data: bytes = b"text", identity: str | None = None, limits: ExtractionLimits = LIMITS
) -> ExtractionJob:
    """A job for this extractor, under its own identity unless another is given."""
    return ExtractionJob(extractor, identity or extractor.identity, data, HINT, limits)


def all_of(extractions: Extractions, count: int) -> list[tuple[int, Extracted]]:
    """So many results, waited for."""
    results: list[tuple[int, Extracted]] = []
    while len(results) < count:
        results += extractions.finished(wait=True)
    return results


def one_of(extractions: Extractions, asked: ExtractionJob) -> Extracted:
    """The result of one job, of which nothing else is under way."""
    extractions.start(0, asked)
    [(_, outcome)] = all_of(extractions, 1)
    return outcome


def problem_of(outcome: Extracted) -> tuple[ExtractionProblem, str]:
    assert isinstance(outcome, Failure), outcome
    return outcome.failure().problem, outcome.failure().detail
