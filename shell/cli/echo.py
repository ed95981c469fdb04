"""`gk echo`."""

import os
from typing import TYPE_CHECKING

import click

from groundkit.cli.common import format_option, print_json, print_table

if TYPE_CHECKING:
    from groundkit.core.echo import EchoReport
    from groundkit.echo import Answerer


@click.command("echo")
@click.option(
    "--url", metavar="URL", help="Ask this endpoint (key: GK_ECHO_KEY); else the best hit of a search answers."
)
@click.option("--local", is_flag=True, help="Allow the endpoint to be on this machine or network.")
@click.option("--seed", metavar="TEXT", default="groundkit", show_default=True, help="What the markers are made from.")
@click.option(
    "--subjects", type=click.IntRange(2, 72), default=12, show_default=True, help="How many to ask about; even."
)
@click.option(
    "--absent", type=click.IntRange(0, 24), default=2, show_default=True, help="How many that no passage has."
)
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 1),
    default=1.0,
    show_default=True,
    help="Exit with 1 if fewer than this share of the answers are right.",
)
@format_option("table", "json")
def echo_command(
    url: str | None, local: bool, seed: str, subjects: int, absent: int, fail_under: float, form: str
) -> int:
    """Plant passages with markers that nobody can guess, ask about them, and look at what the answers cite."""
    from groundkit.echo import echo_data, run_echo, search_answerer

    if subjects % 2:
        raise click.UsageError("--subjects must be even: each is the decoy of another")
    report = run_echo(
        search_answerer if url is None else _endpoint(url, local), seed=seed, subjects=subjects, absent=absent
    )
    if form == "json":
        print_json(echo_data(report))
    else:
        _tell(report)
    return 0 if report.score >= fail_under else 1


def _endpoint(url: str, local: bool) -> "Answerer":
    from groundkit.adapters.posting import HttpPoster
    from groundkit.core.posting import endpoint_of
    from groundkit.core.result import Failure
    from groundkit.echo import http_answerer

    made = endpoint_of(url, local, os.environ.get("GK_ECHO_KEY", ""))
    if isinstance(made, Failure):
        raise click.UsageError(made.failure().detail)
    return http_answerer(HttpPoster(made.unwrap()))


def _tell(report: "EchoReport") -> None:
    rows = [(row.question.id, row.question.subject, row.outcome.value, row.detail) for row in report.rows]
    print_table(rows, ("id", "subject", "outcome", "why"))
    click.echo(f"\n{report.right} of {len(report.rows)} right")
