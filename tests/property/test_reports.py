"""Laws of the reports: whatever a document, a name or a sentence holds, it forges nothing, and the numbers fit."""

import base64
import hashlib
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import groupby
from typing import Any
from xml.etree import ElementTree

import pytest
from attrs import evolve
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from groundkit.core.live import Live, LiveState
from groundkit.core.model import Citation, FoundIn, FromText, Locator, Reason, Span, Verdict, Verification
from groundkit.core.verdicts import VERDICT_OF
from groundkit.core.word_diff import Change, word_diff
from groundkit.reports.html import html_report
from groundkit.reports.junit import junit_report
from groundkit.reports.markdown import code, markdown_report
from groundkit.reports.rows import Row, Totals, passage
from groundkit.reports.signs import markup, visible
from groundkit.reports.style import COLOURS, FILTERS, READ_ON, style_sheet
from groundkit.reports.together import told_together

#: What means something to one of the formats, between characters of any kind.
SIGNS = st.sampled_from(
    ["`", "```", "````", "~~~", "\n", "\r\n", "\n\n", "# ", "- ", "> ", "| ", "* ", "_", "[a](http://b.example)", "![i](j)", "@all", "#123",
     "<b>", "</div>", "</summary>", "<!--", "-->", "]]>", "&lt;", "&#x3c;", "&", "<", ">", '"', "'", "\\", "http://c.example", "www.d.example",
     "\x00", "\x1b[31m", "\u202e", "\u2028", "\ud800", "\uffff", "\ufdd0", "\x85", "\u200d", "\t", "    ", "--- ", "+++ ", "語", "é"]
)  # fmt: skip
TEXT = st.lists(st.one_of(SIGNS, st.text(st.characters(exclude_categories=()), max_size=3)), max_size=8).map("".join)
SOURCES = st.one_of(st.sampled_from(["a.md", "b.md"]), TEXT.filter(bool))
SPANS = st.builds(lambda start, length: Span(start, start + length), st.integers(0, 9999), st.integers(0, 999))
CITATIONS = st.builds(
    Citation,
    st.just("d" * 32),
    st.just("c" * 32),
    SOURCES,
    st.just(FromText()),
    SPANS,
    st.just("0" * 64),
    locator=st.none() | st.just(Locator(3, 7)),
    incomplete=st.booleans(),
)
VERIFICATIONS = st.builds(
    Verification,
    st.sampled_from(Verdict),
    st.sampled_from(Reason),
    TEXT,
    context_changed=st.booleans(),
    span=st.none() | SPANS,
    locator=st.none() | st.just(Locator(14, 3)),
    similarity=st.none() | st.floats(0, 1),
    candidates=st.lists(SPANS, max_size=7).map(tuple),
    found_in=st.none() | st.builds(FoundIn, TEXT, st.just("d" * 32), SPANS),
    same_bytes_at=st.none() | TEXT,
    cited=st.none() | TEXT,
    found=st.none() | TEXT,
)
LIVES = st.none() | st.builds(Live, st.sampled_from(LiveState), TEXT)
#: Passages that moved as they were.
MOVED = st.builds(
    lambda text, start: Verification(
        Verdict.DRIFTED, Reason.MOVED, f"at {start}", span=Span(start, start + 4), locator=Locator(9, 9), cited=text, found=text
    ),
    TEXT.filter(bool), st.integers(5000, 5002),
)  # fmt: skip


def farther(row: Row, by: int) -> Row:
    """The same of a passage that stands farther on, and did so before."""
    name, citation, told, live = row
    now = told.span and Span(told.span.start + by, told.span.end + by)
    then = citation and evolve(citation, span=Span(citation.span.start + by, citation.span.end + by))
    return f"{name}{by}", then, evolve(told, span=now) if told.reason is Reason.MOVED else told, live


RUNS = st.tuples(
    st.tuples(TEXT.filter(bool), st.none() | CITATIONS, VERIFICATIONS | MOVED, LIVES), st.sampled_from([1, 1, 2, 3, 5])
)
ROWS = st.lists(RUNS, max_size=4).map(
    lambda runs: sorted(
        (farther(row, by) for row, times in runs for by in range(times)),
        key=lambda row: "" if row[1] is None else row[1].source,
    )
)

