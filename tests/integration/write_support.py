"""One collection's two stores on a disk of their own, opened as often as one likes; and writers that die at a given step."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Protocol

from attrs import define, field

from groundkit.adapters.sqlite_store import SqliteStore
from groundkit.adapters.tantivy_index import TantivyIndex
from groundkit.core.changes import Write
from groundkit.core.folding import index_view
from groundkit.core.ports import DocumentStore, LexicalIndex
from groundkit.core.settings import Settings
from groundkit.core.storage import AllRecords, StoreState
from groundkit.reading import Reader
from groundkit.search import SearchRequest, search
from groundkit.testing.memory_index import MemoryIndex
from groundkit.testing.memory_store import MemoryStore
from groundkit.testing.sample_documents import new_document

STEPS = ("stage", "recount", "declare", "start", "apply", "discard")


class Disk(Protocol):
    """What outlives a process."""

    def documents(self) -> DocumentStore: ...

    def lexical(self, language: str = "english") -> LexicalIndex: ...

    def builds(self) -> set[int]: ...

    def copied(self) -> "Disk": ...


class RealDisk:
    def __init__(self, parent: Path) -> None:
        self._parent = parent
        self.place = Path(mkdtemp(dir=parent))

    def copied(self) -> "RealDisk":
        other = RealDisk(self._parent)
        shutil.copytree(self.place, other.place, dirs_exist_ok=True)
        return other

    def documents(self) -> DocumentStore:
        return SqliteStore(self.place, "c")

    def lexical(self, language: str = "english") -> LexicalIndex:
        return TantivyIndex(self.place / "c.lexical", language)

    def builds(self) -> set[int]:
        return {int(each.name) for each in (self.place / "c.lexical").iterdir() if each.name.isdecimal()}


class MemoryDisk:
    def __init__(self, parent: Path) -> None:
        self._parent = parent
        self._documents: dict[str, Any] = {}
        self._builds: dict[int, Any] = {}

    def copied(self) -> "MemoryDisk":
        other = MemoryDisk(self._parent)
        other._documents, other._builds = dict(self._documents), dict(self._builds)
        return other

    def documents(self) -> DocumentStore:
        return MemoryStore(self._documents)

    def lexical(self, language: str = "english") -> LexicalIndex:
        return MemoryIndex(self._builds, f"memory/1 {language}")

    def builds(self) -> set[int]:
        return set(self._builds)


def made(disk: Disk) -> Disk:
    disk.documents().create(Settings(), disk.lexical().analyzer).unwrap()
    return disk


def write(*removed: str, **texts: str) -> Write:
    return Write(tuple(new_document(source, text, 40) for source, text in texts.items()), removed=removed)


class Died(BaseException):
    """Like a kill: nothing catches it, nothing after it happens."""


@define
class Script:
    """Counts the places before and after each changing step, and dies at one of them."""

    dies_at: int | None = None
    seen: int = 0
    steps: list[str] = field(factory=list)

    def place(self, step: str) -> None:
        if self.seen == self.dies_at:
            raise Died(step)
        self.seen += 1
        self.steps.append(step)


class Dying:
    """A port whose changing steps follow a script."""

    def __init__(self, port: object, script: Script) -> None:
        self._port, self._script = port, script

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._port, name)
        if name not in STEPS:
            return found

        def step(*arguments: object) -> object:
            self._script.place(f"before {name}")
            answer = found(*arguments)
            self._script.place(f"after {name}")
            return answer

        return step


class Answering:
    """A port that answers some methods otherwise."""

    def __init__(self, port: object, **answers: Callable[..., object]) -> None:
        self._port, self._answers = port, answers

    def __getattr__(self, name: str) -> Any:
        return self._answers.get(name) or getattr(self._port, name)


@contextmanager
def viewed(disk: Disk) -> Iterator[Any]:
    documents = disk.documents()
    with closing(documents.view().unwrap()) as view:
        yield view
    documents.close()


def state_of(disk: Disk) -> StoreState:
    with viewed(disk) as view:
        return view.state  # type: ignore[no-any-return]


def sources(disk: Disk) -> dict[str, str]:
    """Document id by source, at the tip."""
    with viewed(disk) as view:
        records = view.records(AllRecords(), view.state.tip.mark.generation).unwrap()
        return {each.source: each.document_id for each in records}


def disagreements(disk: Disk, language: str = "english") -> list[str]:
    """What is not as a finished write leaves it."""
    lexical = disk.lexical(language)
    with viewed(disk) as view:
        state = view.state
        rows = view.live(state.tip.mark.generation).unwrap()
    found = []
    if state.current != state.tip:
        found.append("unfinished")
    if disk.builds() != {state.build}:
        found.append(f"builds {disk.builds()} but {state.build} is named")
    elif lexical.searcher(state.build).unwrap().mark != state.tip.mark:
        found.append("the index names another generation")
    elif lexical.live(state.build).unwrap() != rows:
        found.append("the index holds other rows")
    if disk.documents().outbox(index_view).unwrap():
        found.append("the outbox is not empty")
    return found


def texts_found(reader: Reader, lexical: LexicalIndex, query: str) -> list[tuple[str, str]]:
    hits = search(reader, lexical, SearchRequest(query, 100)).unwrap().hits
    return [(hit.source, hit.text) for hit in hits]
