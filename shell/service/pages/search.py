"""The search page: the form, then the passages by rank, each with its verdict; or why there are none."""

from collections.abc import Iterator, Sequence
from html import escape

from groundkit.core.query import parse
from groundkit.core.result import Success
from groundkit.reports.rows import counted
from groundkit.reports.signs import markup_line
from groundkit.service.pages.form import SearchForm
from groundkit.service.pages.frame import (
    badge,
    copy_button,
    link,
    name,
    notice,
    page,
    quoted,
    title_of,
    way,
    web_link,
)
from groundkit.service.pages.search_form import whole_form
from groundkit.service.problems import Problem
from groundkit.service.values import Passage, SearchAnswer

#: Code points of a passage that are shown at once, and how many more are shown rather than put behind a word.
_SHOWN, _MORE = 560, 120

_HELP = """<summary>How to write a query</summary>
<dl>
<dt>harbour light</dt><dd>passages with any of the words, those with the rarer ones first</dd>
<dt>"harbour light"</dt><dd>the words beside each other</dd>
<dt>+harbour -light</dt><dd>the one must be there, the other must not</dd>
<dt>source:docs/**/*.md</dt><dd>only in these files; also <code>class:</code> (text, extracted, snapshot), <code>type:</code>
(pdf, markdown, …), <code>heading:</code>, <code>after:</code> and <code>before:</code> a date; with <code>-</code> before it,
only elsewhere</dd>
</dl>
"""


def search_page(
    form: SearchForm, collections: Sequence[str], answer: SearchAnswer | None, problem: Problem | None
) -> str:
    """The page of a search; without an answer and a problem, one to begin with."""
    asked = " ".join(form.q.split())
    title = f"{asked} – search" if asked else "Search"
    return page(title, whole_form(form, collections), _main(form, collections, answer, problem), "results")


def problem_page(problem: Problem) -> str:
    """A page that only says what went wrong."""
    back = f"<p>{link('/', 'To the search')}</p>\n"
    return page(problem.title, "", (_problem(problem, "h1"), back), "text")


def _main(
    form: SearchForm, collections: Sequence[str], answer: SearchAnswer | None, problem: Problem | None
) -> Iterator[str]:
    asked = " ".join(form.q.split())
    yield f"<h1>Passages for <q>{title_of(asked)}</q></h1>\n" if asked else "<h1>Search</h1>\n"
    yield from _not_understood(form)
    if problem is not None:
        yield _problem(problem)
    if answer is not None:
        yield from _answer(form, answer)
    if problem is None and answer is None:
        yield "" if collections else notice("There is no collection yet.")
        yield notice("Filters alone find nothing: say what to look for.") if form.narrowed and not asked else ""
    if answer is None or not answer.results:
        yield f'<details class="help"{"" if asked else " open"}>\n{_HELP}</details>\n'


def _not_understood(form: SearchForm) -> Iterator[str]:
    for field, why in form.left_out.items():
        yield notice(f"The filter “{_LABELS[field]}” was left out: {escape(why)}.")
    parsed = parse(form.q)
    if isinstance(parsed, Success):
        yield from (notice(f"{name(each)}") for each in parsed.unwrap().not_syntax)


_LABELS = {
    "source": "Source",
    "kind": "Kind of source",
    "type": "Type",
    "heading": "Heading",
    "after": "Ingested from",
    "before": "Ingested before",
}


def _problem(problem: Problem, level: str = "h2") -> str:
    hint = f"<p>{markup_line(problem.hint)}</p>\n" if problem.hint else ""
    said = f"<{level}>{markup_line(problem.title)}</{level}>\n<p>{markup_line(problem.detail)}</p>\n{hint}"
    return f'<div class="notice problem" role="alert">\n{said}</div>\n'


def _answer(form: SearchForm, answer: SearchAnswer) -> Iterator[str]:
    yield f'<p class="count" role="status" aria-live="polite">{_count(answer)}</p>\n'
    for text in _states(form, answer):
        yield notice(text)
    if answer.results:
        yield '<ol class="hits">\n'
        yield from (_hit(form, answer.collection, each) for each in answer.results)
        yield "</ol>\n"
    yield _onward(form, answer)


