"""Laws of the page: texts add no element, no attribute and no address, and a form is what its address says."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from attrs import asdict
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.query import parse
from groundkit.core.result import Success
from groundkit.service.pages import SearchForm, problem_page, reader_page, search_page
from groundkit.service.problems import Problem
from groundkit.service.values import (
    ChunkAnswer,
    CitationValue,
    DiffValue,
    LocatorValue,
    PageFacts,
    PagesValue,
    Passage,
    SearchAnswer,
    SpanValue,
    VerificationValue,
)

#: Marks that mean something to HTML, URLs or scripts, among any others that UTF-8 has.
TEXTS = st.text(
    st.characters(exclude_categories=("Cs",)) | st.sampled_from("<>\"'&;=/`\\ \n\r\t\x00\x1b\u202e\u2028-!?#%:"), max_size=30
) | st.sampled_from(
    ["<script>alert(1)</script>", '" onclick="x', "javascript:alert(1)", "</main>", "<!--", "]]>", "&lt;b&gt;", "data:text/html,x"]
)  # fmt: skip


class Elements(HTMLParser):
    """The elements of a page in order, each with the names of its attributes, without what makes signs visible."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.all: list[tuple[str, tuple[str, ...]]] = []
        self.targets: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "b" and dict(attrs).get("class") == "x":
            return
        self.all.append((tag, tuple(sorted(name for name, _ in attrs))))
        self.targets += [value or "" for name, value in attrs if name in ("href", "src", "action", "formaction")]

    def handle_comment(self, data: str) -> None:
        self.all.append(("comment", ()))


def verification(text: Any) -> VerificationValue:
    return VerificationValue(
        verdict="drifted", reason="edited", detail=text(), context_changed=True, now=SpanValue(start=1, end=2), line=1,
        column=2, similarity=0.5, candidates=(SpanValue(start=3, end=4),), found_in=text(), same_bytes_at=text(),
        found=text(), diff=(DiffValue(change="removed", text=text()), DiffValue(change="added", text=text())),
    )  # fmt: skip


def citation(text: Any) -> CitationValue:
    pages = PagesValue(first=1, last=2, first_label=text(), last_label=text())
    locator = LocatorValue(line=1, column=1, heading_path=(text(), text()), pages=pages, anchor=text())
    return CitationValue(
        document_id="d" * 32, chunk_id="c" * 32, source=text(), source_class="extracted", extractor=text(), start=0, end=9,
        digest="0" * 64, before=text(), after=text(), locator=locator, incomplete=True,
    )  # fmt: skip


def found(text: Any) -> SearchAnswer:
    passage = Passage(
        id=text(), title=text(), url=text(), rank=1, score=1.5, place=text(), text=text(), text_start=0,
        text_truncated=True, citation=citation(text), verification=verification(text),
    )  # fmt: skip
    return SearchAnswer(
        collection=text(), mode="bm25", matches=3, results=(passage,), abstained=None, refused=None, truncated=True,
        changed=True, next_cursor=text(),
    )  # fmt: skip


def chunk(text: Any) -> ChunkAnswer:
    return ChunkAnswer(
        collection=text(), chunk_id=text(), found=True, id=text(), title=text(), url=text(), link=text(), place=text(),
        text=text(), text_start=4, before=text(), after=text(), context_start=0, previous=text(), next=text(),
        citation=citation(text), page=PageFacts(fetched_at=text(), status=200, content_type=text(), suspicions=(text(),)),
        verification=verification(text), truncated=True, changed=True, next_cursor=text(),
    )  # fmt: skip


def harmless() -> str:
    return "word"


def safe(page: Elements) -> bool:
    return all(each.startswith(("/", "#", "http://", "https://")) for each in page.targets)


#: A part that is empty, blank or long may be left out or folded; it may not bring anything new.
def kinds(page: Elements) -> set[tuple[str, tuple[str, ...]]]:
    return set(page.all)


@given(st.data())
def test_no_text_of_a_hit_adds_a_kind_of_element(data: st.DataObject) -> None:
    text = lambda: data.draw(TEXTS)
    page = Elements(search_page(SearchForm(q=text()), [text()], found(text), None))
    plain = Elements(search_page(SearchForm(q="q"), ["c"], found(harmless), None))
    assert kinds(page) - kinds(plain) <= {("a", ("href", "rel"))}
    assert len(page.all) <= len(plain.all) + 8
    assert safe(page)


@given(st.data())
def test_no_text_of_a_passage_adds_a_kind_of_element(data: st.DataObject) -> None:
    text = lambda: data.draw(TEXTS)
    page = Elements(reader_page(chunk(text), SearchForm(q=text())))
    plain = Elements(reader_page(chunk(harmless), SearchForm(q="q")))
    assert kinds(page) - kinds(plain) <= {("a", ("href", "rel"))}
    assert len(page.all) <= len(plain.all) + 8
    assert safe(page)


@given(TEXTS, TEXTS, TEXTS)
def test_no_text_of_a_problem_adds_an_element(title: str, detail: str, hint: str) -> None:
    page = Elements(problem_page(Problem("storage", 503, title, detail, hint)))
    plain = Elements(problem_page(Problem("storage", 503, "title", "detail", "hint")))
    assert kinds(page) <= kinds(plain) and safe(page)


FORMS = st.builds(
    SearchForm,
    q=TEXTS, collection=TEXTS, mode=st.sampled_from(["bm25", "dense", "hybrid"]), source=TEXTS, kind=TEXTS, type=TEXTS,
    heading=TEXTS, after=TEXTS, before=TEXTS, per_source=TEXTS, cursor=TEXTS,
)  # fmt: skip


@given(FORMS)
def test_an_address_says_what_the_form_did(form: SearchForm) -> None:
    address = form.address()
    assert address.isascii() and address.startswith("/")
    again = SearchForm.of(dict(parse_qsl(urlsplit(address).query, keep_blank_values=True)))
    assert again.address() == address
    assert SearchForm.of(asdict(form)) == again


@given(FORMS)
def test_a_filter_is_one_condition_whatever_is_typed(form: SearchForm) -> None:
    bare = parse(SearchForm(q=form.q).query)
    narrowed = parse(form.query)
    if isinstance(bare, Success) and isinstance(narrowed, Success):
        typed = [
            each for each in (form.source, form.kind, form.type, form.heading, form.after, form.before) if each.strip()
        ]
        own = len(bare.unwrap().fields)
        assert own <= len(narrowed.unwrap().fields) <= own + len(typed)
        for each in ("phrases", "required", "excluded"):
            assert getattr(narrowed.unwrap(), each) == getattr(bare.unwrap(), each)
        assert narrowed.unwrap().words.split() == bare.unwrap().words.split()