FORGED = "```\n# forged\n<script>x</script> [a](http://b.example) ![i](j) @all #123 ]]> </div>\x00\u202e\ud800"


def row(text: str, verdict: Verdict = Verdict.DRIFTED) -> Row:
    citation = Citation("d" * 32, "c" * 32, text, FromText(), Span(0, 4), "0" * 64, locator=Locator(1, 1))
    return text, citation, Verification(verdict, Reason.EDITED, text, cited=f"x {text}", found=f"y {text}"), None


def totals_of(rows: list[Row]) -> Counter[Verdict]:
    return Counter(verification.verdict for _, _, verification, _ in rows)


def sources_of(rows: list[Row]) -> list[list[Row]]:
    return [list(some) for _, some in groupby(rows, lambda row: row[1] and row[1].source)]


# ---- JUnit


@given(ROWS)
@example([row(FORGED), row(FORGED, Verdict.UNRESOLVABLE)])
def test_the_junit_report_is_xml_and_its_counts_fit(rows: list[Row]) -> None:
    root = ElementTree.fromstring("".join(junit_report(rows)).encode())
    totals = totals_of(rows)
    wanted = (str(len(rows)), str(totals[Verdict.DRIFTED]), str(totals[Verdict.UNRESOLVABLE]))
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == wanted
    assert len(root) == len(sources_of(rows))
    for suite, cited in zip(root, sources_of(rows), strict=True):
        assert suite.tag == "testsuite"
        assert [each.tag for each in suite if each.tag != "properties"] == ["testcase"] * len(cited)
        reasons = Counter(row[2].reason.value for row in cited if row[2].reason is not Reason.SAME)
        assert {each.get("name"): int(each.get("value", "")) for each in suite.iter("property")} == reasons
        assert suite.get("tests") == str(len(cited))
        assert suite.get("failures") == str(len(suite.findall("testcase/failure")))
        assert suite.get("errors") == str(len(suite.findall("testcase/error")))
        assert {case.get("classname") for case in suite.iter("testcase")} == {suite.get("name")}


@given(ROWS)
def test_a_test_case_says_the_reason_the_detail_and_the_passage(rows: list[Row]) -> None:
    root = ElementTree.fromstring("".join(junit_report(rows)).encode())
    for case, (name, _, verification, live) in zip(root.iter("testcase"), rows, strict=True):
        kinds = {Verdict.VERIFIED: [], Verdict.DRIFTED: ["failure"], Verdict.UNRESOLVABLE: ["error"]}
        said = [child for child in case if child.tag != "system-out"]
        assert [child.tag for child in said] == kinds[verification.verdict]
        assert {child.get("type") for child in said} <= {verification.reason.value}
        assert (case.find("system-out") is None) is (live is None)
        assert visible(name).replace("\n", "\\n").replace("\t", "\\t") in (case.get("name") or "")


def test_the_body_of_a_failure_has_the_diff() -> None:
    told = row("a.md")[2]
    rows = [("n" * 32, row("a.md")[1], evolve(told, cited="one two three", found="one 2 three"), None)]
    body = ElementTree.fromstring("".join(junit_report(rows))).findtext("testsuite/testcase/failure") or ""
    assert body.endswith("\n\n  one \n- two\n+ 2\n   three")


# ---- Markdown


def markdown_tokens(text: str) -> list[Token]:
    """All tokens, with links found in plain text as GitHub finds them."""
    flat: list[Token] = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        flat += [token, *(token.children or [])]
    return flat


def says(token: Token, kind: str) -> bool:
    return token.type == "inline" and kind in [each.type for each in token.children or []]


def number_in(head: str) -> int:
    """Of how many citations an entry of several is."""
    found = re.search(r"([\d,]+) citations$", head)
    assert found, head
    return int(found[1].replace(",", ""))


