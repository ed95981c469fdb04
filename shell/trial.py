"""Trying a collection on judged queries: the collection it needs, made for the purpose if need be, and the searches."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve

from groundkit.core.evaluation import Evaluation, Seen, Stage
from groundkit.core.judged import (
    CorpusDocument,
    Hit,
    Judged,
    JudgedProblem,
    JudgedQuery,
    JudgedRefused,
    OfChunk,
    OfPassage,
    OfSource,
    absent,
    file_of,
    markdown_of,
)
from groundkit.core.modes import Mode
from groundkit.core.result import Failure
from groundkit.errors import ConfigurationError, QueryError
from groundkit.evaluating import Progress, Searching, evaluate_searches, stages_of
from groundkit.judged_files import is_judgements, read_judged
from groundkit.opening import open as open_collection

if TYPE_CHECKING:
    from groundkit.collection import Collection
    from groundkit.ingest import SourceEvent
    from groundkit.opened import PathLike
    from groundkit.requests import ModelEndpoint

#: Where the documents of a test collection are written, and where their collection lies.
_CORPUS, _INDEX = "corpus", ".groundkit"
#: Code points of a missing passage by which it is told.
_MOST_SHOWN = 60


def evaluate(
    judged: PathLike,
    collection: Collection | None = None,
    *,
    modes: Sequence[str] = ("bm25",),
    rerank: str | None = None,
    embedder: str | None = None,
    endpoint: ModelEndpoint | None = None,
    abstain: bool = True,
    limit_queries: int | None = None,
    keep: PathLike | None = None,
    on_ingest: Callable[[SourceEvent], object] | None = None,
    on_progress: Progress | None = None,
) -> Evaluation:
    """Ask judged queries in each mode ("bm25" always, "dense", "hybrid", the last one also reranked by a model) and count.

    `judged` is a file of JSON lines about `collection`; or a folder with `corpus.jsonl`, `queries.jsonl` and `qrels.tsv` (or one
    `.tsv` of judgements in it), of which a collection is made for the purpose: in a temporary folder, or in `keep`, which
    must be new or empty and stays. It gets vectors of `embedder` ("wordllama") if a mode wants them.
    `ConfigurationError` for a judged set that is none (its failure is a `JudgedRefused`), for a mode that the collection is not
    made for, and as any search.
    """
    read = read_judged(Path(os.fspath(judged)))
    if isinstance(read, Failure):
        raise ConfigurationError(str(read.failure()), read.failure())
    stages = stages_of([Mode(each) for each in modes], rerank)
    found = read.unwrap()
    asked = found.queries if limit_queries is None else found.queries[:limit_queries]
    if found.corpus is None:
        if collection is None:
            raise ConfigurationError(f"{found.name} brings no documents: it needs the collection that it is about")
        return _tried(collection, evolve(found, queries=asked), stages, abstain, 0, on_progress)
    if collection is not None:
        raise ConfigurationError(f"{found.name} brings its own documents: it is asked of no other collection")
    dense = any(stage.mode is not Mode.BM25 for stage in stages)
    with _folder(keep) as folder:
        written(found.corpus, folder / _CORPUS)
        with open_collection(folder / _INDEX, base=folder / _CORPUS, endpoint=endpoint) as made:
            report = made.ingest("", dense=dense or None, embedder=embedder, on_progress=on_ingest)
            return _tried(made, evolve(found, queries=asked), stages, abstain, len(report.failed), on_progress)


def brings_documents(judged: PathLike) -> bool:
    """Whether a judged set is a test collection with its own documents: a folder, or a `.tsv` of judgements."""
    path = Path(os.fspath(judged))
    return path.is_dir() or is_judgements(path)


def _tried(
    collection: Collection,
    judged: Judged,
    stages: Sequence[Stage],
    abstain: bool,
    failed: int,
    on_progress: Progress | None,
) -> Evaluation:
    done = evaluate_searches(searcher_of(collection, abstain=abstain), judged.name, judged.queries, stages, on_progress)
    documents = {record.source: record.document_id for record in collection.get_document_records()}
    return evolve(done, documents=len(documents), failed=failed, missing=_missing(collection, judged, documents))


def _missing(collection: Collection, judged: Judged, documents: Mapping[str, str]) -> tuple[str, ...]:
    """What is judged and is not there: sources, passages of those that are, chunks."""
    targets = {target for query in judged.queries for target, _ in query.targets}
    sources = {target.source for target in targets if isinstance(target, OfSource | OfPassage)} - documents.keys()
    wanted: dict[str, list[str]] = {}
    for target in targets:
        if isinstance(target, OfPassage) and target.source in documents:
            wanted.setdefault(target.source, []).append(target.text)
    passages = (
        f"{source}: {_begun(text)}"
        for source, texts in wanted.items()
        for text in absent(texts, collection.document_text(documents[source]) or "")
    )
    chunks = {target.chunk_id for target in targets if isinstance(target, OfChunk)}
    if chunks:
        chunks -= {citation.chunk_id for citation in collection.citations()}
    return tuple(sorted((*sources, *passages, *chunks)))


def _begun(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 1] + "…"


def searcher_of(collection: Collection, *, abstain: bool = True) -> Searching:
    """The searches of a collection as an evaluation asks them. Sources are not looked at again."""

    def searching(query: JudgedQuery, stage: Stage, limit: int) -> Seen:
        try:
            answer = collection.answer(
                query.text,
                limit=limit,
                mode=stage.mode.value,
                per_source=1 if query.by_document else None,
                abstain=abstain,
                rerank=stage.rerank,
            )
        except QueryError as error:
            return Seen(refused=str(error))
        hits = tuple(Hit(hit.source, hit.chunk_id, hit.text) for hit in answer.hits)
        return Seen(hits, seconds=answer.seconds)

    return searching


def written(corpus: Sequence[CorpusDocument], folder: Path) -> None:
    """Each document as a Markdown file that is named after its id."""
    folder.mkdir()
    for each in corpus:
        name = file_of(each.id)
        assert name is not None
        (folder / name).write_text(markdown_of(each), "utf-8", newline="")


@contextmanager
def _folder(keep: PathLike | None) -> Iterator[Path]:
    """A folder for a collection: one that is gone afterwards, or a new one that stays."""
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="groundkit-eval-") as made:
            yield Path(made)
        return
    kept = Path(os.path.abspath(keep))
    try:
        kept.mkdir(parents=True, exist_ok=True)
        taken = any(kept.iterdir())
    except OSError as error:
        raise _not_kept(kept, (error.strerror or str(error)).lower()) from error
    if taken:
        raise _not_kept(kept, "it is not empty")
    yield kept


def _not_kept(folder: Path, why: str) -> ConfigurationError:
    return ConfigurationError(f"{folder.name}: {why}", JudgedRefused((JudgedProblem(folder.name, 0, "", why),)))
