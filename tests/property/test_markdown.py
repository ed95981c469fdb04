"""Laws of the Markdown outline, with markdown-it-py as the oracle for which headings are real."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from shared import shared

from groundkit.core.markdown import parse
from groundkit.core.markdown_lines import DEFINITION
from groundkit.core.outline import HEADING_LIMIT, SECTIONS_LIMIT, Outline, Section
from groundkit.core.spans import line_view
from groundkit.testing.strategies import hostile_texts, markdown_texts, texts

ORACLE = MarkdownIt("commonmark").enable("table")
CORPORA = ("rust-book", "commonmark-spec", "cmark-tests", "react-docs-ja", "react-docs-ar", "tldr")


def paths(text: str) -> list[tuple[str, ...]]:
    return [each.heading_path for each in parse(text).sections]


def heading_lines(text: str) -> list[tuple[int, int]]:
    """Level and line (from 0) of every heading that opens a section."""
    view = line_view(text)
    return [
        (level, view.count("\n", 0, each.start))
        for each, level in zip(sections_with_heading(parse(text)), levels(text), strict=True)
    ]


def sections_with_heading(outline: Outline) -> list[Section]:
    return [each for each in outline.sections if each.heading_path]


def levels(text: str) -> list[int]:
    """The level of each section, read from the text of its heading."""
    found = []
    for each in sections_with_heading(parse(text)):
        heading = line_view(text)[each.start : each.body].lstrip("\ufeff ")
        atx = re.match(r"(#{1,6})(?:[ \t\n]|$)", heading)
        found.append(len(atx[1]) if atx else 1 if heading.rstrip(" \t\n").endswith("=") else 2)
    return found


def by_the_oracle(text: str) -> list[tuple[int, int]]:
    """The oracle knows neither front matter nor a BOM, so it sees blank lines in their place."""
    first = parse(text).sections[0]
    begin = 0 if first.heading_path else first.body
    lines = line_view(text[:begin]).count("\n")
    rest = text[begin:].removeprefix("\ufeff")
    tokens = ORACLE.parse("\n" * lines + rest)
    return [
        (int(each.tag[1]), each.map[0])
        for each in tokens
        if each.type == "heading_open" and each.level == 0 and each.map
    ]


@pytest.mark.parametrize("corpus", CORPORA)
def test_headings_of_real_documents_are_those_of_the_oracle(corpus: str) -> None:
    files = sorted(shared(f"data/text/{corpus}").rglob("*.md"))
    assert files
    differ = [each.name for each in files if heading_lines(_read(each)) != by_the_oracle(_read(each))]
    assert differ == []


def _read(path: Path) -> str:
    return path.read_bytes().decode()


#: A line that could begin a block, below a text line, but indented by four columns: continuation text to CommonMark,
#: a new block to the oracle where a list item's content is indented even more.
_INDENTED_START = re.compile(r"\S[ \t]*(?:\r\n?|\n)(?:[ \t]*>)*(?: {4}| {0,3}\t)[ \t]*[-#`~>*+<_=0-9]")
#: Definitions over several lines; NUL, which the oracle replaces; `</pre>` at a line's start, HTML to the oracle alone;
#: blanks that only the oracle strips from lines.
_READ_OTHERWISE = re.compile(r"\[ref\]:|\x00|</pre|[\x0b\x0c\x85\xa0\u2028\u2029\u3000\x1c-\x1f]")


def comparable(text: str) -> bool:
    """Whether CommonMark, the oracle and we are at one on how such a text is to be read."""
    return not (_INDENTED_START.search(text) or _READ_OTHERWISE.search(text))


@given(markdown_texts().filter(comparable))
def test_headings_of_any_markdown_are_those_of_the_oracle(text: str) -> None:
    assert heading_lines(text) == by_the_oracle(text)


@given(texts())
def test_sections_cover_the_text_in_order(text: str) -> None:
    sections = parse(text).sections
    assert sections[0].start == 0
    starts = [each.start for each in sections]
    assert starts == sorted(set(starts))
    ends = [*starts[1:], len(text)]
    assert all(each.start <= each.body <= end for each, end in zip(sections, ends, strict=True))


@given(texts())
def test_breaks_and_whole_ranges_begin_lines_and_ascend(text: str) -> None:
    outline = parse(text)
    view = line_view(text)
    assert list(outline.breaks) == sorted(set(outline.breaks))
    flat = [at for pair in outline.whole for at in pair]
    assert flat == sorted(flat)
    assert all(start < end <= len(text) for start, end in outline.whole)
    for at in (*outline.breaks, *(start for start, _ in outline.whole)):
        assert at < len(text)
        assert at == 0 or view[at - 1] == "\n" or text[:at] == "\ufeff"


@given(texts())
def test_no_break_lies_within_what_should_stay_whole(text: str) -> None:
    outline = parse(text)
    inside = [at for at in outline.breaks for start, end in outline.whole if start < at < end]
    assert inside == []


@given(hostile_texts() | markdown_texts())
def test_line_breaks_of_any_kind_give_the_same_outline(text: str) -> None:
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    assert paths(plain.replace("\n", "\r")) == paths(plain.replace("\n", "\r\n")) == paths(plain)


@given(markdown_texts())
def test_a_byte_order_mark_hides_nothing(text: str) -> None:
    bare = text.removeprefix("\ufeff")
    assert paths("\ufeff" + bare) == paths(bare)


HEADINGS = {
    "# One": ["One"],
    "#\tTab": ["Tab"],
    "# Closed ##": ["Closed"],
    "# C# ": ["C#"],
    "# Escaped \\#": ["Escaped \\#"],
    "   # Three": ["Three"],
    "    # Four": [],
    " \t# Tab": [],
    "#No": [],
    "####### Seven": [],
    "# a   b\tc": ["a b c"],
    "#": [""],
    "## ##": [""],
    "One\n===": ["One"],
    "One\ntwo\n---": ["One two"],
    "One\n   ===   ": ["One"],
    "One\n    ===": [],
    "One\n= =": [],
    "\n===": [],
    "> One\n===": [],
    "- One\n===": [],
    "> One\ntwo\n===": [],
    "- One\ntwo\n===": [],
    "> One\n    two\n===": [],
    "> # One\ntwo\n===": ["two"],
    "> One\n# two": ["two"],
    "- One\n\n  # in item": [],
    "- One\n\n # outside": ["outside"],
    "- One\n\ntwo\n===": ["two"],
    "- ```\ntwo\n===": ["two"],
    "> ```\n# out": ["out"],
    "1. a\n   # in\n# out": ["out"],
    "a\n2. b\n===": ["a 2. b"],
    "-\n\n  # out": ["out"],
    "-\n  # in": [],
    "```\n# in\n```\n# out": ["out"],
    "````\n```\n# in\n````\n# out": ["out"],
    "~~~\n```\n# in\n~~~ x\n# in\n~~~": [],
    "``` a`b\n# out": ["out"],
    "```\n# to the end": [],
    "<!-- a\n\n# in\n-->\n# out": ["out"],
    "<!-- a --> b\n# out": ["out"],
    "<pre>\n\n# in\n</pre>\n# out": ["out"],
    "<div>\n# in\n\n# out": ["out"],
    "<x-y a='b'>\n# in\n\n# out": ["out"],
    "text\n<x-y>\n===": ["text <x-y>"],
    "text\n<div>\n===": [],
    "<?a\n# in\n?>\n# out": ["out"],
    "<!A\n# in\n>\n# out": ["out"],
    "<![CDATA[\n# in\n]]>\n# out": ["out"],
    "<STYLE\n# in\n</style>": [],
    "[a]: /b\n===": [],
    "[a]: /b\ntext\n===": ["text"],
    "[a]: /b\n  [c]: /d\n===": [],
    "a | b\n--- | ---\n# out": ["out"],
    "\\# no": [],
}


@pytest.mark.parametrize("text", HEADINGS)
def test_a_heading_is_real_exactly_where_commonmark_says_so(text: str) -> None:
    assert [each[-1] for each in paths(text) if each] == HEADINGS[text]


def test_a_heading_below_definitions_begins_behind_them() -> None:
    assert [each.start for each in parse("[a]: /b\ntext\n===").sections] == [0, 8]


def test_a_path_holds_the_headings_above() -> None:
    text = "# A\n## B\n#### D\n### C\n## E\n# F"
    assert paths(text) == [("A",), ("A", "B"), ("A", "B", "D"), ("A", "B", "C"), ("A", "E"), ("F",)]


def test_a_long_heading_is_cut_in_the_path() -> None:
    assert paths("# " + "x" * 1000) == [("x" * HEADING_LIMIT,)]


class TestFrontMatter:
    def test_it_holds_no_headings_and_gives_the_title(self) -> None:
        outline = parse('---\ntitle: "a: b"\n# comment\n---\n# After\n')
        assert outline.title == "a: b"
        assert [each.heading_path for each in outline.sections] == [(), ("After",)]

    def test_without_an_end_it_is_a_rule(self) -> None:
        assert paths("---\n# real\n") == [(), ("real",)]

    def test_below_a_blank_line_it_is_a_rule(self) -> None:
        assert paths("---\n\n# real\n\n---\n") == [(), ("real",)]

    def test_it_stands_only_at_the_start(self) -> None:
        assert paths("\n---\na: b\n---\n") == [(), ("a: b",)]

    def test_the_first_heading_is_the_title_without_it(self) -> None:
        assert parse("## Two\n# One\n# Other").title == "One"


class TestBreaks:
    def test_blocks_and_items_begin_where_they_may_be_parted(self) -> None:
        text = "a\n\nb\n- c\n  d\n- e\n\n> f\n> g\n***\n    code\n\n<div>\n\n"
        lines = [text[at:].split("\n")[0] for at in parse(text).breaks]
        assert lines == ["a", "b", "- c", "- e", "> f", "***", "    code", "<div>"]

    def test_the_block_below_a_heading_stays_with_it(self) -> None:
        text = "# A\n\nb\n\nc\n"
        assert [text[at] for at in parse(text).breaks] == ["c"]

    def test_fences_and_tables_are_whole_also_in_containers(self) -> None:
        text = "```\na\n\nb\n```\nx\n| a |\n|---|\n| b |\n\n- c\n  ~~~\n  d\n  ~~~\n  e\n\n> ```\nf\n"
        whole = [text[start:end] for start, end in parse(text).whole]
        assert whole == ["```\na\n\nb\n```\n", "| a |\n|---|\n| b |\n", "  ~~~\n  d\n  ~~~\n", "> ```\n"]

    def test_a_delimiter_row_needs_as_many_cells_as_its_header(self) -> None:
        assert parse("| a | b |\n|---|\n").whole == ()
        assert parse("a \\| b\n:--\n").whole != ()


@given(markdown_texts(), st.integers(1, 30), st.integers(1, 5))
def test_what_lies_beyond_the_limits_belongs_to_the_last_section(text: str, steps: int, sections: int) -> None:
    whole, part = parse(text), parse(text, steps, sections)
    assert part.sections[1:] == whole.sections[1 : len(part.sections)]
    assert len(sections_with_heading(part)) <= sections
    assert len(part.breaks) <= 2 * steps
    assert list(part.breaks) == sorted(set(part.breaks))
    flat = [at for pair in part.whole for at in pair]
    assert flat == sorted(flat)


@given(markdown_texts())
def test_limits_that_are_not_reached_change_nothing(text: str) -> None:
    assert parse(text, 10 * len(text) + 10, len(text) + 1) == parse(text)


def test_no_more_headings_than_the_limit_open_sections() -> None:
    outline = parse("# h\n" * (SECTIONS_LIMIT + 10))
    assert len(outline.sections) == SECTIONS_LIMIT


@pytest.mark.parametrize("line", ["*\n\n", "> a\n", "*a\n", "|a|\n", "```\n"])
def test_headings_beyond_so_many_steps_open_no_section(line: str) -> None:
    opener = {"*a\n": "a\n", "|a|\n": "|a|\n|-|\n", "```\n": "````\n"}.get(line, "")
    closer = "````\n" if line == "```\n" else ""
    for steps, found in ((100, [()]), (1000, [(), ("h",)])):
        assert [each.heading_path for each in parse(opener + line * 200 + closer + "\n# h\n", steps).sections] == found


def test_a_definition_is_one_line_with_a_label_a_destination_and_perhaps_a_title() -> None:
    assert DEFINITION.match("[a]: /b 'c'\n")
    assert not DEFINITION.match("[a]: /b c\n")
