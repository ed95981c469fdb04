"""A verification as JUnit XML: a suite for each source, a test case for each citation."""

from collections.abc import Iterable, Iterator

from groundkit.core.model import Verdict
from groundkit.reports.rows import NO_SOURCE, Row, Totals, by_source, facts, headed, note_of, passage, place_of
from groundkit.reports.signs import attribute, element
from groundkit.reports.text_diff import diff_lines

#: What drifted has failed; of what cannot be resolved nobody knows.
_ELEMENTS = {Verdict.DRIFTED: "failure", Verdict.UNRESOLVABLE: "error"}


def junit_report(rows: Iterable[Row], name: str = "gk verify") -> Iterator[str]:
    """The pieces of one XML document. Characters that XML cannot hold are escapes; nothing tells a time."""
    totals = Totals()

    def head() -> Iterator[str]:
        yield f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="{attribute(name)}" {_counts(totals)}>\n'
        # For people: the schemas have properties of a suite, and none of all suites.
        why = ", ".join(f"{reason.value} {count}" for reason, count in totals.why)
        yield f"<!-- {why} -->\n" if why else ""

    yield from headed(_suites(totals.watching(rows)), head)
    yield "</testsuites>\n"


def _suites(rows: Iterable[Row]) -> Iterator[str]:
    for source, cited in by_source(rows):
        name = attribute(NO_SOURCE if source is None else source)
        totals = Totals()
        cases = [case for row in totals.watching(cited) for case in _case(name, row)]
        yield f'<testsuite name="{name}" {_counts(totals)}>\n'
        yield from _properties(totals)
        yield from cases
        yield "</testsuite>\n"


def _counts(totals: Totals) -> str:
    failures, errors = totals.verdicts[Verdict.DRIFTED], totals.verdicts[Verdict.UNRESOLVABLE]
    return f'tests="{totals.rows}" failures="{failures}" errors="{errors}" skipped="0" time="0"'


def _properties(totals: Totals) -> Iterator[str]:
    if totals.why:
        yield "<properties>\n"
        yield from (f'<property name="{reason.value}" value="{count}"/>\n' for reason, count in totals.why)
        yield "</properties>\n"


def _case(suite: str, row: Row) -> Iterator[str]:
    name, citation, verification, live = row
    told = name if citation is None else f"{place_of(row)} {name}"
    yield f'<testcase classname="{suite}" name="{attribute(told)}" time="0">\n'
    kind = _ELEMENTS.get(verification.verdict)
    if kind is not None:
        yield f'<{kind} type="{verification.reason.value}" message="{attribute(verification.detail)}">'
        yield element("\n".join(_body(row)))
        yield f"</{kind}>\n"
    if live is not None:
        yield f"<system-out>{element(f'live: {live}')}</system-out>\n"
    yield "</testcase>\n"


def _body(row: Row) -> Iterator[str]:
    _, _, verification, _ = row
    yield verification.detail
    yield from filter(None, (note_of(verification),))
    yield from (f"{fact}: {value}" for fact, value in facts(row))
    lines = diff_lines(passage(verification))
    yield from ("", *lines) if lines else ()