@given(ROWS)
@example([row(FORGED)])
@example([row("`"), row("``` `"), row(" "), row("`` a")])
def test_documents_forge_nothing_in_markdown(rows: list[Row]) -> None:
    text = "".join(markdown_report(rows))
    found = markdown_tokens(text)
    own = {"heading", "paragraph", "bullet_list", "list_item", "table", "thead", "tbody", "tr", "th", "td", "strong"}
    kinds = {token.type for token in found}
    assert kinds <= {f"{kind}_{edge}" for kind in own for edge in ("open", "close")} | {
        "inline", "text", "code_inline", "fence", "softbreak",
    }  # fmt: skip
    told = [
        [row for row in some if not row[2] or (row[3] and row[3].state is not LiveState.SAME)]
        for some in sources_of(rows)
    ]
    assert sum(token.type == "heading_open" for token in found) == 1 + sum(map(bool, told))
    heads = ["".join(each.content for each in token.children or []) for token in found if says(token, "strong_open")]
    alone = [
        "code_inline" in [each.type for each in token.children or []] for token in found if says(token, "strong_open")
    ]
    assert sum(1 if one else number_in(head) for head, one in zip(heads, alone, strict=True)) == sum(map(len, told))
    plain = "".join(token.content for token in found if token.type == "text")
    assert not re.search(r"[@#<>\[\]\\/`]|www|http", plain)


@given(TEXT)
@example("`")
@example(" a ")
@example("  ")
def test_a_code_span_holds_the_text_and_ends_with_it(text: str) -> None:
    (inline,) = [token for token in MarkdownIt("commonmark").parse(f"x {code(text)} y") if token.type == "inline"]
    assert [child.type for child in inline.children or []] == ["text", "code_inline", "text"]
    shown = visible(text).replace("\n", "\\n").replace("\t", "\\t")
    assert (inline.children or [])[1].content.strip() == shown.strip()


def test_a_report_that_is_too_long_says_what_is_missing() -> None:
    rows = [row(f"{at}.md") for at in range(400)]
    text = "".join(markdown_report(rows, most=20_000))
    assert len(text.encode()) < 20_500
    told, untold = text.count("**≠ drifted**"), re.search(r"^(\d+) more citations not shown", text, re.MULTILINE)
    assert untold
    assert told + int(untold[1]) == 400
    assert text.startswith("## Citations: 400 of 400 citations not verified\n")


# ---- HTML


