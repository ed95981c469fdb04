"""The reader: a passage in its document, what its source says today, and what is known of it."""

from collections.abc import Iterator

from groundkit.reports.signs import markup, markup_line, with_blanks
from groundkit.service.pages.form import SearchForm
from groundkit.service.pages.frame import (
    badge,
    copy_button,
    is_web,
    link,
    name,
    notice,
    page,
    pages_of,
    quoted,
    title_of,
    way,
    web_link,
)
from groundkit.service.pages.search_form import small_form
from groundkit.service.values import ChunkAnswer, DiffValue, SpanValue, VerificationValue

_CANDIDATES = 5
#: The most that is said of what was edited: there is no such thing as nearly the same and wholly alike.
_LIKEST = 0.999
_TAGS = {"same": ("", ""), "removed": ("<del>", "</del>"), "added": ("<ins>", "</ins>")}


def reader_page(answer: ChunkAnswer, form: SearchForm) -> str:
    """The page of one passage, or that the collection does not have it."""
    title = answer.title.strip() if answer.found and answer.title.strip() else "No such passage"
    return page(title, small_form(form), _main(answer, form), "passage")


def _main(answer: ChunkAnswer, form: SearchForm) -> Iterator[str]:
    yield f'<p class="back">{_back(answer, form)}</p>\n'
    if not answer.found:
        yield f"<h1>There is no such passage</h1>\n<p>{badge(answer.verification)}</p>\n"
        yield f'<p class="detail">{markup_line(answer.verification.detail)}</p>\n'
        yield f"<p>Asked for was {name(answer.chunk_id)} in the collection {name(answer.collection)}.</p>\n"
        return
    yield from _top(answer)
    yield from _notices(answer)
    # What changed is what somebody comes for, and the document may be long.
    yield from _today(answer.verification)
    yield from _in_its_place(answer, form)
    yield _facts(answer)


def _back(answer: ChunkAnswer, form: SearchForm) -> str:
    asked = " ".join(form.q.split())
    if not asked:
        return link(form.address(collection=answer.collection), "Search", ' rel="up"')
    return link(form.address(), f"Passages for “{title_of(asked)}”", ' rel="up"')


def _top(answer: ChunkAnswer) -> Iterator[str]:
    told = answer.verification
    yield f"<h1>{title_of(answer.title)}</h1>\n"
    yield f'<p class="facts">{badge(told)} {name(answer.place)}</p>\n'
    yield f'<p class="detail">{markup_line(told.detail)}</p>\n' if told.detail else ""
    yield way(answer.citation) if answer.citation else ""
    # A link to the place itself is the better one.
    out = web_link(answer.link, "Open the source at this place") or web_link(answer.url, "Open the source")
    yield f'<p class="tools">{out}</p>\n' if out else ""
    yield copy_button(answer.chunk_id)


def _notices(answer: ChunkAnswer) -> Iterator[str]:
    if answer.citation and answer.citation.incomplete:
        yield notice("Only a part of this document could be extracted: what is missing here may stand in it.")
    if answer.verification.context_changed:
        yield notice("What stands around the passage has changed.")
    for suspicion in answer.page.suspicions if answer.page else ():
        yield notice(f"Suspicious page: {markup_line(suspicion)}")
    if answer.changed:
        yield notice("The collection was written to since the part before: this part may not fit it.")


def _in_its_place(answer: ChunkAnswer, form: SearchForm) -> Iterator[str]:
    yield '<section aria-labelledby="place">\n<h2 id="place">In its document</h2>\n'
    yield _neighbours(answer, form)
    if answer.text_start:
        whole = link(form.reader(answer.collection, answer.chunk_id), "from its beginning")
        yield f'<p class="mild">… the passage goes on; {whole}.</p>\n'
    yield '<div class="text document" dir="auto" lang="">'
    before = f"{'… ' if answer.context_start else ''}{answer.before}" if answer.before else ""
    after = f"{answer.after}{' …' if answer.next else ''}" if answer.after else ""
    yield f"{_around(before)}<mark>{markup(answer.text)}</mark>{_around(after)}</div>\n"
    if answer.next_cursor is not None:
        rest = link(form.reader(answer.collection, answer.chunk_id, answer.next_cursor), "its next part")
        yield f'<p class="mild">… the passage is longer; {rest}.</p>\n'
    elif answer.truncated:
        yield '<p class="mild">Not everything around the passage fits into the answer.</p>\n'
    yield "</section>\n"


