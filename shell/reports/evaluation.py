"""An evaluation as one page of HTML: nothing is loaded, nothing is run, and what comes from queries is text."""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence

from groundkit.core.evaluation import (
    BASELINE,
    WHOLE,
    Evaluation,
    Latency,
    QueryRow,
    Shortfall,
    StageResult,
    differences,
    losses,
)
from groundkit.core.metrics import DEPTH, METRICS
from groundkit.reports.evaluation_style import evaluation_style
from groundkit.reports.plots import Bar, bars, differences_plot
from groundkit.reports.rows import counted
from groundkit.reports.signs import markup_line

#: By what queries are told to be better or worse.
MAIN = "ndcg@10"
_BEST = ' class="best"'
#: Columns of words beside the first.
_TEXTS = ("Query", "Part")
#: Code points of a query that a table shows.
_MOST_SHOWN = 200


def evaluation_report(evaluation: Evaluation, short: Sequence[Shortfall] = (), made_at: str = "") -> Iterator[str]:
    """The pieces of one page: figures, plots, the comparison with BM25, single queries, latencies. No time but `made_at`."""
    yield from _head(evaluation, made_at)
    yield from _figures(evaluation, short)
    yield from _comparison(evaluation)
    yield from _abstention(evaluation)
    yield from _queries(evaluation)
    yield from _latencies(evaluation)
    yield (
        f"</main>\n<footer><p>Rankings are looked at {DEPTH} deep. nDCG has the gain itself over log2(place + 1), as trec_eval. "
        "p is that of a two-sided paired randomisation test; with many metrics and stages some fall below 0.05 by chance."
        "</p></footer>\n</body>\n</html>\n"
    )


def _head(evaluation: Evaluation, made_at: str) -> Iterator[str]:
    style = evaluation_style()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    name = markup_line(evaluation.judged)
    plain = name.replace('<b class="x">', "").replace("</b>", "")
    facts = [
        counted(evaluation.documents, "document"),
        of_queries(evaluation.counted),
    ]
    facts += [f"{each:,} {what}" for each, what in _other_counts(evaluation) if each]
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>Evaluation – {plain}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#figures">Skip to the figures</a>\n'
        f'<header>\n<h1>Evaluation: <bdi>{name}</bdi></h1>\n<p class="muted">{", ".join(facts)}'
    )
    yield f". Made {markup_line(made_at)}.</p>\n" if made_at else ".</p>\n"
    yield "</header>\n<main>\n"
    if evaluation.missing:
        what = f"{len(evaluation.missing):,} of what is judged is"
        names = ", ".join(f"<bdi>{markup_line(each)}</bdi>" for each in evaluation.missing[:10])
        yield f'<p class="short">{what} not in the collection: {names}{" …" if len(evaluation.missing) > 10 else ""}</p>\n'


def of_queries(number: int) -> str:
    """`1 query`, `1,200 queries`."""
    return f"{number:,} {'query' if number == 1 else 'queries'}"


def _other_counts(evaluation: Evaluation) -> tuple[tuple[int, str], ...]:
    return (
        (evaluation.unanswerable, "without an answer"),
        (evaluation.unjudged, "with nothing relevant, in no mean"),
        (evaluation.failed, "documents that could not be ingested"),
    )


def _figures(evaluation: Evaluation, short: Sequence[Shortfall]) -> Iterator[str]:
    yield '<h2 id="figures" tabindex="-1">Figures</h2>\n'
    for each in short:
        said = f"{each.stage} reaches {each.reached:.4f}, and {each.bound} is wanted"
        yield f'<p class="short">Below: {markup_line(said)}</p>\n'
    best = {metric: max(stage.means[metric] for stage in evaluation.stages) for metric in METRICS}
    rows = [
        (stage.name, [(f"{stage.means[metric]:.4f}", stage.means[metric] == best[metric]) for metric in METRICS])
        for stage in evaluation.stages
    ]
    yield _table("Mean metrics by stage", ("Stage", *METRICS), rows)
    yield '<div class="plots">\n'
    for number, metric in enumerate(METRICS):
        rows_of = [
            Bar(stage.name, stage.means[metric], f"{stage.means[metric]:.3f}", at)
            for at, stage in enumerate(evaluation.stages)
        ]
        yield bars(f"metric-{number}", metric, rows_of, 1.0)
    yield "</div>\n"


def _table(caption: str, head: Sequence[str], rows: Iterable[tuple[str, Sequence[tuple[str, bool]]]]) -> str:
    told = "".join(
        f'<tr><th scope="row">{markup_line(name)}</th>'
        + "".join(f"<td{_BEST if best else ''}>{markup_line(cell)}</td>" for cell, best in cells)
        + "</tr>\n"
        for name, cells in rows
    )
    return _scrolled(caption, head, told)


def _scrolled(caption: str, head: Sequence[str], body: str) -> str:
    """A table that scrolls by itself where it is too wide, also by keyboard."""
    kinds = (' class="text"' if each in _TEXTS else "" for each in head)
    names = "".join(f'<th scope="col"{kind}>{markup_line(each)}</th>' for each, kind in zip(head, kinds, strict=True))
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{caption}">\n<table>\n'
        f"<thead><tr>{names}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n</div>\n"
    )