class Page(HTMLParser):
    """Elements with their attributes, what is open, and text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.opened: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += 1
        self.attributes.update(name for name, _ in attrs)
        if tag not in {"meta", "input"}:
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.opened.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


OWN_ELEMENTS = {
    "html", "head", "meta", "title", "style", "body", "a", "header", "h1", "h2", "h3", "h4", "h5", "bdi", "p", "b", "main", "div", "table",
    "thead", "tbody", "tr", "th", "td", "span", "fieldset", "legend", "label", "input", "nav", "details", "summary", "ol", "li", "section",
    "dl", "dt", "dd", "del", "ins", "footer", "ul",
}  # fmt: skip
OWN_ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "href", "class", "id", "tabindex", "scope", "type", "checked", "autocomplete",
    "for", "open", "aria-label", "aria-labelledby", "dir",
}  # fmt: skip


@given(ROWS, TEXT, st.booleans())
@example([row(FORGED), row(FORGED, Verdict.UNRESOLVABLE)], FORGED, True)
def test_documents_forge_nothing_in_html(rows: list[Row], title: str, list_verified: bool) -> None:
    page = Page("".join(html_report(rows, title, list_verified)))
    assert page.opened == []
    assert set(page.elements) <= OWN_ELEMENTS
    assert page.attributes <= OWN_ATTRIBUTES
    assert page.elements["section"] == len(sources_of(rows))
    assert page.elements["h1"] == page.elements["main"] == page.elements["title"] == 1
    assert set(page.text) == set(visible(page.text))


@given(ROWS, st.booleans())
def test_every_row_that_is_not_verified_is_told_and_the_others_if_asked(rows: list[Row], list_verified: bool) -> None:
    text = "".join(html_report(rows, list_verified=list_verified))
    wanted = [row for row in rows if list_verified or not row[2] or (row[3] and row[3].state is not LiveState.SAME)]
    entries = re.findall(r'<details class="row [^"]*?( unverified)?"( open)?>\n<summary>(.*)</summary>', text)
    numbers = [1 if 'class="place"' in head else number_in(Page(head).text) for _, _, head in entries]
    assert sum(numbers) == len(wanted)
    unverified = [number for number, (kind, _, _) in zip(numbers, entries, strict=True) if kind]
    assert sum(unverified) == sum(not row[2] for row in rows)
    assert all(bool(kind) is bool(opened) for kind, opened, _ in entries)
    for verdict, count in totals_of(rows).items():
        assert f"{verdict.value}</span></th><td>{count}</td>" in text


@given(ROWS, st.booleans())
def test_sources_that_are_wholly_verified_come_last_in_a_list_that_is_closed(
    rows: list[Row], list_verified: bool
) -> None:
    first, _, last = "".join(html_report(rows, list_verified=list_verified)).partition('<details class="source whole ')
    whole = [
        all(row[2] and (row[3] is None or row[3].state is LiveState.SAME) for row in some) for some in sources_of(rows)
    ]
    assert (first.count("<section "), last.count("<section ")) == (whole.count(False), whole.count(True))
    if True in whole:
        verified = sum(len(some) for some, is_whole in zip(sources_of(rows), whole, strict=True) if is_whole)
        head = re.match(r'[^>]*?"( open)?>\n<summary>(\d+) sources? wholly verified, (\d+) citations?</summary>', last)
        assert head
        assert (bool(head[1]), int(head[2]), int(head[3])) == (list_verified, whole.count(True), verified)


def test_a_verified_row_whose_page_says_something_else_now_tells_so() -> None:
    name, citation, told, _ = row("https://example.org/", Verdict.VERIFIED)
    same = evolve(told, reason=Reason.SAME)
    (summary,) = re.findall(
        "<summary>(.*?)</summary>",
        "".join(html_report([(name, citation, same, Live(LiveState.REMOVED, "gone")), (name, citation, same, None)])),
    )
    assert Page(summary).text == "✓ verified live page removed: https://example.org/:1:1"


@given(ROWS)
def test_equal_rows_give_equal_bytes(rows: list[Row]) -> None:
    for report in (html_report, junit_report, markdown_report):
        assert "".join(report(iter(rows))) == "".join(report(rows))


def test_the_page_tells_the_time_that_it_is_given() -> None:
    assert "Checked 2031-05-06." in "".join(html_report([], made_at="2031-05-06"))


@given(TEXT)
def test_the_text_of_markup_is_what_is_visible(text: str) -> None:
    assert Page(markup(text)).text == visible(text)


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "paper"), READ_ON)
def test_text_is_told_from_its_paper(text: str, paper: str, scheme: int) -> None:
    assert contrast(COLOURS[text][scheme], COLOURS[paper][scheme]) >= 4.5


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("edge", ["control", "link"])
def test_the_edge_of_a_control_is_told_from_its_paper(edge: str, scheme: int) -> None:
    assert all(contrast(COLOURS[edge][scheme], COLOURS[paper][scheme]) >= 3 for paper in ("card", "paper"))


def test_every_colour_that_is_used_is_known_and_none_has_a_code_of_its_own() -> None:
    rules = style_sheet()
    used = set(re.findall(r"var\(--([a-z-]+)\)", rules))
    assert used == set(COLOURS)
    painted = re.findall(r"(?<![\w-])(?:color|background(?:-color)?):([^;}]+)", rules)
    assert painted
    assert {paint for paint in painted if not paint.startswith("var(")} == set()


def test_the_style_sheet_has_a_rule_for_every_choice() -> None:
    assert set(FILTERS) == {"unverified", *Verdict, *Reason}
    assert set(re.findall(r"#show-([a-z_0-9]+):checked", style_sheet())) == set(FILTERS)


def test_the_policy_names_the_style_sheet_and_allows_nothing_else() -> None:
    page = "".join(html_report([row("a.md")]))
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy}">' in page
    assert "style=" not in page
    assert "url(" not in page


# ---- what all share


@given(TEXT, TEXT)
def test_a_short_passage_is_shown_whole(old: str, new: str) -> None:
    told = Verification(Verdict.DRIFTED, Reason.EDITED, "", cited=old, found=new)
    if old != new:
        assert [(each.change, each.text) for each in passage(told)] == [(p.change, p.text) for p in word_diff(old, new)]
        assert not any(each.omitted for each in passage(told))


@pytest.mark.parametrize("length", [10, 5_000, 200_000])
def test_of_a_long_passage_the_ends_are_shown_and_the_rest_is_counted(length: int) -> None:
    old = "same " * length + "gone " * length + "same " * length
    new = "same " * length + "come " * length + "same " * length
    shown = passage(Verification(Verdict.DRIFTED, Reason.EDITED, "", cited=old, found=new))
    assert sum(len(each.text) for each in shown) < 10_000
    for text, other in ((old, Change.ADDED), (new, Change.REMOVED)):
        assert sum(len(each.text) + each.omitted for each in shown if each.change is not other) == len(text)


def test_a_passage_of_many_parts_is_cut_off_and_the_rest_is_counted() -> None:
    old = "".join(f"word{at} and another word that stays {at}, " for at in range(500))
    new = old.replace("word1", "replacement1")
    shown = passage(Verification(Verdict.DRIFTED, Reason.EDITED, "", cited=old, found=new))
    assert len(shown) < 210
    assert [(each.change, each.text) for each in shown[-2:]] == [(Change.REMOVED, ""), (Change.ADDED, "")]
    for text, other in ((old, Change.ADDED), (new, Change.REMOVED)):
        assert sum(len(each.text) + each.omitted for each in shown if each.change is not other) == len(text)


def told(reason: Reason, number: int = 0, by: int = 40, **more: Any) -> Row:
    """A row of `a.md` whose citation is the given one of many."""
    start = 100 * number
    citation = evolve(row("a.md")[1], span=Span(start, start + 50), locator=Locator(number + 1, 1))  # type: ignore[type-var]
    verification = Verification(VERDICT_OF[reason], reason, more.pop("detail", "it is so"), **more)
    if reason is Reason.MOVED:
        text = "As it was. " * 100
        now = Span(start + by, start + by + 50)
        verification = evolve(
            verification, detail=f"to {now}", span=now, locator=Locator(number + 3, 1), cited=text, found=text
        )
    return f"{number:032x}", citation, verification, None


def reports(rows: list[Row]) -> tuple[str, str, str]:
    markdown, junit = "".join(markdown_report(rows)), "".join(junit_report(rows))
    return markdown, junit, "".join(html_report(rows))


@pytest.mark.parametrize("reason", [Reason.CHANGED, Reason.REMOVED, Reason.AMBIGUOUS])
def test_what_was_cited_does_not_read_as_what_stands_there(reason: Reason) -> None:
    markdown, junit, page = reports([told(reason, cited="What it said.\nOnce.")])
    assert "```diff\n- What it said.\n- Once.\n```" in markdown
    assert "\n- What it said.\n- Once." in junit
    assert '<h5>Then</h5>\n<div class="text" dir="auto">What it said.\nOnce.</div>' in page


def test_of_a_passage_that_moved_only_the_beginning_is_shown() -> None:
    for text in reports([told(Reason.MOVED)]):
        assert "moved, its text is unchanged" in text
        assert text.count("As it was.") == 14
        assert "940 code points not shown" in text


def test_neighbours_that_moved_together_are_one_entry_and_cases_of_their_own() -> None:
    rows = [told(Reason.MOVED, at) for at in range(70)] + [told(Reason.MOVED, at, by=-7) for at in range(70, 73)]
    markdown, junit, page = reports(rows)
    assert re.findall(r"^\*\*.*", markdown, re.MULTILINE) == [
        "**≠ drifted** (moved) 70 citations", "**≠ drifted** (moved) 3 citations",
    ]  # fmt: skip
    assert "- `all moved 40 code points on, their text is unchanged`\n" in markdown
    assert (
        "- `all moved 7 code points back, their text is unchanged`\n- places: `71:1 → 73:1, 72:1 → 74:1, 73:1 → 75:1`\n"
        in markdown
    )
    assert "40:1 → 42:1` and 30 more\n" in markdown
    assert len(markdown) < 2_000
    assert page.count('<details class="row ') == 2
    assert "<summary>70 places</summary>" in page
    for name, *_ in rows:
        assert name in page
    assert junit.count("<failure ") == 73


def test_neighbours_that_cannot_be_resolved_for_one_reason_are_one_entry() -> None:
    rows = [told(Reason.SOURCE_MISSING, at, detail="a.md: gone", same_bytes_at="b.md") for at in range(4)]
    markdown, junit, page = reports(rows)
    assert markdown.endswith(
        "**✗ unresolvable** (source_missing) 4 citations\n\n- `a.md: gone`\n- same bytes at: `b.md`\n- places: `1:1, 2:1, 3:1, 4:1`\n"
    )
    assert page.count("a.md: gone") == 1
    assert junit.count("<error ") == 4


def test_what_differs_in_more_than_its_place_is_told_for_itself() -> None:
    rows = [told(Reason.SOURCE_MISSING, at, detail=f"gone {at}") for at in range(3)]
    rows += [told(Reason.MOVED, at, context_changed=at == 4) for at in range(3, 6)]
    rows += [told(Reason.MOVED, at) for at in range(6, 8)] + [told(Reason.EDITED, 9), told(Reason.MOVED, 10)]
    assert [len(some) for some in told_together(rows)] == [1, 1, 1, 1, 1, 3, 1, 1]


@given(ROWS)
def test_rows_that_are_told_together_are_all_the_rows_in_their_order(rows: list[Row]) -> None:
    assert [row for some in told_together(rows) for row in some] == rows


def test_totals_are_of_reasons_too() -> None:
    rows = [told(Reason.MOVED), told(Reason.SOURCE_MISSING, 1), told(Reason.MOVED, 2), told(Reason.SAME, 3)]
    markdown, junit, page = reports(rows)
    assert "| reason | citations |\n| --- | ---: |\n| moved | 2 |\n| source_missing | 1 |\n\n" in markdown
    assert "\n<!-- moved 2, source_missing 1 -->\n<testsuite " in junit
    assert (
        '<tr><th scope="row">moved</th><td>2</td></tr>\n<tr><th scope="row">source missing</th><td>1</td></tr>\n'
        in page
    )
    markdown, junit, page = reports([told(Reason.SAME)])
    assert "| reason |" not in markdown
    assert "<!--" not in junit
    assert "Reason</th>" not in page


@pytest.mark.parametrize(("similarity", "said"), [(1.0, "0.999"), (0.9996, "0.999"), (0.5, "0.500")])
def test_what_was_edited_is_never_wholly_alike(similarity: float, said: str) -> None:
    for text in reports([told(Reason.EDITED, cited="a b", found="a c", similarity=similarity)]):
        assert said in text
        assert "1.000" not in text


def test_white_space_alone_is_no_diff_of_what_was_reformatted() -> None:
    blank = {"cited": "one two\nthree  four " + "five " * 99, "found": "one\ntwo three four " + "five " * 99}
    note = "only white space, case or letter forms changed"
    for text in reports([told(Reason.REFORMATTED, **blank)]):
        assert text.count(note) == 1
        assert "↵" not in text
        assert "<ins>" not in text
        assert "\n+ " not in text
        assert text.count("five") < 40
    markdown, _, page = reports([told(Reason.REFORMATTED, cited="one two three", found="one\ntwo THREE")])
    assert "```diff\n  one\n  two \n- three\n+ THREE\n```" in markdown
    assert "one\ntwo <ins>THREE</ins>" in page
    markdown, _, page = reports([told(Reason.REFORMATTED, detail=f"{note}; at 3–4 now", **blank)])
    assert markdown.count(note) == page.count(note) == 1


@given(ROWS)
def test_totals_count_what_passes(rows: list[Row]) -> None:
    totals = Totals()
    assert list(totals.watching(rows)) == rows
    assert totals.rows == len(rows)
    assert totals.unverified == sum(not row[2] for row in rows)
    assert totals.verdicts == totals_of(rows)
