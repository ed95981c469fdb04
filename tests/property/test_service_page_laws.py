"""More laws of the service's pages: structure is ours to the last attribute, a filter is one condition, colours can be read."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.resources import files
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from attrs import asdict, evolve
from hypothesis import example, given
from hypothesis import strategies as st

from groundkit.core.filters import Field, FieldCondition
from groundkit.core.query import parse
from groundkit.core.result import Failure
from groundkit.reports.signs import visible
from groundkit.reports.style import COLOURS
from groundkit.service.pages import POLICY, SearchForm, problem_page, reader_page, search_page
from groundkit.service.problems import Problem
from groundkit.service.values import (
    ChunkAnswer,
    CitationValue,
    DiffValue,
    LocatorValue,
    Model,
    PageFacts,
    PagesValue,
    Passage,
    SearchAnswer,
    SpanValue,
    VerificationValue,
)

#: What means something to HTML, to URLs or to the query, between characters of any kind.
SIGNS = st.sampled_from(
    ["<script>alert(1)</script>", "<b class=x>", "</b>", "</mark>", "</div></li></ol></main>", "<!--", "-->", "<![CDATA[", "]]>", "<?", "</title>",
     "</textarea>", "</select>", "<", ">", "&", "&lt;", "&#x3c;", "&amp", '"', "'", '" onload="x', "' a='", '"><img src=x onerror=x>', "=", "`",
     "javascript:alert(1)", "JaVaScRiPt:x", "data:text/html,x", "https://a.example/", "http://", "//b.example", "#", "?", "/", "..", "%22", "%", "+", "-",
     "source:", 'class:"text"', '-source:"', "after:2026", "\n", "\r\n", "\r", "\t", "\x00", "\x1b[31m", "\u202e", "\u2066", "\u2028", "\ud800", "\uffff",
     "\x85", "\u200d", " ", "  ", "語", "e\u0301"]
)  # fmt: skip
TEXT = st.lists(st.one_of(SIGNS, st.text(st.characters(exclude_categories=()), max_size=3)), max_size=6).map("".join)
LONG = st.one_of(TEXT, st.builds(lambda text, times: text * times, TEXT, st.integers(50, 300)))
NUMBERS = st.integers(0, 10**7)
URLS = st.one_of(
    TEXT, st.builds("{}://{}{}".format, st.sampled_from(["http", "https", "HTTPS", "file", "javascript"]), TEXT, TEXT)
)
Any_ = st.SearchStrategy[Any]


def maybe(strategy: Any_) -> Any_:
    return st.none() | strategy


def several(strategy: Any_, most: int = 3) -> Any_:
    return st.lists(strategy, max_size=most).map(tuple)


SPANS = st.builds(SpanValue, start=NUMBERS, end=NUMBERS)
PAGES = st.builds(PagesValue, first=NUMBERS, last=NUMBERS, first_label=TEXT, last_label=TEXT)
LOCATORS = st.builds(
    LocatorValue, line=NUMBERS, column=NUMBERS, heading_path=several(TEXT), pages=maybe(PAGES), anchor=TEXT
)
CITATIONS = st.builds(
    CitationValue, document_id=TEXT, chunk_id=TEXT, source=TEXT, source_class=st.sampled_from(["text", "extracted", "snapshot"]),
    extractor=maybe(TEXT), start=NUMBERS, end=NUMBERS, digest=TEXT, before=maybe(TEXT), after=maybe(TEXT), locator=maybe(LOCATORS),
    incomplete=st.booleans(),
)  # fmt: skip
DIFFS = several(st.builds(DiffValue, change=st.sampled_from(["same", "removed", "added"]), text=TEXT), 5)
VERIFICATIONS = st.builds(
    VerificationValue, verdict=st.sampled_from(["verified", "drifted", "unresolvable"]), reason=TEXT, detail=TEXT,
    context_changed=st.booleans(), now=maybe(SPANS), line=maybe(NUMBERS), column=maybe(NUMBERS), similarity=maybe(st.floats(0, 1)),
    candidates=several(SPANS, 7), found_in=maybe(TEXT), same_bytes_at=maybe(TEXT), found=maybe(TEXT), diff=DIFFS,
)  # fmt: skip
PASSAGES = st.builds(
    Passage, id=TEXT, title=TEXT, url=URLS, rank=NUMBERS, score=st.floats(0, 99), place=TEXT, text=LONG, text_start=st.integers(0, 2),
    text_truncated=st.booleans(), citation=CITATIONS, verification=maybe(VERIFICATIONS),
)  # fmt: skip
SEARCH_ANSWERS = st.builds(
    SearchAnswer, collection=TEXT, mode=st.sampled_from(["bm25", "dense", "hybrid"]), matches=NUMBERS, results=several(PASSAGES, 2),
    abstained=maybe(TEXT), refused=maybe(TEXT), truncated=st.booleans(), changed=st.booleans(), next_cursor=maybe(TEXT),
)  # fmt: skip
FACTS = st.builds(
    PageFacts, fetched_at=TEXT, status=st.integers(100, 599), content_type=TEXT, suspicions=several(TEXT, 2)
)
CHUNK_ANSWERS = st.builds(
    ChunkAnswer, collection=TEXT, chunk_id=TEXT, found=st.sampled_from([True, True, True, False]), id=TEXT, title=TEXT, url=URLS,
    link=maybe(URLS), place=TEXT, text=LONG, text_start=st.integers(0, 2), before=TEXT, after=TEXT, context_start=NUMBERS,
    previous=maybe(TEXT), next=maybe(TEXT), citation=maybe(CITATIONS), page=maybe(FACTS), verification=VERIFICATIONS,
    truncated=st.booleans(), changed=st.booleans(), next_cursor=maybe(TEXT),
)  # fmt: skip
FORMS = st.builds(
    SearchForm, q=TEXT, collection=TEXT, mode=st.one_of(st.sampled_from(["bm25", "dense", "hybrid"]), TEXT.filter(bool)), source=TEXT,
    kind=st.one_of(st.sampled_from(["", "text", "extracted"]), TEXT), type=st.one_of(st.sampled_from(["", "pdf", "text/*"]), TEXT),
    heading=TEXT, after=st.one_of(st.sampled_from(["", "2026-01"]), TEXT), before=TEXT, per_source=TEXT, cursor=TEXT,
)  # fmt: skip
PROBLEMS = st.builds(Problem, TEXT, st.integers(400, 599), TEXT, TEXT, TEXT)

#: Every element with the attributes that it may have.
ALLOWED: dict[str, set[str]] = {
    "html": {"lang"}, "head": set(), "meta": {"charset", "name", "content"}, "title": set(), "link": {"rel", "href", "type"},
    "script": {"src", "defer"}, "body": set(), "header": set(), "main": {"id", "tabindex"}, "footer": set(), "section": {"aria-labelledby", "class"},
    "article": set(), "nav": {"aria-label"}, "div": {"class", "dir", "lang", "role"}, "p": {"class", "role", "aria-live", "id", "hidden"},
    "h1": set(), "h2": {"id"}, "h3": set(), "ol": {"class"}, "ul": {"class"}, "li": {"class"}, "dl": {"class"}, "dt": set(), "dd": set(),
    "a": {"class", "href", "rel"}, "span": {"class", "aria-hidden", "id"}, "bdi": {"dir", "class", "lang"}, "b": {"class"}, "q": set(), "kbd": set(),
    "code": set(), "mark": set(), "del": set(), "ins": set(), "details": {"class", "open"}, "summary": set(),
    "form": {"action", "method", "role", "id"}, "label": {"for", "class"}, "select": {"name"}, "option": {"value", "selected"}, "datalist": {"id"},
    "button": {"type", "class", "data-copy", "hidden"},
    "input": {"type", "id", "name", "value", "placeholder", "maxlength", "autocomplete", "autocapitalize", "spellcheck", "enterkeyhint", "list",
              "inputmode", "pattern", "aria-invalid", "aria-describedby"},
}  # fmt: skip
VOID = {"meta", "link", "input"}
#: Attributes whose values may hold what came from elsewhere.
FOREIGN = {"href", "value", "data-copy"}
INSIDE = re.compile(r"/(read/[\w.~%-]*/[\w.~%-]*)?(\?[\w.~%&=-]*)?", re.ASCII)


class Page(HTMLParser):
    """What a parser sees: elements with their attributes, in order, and the text in them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.pieces: list[tuple[tuple[str, ...], str]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs)
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.pieces.append((tuple(self._open), data))

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data!r}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction: {data!r}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data!r}")

    def text_in(self, tag: str) -> str:
        return "".join(data for path, data in self.pieces if tag in path)

    def shape(self) -> list[tuple[str, tuple[tuple[str, str | None], ...]]]:
        """Elements and attributes without what came from elsewhere, and without the signs for what cannot be seen."""
        return [
            (tag, tuple((name, None if name in FOREIGN else value) for name, value in attrs.items()))
            for tag, attrs in self.elements
            if not (tag == "b" and attrs == {"class": "x"})
        ]


