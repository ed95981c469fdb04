"""What the tests of extracted sources share: worlds of files, and all that two collections must agree about."""

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

from attrs import evolve
from integration.support import COLLECTION, INDEX, put
from pdf_builder import pdf

import groundkit
from groundkit.collection import Collection
from groundkit.compose import ports_for
from groundkit.core.model import Citation, DocumentRecord
from groundkit.core.ports import Extractor, Ports
from groundkit.core.storage import AllRecords, ChunksOfDocument, StoredChunk, StoreState
from groundkit.errors import GroundkitError

Held: TypeAlias = dict[str, object]


def lines(name: str, pages: int = 3, lines: int = 12) -> str:
    """A text for `Lines`: pages of sentences with a heading and an anchor on each, all different."""
    parts = []
    for page in range(1, pages + 1):
        parts.append("\f" if page > 1 else "")
        parts.append(f"\n# {name} part {page}\n[{name}-{page}]\n" if page > 1 else f"# {name} part 1\n[{name}-1]\n")
        parts += [
            f"{name} says on page {page} in line {line} that rule {page * 100 + line} holds.\n" for line in range(lines)
        ]
    return "".join(parts)


HTML = (
    "<!doctype html><html><head><title>Tides</title></head><body><h1 id=top>Tides</h1><p>The tide turns twice.</p>"
    + "".join(
        f"<h2 id=part-{n}>Part {n}</h2><p>{f'Water stands at mark {n}. ' * 12}</p><p id=foot-{n}>Foot of part {n}.</p>"
        for n in range(6)
    )
    + "</body></html>"
)
PDF = pdf(
    [
        f"Report page {n}\n" + "\n".join(f"Measured value {n} {line} of the harbour." for line in range(20))
        for n in range(1, 6)
    ],
    labels={0: "/S /r", 2: "/S /D"},
    title="Harbour report",
)
MARKDOWN = "# Guide\n\nThe harbour has a wall.\n\n## Walls\n\n" + "A wall keeps water out. " * 30 + "\n"
#: A file of each class and format.
MIXED: Mapping[str, bytes | str] = {
    "guide.md": MARKDOWN,
    "notes/tide.txt": "The tide turns twice a day.\n" * 30,
    "report.pdf": PDF,
    "site/tides.html": HTML,
    "old.x": lines("old"),
}


def opened(base: Path, *extractors: Extractor, collection: str = COLLECTION) -> Collection:
    return groundkit.open(base / INDEX, base=base, collection=collection, extractors=extractors)


def ports_at(base: Path, *extractors: Extractor) -> Ports:
    return ports_for(base / INDEX, COLLECTION, extractors)


def with_ports(base: Path, ports: Ports) -> Collection:
    return Collection(ports, base / INDEX, COLLECTION, base)


def world(base: Path, files: Mapping[str, bytes | str], *extractors: Extractor, **settings: int) -> Collection:
    """A collection over exactly these files, which are all taken."""
    put(base, files)
    made = opened(base, *extractors)
    report = made.ingest("", **settings)  # type: ignore[arg-type]  # settings by name
    assert report.failed == ()
    assert report.added == len(files)
    return made


def rows(base: Path) -> tuple[StoreState, dict[str, tuple[DocumentRecord, tuple[StoredChunk, ...]]]]:
    """The state and every document with its chunks, by source, row numbers and times included."""
    ports = ports_for(base / INDEX, COLLECTION)
    with closing(ports.documents), closing(ports.documents.view().unwrap()) as view:
        at = view.state.current.mark.generation
        records = view.records(AllRecords(), at).unwrap()
        return view.state, {
            each.source: (each, view.chunks(ChunksOfDocument(each.document_id), at).unwrap()) for each in records
        }


def held(base: Path) -> Held:
    """Everything that may not depend on the history: all but row numbers and times."""
    state, documents = rows(base)
    made: Held = {
        source: (evolve(record, ingested_at=""), [(each.chunk, each.tokens) for each in chunks])
        for source, (record, chunks) in documents.items()
    }
    counted = state.current.statistics  # how long the longest chunk is may be an older, higher bound
    return made | {"": (counted.chunks, counted.tokens, state.current.analyzer)}


def found(collection: Collection, *queries: str) -> list[tuple[float, str, str, Citation]]:
    return [(hit.score, hit.chunk_id, hit.text, hit.citation) for query in queries for hit in collection.search(query)]


def tree(folder: Path) -> dict[str, str]:
    """Every file below a folder with the SHA-256 of its bytes; folders by themselves."""
    return {
        str(each.relative_to(folder)): hashlib.sha256(each.read_bytes()).hexdigest() if each.is_file() else "folder"
        for each in sorted(folder.rglob("*"))
    }


def failures(report: groundkit.IngestReport) -> dict[str, str]:
    """Reason and detail of each failed source."""
    return {each.source: f"{_reason(each.error)}: {each.error.detail}" for each in report.failed}


def _reason(error: object) -> str:
    problem = getattr(error, "problem", None)
    return problem.value if problem is not None else str(getattr(error, "reason", ""))


def verdicts(collection: Collection, citations: Iterable[Citation] | None = None) -> dict[str, set[str]]:
    """`verdict: reason` of the citations of each source."""
    told: dict[str, set[str]] = {}
    checks = collection.verify_all() if citations is None else collection.verify_each(citations)
    for each in checks:
        said = f"{each.verification.verdict.value}: {each.verification.reason.value}"
        told.setdefault(each.citation.source, set()).add(said)
    return told


def error_of(collection: Collection, *paths: str) -> GroundkitError:
    """What a strict ingest raises."""
    try:
        collection.ingest(paths or "", strict=True)
    except GroundkitError as error:
        return error
    raise AssertionError("nothing was raised")
