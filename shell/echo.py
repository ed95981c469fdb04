"""Runs the echo check: plants its documents in a temporary collection, asks whatever answers, and resolves what it cites."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import frozen

from groundkit.core.echo import (
    EchoCited,
    EchoOutcome,
    EchoPlan,
    EchoQuestion,
    EchoReport,
    EchoRow,
    echo_outcome,
    echo_plan,
)
from groundkit.core.model import Citation, Verdict
from groundkit.core.portable import PortableCitation
from groundkit.core.result import Failure
from groundkit.errors import GroundkitError
from groundkit.opening import open as open_collection

if TYPE_CHECKING:
    from groundkit.collection import Collection
    from groundkit.core.posting import Poster

#: One passage of the plan each, as they are about 450 code points long.
_CHUNK = 500

#: Words of a question that its subject is not.
_FRAME = frozenset(("what", "is", "the", "code", "of"))


@frozen
class EchoAnswer:
    """What was answered: a text, and citations as ids of chunks, citations, or citations as JSON objects."""

    text: str
    citations: tuple[object, ...] = ()


Answerer: TypeAlias = "Callable[[str, Collection], EchoAnswer]"


class AnswerRefused(Exception):
    """An answerer did not answer, or not in a shape that can be read."""


def run_echo(
    answer: Answerer,
    *,
    seed: str = "groundkit",
    subjects: int = 12,
    absent: int = 2,
    on_progress: Callable[[int, int], object] | None = None,
    directory: Path | None = None,
) -> EchoReport:
    """Plant, ask, resolve, score. `answer` gets each question and the collection, and is asked once for each.

    Without a `directory` (which has to be empty or missing) everything lies in a temporary one. What `answer` raises as
    `AnswerRefused` or `GroundkitError` is a row that failed; any other exception ends the run. ValueError: see `echo_plan`.
    """
    plan = echo_plan(seed, subjects, absent=absent)
    if directory is not None:
        return _asked(plan, directory, answer, on_progress)
    with tempfile.TemporaryDirectory(prefix="gk-echo-") as name:
        return _asked(plan, Path(name), answer, on_progress)


def _asked(
    plan: EchoPlan, directory: Path, answer: Answerer, on_progress: Callable[[int, int], object] | None
) -> EchoReport:
    base = directory / "documents"
    plant(plan, base)
    rows = []
    with open_collection(directory / ".groundkit", base=base) as kb:
        kb.ingest(base, strict=True, chunk_size=_CHUNK, chunk_overlap=0)
        for number, question in enumerate(plan.questions, 1):
            rows.append(_row(question, kb, answer))
            if on_progress is not None:
                on_progress(number, len(plan.questions))
    return EchoReport(plan.seed, tuple(rows))


def plant(plan: EchoPlan, base: Path) -> None:
    """Write the documents of a plan into a folder, for a collection or for whatever else is to be asked about them."""
    base.mkdir(parents=True, exist_ok=True)
    for document in plan.documents:
        (base / document.source).write_text(document.text, encoding="utf-8", newline="")


def _row(question: EchoQuestion, kb: Collection, answer: Answerer) -> EchoRow:
    try:
        said = answer(question.text, kb)
    except (AnswerRefused, GroundkitError) as error:
        return EchoRow(question, EchoOutcome.FAILED, str(error))
    outcome, detail = echo_outcome(question, said.text, [cited(kb, each) for each in said.citations])
    return EchoRow(question, outcome, detail)


def cited(kb: Collection, given: object) -> EchoCited:
    """The passage of a citation, as its source has it now: an id of a chunk, a citation, or one as a JSON object."""
    try:
        return _cited(kb, given)
    except GroundkitError as error:
        return EchoCited(None, str(error))


def _cited(kb: Collection, given: object) -> EchoCited:
    if isinstance(given, dict):
        from groundkit.portable_json import citation_from

        read = citation_from(given)
        if isinstance(read, Failure):
            return EchoCited(None, "a citation has not the shape of one")
        given = read.unwrap()
    if isinstance(given, str):
        return _of_chunk(kb, given)
    if not isinstance(given, Citation | PortableCitation):
        return EchoCited(None, f"a citation is a {type(given).__name__}")
    found = kb.verify(given)
    if found.verdict is not Verdict.VERIFIED:
        return EchoCited(None, found.detail)
    return EchoCited(kb.resolve_citation(given if isinstance(given, Citation) else given.citation))


def _of_chunk(kb: Collection, chunk_id: str) -> EchoCited:
    if re.fullmatch("[0-9a-f]{32}", chunk_id) is None:
        return EchoCited(None, "a citation is no id of a chunk")
    found = kb.fetch_chunk(chunk_id)
    if found.citation is None or found.verification.verdict is not Verdict.VERIFIED:
        return EchoCited(None, found.verification.detail)
    return EchoCited(kb.resolve_citation(found.citation))


def search_answerer(question: str, kb: Collection) -> EchoAnswer:
    """Answers with the best hit of a search, or with nothing where that has not every word of the subject.

    It needs no model and no server, so it shows that the check and the search work.
    """
    hits = kb.search(question, limit=1)
    wanted = {word for word in re.findall(r"\w+", question.casefold()) if word not in _FRAME}
    if not hits or not wanted <= set(re.findall(r"\w+", hits[0].text.casefold())):
        return EchoAnswer("I do not know.")
    return EchoAnswer(hits[0].text, (hits[0].citation,))


def http_answerer(poster: Poster) -> Answerer:
    """Asks an endpoint: it gets `{"question", "passages"}` and answers `{"answer", "citations"}`.

    `passages` are the hits of a search, each `{"id", "text", "source"}`; citations are ids of them, or citations as JSON.
    """

    def answer(question: str, kb: Collection) -> EchoAnswer:
        hits = kb.search(question, limit=8)
        passages = [{"id": h.citation.chunk_id, "text": h.text, "source": h.citation.source} for h in hits]
        said = poster.post({"question": question, "passages": passages})
        if isinstance(said, Failure):
            raise AnswerRefused(said.failure().detail)
        return answer_from(said.unwrap())

    return answer


def answer_from(data: object) -> EchoAnswer:
    """An answer as JSON has it. `AnswerRefused` where it is none."""
    text = data.get("answer") if isinstance(data, dict) else None
    given = data.get("citations", []) if isinstance(data, dict) else None
    if not isinstance(text, str) or not isinstance(given, list):
        raise AnswerRefused('an answer is {"answer": text, "citations": [...]}')
    return EchoAnswer(text, tuple(given))


def echo_data(report: EchoReport) -> dict[str, Any]:
    """A report as JSON has it."""
    return {
        "seed": report.seed,
        "questions": len(report.rows),
        "right": report.right,
        "score": round(report.score, 6),
        "outcomes": report.counts,
        "rows": [_row_data(row) for row in report.rows],
    }


def _row_data(row: EchoRow) -> dict[str, Any]:
    asked = row.question
    return {
        "id": asked.id,
        "question": asked.text,
        "subject": asked.subject,
        "answerable": asked.marker is not None,
        "outcome": row.outcome.value,
        "detail": row.detail,
    }


__all__: Sequence[str] = (
    "AnswerRefused",
    "Answerer",
    "EchoAnswer",
    "answer_from",
    "cited",
    "echo_data",
    "http_answerer",
    "plant",
    "run_echo",
    "search_answerer",
)