def checked(text: str) -> Page:
    """A page of which every element, attribute and link is one of ours."""
    page = Page(text)
    for tag, attrs in page.elements:
        assert tag in ALLOWED
        assert attrs.keys() <= ALLOWED[tag]
        if tag == "a":
            assert leads_well(attrs["href"] or "", attrs.get("rel") or "")
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert sorted(tag for tag, _ in page.elements if tag in ("h1", "script", "title")) == ["h1", "script", "title"]
    return page


def leads_well(address: str, relation: str) -> bool:
    if "external" not in relation:
        return address == "#main" or INSIDE.fullmatch(address) is not None
    return address.lower().startswith(("http://", "https://")) and address.isprintable() and " " not in address


V = TypeVar("V")
OUR_WORDS = ("verdict", "change", "mode", "source_class")


def harmless(value: V) -> V:
    """The same value with letters in place of all that could mean something; blanks and our own words stay."""
    if isinstance(value, Model):
        return value.model_copy(update={name: harmless(each) for name, each in value if name not in OUR_WORDS})
    if isinstance(value, tuple):
        return tuple(map(harmless, value))  # type: ignore[return-value]
    return tame(value) if isinstance(value, str) else value  # type: ignore[return-value]


def tame(text: str) -> str:
    """Of the same length, with the same blanks."""
    return "".join(sign if sign.isspace() else "a" for sign in text)


