"""A verification as one page of HTML: nothing is loaded, nothing is run, and what comes from documents is text."""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence

from attrs import evolve, frozen

from groundkit.core.live import LiveState
from groundkit.core.model import Reason, Verdict, Verification
from groundkit.core.word_diff import Change
from groundkit.reports.rows import (
    MARKS,
    NO_SOURCE,
    Row,
    Stretch,
    Totals,
    by_source,
    counted,
    headed,
    is_told,
    note_of,
    passage,
    pieces_of,
    place_of,
    spooled,
)
from groundkit.reports.signs import markup, markup_line, with_blanks
from groundkit.reports.style import style_sheet
from groundkit.reports.together import common_facts, detail_of, place_in_source, told_together

#: Sources in the list at the top that is open by itself.
_FEW = 12
#: Citations from which on a browser lays out only those that are looked at.
_MANY = 500
_TAGS = {Change.SAME: ("", ""), Change.REMOVED: ("<del>", "</del>"), Change.ADDED: ("<ins>", "</ins>")}


@frozen
class _Section:
    """What the top of the page has to know of a source."""

    anchor: str
    name: str
    totals: Totals


def html_report(
    rows: Iterable[Row], title: str = "Citations", list_verified: bool = False, made_at: str = ""
) -> Iterator[str]:
    """The pieces of one page: totals, a filter, and for each source what is not verified, with the passage then and now.

    What is verified is counted, and with `list_verified` told as well. The page has no time but `made_at`.
    """
    totals = Totals()
    sections: list[_Section] = []
    body = _sections(totals.watching(rows), sections, list_verified)
    yield from headed(body, lambda: _head(title, made_at, totals, sections))
    yield "</main>\n<footer><p>Spans are code points of the text, the end not included.</p></footer>\n</body>\n</html>\n"


def _head(title: str, made_at: str, totals: Totals, sections: list[_Section]) -> Iterator[str]:
    style = style_sheet()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    name, many = markup_line(title), ' class="many"' if totals.rows > _MANY else ""
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{_outcome(totals)} – {_plain(title)}</title>\n<style>{style}</style>\n</head>\n<body{many}>\n"
        '<a class="skip" href="#sources">Skip to the sources</a>\n'
        f'<header>\n<h1><bdi>{name}</bdi></h1>\n<p class="muted">{_outcome(totals)}'
    )
    yield f". Checked {markup_line(made_at)}.</p>\n" if made_at else "</p>\n"
    yield '</header>\n<main>\n<h2 id="totals">Totals</h2>\n'
    yield from _tables(totals)
    yield from _filter(totals)
    yield from _contents([section for section in sections if section.totals.unverified])
    yield '<h2 id="sources" tabindex="-1">Sources</h2>\n'
    yield "" if sections else "<p>There was nothing to check.</p>\n"


def _plain(title: str) -> str:
    """A title is no place for elements."""
    return markup_line(title).replace('<b class="x">', "").replace("</b>", "")


def _outcome(totals: Totals) -> str:
    if not totals.rows:
        return "No citation"
    if not totals.unverified:
        return f"{counted(totals.rows, 'citation')}, all verified"
    return f"{totals.unverified:,} of {counted(totals.rows, 'citation')} not verified"


def _tables(totals: Totals) -> Iterator[str]:
    yield '<div class="tables">\n'
    yield _table("Verdict", ((_badge(verdict), totals.verdicts[verdict]) for verdict in Verdict))
    if totals.why:
        yield _table("Reason", ((_said(reason), count) for reason, count in totals.why))
    if totals.lives:
        lives = [(state.value, totals.lives[state]) for state in LiveState if totals.lives[state]]
        yield _table("Page as it is served now", lives)
    yield "</div>\n"