def _count(answer: SearchAnswer) -> str:
    if not answer.results:
        return "No passages." if answer.matches <= 0 else f"No more of the {counted(answer.matches, 'passage')}."
    first, last = answer.results[0].rank, answer.results[-1].rank
    which = f"Passage {first:,}" if first == last else f"Passages {first:,} to {last:,}"
    return f"{which} of {answer.matches:,}"


def _states(form: SearchForm, answer: SearchAnswer) -> Iterator[str]:
    if answer.refused is not None:
        yield f"The query asks for nothing: {markup_line(answer.refused)}"
    if answer.abstained is not None:
        yield f"Nothing in the collection seems to be an answer: {markup_line(answer.abstained)}"
    if answer.changed:
        again = link(form.address(cursor=""), "search anew")
        yield f"The collection was written to since the page before: passages may be missing here or come twice; {again}."
    if not answer.results and answer.refused is None and answer.abstained is None and answer.matches <= 0:
        yield _none(form)
    if answer.truncated:
        yield "The answer was cut to its size; what is missing stands on the next page."


def _none(form: SearchForm) -> str:
    if form.narrowed:
        wider = form.address(source="", kind="", type="", heading="", after="", before="", per_source="", cursor="")
        return f"No passage has these words where the filters let look; {link(wider, 'search everywhere')}."
    return "No passage has these words. Fewer or other words may find some."


def _onward(form: SearchForm, answer: SearchAnswer) -> str:
    first = link(form.address(cursor=""), "First passages") if form.cursor else ""
    cursor = answer.next_cursor
    after = "" if cursor is None else link(form.address(cursor=cursor), "Next passages", ' rel="next"')
    links = "".join(f"<li>{each}</li>\n" for each in (first, after) if each)
    return f'<nav aria-label="Further passages">\n<ul class="onward">\n{links}</ul>\n</nav>\n' if links else ""


def _hit(form: SearchForm, collection: str, each: Passage) -> str:
    citation = each.citation
    reader = form.reader(collection, citation.chunk_id)
    head = f'<h2><span class="rank">{each.rank:,}.</span> {link(reader, title_of(each.title))}</h2>\n'
    told = each.verification
    detail = f'<p class="detail">{markup_line(told.detail)}</p>\n' if told and told.verdict != "verified" else ""
    return (
        f'<li class="hit {"unchecked" if told is None else told.verdict}">\n<article>\n{head}'
        f'<p class="facts">{badge(told)} {name(each.place)}{_marks(each)}</p>\n{detail}{way(citation)}'
        f"{_text(each, reader)}"
        f'<p class="tools">{link(reader, "Read in its place")} {web_link(each.url, "Open the page")}</p>\n'
        f"{copy_button(citation.chunk_id)}</article>\n</li>\n"
    )


def _marks(each: Passage) -> str:
    told = each.verification
    changed = ' · <span class="mild">surroundings changed</span>' if told and told.context_changed else ""
    return (' · <span class="mild">document incomplete</span>' if each.citation.incomplete else "") + changed


def _text(each: Passage, reader: str) -> str:
    text = each.text.replace("\r\n", "\n")
    before = '<p class="mild">… goes on:</p>\n' if each.text_start else ""
    rest = f'<p class="mild">… {link(reader, "the rest of it")}</p>\n' if each.text_truncated else ""
    return f"{before}{_shown(text)}{rest}"


def _shown(text: str) -> str:
    """A passage that is long is put behind a word from some blank on."""
    if len(text) <= _SHOWN + _MORE:
        return quoted(text)
    blank = text.rfind(" ", _SHOWN // 2, _SHOWN)
    end = blank if blank > 0 else _SHOWN
    rest = f"<summary>{counted(len(text) - end, 'more character')}</summary>\n{quoted(text[end:])}"
    return f'{quoted(f"{text[:end]} …")}<details class="rest">\n{rest}</details>\n'