@given(FORMS, several(TEXT), maybe(SEARCH_ANSWERS), maybe(PROBLEMS))
def test_a_search_page_has_only_elements_attributes_and_links_of_ours(
    form: SearchForm, collections: tuple[str, ...], answer: SearchAnswer | None, problem: Problem | None
) -> None:
    checked(search_page(form, collections, answer, problem))


@given(CHUNK_ANSWERS, FORMS)
def test_a_reader_has_only_elements_attributes_and_links_of_ours(answer: ChunkAnswer, form: SearchForm) -> None:
    checked(reader_page(answer, form))


@given(PROBLEMS)
def test_a_problem_adds_nothing_to_the_structure_of_its_page(problem: Problem) -> None:
    tamed = evolve(problem, title=tame(problem.title), detail=tame(problem.detail), hint=tame(problem.hint))
    assert checked(problem_page(problem)).shape() == Page(problem_page(tamed)).shape()


def local(answer: Any) -> Any:
    """Without an address of the web, of which there would be a link."""
    return answer.model_copy(update={"url": "groundkit://a/b"})


@given(SEARCH_ANSWERS, TEXT, TEXT)
def test_texts_of_documents_add_nothing_to_the_structure_of_a_search_page(
    answer: SearchAnswer, heading: str, collection: str
) -> None:
    answer = answer.model_copy(update={"results": tuple(map(local, answer.results))})
    form = SearchForm(q="light", heading=heading.replace('"', " "))
    tamed = search_page(evolve(form, heading=tame(form.heading)), [tame(collection)], harmless(answer), None)
    assert Page(search_page(form, [collection], answer, None)).shape() == Page(tamed).shape()


@given(CHUNK_ANSWERS)
def test_texts_of_documents_add_nothing_to_the_structure_of_a_reader(answer: ChunkAnswer) -> None:
    answer = local(answer).model_copy(update={"link": None})
    form = SearchForm(q="light")
    assert Page(reader_page(answer, form)).shape() == Page(reader_page(harmless(answer), form)).shape()


@given(CHUNK_ANSWERS.filter(lambda answer: answer.found))
def test_the_passage_is_marked_letter_for_letter(answer: ChunkAnswer) -> None:
    assert Page(reader_page(answer, SearchForm())).text_in("mark") == visible(answer.text)