def _table(what: str, rows: Iterable[tuple[str, int]]) -> str:
    told = "".join(f'<tr><th scope="row">{name}</th><td>{count:,}</td></tr>\n' for name, count in rows)
    head = f'<thead><tr><th scope="col">{what}</th><th scope="col">Citations</th></tr></thead>'
    return f"<table>\n{head}\n<tbody>\n{told}</tbody>\n</table>\n"


def _filter(totals: Totals) -> Iterator[str]:
    """Radio buttons that the style sheet reads; only such as leave something."""
    counts = [("unverified", "not verified", totals.unverified)]
    counts += [(verdict.value, verdict.value, totals.verdicts[verdict]) for verdict in Verdict]
    counts += [(reason.value, _said(reason), count) for reason, count in totals.why]
    if not totals.unverified > 0:
        return
    yield '<fieldset>\n<legend>Show</legend>\n<div class="choices">\n'
    yield _choice("all", "all", totals.rows, " checked")
    yield from (_choice(key, name, count) for key, name, count in counts if count)
    yield "</div>\n</fieldset>\n"


def _choice(key: str, name: str, count: int, state: str = "") -> str:
    # A browser that fills forms in again after a reload would show a choice beside rows of another.
    box = f'<input type="radio" name="show" id="show-{key}" autocomplete="off"{state}>'
    return f'<label for="show-{key}">{box}{name} ({count:,})</label>\n'


def _contents(sections: list[_Section]) -> Iterator[str]:
    if not sections:
        return
    state = " open" if len(sections) <= _FEW else ""
    yield f'<nav aria-label="Sources that are not verified">\n<details{state}>\n'
    yield f"<summary>{counted(len(sections), 'source')} with citations that are not verified</summary>\n<ol>\n"
    for each in sections:
        link = f'<a href="#{each.anchor}"><bdi dir="ltr" class="name">{each.name}</bdi></a>'
        yield f'<li class="source {_classes(each.totals)}">{link} {_counts(each.totals)}</li>\n'
    yield "</ol>\n</details>\n</nav>\n"


def _sections(rows: Iterable[Row], sections: list[_Section], list_verified: bool) -> Iterator[str]:
    """The sources of which there is something to tell, then those that are wholly verified in a list of their own."""
    whole, count = Totals(), 0
    with spooled() as verified:
        for number, (source, cited) in enumerate(by_source(rows), start=1):
            totals, name = Totals(), NO_SOURCE if source is None else markup_line(source)
            told = [row for row in totals.watching(cited) if list_verified or is_told(row)]
            sections.append(_Section(f"source-{number}", name, totals))
            if any(map(is_told, told)):
                yield from _section(sections[-1], told)
            else:
                whole, count = whole + totals, count + 1
                verified.writelines(_section(sections[-1], told))
        if count:
            state = " open" if list_verified else ""
            yield f'<details class="source whole {_classes(whole)}"{state}>\n<summary>'
            yield f"{counted(count, 'source')} wholly verified, {counted(whole.rows, 'citation')}</summary>\n"
            yield from pieces_of(verified)
            yield "</details>\n"


def _section(section: _Section, told: list[Row]) -> Iterator[str]:
    yield f'<section class="source {_classes(section.totals)}" aria-labelledby="{section.anchor}">\n'
    yield f'<h3 id="{section.anchor}" tabindex="-1"><bdi dir="ltr" class="name">{section.name}</bdi></h3>\n'
    yield f'<p class="muted">{_counts(section.totals)}</p>\n'
    yield from map(_entry, told_together(told))
    yield "</section>\n"


def _classes(totals: Totals) -> str:
    found = {verdict.value for verdict in totals.verdicts} | {reason.value for reason in totals.reasons}
    return " ".join(sorted(found | ({"unverified"} if totals.unverified else set())))


def _counts(totals: Totals) -> str:
    counts = ((verdict, totals.verdicts[verdict]) for verdict in Verdict)
    return ", ".join(f"{MARKS[verdict]} {count:,} {verdict.value}" for verdict, count in counts if count)


