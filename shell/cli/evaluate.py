"""`gk eval`."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from groundkit.cli.common import collection_options, opened, print_json, print_table
from groundkit.cli.models import endpoint_of, endpoint_options
from groundkit.cli.printable import one_line
from groundkit.core.evaluation import (
    BASELINE,
    Bound,
    Evaluation,
    Shortfall,
    bound_of,
    losses,
    shortfalls,
)
from groundkit.core.judged import JudgedRefused
from groundkit.core.metrics import METRICS
from groundkit.core.modes import Mode
from groundkit.core.result import Failure
from groundkit.errors import ConfigurationError
from groundkit.evaluating import stages_of
from groundkit.trial import brings_documents, evaluate

if TYPE_CHECKING:
    from groundkit.collection import Collection
    from groundkit.ingest import SourceEvent

#: Problems of a judged set that are told one by one, and queries of each list.
_MOST_TOLD, _FEW = 20, 5
_MAIN = "ndcg@10"


def _modes(context: click.Context, parameter: click.Parameter, given: str) -> tuple[Mode, ...]:
    names = [each.strip() for each in given.split(",") if each.strip()]
    for each in names:
        if each not in set(Mode):
            raise click.BadParameter(f"{one_line(each)} is none of {', '.join(Mode)}")
    return tuple(map(Mode, names))


@click.command("eval")
@click.argument("judged", metavar="JUDGED", type=click.Path(exists=True, path_type=Path))
@collection_options
@click.option(
    "--modes",
    metavar="M,…",
    default="bm25",
    show_default=True,
    callback=_modes,
    help=f"Of {', '.join(Mode)}; {BASELINE} is always asked, too.",
)
@click.option("--rerank", metavar="NAME", help="Also ask the last of these modes with this model reranking.")
@click.option("--rerank-download", is_flag=True, help="Let fastembed fetch that model, if it is not here.")
@click.option("--embedder", metavar="NAME", help="What makes the vectors of JUDGED's own documents (else: wordllama).")
@endpoint_options
@click.option("--abstain/--no-abstain", default=True, show_default=True, help="Let searches by meaning find nothing.")
@click.option("--limit-queries", metavar="N", type=click.IntRange(min=1), help="Ask only the first N queries.")
@click.option("--keep", metavar="DIR", help="Make the collection of JUDGED's own documents here, and leave it.")
@click.option(
    "--fail-under",
    metavar="BOUND",
    multiple=True,
    help="Leave with 1 where a mean is less: ndcg@10=0.38 of every stage, hybrid:ndcg@10=0.4 of one. Repeatable.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("human", "json", "html")),
    default="human",
    show_default=True,
    help="How to print.",
)
@click.option("-o", "--output", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="Write there.")
def eval_command(
    judged: Path,
    index_dir: str | None,
    collection: str,
    modes: tuple[Mode, ...],
    rerank: str | None,
    rerank_download: bool,
    embedder: str | None,
    model_url: str | None,
    model_local: bool,
    abstain: bool,
    limit_queries: int | None,
    keep: str | None,
    fail_under: tuple[str, ...],
    form: str,
    output: Path | None,
) -> int:
    """Ask judged queries, and say how good the answers are: recall, MRR, nDCG, MAP, empty answers, latency.

    JUDGED is a file of JSON lines, {"query": …, "relevant": [SOURCE, …]}, about a collection; or a folder with corpus.jsonl,
    queries.jsonl and qrels.tsv (or a .tsv of judgements in one), of which a collection is made that is gone afterwards.
    Every stage stands beside BM25, with the difference query by query and a randomisation test.
    """
    bounds = _bounds(fail_under, [stage.name for stage in stages_of(modes, rerank)])
    _must_be_writable(output)
    endpoint = endpoint_of(model_url, model_local, rerank_download)
    own = brings_documents(judged)
    if not own and (keep is not None or embedder is not None):
        raise click.UsageError("--keep and --embedder go with a JUDGED that brings its own documents")
    about: AbstractContextManager[Collection | None] = (
        nullcontext() if own else opened(index_dir, collection, endpoint=endpoint)
    )
    with about as found, _progress() as advance:
        evaluation = _evaluated(
            lambda: evaluate(
                judged,
                found,
                modes=modes,
                rerank=rerank,
                embedder=embedder,
                endpoint=endpoint,
                abstain=abstain,
                limit_queries=limit_queries,
                keep=keep,
                on_ingest=None if advance is None else lambda event: _of_ingest(advance, event),
                on_progress=None if advance is None else lambda done, total, stage: advance("ask", done, total),
            )
        )
    short = shortfalls(evaluation, bounds)
    _give(evaluation, short, form, output)
    for each in short:
        click.echo(f"gk: {each.stage} reaches {each.reached:.4f}, and {each.bound} is wanted", err=True)
    return 1 if short else 0


def _must_be_writable(output: Path | None) -> None:
    """Whether it can be written is told before the work, and not after it."""
    if output is None:
        return
    try:
        output.open("a").close()
    except OSError as error:
        raise click.BadParameter(f"{one_line(str(output))}: {error.strerror}", param_hint="--output") from error


def _bounds(given: Sequence[str], stages: Sequence[str]) -> list[Bound]:
    found = []
    for text in given:
        bound = bound_of(text, stages)
        if isinstance(bound, Failure):
            raise click.UsageError(f"--fail-under {one_line(text)}: {bound.failure().why}")
        found.append(bound.unwrap())
    return found


def _evaluated(run: Callable[[], Evaluation]) -> Evaluation:
    try:
        return run()
    except ConfigurationError as error:
        refused = error.failure
        if not isinstance(refused, JudgedRefused):
            raise
        told = [str(each) for each in refused.problems[:_MOST_TOLD]]
        if len(refused.problems) > _MOST_TOLD:
            told.append(f"and {len(refused.problems) - _MOST_TOLD} more")
        raise click.ClickException("\n".join(map(one_line, told))) from error


def _of_ingest(advance: Callable[[str, int, int], None], event: "SourceEvent") -> None:
    advance("ingest", event.done, event.total)


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar on stderr, on terminals only."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("ingest", total=None)
        yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total)


def _give(evaluation: Evaluation, short: Sequence[Shortfall], form: str, output: Path | None) -> None:
    if output is None:
        _print(evaluation, short, form)
        return
    with output.open("w", encoding="utf-8", newline="") as file, _to(file):
        _print(evaluation, short, form)


@contextmanager
def _to(file: TextIO) -> Iterator[None]:
    """What is printed goes to a file."""
    from contextlib import redirect_stdout

    with redirect_stdout(file):
        yield


def _print(evaluation: Evaluation, short: Sequence[Shortfall], form: str) -> None:
    match form:
        case "json":
            from groundkit.reports.evaluation_data import evaluation_data

            print_json(evaluation_data(evaluation, short))
        case "html":
            from groundkit.reports.evaluation import evaluation_report

            for piece in evaluation_report(evaluation, short):
                click.echo(piece, nl=False)
        case _:
            _tell(evaluation)


def _tell(evaluation: Evaluation) -> None:
    click.echo(_heading(evaluation))
    _block(
        "",
        ("stage", *METRICS),
        [(s.name, *(f"{s.means[metric]:.4f}" for metric in METRICS)) for s in evaluation.stages],
    )
    _tell_comparison(evaluation)
    _tell_empty(evaluation)
    _tell_losses(evaluation)
    _block(
        "latency in ms",
        ("stage", "part", "searches", "p50", "p95", "p99"),
        [
            (each.stage, each.part, f"{each.count:,}", f"{each.p50:,.2f}", f"{each.p95:,.2f}", f"{each.p99:,.2f}")
            for each in evaluation.latencies
        ],
        left=2,
    )


def _heading(evaluation: Evaluation) -> str:
    facts = [f"{evaluation.documents:,} documents", f"{evaluation.counted:,} queries"]
    facts += [f"{evaluation.unanswerable:,} without an answer"] if evaluation.unanswerable else []
    facts += [f"{evaluation.unjudged:,} with nothing relevant, in no mean"] if evaluation.unjudged else []
    facts += [f"{evaluation.failed:,} documents could not be ingested"] if evaluation.failed else []
    facts += (
        [f"{len(evaluation.missing):,} judged sources, passages or chunks are not there"] if evaluation.missing else []
    )
    return f"{one_line(evaluation.judged)}: {', '.join(facts)}"


def _block(title: str, head: tuple[str, ...], rows: Sequence[tuple[str, ...]], left: int = 1) -> None:
    if rows:
        click.echo(f"\n{title}" if title else "")
        print_table(rows, head, tuple(range(left, len(head))))


def _tell_comparison(evaluation: Evaluation) -> None:
    from groundkit.reports.evaluation import comparison_cells

    rows = [
        (stage.name, metric, *comparison_cells(stage, metric)) for stage in evaluation.stages for metric in stage.beside
    ]
    head = ("stage", "metric", "difference", "p", "better", "same", "worse")
    _block(f"beside {BASELINE}, query by query", head, rows, left=2)


def _tell_empty(evaluation: Evaluation) -> None:
    told = [each for each in evaluation.stages if evaluation.unanswerable or each.wrongly_empty or each.refused]
    rows = [
        (
            each.name,
            f"{each.rightly_empty} of {evaluation.unanswerable}",
            f"{each.wrongly_empty} of {evaluation.counted}",
            str(each.refused),
        )
        for each in told
    ]
    _block("empty answers", ("stage", "rightly", "wrongly", "refused"), rows)


def _tell_losses(evaluation: Evaluation) -> None:
    for stage in evaluation.stages:
        worst = losses(evaluation, stage.name, _MAIN, _FEW) if stage.beside else []
        rows = []
        for row in worst:
            mine, other = (row.outcomes[name].scores or {} for name in (stage.name, BASELINE))
            rows.append((f"{mine[_MAIN]:.3f}", f"{other[_MAIN]:.3f}", row.id, _begun(row.text)))
        if rows:
            click.echo(f"\nworst losses of {stage.name} ({_MAIN})")
            print_table(rows, (stage.name, BASELINE, "id", "query"), (0, 1))


def _begun(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 70 else text[:69] + "…"