@given(PASSAGES)
def test_a_passage_is_shown_whole(passage: Passage) -> None:
    passage = passage.model_copy(update={"verification": None, "title": "t"})
    answer = SearchAnswer(
        collection="c", mode="bm25", matches=1, results=(passage,), abstained=None, refused=None, truncated=False, changed=False, next_cursor=None
    )  # fmt: skip
    shown = Page(search_page(SearchForm(q="x"), ["c"], answer, None)).text_in("ol")
    without = re.sub(r" …|\n?[\d,]+ more characters?\n", "", shown)
    assert "".join(visible(passage.text).split()) in "".join(without.split())


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "JAVASCRIPT:alert(1)", "java\nscript:alert(1)", "\x01javascript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd",
     "http:javascript:alert(1)", "//evil.example", "https:/evil.example", "https:\\\\evil.example", "https://a.example/\nb", "https://a.example/ b", "https://",
     "http://[::1", " https://a.example/", "https://a.example/\u202egpj", "groundkit://default/x", "", "https"],
)  # fmt: skip
def test_what_a_browser_would_not_plainly_fetch_is_no_link(address: str) -> None:
    assert list(outside(address)) == []


@pytest.mark.parametrize("address", ["https://a.example/", "http://a.example:80/b?c=d&e=%22'#:~:text=f", "https://münchen.example/ß", "HTTPS://A.example"])  # fmt: skip
def test_an_address_of_the_web_is_a_link_to_itself(address: str) -> None:
    assert list(outside(address)) == [address]


def outside(address: str) -> Iterator[str | None]:
    answer = ChunkAnswer(
        collection="c", chunk_id="d", found=True, id="c/d", title="t", url=address, link=address, place="p", text="x", text_start=0, before="", after="",
        context_start=0, previous=None, next=None, citation=None, page=None, truncated=False, changed=False, next_cursor=None,
        verification=VerificationValue(verdict="verified", reason="same", detail="", context_changed=False),
    )  # fmt: skip
    for tag, attrs in Page(reader_page(answer, SearchForm())).elements:
        if tag == "a" and not INSIDE.fullmatch(attrs["href"] or "") and attrs["href"] != "#main":
            yield attrs["href"]


# -- forms


def sent(address: str) -> SearchForm:
    return SearchForm.of(dict(parse_qsl(urlsplit(address).query, keep_blank_values=True)))


@given(st.dictionaries(st.sampled_from([*asdict(SearchForm()), "other"]), TEXT))
def test_a_form_comes_back_from_its_addresses(params: dict[str, str]) -> None:
    form = SearchForm.of(params)
    assert sent(form.address()) == form
    assert sent(form.reader("c", "d", "e")) == form
    assert sent(form.address(cursor="")) == evolve(form, cursor="")


@given(FORMS)
def test_a_form_comes_back_from_the_fields_of_its_page(form: SearchForm) -> None:
    form = SearchForm.of(asdict(form))
    page = Page(search_page(form, ["a", "b"], None, None))
    fields = {str(attrs["name"]): attrs["value"] or "" for tag, attrs in page.elements if tag == "input"}
    names = [str(attrs["name"]) for tag, attrs in page.elements if tag in ("input", "select")]
    assert sorted(names) == sorted(asdict(form).keys() - {"cursor"})
    assert fields == {name: getattr(form, name) for name in fields}


@given(TEXT, TEXT, TEXT)
def test_the_address_of_a_reader_names_its_collection_and_its_chunk(collection: str, chunk: str, part: str) -> None:
    address = urlsplit(SearchForm(q="a b").reader(collection, chunk, part))
    collection, chunk, part = (each.encode(errors="replace").decode() for each in (collection, chunk, part))
    assert [unquote(each) for each in address.path.split("/")] == ["", "read", collection, chunk]
    assert dict(parse_qsl(address.query)).get("part", "") == part


@given(FORMS)
def test_only_what_was_filled_in_is_asked(form: SearchForm) -> None:
    asked = form.arguments()
    assert "" not in asked.values()
    assert asked.keys() <= {"query", "collection", "mode", "per_source", "cursor"}
    assert asked.get("query", "") == form.query