def _comparison(evaluation: Evaluation) -> Iterator[str]:
    others = [stage for stage in evaluation.stages if stage.beside]
    if not others:
        return
    yield f'<h2 id="beside">Beside {BASELINE}</h2>\n'
    for stage in others:
        yield f"<h3>{markup_line(stage.name)}</h3>\n"
        rows = [(metric, [(each, False) for each in comparison_cells(stage, metric)]) for metric in METRICS]
        head = ("Metric", "Difference", "p", "Better", "Same", "Worse")
        yield _table(f"{stage.name} beside {BASELINE}", head, rows)
        yield from _difference_plot(evaluation, stage)


def comparison_cells(stage: StageResult, metric: str) -> tuple[str, ...]:
    """A comparison in words: difference, p, wins, ties, losses."""
    found = stage.beside[metric]
    p = f"{found.p:.4f}" if found.p >= 0.0001 else f"{found.p:.0e}"
    return (f"{found.difference:+.4f}", p, f"{found.wins:,}", f"{found.ties:,}", f"{found.losses:,}")


def _difference_plot(evaluation: Evaluation, stage: StageResult) -> Iterator[str]:
    found = stage.beside[MAIN]
    title = f"{MAIN} of {stage.name} less that of {BASELINE}, query by query, the largest gain first"
    described = (
        f"Of {of_queries(found.pairs)}, {found.wins:,} are better, {found.ties:,} the same, "
        f"{found.losses:,} worse; the mean is {found.difference:+.4f}."
    )
    values = [difference for difference, _ in differences(evaluation, stage.name, MAIN)]
    yield differences_plot(f"differences-{evaluation.stages.index(stage)}", title, described, values)


def _abstention(evaluation: Evaluation) -> Iterator[str]:
    yield '<h2 id="empty">Empty answers</h2>\n'
    rows = [
        (
            stage.name,
            [
                (f"{stage.rightly_empty:,} of {evaluation.unanswerable:,}", False),
                (f"{stage.wrongly_empty:,} of {evaluation.counted:,}", False),
                (f"{stage.refused:,}", False),
            ],
        )
        for stage in evaluation.stages
    ]
    yield _table("Empty answers", ("Stage", "Rightly: there is no answer", "Wrongly: there is one", "Refused"), rows)


def _queries(evaluation: Evaluation) -> Iterator[str]:
    yield '<h2 id="queries">Queries</h2>\n'
    for stage in evaluation.stages:
        worst = losses(evaluation, stage.name, MAIN) if stage.beside else []
        if worst:
            yield f"<h3>Worst losses of {markup_line(stage.name)}</h3>\n"
            yield _query_table(f"Worst losses of {stage.name}", worst, evaluation)
    yield "<details>\n<summary>All queries</summary>\n"
    yield _query_table("All queries", evaluation.rows, evaluation)
    yield "</details>\n"


def _query_table(caption: str, rows: Iterable[QueryRow], evaluation: Evaluation) -> str:
    stages = [stage.name for stage in evaluation.stages]
    told = "".join(
        f'<tr><th scope="row"><bdi>{markup_line(row.id)}</bdi></th><td class="text"><bdi>{markup_line(_begun(row.text))}</bdi></td>'
        f"<td>{row.relevant:,}</td>{''.join(f'<td>{_scored(row, stage)}</td>' for stage in stages)}</tr>\n"
        for row in rows
    )
    return _scrolled(caption, ("Id", "Query", "Relevant", *(f"{stage}: {MAIN}" for stage in stages)), told)


def _begun(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 1] + "…"


def _scored(row: QueryRow, stage: str) -> str:
    outcome = row.outcomes[stage]
    if outcome.refused:
        return "refused"
    if outcome.scores is None or not row.counted:
        return f"{outcome.found:,} found"
    return f"{outcome.scores[MAIN]:.3f}"


def _latencies(evaluation: Evaluation) -> Iterator[str]:
    timed = evaluation.latencies
    if not timed:
        return
    yield '<h2 id="latency">Latency</h2>\n<p class="muted">Milliseconds on the machine that made this page; another run has others.</p>\n'
    head = ("Stage", "Part", "Searches", "p50", "p95", "p99")
    rows = "".join(
        f'<tr><th scope="row">{markup_line(each.stage)}</th><td class="text part">{markup_line(each.part)}</td><td>{each.count:,}</td>'
        f"<td>{each.p50:,.2f}</td><td>{each.p95:,.2f}</td><td>{each.p99:,.2f}</td></tr>\n"
        for each in timed
    )
    yield _scrolled("Latency in milliseconds", head, rows)
    full = max(each.p99 for each in timed)
    names = [stage.name for stage in evaluation.stages]
    yield '<div class="plots">\n'
    for number, name in enumerate(names):
        of_stage = sorted((each for each in timed if each.stage == name), key=lambda each: each.part != WHOLE)
        rows_of = [_latency_bar(each, number) for each in of_stage]
        yield bars(f"latency-{number}", f"{name}: p50, p95 and p99 in ms", rows_of, full)
    yield "</div>\n"


def _latency_bar(latency: Latency, colour: int) -> Bar:
    said = f"{latency.p50:.1f} · {latency.p95:.1f} · {latency.p99:.1f}"
    return Bar(latency.part, latency.p50, said, colour, (latency.p95, latency.p99))