def _around(text: str) -> str:
    return f'<span class="around">{markup(text)}</span>' if text else ""


def _neighbours(answer: ChunkAnswer, form: SearchForm) -> str:
    sides = ((answer.previous, "Passage before", ' rel="prev"'), (answer.next, "Passage after", ' rel="next"'))
    links = "".join(
        f"<li>{link(form.reader(answer.collection, chunk.rpartition('/')[2]), said, rel)}</li>\n"
        for chunk, said, rel in sides
        if chunk
    )
    return f'<nav aria-label="Neighbours">\n<ul class="onward">\n{links}</ul>\n</nav>\n' if links else ""


def _today(told: VerificationValue) -> Iterator[str]:
    """What stands in the source now, beside what was cited where the words are known to differ."""
    if told.verdict == "verified" or not (told.diff or told.found):
        return
    yield '<section class="today" aria-labelledby="today">\n<h2 id="today">What stands there today</h2>\n'
    if any(each.change != "same" for each in told.diff):
        then, now = _version(told, "added"), _version(told, "removed")
        yield f'<div class="pair">\n{_block("As cited", then)}{_block("Today", now)}</div>\n'
    else:
        yield quoted(told.found or "".join(each.text for each in told.diff))
    yield "</section>\n"


def _version(told: VerificationValue, other: str) -> str:
    return "".join(_stretch(each) for each in told.diff if each.change != other)


def _stretch(part: DiffValue) -> str:
    if not part.text:
        return ""
    start, end = _TAGS[part.change]
    return f"{start}{markup(with_blanks(part.text) if start else part.text)}{end}"


def _block(heading: str, inside: str) -> str:
    return f'<div><h3>{heading}</h3>\n<div class="text" dir="auto" lang="">{inside}</div></div>\n'


def _facts(answer: ChunkAnswer) -> str:
    known = [*_cited(answer), *_found(answer.verification), *_fetched(answer)]
    told = "".join(f"<dt>{fact}</dt><dd>{name(text)}</dd>\n" for fact, text in known if text)
    return (
        f'<section aria-labelledby="facts">\n<h2 id="facts">Facts</h2>\n<dl class="known">\n{told}</dl>\n</section>\n'
    )


def _cited(answer: ChunkAnswer) -> Iterator[tuple[str, str]]:
    citation = answer.citation
    yield "Collection", answer.collection
    yield "Chunk", answer.chunk_id
    if citation is None:
        return
    yield "Source", citation.source
    yield "Class", citation.source_class
    yield "Extractor", citation.extractor or ""
    yield "Document", citation.document_id
    yield "Cited span", f"[{citation.start}, {citation.end}) code points"
    if citation.locator:
        yield "Line and column", f"{citation.locator.line}:{citation.locator.column}"
        yield "Anchor", citation.locator.anchor
    yield "Pages", pages_of(citation)
    yield "SHA-256 of the text", citation.digest
    place, url = (each if each and is_web(each) else "" for each in (answer.link, answer.url))
    yield "Address", url
    yield "Address of the place", "" if place == url else place


def _found(told: VerificationValue) -> Iterator[tuple[str, str]]:
    yield "Span today", "" if told.now is None else _span(told.now)
    yield "Line and column today", "" if told.line is None or told.column is None else f"{told.line}:{told.column}"
    yield "Similarity", "" if told.similarity is None else f"{min(told.similarity, _LIKEST):.3f}"
    yield "Could be", _candidates(told.candidates)
    yield "Found in", told.found_in or ""
    yield "Same bytes at", told.same_bytes_at or ""


def _span(span: SpanValue) -> str:
    return f"[{span.start}, {span.end})"


def _candidates(spans: tuple[SpanValue, ...]) -> str:
    shown = ", ".join(map(_span, spans[:_CANDIDATES]))
    return f"{shown} and {len(spans) - _CANDIDATES} more" if len(spans) > _CANDIDATES else shown


def _fetched(answer: ChunkAnswer) -> Iterator[tuple[str, str]]:
    facts = answer.page
    if facts is not None:
        yield "Fetched at", facts.fetched_at
        yield "HTTP status", str(facts.status)
        yield "Content type", facts.content_type