CONDITIONS = {
    "source": (Field.SOURCE, st.just("a/**/b.md")),
    "kind": (Field.CLASS, st.sampled_from(["text", "extracted", "snapshot"])),
    "type": (Field.TYPE, st.sampled_from(["pdf", "text/markdown", "text/*"])),
    "heading": (Field.HEADING, st.just("Getting started")),
    "after": (Field.AFTER, st.sampled_from(["2026", "2026-01-31"])),
    "before": (Field.BEFORE, st.just("2027-01")),
}


@given(st.fixed_dictionaries({}, optional={name: values for name, (_, values) in CONDITIONS.items()}), TEXT)
@example({"source": "a"}, 'foo "bar')
@example({"source": "a"}, 'source:"b')
def test_filters_are_conditions_beside_those_of_the_words(filled: dict[str, str], words: str) -> None:
    """However many quotation marks have no partner."""
    alone, together = parse(words), parse(SearchForm(q=words, **filled).query)
    assert not isinstance(alone, Failure) and not isinstance(together, Failure)
    typed, asked = alone.unwrap(), together.unwrap()
    conditions = [FieldCondition(field, filled[name]) for name, (field, _) in CONDITIONS.items() if name in filled]
    assert sorted(map(str, asked.fields)) == sorted(map(str, (*conditions, *typed.fields)))
    assert asked.words.split() == typed.words.split()
    assert evolve(asked, words="", fields=()) == evolve(typed, words="", fields=())


@given(st.sampled_from(sorted(CONDITIONS)), TEXT)
@example("source", 'x" class:"text')
@example("heading", 'x" -source:"*')
@example("after", '2026" before:"2027')
def test_what_is_typed_into_a_filter_is_one_condition_of_its_kind_or_is_said_to_be_left_out(
    name: str, typed: str
) -> None:
    form = SearchForm(**{name: typed})
    parsed = parse(form.query)
    assert not isinstance(parsed, Failure)
    query = parsed.unwrap()
    assert (query.words.strip(), query.phrases, query.required, query.excluded, query.not_syntax) == (
        "",
        (),
        (),
        (),
        (),
    )
    assert [(each.field, each.negated) for each in query.fields] in ([], [(CONDITIONS[name][0], False)])
    assert bool(query.fields) == (form.narrowed and name not in form.left_out)
    assert form.narrowed or not any(sign.isalnum() for sign in typed)


# -- looks


def static(name: str) -> str:
    return files("groundkit.service").joinpath("static", name).read_text("utf-8")


def scheme(which: int) -> dict[str, str]:
    part = static("page.css").split("@media (prefers-color-scheme: dark)", 1)[which]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", part))


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance."""
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("which", [0, 1])
def test_the_colours_are_those_of_the_reports(which: int) -> None:
    assert scheme(which).items() >= {name: both[which] for name, both in COLOURS.items()}.items()


READ_ON = [
    *((text, paper) for text in ("ink", "muted", "link", "verified", "drifted", "unresolvable") for paper in ("paper", "card")),
    ("marked", "mark-paper"), ("sign", "sign-paper"), ("gone", "gone-paper"), ("new", "new-paper"), ("card", "link"), ("paper", "ink"),
]  # fmt: skip


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize(("text", "paper"), READ_ON)
def test_what_is_read_can_be_told_from_what_it_is_read_on(which: int, text: str, paper: str) -> None:
    colours = scheme(which)
    assert contrast(colours[text], colours[paper]) >= 4.5


def test_the_files_load_nothing_from_elsewhere_and_the_script_makes_no_markup() -> None:
    assert re.findall(r"url\(|@import|https?:|data:", static("page.css")) == []
    wrong = r"innerHTML|outerHTML|insertAdjacent|document\.write|eval|Function\(|setAttribute|https?:|fetch\("
    assert re.findall(wrong, static("page.js")) == []


def test_the_policy_allows_nothing_inline_and_nothing_from_elsewhere() -> None:
    directives = dict(each.split(" ", 1) for each in POLICY.split("; "))
    assert set(directives.values()) == {"'none'", "'self'"}
    assert [name for name, value in directives.items() if value == "'none'"] == [
        "default-src",
        "base-uri",
        "frame-ancestors",
    ]