def _entry(rows: Sequence[Row]) -> str:
    """What is told of one row, or of several at once."""
    verification = rows[0][2]
    state, extra = ("", "") if verification else (" open", " unverified")
    kinds = f"row {verification.verdict.value} {verification.reason.value}{extra}"
    place = f'<bdi dir="ltr" class="place">{markup_line(place_of(rows[0]))}</bdi>'
    where = place if len(rows) == 1 else counted(len(rows), "citation")
    known = "".join(
        f'<dt>{fact}</dt><dd><bdi dir="ltr">{markup_line(value)}</bdi></dd>\n' for fact, value in common_facts(rows)
    )
    told = f"<dl>\n{known}</dl>\n" if known else ""
    return (
        f'<details class="{kinds}"{state}>\n<summary>{_badge(verification.verdict)} <h4>{_why(rows[0])}{where}</h4></summary>\n'
        f'<div class="body">\n<p class="detail">{markup_line(detail_of(rows))}</p>\n'
        f"{_places(rows) if len(rows) > 1 else _passages(verification)}{told}</div>\n</details>\n"
    )


def _places(rows: Sequence[Row]) -> str:
    told = "".join(
        f'<li><bdi dir="ltr" class="place">{markup_line(place_in_source(row))}</bdi> '
        f'<bdi dir="ltr" class="place muted">{markup_line(row[0] if row[1] else "")}</bdi></li>\n'
        for row in rows
    )
    return (
        f'<details class="places">\n<summary>{counted(len(rows), "place")}</summary>\n<ul>\n{told}</ul>\n</details>\n'
    )


def _why(row: Row) -> str:
    """What stands beside the verdict: the reason, or that the page which is served now is another."""
    _, _, verification, live = row
    if verification.reason is not Reason.SAME:
        return f"{_said(verification.reason)}: "
    return "" if live is None or live.state is LiveState.SAME else f"live page {live.state.value}: "


def _said(reason: Reason) -> str:
    return reason.value.replace("_", " ")


def _badge(verdict: Verdict) -> str:
    return f'<span class="badge {verdict.value}">{MARKS[verdict]} {verdict.value}</span>'


def _passages(verification: Verification) -> str:
    """The passage then and now beside each other; once where it is the same, or where only one of them is known."""
    cited, found, note = verification.cited, verification.found, note_of(verification)
    said = f'<p class="detail">{note}</p>\n' if note else ""
    stretches = passage(verification)
    if not stretches:
        return said
    if not (cited and found) or all(each.change is Change.SAME for each in stretches):
        # Struck through from one end to the other it would be hard to read, and would say no more.
        plain = [evolve(each, change=Change.SAME) for each in stretches]
        name = "Then and now" if cited == found else "Now" if found else "Then"
        return said + _pair(_block(name, plain))
    then = [each for each in stretches if each.change is not Change.ADDED]
    now = [each for each in stretches if each.change is not Change.REMOVED]
    return said + _pair(_block("Then", then), _block("Now", now))


def _pair(*blocks: str) -> str:
    return f'<div class="pair{" two" if len(blocks) > 1 else ""}">\n{"".join(blocks)}</div>\n'


def _block(name: str, stretches: Iterable[Stretch]) -> str:
    # The parser takes a line break behind a start tag of <pre> away, but not of <div>.
    return f'<div><h5>{name}</h5>\n<div class="text" dir="auto">{"".join(map(_stretch, stretches))}</div></div>\n'


def _stretch(stretch: Stretch) -> str:
    changed = stretch.change is not Change.SAME
    start, end = _TAGS[stretch.change]
    text = f"{start}{markup(with_blanks(stretch.text) if changed else stretch.text)}{end}" if stretch.text else ""
    gap = f'<span class="omitted"> … {counted(stretch.omitted, "code point")} not shown … </span>'
    return text + (gap if stretch.omitted else "")
