"""What the tests of whole collections share: worlds on disk, and everything of a collection that must be comparable."""

import json
import subprocess
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeAlias

from attrs import frozen

import groundkit
from groundkit.collection import Collection
from groundkit.compose import ports_for
from groundkit.core.model import Reason, Verdict
from groundkit.core.settings import Settings
from groundkit.core.storage import AllRecords, ChunksOfDocument, StoredChunk, StoreState
from groundkit.core.verdicts import VERDICT_OF

INDEX = ".groundkit"
COLLECTION = "default"

#: Of a hit, all that must not depend on a collection's history; scores to the last digit.
Hit: TypeAlias = tuple[float, str, str, int, int, str]
Answers: TypeAlias = dict[str, list[Hit]]


def put(base: Path, files: Mapping[str, bytes | str]) -> None:
    for source, content in files.items():
        path = base / source
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def opened(base: Path, collection: str = COLLECTION) -> Collection:
    return groundkit.open(base / INDEX, base=base, collection=collection)


def fresh(base: Path, files: Mapping[str, bytes | str], **settings: int | str) -> Collection:
    """A new collection over exactly these files, ingested at once."""
    put(base, files)
    made = opened(base)
    made.ingest("", **settings)  # type: ignore[arg-type]  # settings by name
    return made


def state_at(base: Path, collection: str = COLLECTION) -> StoreState:
    ports = ports_for(base / INDEX, collection)
    try:
        with closing(ports.documents.view().unwrap()) as view:
            return view.state
    finally:
        ports.documents.close()


def stored(base: Path, collection: str = COLLECTION) -> dict[str, tuple[StoredChunk, ...]]:
    """The chunks of every document alive in the finished generation, by source."""
    ports = ports_for(base / INDEX, collection)
    try:
        with closing(ports.documents.view().unwrap()) as view:
            at = view.state.current.mark.generation
            records = view.records(AllRecords(), at).unwrap()
            return {each.source: view.chunks(ChunksOfDocument(each.document_id), at).unwrap() for each in records}
    finally:
        ports.documents.close()


def contents(base: Path, collection: str = COLLECTION) -> dict[str, object]:
    """Documents and chunks as far as they may not depend on the history: no rows, no times."""
    ports = ports_for(base / INDEX, collection)
    held: dict[str, object] = {}
    try:
        with closing(ports.documents.view().unwrap()) as view:
            at = view.state.current.mark.generation
            for each in view.records(AllRecords(), at).unwrap():
                chunks = view.chunks(ChunksOfDocument(each.document_id), at).unwrap()
                held[each.source] = (
                    (each.document_id, each.source_class, each.text_digest, each.length, each.chunks, each.media_type),
                    (each.title, each.fingerprint),
                    [(chunk.chunk, chunk.tokens) for chunk in chunks],
                )
            statistics = view.state.current.statistics
            held[""] = (statistics.chunks, statistics.tokens, view.state.current.analyzer)
    finally:
        ports.documents.close()
    return held


def answers(collection: Collection, queries: Iterable[str], limit: int = 5) -> Answers:
    return {query: hits(collection, query, limit) for query in queries}


def hits(collection: Collection, query: str, limit: int = 5) -> list[Hit]:
    return [
        (hit.score, hit.chunk_id, hit.source, hit.citation.span.start, hit.citation.span.end, hit.text)
        for hit in collection.search(query, limit=limit)
    ]


def law_breaks(text: str, chunks: tuple[StoredChunk, ...], settings: Settings) -> list[str]:
    """Laws 1 to 3, looked at by rules of this file's own: slices, tiling, whole characters."""
    found: list[str] = []
    covered, last = 0, (-1, 0)
    for each in chunks:
        start, end = each.chunk.span.start, each.chunk.span.end
        if text[start:end] != each.chunk.text:
            found.append(f"{start}:{end} is not what stands there")
        if start <= last[0] or end <= last[1] or start > covered or covered - start > settings.chunk_overlap:
            found.append(f"{start}:{end} after {last}")
        forced = any(one >= settings.hard_limit - 1 for one in (end - start, last[1] - last[0]))
        if start and not forced and _torn(text, start):
            found.append(f"a character is torn at {start}")
        covered, last = end, (start, end)
    if covered != len(text):
        found.append(f"covered to {covered} of {len(text)}")
    return found


def _torn(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    flags = 0
    while flags < at and "\U0001f1e6" <= text[at - 1 - flags] <= "\U0001f1ff":
        flags += 1
    return (
        (before == "\r" and after == "\n")
        or unicodedata.category(after)[0] == "M"
        or before == "\u200d"
        or (flags % 2 == 1 and "\U0001f1e6" <= after <= "\U0001f1ff")
    )


#: Imports everything once and forks for each request, so that a trial costs no start of an interpreter. It never touches a
#: collection itself. The child is killed before it is waited for: its number cannot be another process's by then.
_LAUNCHER = """
import json, os, signal, sys, time
import groundkit, groundkit.cli.ingest, groundkit.collection, groundkit.ingest
for line in sys.stdin:
    told = json.loads(line)
    begun = time.perf_counter()
    child = os.fork()
    if child == 0:
        said = os.open(told["said"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(said, 1)
        os.dup2(said, 2)
        sys.argv = ["child", *told["arguments"]]
        code = 70
        try:
            exec(told["code"], {"__name__": "__main__"})
            code = 0
        except SystemExit as exit:
            code = exit.code or 0
        except BaseException:
            import traceback
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)
    if told["after"] is not None:
        time.sleep(told["after"])
        os.kill(child, getattr(signal, told["signal"]))
    _, status = os.waitpid(child, 0)
    print(json.dumps([os.waitstatus_to_exitcode(status), time.perf_counter() - begun]), flush=True)
"""


@frozen
class Ended:
    """How a process ended, what it had said by then, and how long it ran."""

    code: int
    said: str
    seconds: float


class Launcher:
    """Starts processes that have everything imported, also by what is to be run before, and kills them after a while."""

    def __init__(self, scratch: Path, before: str = "") -> None:
        self._said = scratch / "said"
        self._process = subprocess.Popen(
            [sys.executable, "-c", before + _LAUNCHER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, code: str, *arguments: object, after: float | None = None, signal: str = "SIGKILL") -> Ended:
        told = {"code": code, "arguments": [str(each) for each in arguments], "said": str(self._said)}
        self._said.write_text("")
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(told | {"after": after, "signal": signal}), file=self._process.stdin, flush=True)
        status, seconds = json.loads(self._process.stdout.readline())
        return Ended(status, self._said.read_text(), seconds)

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._process.stdout.close()


def python(code: str, *arguments: object) -> "subprocess.Popen[str]":
    """A process that runs this code with these arguments."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@contextmanager
def ended(process: "subprocess.Popen[str]") -> Iterator["subprocess.Popen[str]"]:
    """Whatever happens, this process of ours does not outlive the test."""
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def plainly(reason: Reason) -> Reason:
    """A reason, where a test asks whether a passage drifted and not where it went."""
    return Reason.CHANGED if VERDICT_OF[reason] is Verdict.DRIFTED else reason
