"""The quotations of a text and the marks that belong to them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.markers import Target, ToChunk, ToNote, ToNumber, ToPlace, numbers_in
from groundkit.core.quotations import quotations_of
from groundkit.core.written_places import WrittenPlace, places_of, sources_of

WORDS = st.sampled_from(["tide", "moon", "don’t", "rises", "5", "港", "é", "(pier)", "a.md", "and", "so-called"])
SENTENCES = st.lists(WORDS, min_size=4, max_size=9).map(lambda words: " ".join(["and", "the", *words]))
PIECES = st.sampled_from(
    ['"', "“", "”", "„", "‘", "’", "«", "»", "「", "」", "> ", "\n", "\n\n", "```\n", "`", "<q>", "</q>", "[1]", "[^a]", "[", "](", ")",
     "— ", "-- ", "---\n", "[1] a.md:1:2\n", "word ", "two words ", ". ", "\r\n", "<", ">", "(a.md:3)", "\ufeff", "\x00", "\ud800"]
)  # fmt: skip
MESSES = st.lists(PIECES, max_size=60).map("".join)


def quoted(text: str) -> list[str]:
    return [each.text for each in quotations_of(text).quotations]


def marked(text: str) -> list[list[str]]:
    found = quotations_of(text)
    return [[found.markers[number].text for number in each.markers] for each in found.quotations]


@pytest.mark.parametrize("marks", ['""', "“”", "„“", "„”", "«»", "»«", "‹›", "›‹", "「」", "『』", "‘’", "‚‘"])
@given(sentence=SENTENCES)
def test_what_stands_in_quotation_marks_is_a_quotation(marks: str, sentence: str) -> None:
    found = quotations_of(f"He said, {marks[0]}{sentence}{marks[1]}, and left.\n")
    assert [each.text for each in found.quotations] == [sentence]
    assert not found.quotations[0].block
    assert found.passed_over == 0


@given(SENTENCES, SENTENCES)
def test_each_quotation_of_a_paragraph_is_one(first: str, second: str) -> None:
    assert quoted(f'"{first}" and “{second}”.') == [first, second]
    assert quoted(f'A "{first}\nwent" on.') == [f"{first}\nwent"]


@given(st.text() | MESSES)
def test_every_text_has_its_quotations_where_they_stand(text: str) -> None:
    found = quotations_of(text)
    unbroken = text.replace("\r\n", " \n").replace("\r", "\n")
    for each in found.quotations:
        assert 0 <= each.span.start < each.span.end <= len(text)
        if not each.block and "<" not in text:
            assert unbroken[each.span.start : each.span.end] == (each.raw or each.texts)[0]
        assert bool(each.raw) == bool(each.inner)
        assert all(0 <= number < len(found.markers) for number in (*each.markers, *each.inner))
    assert sorted(each.span for each in found.markers) == [each.span for each in found.markers]
    for mark in found.markers:
        assert unbroken[mark.span.start : mark.span.end] == mark.text
        assert mark.targets


@pytest.mark.parametrize(
    "text",
    [
        '```\nHe said "the tide rises twice" [1]\n```\n', "~~~\n> a quoted line of words\n~~~", 'a `"the tide rises twice"` b',
        '[x](http://a.b "the tide rises twice")', '[1]: a.md "the tide rises twice"', '<a title="the tide rises twice">',
        '---\ntitle: "the tide rises twice"\n---\ntext', "> [!NOTE]\n> the tide rises twice", 'a 5" pipe and a 6" pipe of lead',
        "the dogs’ tails and the cats’ ears are here", "don't say that it isn't so, or won't", '"an opening mark and no other',
        "- [ ] a task\n- [x] another task", "[link](a.md:3:1) ![image](b.png)", "[text][1] and [text][1]", "a \\[1\\] b",
        "``a `b` \"the tide rises twice\" c``", "she said “the tide\n\nrises twice” and",
    ],
)  # fmt: skip
def test_code_targets_of_links_and_signs_that_quote_nothing_are_none(text: str) -> None:
    found = quotations_of(text)
    assert (found.quotations, found.markers) == ((), ())


@pytest.mark.parametrize("text", ['the "so-called tide" rises', "‘tide’", "「港の灯」", "> tide\n", "“War Peace”"])
def test_short_quotations_are_counted_and_passed_over(text: str) -> None:
    found = quotations_of(text)
    assert (found.quotations, found.passed_over) == ((), 1)


def test_an_apostrophe_ends_no_quotation_and_an_inch_neither() -> None:
    assert quoted("‘the dogs’ tails are long’, he said") == ["the dogs’ tails are long"]
    assert quoted("‘it isn’t the dog’s tail’") == ["it isn’t the dog’s tail"]
    assert quoted('"a pipe of 5" and more of it", he said') == ['a pipe of 5" and more of it']
    assert quoted('"the pipe has a width of 5" and so on') == ["the pipe has a width of 5"]


def test_a_quotation_within_a_quotation_belongs_to_it() -> None:
    assert quoted("“he said ‘the tide rises now’ and left”") == ["he said ‘the tide rises now’ and left"]
    assert quoted("「彼は『港の灯は見える』と言った」") == ["彼は『港の灯は見える』と言った"]
    assert quoted("“he said “the tide rises now” and left”") == ["he said “the tide rises now” and left"]


def test_lines_of_a_block_quotation_are_one_quotation() -> None:
    text = "Look:\n\n> The tide rises\n>\n> > twice a day\n\nand\n\n> Another one of them\n"
    first, second = quotations_of(text).quotations
    assert first.block
    assert first.texts[0] == "The tide rises\n\n> twice a day"
    assert first.texts[1] == "The tide rises\n\ntwice a day"
    assert text[first.span.start : first.span.end] == "The tide rises\n>\n> > twice a day"
    assert second.text == "Another one of them"


@pytest.mark.parametrize("dash", ["— ", "-- ", "—", "― "])
def test_the_line_that_names_the_origin_is_no_part_of_a_block_quotation(dash: str) -> None:
    for text in (f"> The tide rises twice\n> {dash}a.md:3:1\n", f"> The tide rises twice\n{dash}a.md:3:1\n"):
        found = quotations_of(text)
        assert [each.text for each in found.quotations] == ["The tide rises twice"]
        assert marked(text) == [["a.md:3:1"]]
    assert marked(f"> The tide rises twice\n> {dash}Somebody, 1865") == [[]]


def test_what_a_search_prints_has_its_place_and_its_chunk() -> None:
    chunk = "0123456789abcdef0123456789abcdef"
    text = f"> # Tides\n>\n> The tide rises.\n>\n> — `my file.md:12:3` (123–456, verified, `{chunk}`)\n"
    found = quotations_of(text)
    assert [each.text for each in found.quotations] == ["# Tides\n\nThe tide rises."]
    assert [mark.targets for mark in found.markers] == [(ToPlace("my file.md:12:3"),), (ToChunk(chunk),)]


def test_tags_of_quotations_are_read() -> None:
    assert quoted("<q>the <b>tide</b> rises\ntwice</q> and <blockquote cite='x'>\nthe moon pulls it</blockquote>") == [
        "the tide rises twice",
        "the moon pulls it",
    ]


@pytest.mark.parametrize(
    ("behind", "marks"),
    [
        ("[1].", ["[1]"]), (" [1]", ["[1]"]), (", he said [1].", ["[1]"]), (". [1] More.", ["[1]"]), (" [1][2], [3]", ["[1]", "[2]", "[3]"]),
        ("[^a].", ["[^a]"]), (" (a.md:3:1).", ["(a.md:3:1)"]), (" `a.md:3`", ["`a.md:3`"]), (" [b.pdf p. 12]", ["[b.pdf p. 12]"]),
        (" (https://a.b/c).", ["(https://a.b/c)"]), (" <https://a.b/c>", ["<https://a.b/c>"]), (" `0123abcd`", ["`0123abcd`"]),
        (". Another sentence [1].", []), (' and "it goes on so" [1]', [], ), ("\n\n[1]", []), (" 【1†source】", ["【1†source】"]),
        (" [1, p. 3]", ["[1, p. 3]"]), (" (see chapter 2)", []), (" [sic]", []), (" `code`", []),
    ],
)  # fmt: skip
def test_the_marks_behind_a_quotation_are_its_own(behind: str, marks: list[str]) -> None:
    assert marked(f'So "the tide rises twice"{behind}')[0] == marks


def test_a_mark_that_could_be_anything_only_counts_behind_a_quotation() -> None:
    assert quotations_of("see (a.md:3:1) and `0123abcd` and `a.md`").markers == ()
    assert len(quotations_of("see [a.md:3:1] and [0123abcd]").markers) == 2


def test_numbers_and_ranges() -> None:
    assert numbers_in("1, 3") == (ToNumber(1), ToNumber(3))
    assert numbers_in("1-3") == numbers_in("1–3") == (ToNumber(1), ToNumber(2), ToNumber(3))
    assert numbers_in("3-1") == (ToNumber(None),)
    assert numbers_in("0") == (ToNumber(0),)
    assert numbers_in("9" * 30) == (ToNumber(None),)
    assert numbers_in("1-999999999") == (ToNumber(1), ToNumber(999999999))
    assert numbers_in(",".join(["1-60"] * 9)) == (ToNumber(None),)


def listed(text: str) -> dict[str, list[Target]]:
    entries = quotations_of(text).references
    return {label: [target for entry in each for target in entry.targets] for label, each in entries.items()}


def test_the_lists_of_a_text_are_read_and_their_labels_are_no_marks() -> None:
    text = "x [1] [^b]\n\n[1]: a.md:3\n[2] b c.md:1:2, that\n[3] says nothing\n[^b]: `r.pdf p. 3` more\n[^c]: [t](http://a.b/c)\n"
    found = listed(text)
    assert {label: targets[:1] for label, targets in found.items()} == {
        "1": [ToPlace("a.md:3")], "2": [ToPlace("b c.md:1:2")], "3": [], "^b": [ToPlace("r.pdf p. 3")],
        "^c": [ToPlace("http://a.b/c")],
    }  # fmt: skip
    assert [mark.targets for mark in quotations_of(text).markers] == [(ToNumber(1),), (ToNote("b"),)]


@pytest.mark.parametrize(
    ("line", "target"),
    [
        ("1. a.md", ToPlace("a.md")), ("- [1] a.md", ToPlace("a.md")), ("* [1] The Tides, a.md", ToPlace("a.md")),
        ("[1] The Tides, d/a.md, line 89", ToPlace("d/a.md:89")), ("[1] The Tides (a.md, lines 3–5)", ToPlace("a.md:3-5")),
        ("[1] The Tides: `my a.md`", ToPlace("my a.md")), ("[1] The Tides, r.pdf, p. 3", ToPlace("r.pdf p. 3")),
        ("**[1]** The Tides — a.md", ToPlace("a.md")), ("1) The Tides, a.md", ToPlace("a.md")),
        ("[1]: The Tides, <http://a.b/c>", ToPlace("http://a.b/c")), ("[1] “The Tides”, 0123456789abcdef", ToChunk("0123456789abcdef")),
    ],
)  # fmt: skip
def test_an_entry_names_its_source_anywhere_in_its_line(line: str, target: Target) -> None:
    text = f"The tide rises [1]\n\nSources\n\n{line}\n"
    assert target in listed(text)["1"]
    assert [mark.span.start for mark in quotations_of(text).markers] == [15]


def test_a_line_that_begins_with_a_mark_is_an_entry_in_a_list_only() -> None:
    assert len(quotations_of("The tide rises\n[1] and falls.\n").markers) == 1
    assert len(quotations_of("[1] The tide rises, and it falls.\n").markers) == 1
    assert quotations_of("Sources:\n\n[1] The Tides\n").markers == ()
    assert quotations_of("## Sources\n[1] The Tides\n").markers == ()
    assert quotations_of("[1] The Tides\n[2] The Moon\n").markers == ()
    assert len(quotations_of("The end.\n\n[1] It rises.\n\n[1] It falls.\n").markers) == 2


def test_entries_in_brackets_count_before_numbered_lines_and_of_those_the_last() -> None:
    text = "1. c.md\n\ntext\n\n1. b.md\n\n[1] a.md\n"
    assert listed(text)["1"] == [ToPlace("a.md"), ToPlace("b.md"), ToPlace("c.md")]


# -- marks within a quotation


@pytest.mark.parametrize(
    ("inside", "quote", "marks"),
    [
        ("the tide rises twice [1]", "the tide rises twice", ["[1]"]), ("the tide rises twice.[1]", "the tide rises twice.", ["[1]"]),
        ("the tide rises [1] twice", "the tide rises twice", ["[1]"]), ("the tide rises [1].", "the tide rises.", ["[1]"]),
        ("the tide rises [1][2], [3]", "the tide rises", ["[1]", "[2]", "[3]"]), ("the tide rises[^a]", "the tide rises", ["[^a]"]),
        ("the tide [a.md:3] rises", "the tide rises", ["[a.md:3]"]), ("the tide rises (a.md:3)", "the tide rises", ["(a.md:3)"]),
        ("the tide (a.md:3) rises", "the tide (a.md:3) rises", []), ("the tide rises [sic]", "the tide rises [sic]", []),
        ("the tide rises 【1†x】", "the tide rises", ["【1†x】"]),
    ],
)  # fmt: skip
def test_a_mark_within_a_quotation_is_no_part_of_it(inside: str, quote: str, marks: list[str]) -> None:
    for text in (
        f"So “{inside}” it is.",
        f'So "{inside}" it is.',
        f"<q>{inside}</q>",
        f"> {inside}\n",
        f"> {inside}\n> — Somebody\n",
    ):
        found = quotations_of(text)
        (quotation,) = found.quotations
        assert quotation.text == quote, text
        assert [found.markers[number].text for number in quotation.inner] == marks
        assert quotation.raw[:1] == ((inside,) if marks else ())
        assert quotation.markers == ()


def test_marks_stand_on_any_line_of_a_block_quotation() -> None:
    found = quotations_of("> The tide [1]\n> rises twice\n> [2]\n")
    (quotation,) = found.quotations
    assert quotation.text == "The tide\nrises twice"
    assert quotation.raw[0] == "The tide [1]\nrises twice\n[2]"
    assert [mark.text for mark in found.markers] == ["[1]", "[2]"]


def test_a_quotation_is_as_long_as_it_is_without_its_marks() -> None:
    found = quotations_of("“be valid [1]” and “tides”")
    assert (found.quotations, found.passed_over, [mark.text for mark in found.markers]) == ((), 2, ["[1]"])


@pytest.mark.parametrize(
    ("written", "source"),
    [
        ("a.md:12:3", "a.md"), ("a.md:12", "a.md"), ("a.md", "a.md"), ("r.pdf p. 12", "r.pdf"), ("r.pdf pp. 12–13 (xii–1)", "r.pdf"),
        ("r.pdf#page=3", "r.pdf"), ("p.html#top", "p.html"), ("http://a.b/c#top", "http://a.b/c"), ("http://a.b/c.", "http://a.b/c"),
    ],
)  # fmt: skip
def test_a_place_leads_to_its_source(written: str, source: str) -> None:
    assert source in sources_of(written)
    assert sources_of(written)[0] == written


@pytest.mark.parametrize(
    ("written", "lines", "pages", "said"),
    [
        ("a.md:89", (89, 89), None, ":89"), ("a.md:89:3", (89, 89), None, ":89"), ("a.md:89-93", (89, 93), None, ":89-93"),
        ("a.md, line 89", (89, 89), None, ":89"), ("a.md lines 89–93", (89, 93), None, ":89-93"), ("a.md#L89", (89, 89), None, ":89"),
        ("a.md#L89-L93", (89, 93), None, ":89-93"), ("a.md p. 3", None, (3, 3), "p. 3"), ("a.md, pp. 3-5 (iii–v)", None, (3, 5), "pp. 3–5"),
        ("a.md, page 3", None, (3, 3), "p. 3"), ("a.md#page=3", None, (3, 3), "p. 3"), ("a.md", None, None, ""),
        ("a.md:93-89", (93, 93), None, ":93"),
    ],
)  # fmt: skip
def test_a_place_says_where_in_its_source(
    written: str, lines: tuple[int, int] | None, pages: tuple[int, int] | None, said: str
) -> None:
    (place,) = [each for each in places_of(written) if each.source == "a.md"]
    assert place == WrittenPlace("a.md", lines, pages)
    assert str(place) == said


def test_a_line_or_a_page_in_words_is_a_mark_behind_a_file_only() -> None:
    assert len(quotations_of("[a.md, line 3] and [a.md, page 3]").markers) == 2
    assert quotations_of("[see line 3] and [see page 3] and [in all 3]").markers == ()


@pytest.mark.parametrize(
    "piece",
    [
        "> [1] a\n", "> a `[1]`", "> ```", "“a [1] b ", "[1] a.md, line 3\n", "1. a.md\n", "[1]" + " " * 9 + "\n", "- [1] (a.md:3)",
        ":3", "[^1] ", "> (a.md:3) ", "**[1]** ",
    ],
)  # fmt: skip
def test_a_long_text_of_one_piece_has_an_answer(piece: str) -> None:
    """Quadratic steps would take minutes."""
    for text in (piece * 8_000, f"“{piece * 8_000}”", f"> {piece * 8_000}", f"[1] {piece * 8_000}"):
        assert quotations_of(text).passed_over >= 0
