"""Laws of chunks: slice, tiling, whole characters, and where cuts are made."""

import time
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.boundaries import Boundaries
from groundkit.core.chunking import chunk_spans, chunker_identity, chunks, outline_of
from groundkit.core.fingerprint import chunk_id, document_id, text_digest
from groundkit.core.model import Chunk, Document, FromText, Span
from groundkit.core.outline import STEPS_LIMIT
from groundkit.core.settings import Settings
from groundkit.core.spans import LineMap
from groundkit.testing.strategies import hostile_texts, markdown_texts, plain_texts, texts

MARKDOWN, PLAIN = "text/markdown", "text/plain"


def media_types() -> st.SearchStrategy[str]:
    return st.sampled_from([MARKDOWN, PLAIN])


@st.composite
def all_settings(draw: st.DrawFn) -> Settings:
    size = draw(st.integers(16, 60) | st.integers(16, 1500))
    return Settings(chunk_size=size, chunk_overlap=draw(st.just(0) | st.integers(0, size - 1)))


def document(text: str, media_type: str = MARKDOWN) -> Document:
    digest = text_digest(text)
    return Document(document_id("a.md", "text", digest), "a.md", FromText(), text, digest, media_type)


def spans_of(text: str, media_type: str, settings: Settings) -> list[Span]:
    return [span for span, _ in chunk_spans(text, media_type, settings)]


def rebuilt(parts: tuple[Chunk, ...]) -> str:
    text = ""
    for part in parts:
        text += part.text[len(text) - part.span.start :]
    return text


@given(texts(), media_types(), all_settings())
def test_slice_every_chunk_is_the_text_at_its_span(text: str, media_type: str, settings: Settings) -> None:
    for part in chunks(document(text, media_type), settings):
        assert part.text == text[part.span.start : part.span.end]
        assert part.text


@given(texts(), media_types(), all_settings())
def test_tiling_chunks_cover_the_text_in_order(text: str, media_type: str, settings: Settings) -> None:
    spans = spans_of(text, media_type, settings)
    if not text:
        assert spans == []
        return
    assert (spans[0].start, spans[-1].end) == (0, len(text))
    for one, two in pairwise(spans):
        assert one.start < two.start <= one.end < two.end
        assert one.end - two.start <= settings.chunk_overlap


@given(texts(), media_types(), all_settings())
def test_the_text_can_be_rebuilt_from_its_chunks(text: str, media_type: str, settings: Settings) -> None:
    assert rebuilt(chunks(document(text, media_type), settings)) == text


@given(hostile_texts() | markdown_texts(), media_types(), all_settings())
def test_no_chunk_begins_or_ends_within_a_character_unless_it_reached_the_limit(
    text: str, media_type: str, settings: Settings
) -> None:
    boundaries = Boundaries(text)
    spans = spans_of(text, media_type, settings)
    forced = {0}
    for span in spans:
        assert boundaries.may_cut(span.start) or span.start in forced
        if not boundaries.may_cut(span.end):
            assert span.length >= settings.hard_limit - 1
            assert text[span.end - 1 : span.end + 1] != "\r\n"
            forced.add(span.end)


@given(hostile_texts(), media_types(), all_settings())
def test_a_chunk_outgrows_its_size_only_by_white_space_or_one_character(
    text: str, media_type: str, settings: Settings
) -> None:
    boundaries = Boundaries(text)
    for span in spans_of(text, media_type, settings):
        assert span.length <= settings.hard_limit
        content = span.start + len(text[span.start : span.end].rstrip())
        beyond = range(span.start + settings.chunk_size, content)
        assert not any(boundaries.may_cut(at) for at in beyond)


@given(hostile_texts() | plain_texts(), all_settings())
def test_a_blank_chunk_stands_only_where_the_white_space_does_not_fit_into_the_chunk_before(
    text: str, settings: Settings
) -> None:
    worded = None
    for span in spans_of(text, PLAIN, settings):
        if not text[span.start : span.end].isspace():
            worded = span
        elif span.length < len(text):
            end = len(text) - len(text[span.start :].lstrip())
            fits = end - worded.start <= settings.hard_limit if worded else end < settings.chunk_size
            assert not fits or not Boundaries(text).may_cut(end)


@given(markdown_texts(), st.integers(16, 120), st.integers(0, 100))
def test_a_fence_that_fits_is_never_cut(text: str, size: int, overlap: int) -> None:
    settings = Settings(chunk_size=size, chunk_overlap=min(overlap, size - 1))
    kept = [(a, b) for a, b in outline_of(text, MARKDOWN).whole if b - a <= size]
    for span in spans_of(text, MARKDOWN, settings):
        assert not any(start < span.end < end for start, end in kept)


@given(markdown_texts(), all_settings())
def test_a_chunk_never_reaches_over_a_heading_with_a_body(text: str, settings: Settings) -> None:
    sections = outline_of(text, MARKDOWN).sections
    borders = {
        two.start
        for one, two in pairwise(sections)
        if text[one.body : two.start].strip() and Boundaries(text).may_cut(two.start)
    }
    for span in spans_of(text, MARKDOWN, settings):
        assert not any(span.start < at < span.end for at in borders)


@given(markdown_texts(), all_settings())
def test_a_heading_path_is_that_of_the_section_or_of_the_end_of_a_run_of_bare_headings(
    text: str, settings: Settings
) -> None:
    sections = outline_of(text, MARKDOWN).sections
    for span, path in chunk_spans(text, MARKDOWN, settings):
        place = max(at for at, each in enumerate(sections) if each.start <= span.start)
        allowed = [sections[place].heading_path]
        for one, two in zip(sections[place:], sections[place + 1 :], strict=False):
            if text[one.body : two.start].strip() and Boundaries(text).may_cut(two.start):
                break
            allowed.append(two.heading_path)
        assert path in allowed


@given(texts(), media_types(), all_settings())
def test_ids_places_and_locators_say_where_a_chunk_is(text: str, media_type: str, settings: Settings) -> None:
    whole = document(text, media_type)
    lines = LineMap.of(text)
    for ordinal, part in enumerate(chunks(whole, settings)):
        assert part.ordinal == ordinal
        assert part.document_id == whole.id
        assert part.id == chunk_id(whole.id, part.span)
        assert (part.locator.line, part.locator.column) == lines.line_column(part.span.start)


@given(texts(), media_types(), all_settings())
def test_the_same_text_and_settings_give_the_same_chunks(text: str, media_type: str, settings: Settings) -> None:
    assert chunks(document(text, media_type), settings) == chunks(document(text, media_type), settings)


def test_the_identity_tells_settings_apart() -> None:
    variants = [
        Settings(),
        Settings(chunk_size=600),
        Settings(chunk_overlap=50),
        Settings(chunk_size=600, chunk_overlap=50),
    ]
    kinds = ("text/markdown", "text/plain")
    assert len({chunker_identity(each, kind) for each in variants for kind in kinds}) == 2 * len(variants)
    assert chunker_identity(Settings(language="german"), kinds[0]) == chunker_identity(Settings(), kinds[0])


def pieces(text: str, size: int, media_type: str = PLAIN, overlap: int = 0) -> list[str]:
    settings = Settings(chunk_size=size, chunk_overlap=overlap)
    return [text[span.start : span.end] for span in spans_of(text, media_type, settings)]


class TestLevels:
    """The best place to cut: between paragraphs, lines, sentences, words, characters, in this order."""

    def test_paragraphs_before_lines(self) -> None:
        assert pieces("one two\nthree\n\nfour five\nsix", 24) == ["one two\nthree\n\n", "four five\nsix"]

    def test_lines_before_sentences(self) -> None:
        assert pieces("One is here\nTwo. Three is here.", 20) == ["One is here\n", "Two. Three is here."]

    def test_sentences_before_words(self) -> None:
        assert pieces("One two three. Four five six.", 20) == ["One two three. ", "Four five six."]

    def test_sentences_without_spaces(self) -> None:
        assert pieces("日本語の文章はこうです。次の文はここから始まる。", 20) == [
            "日本語の文章はこうです。",
            "次の文はここから始まる。",
        ]

    def test_words_before_characters(self) -> None:
        assert pieces("alpha beta gamma delta epsilon", 20) == ["alpha beta gamma ", "delta epsilon"]

    def test_a_no_break_space_is_no_place_to_cut(self) -> None:
        assert pieces("it takes 12345678\xa0km by", 20) == ["it takes ", "12345678\xa0km by"]

    def test_characters_where_nothing_else_is(self) -> None:
        assert pieces("x" * 50, 20) == ["x" * 20, "x" * 20, "x" * 10]

    def test_an_early_break_is_passed_over_if_what_follows_must_be_cut_anyway(self) -> None:
        assert pieces("Ab.\n\n" + "word " * 10, 20) == [
            "Ab.\n\nword word word ",
            *["word word word word "] * 1,
            "word word word ",
        ]

    def test_an_early_break_is_taken_if_what_follows_fits(self) -> None:
        assert pieces("Ab.\n\n" + "word " * 4, 20) == ["Ab.\n\n", "word " * 4]

    def test_indentation_stays_with_its_line(self) -> None:
        assert pieces("def f():\n    return 1\n    # end", 24) == ["def f():\n    return 1\n", "    # end"]

    def test_white_space_at_the_end_joins_the_chunk_before(self) -> None:
        assert pieces("x" * 20 + "\n" * 30, 20) == ["x" * 20 + "\n" * 30]

    def test_white_space_at_the_start_joins_the_chunk_behind(self) -> None:
        assert pieces(" " * 15 + "x" * 20, 20) == [" " * 15 + "x" * 5, "x" * 15]

    def test_white_space_between_lines_joins_the_chunk_before(self) -> None:
        assert pieces("x" * 18 + "\n" * 30 + "y", 20) == ["x" * 18 + "\n" * 30, "y"]


class TestWholeCharacters:
    """A mark stays with what stands before it, also where that is white space."""

    def test_at_the_start_of_a_word(self) -> None:
        assert pieces("alpha beta gam \u0301delta epsilon", 20) == ["alpha beta gam \u0301delt", "a epsilon"]

    def test_at_the_start_of_a_paragraph(self) -> None:
        assert pieces("alpha beta gam\n\n\u0301delta epsilon", 20) == ["alpha beta gam\n\n\u0301del", "ta epsilon"]

    def test_behind_white_space_at_a_cut(self) -> None:
        assert pieces("x" * 20 + "   \u0301y", 20) == ["x" * 20, "   \u0301y"]


class TestHardLimit:
    def test_white_space_is_taken_along_up_to_the_limit(self) -> None:
        assert [len(each) for each in pieces("x" * 20 + " " * 100 + "y", 20)] == [80, 40, 1]

    def test_a_character_is_kept_whole_up_to_the_limit(self) -> None:
        assert [len(each) for each in pieces("a" + "\u0301" * 200, 20)] == [80, 80, 41]


class TestOverlap:
    def test_a_chunk_begins_with_the_last_sentence_before_it_if_that_fits(self) -> None:
        text = "Alpha beta gamma. Delta. Epsilon zeta eta theta. Iota."
        assert pieces(text, 30, overlap=10) == [
            "Alpha beta gamma. Delta. ",
            "Delta. Epsilon zeta eta ",
            "zeta eta theta. Iota.",
        ]

    def test_sections_do_not_overlap(self) -> None:
        assert pieces("# A\n\none two\n\n# B\n\nthree", 16, MARKDOWN, overlap=8) == [
            "# A\n\none two\n\n",
            "# B\n\nthree",
        ]


class TestMarkdown:
    def test_a_fence_goes_whole_into_the_next_chunk(self) -> None:
        fence = "```\na\n\nb\n```\n"
        assert pieces("Some words here.\n\n" + fence, 24, MARKDOWN) == ["Some words here.\n\n", fence]

    def test_a_fence_behind_white_space_stays_whole(self) -> None:
        fence = "```\n" + "x = 1\n" * 2 + "```\n"
        assert pieces("\n" * 10 + fence, 24, MARKDOWN) == ["\n" * 10, fence]

    def test_a_fence_below_its_heading_stays_whole_though_both_do_not_fit(self) -> None:
        fence = "```\n" + "x = 1\n" * 3 + "```\n"
        assert pieces("# A heading\n\n" + fence, 28, MARKDOWN) == ["# A heading\n\n", fence]

    def test_a_fence_in_an_item_stays_whole(self) -> None:
        text = "- item with words\n\n  ```\n  a\n\n  b\n  ```\n"
        assert pieces(text, 24, MARKDOWN) == ["- item with words\n\n", "  ```\n  a\n\n  b\n  ```\n"]

    def test_lists_are_cut_between_items(self) -> None:
        assert pieces("- one\n  more\n- two\n  more\n", 20, MARKDOWN) == ["- one\n  more\n", "- two\n  more\n"]

    def test_a_heading_is_not_left_behind_by_its_paragraph(self) -> None:
        text = "# Title\n\nFirst words of it.\n\nSecond words of it.\n"
        assert pieces(text, 32, MARKDOWN) == ["# Title\n\nFirst words of it.\n\n", "Second words of it.\n"]

    def test_headings_without_a_body_go_with_the_next_section(self) -> None:
        text = "# A\n\n## B\n\ntext\n\n## C\n\nmore"
        assert [path for _, path in chunk_spans(text, MARKDOWN, Settings())] == [("A", "B"), ("A", "C")]
        assert pieces(text, 100, MARKDOWN) == ["# A\n\n## B\n\ntext\n\n", "## C\n\nmore"]

    def test_front_matter_goes_with_the_first_section(self) -> None:
        text = "---\ntitle: x\n---\n\n# A\n\ntext"
        assert chunk_spans(text, MARKDOWN, Settings()) == [(Span(0, len(text)), ("A",))]


@pytest.mark.parametrize("media_type", [MARKDOWN, PLAIN])
def test_beyond_the_limit_of_steps_a_text_is_cut_at_paragraphs_all_the_same(media_type: str) -> None:
    text = "ab\n\n" * (STEPS_LIMIT + 100)
    spans = spans_of(text, media_type, Settings(chunk_size=1002))
    assert {span.start % 4 for span in spans} == {0}
    assert (spans[0].start, spans[-1].end) == (0, len(text))


GROWING: dict[str, tuple[str, Callable[[int], str]]] = {
    "one word": (PLAIN, lambda n: "x" * n),
    "spaces": (PLAIN, lambda n: " " * n),
    "newlines": (MARKDOWN, lambda n: "\n" * n),
    "CRLFs": (PLAIN, lambda n: "\r\n" * (n // 2)),
    "combining marks": (PLAIN, lambda n: "a" + "\u0301" * (n // 4)),
    "words that begin with a mark": (PLAIN, lambda n: " \u0301a" * (n // 12)),
    "flags": (PLAIN, lambda n: "🇩" * (n // 4)),
    "families": (PLAIN, lambda n: "👩\u200d👩\u200d👧" * (n // 20)),
    "CJK": (PLAIN, lambda n: "日本語" * (n // 3)),
    "full stops": (PLAIN, lambda n: ".)" * (n // 2)),
    "base64 in a fence": (MARKDOWN, lambda n: "```\n" + "aGVs" * (n // 4)),
    "table": (MARKDOWN, lambda n: "| a | b |\n| - | - |\n" + "| 1 | 2 |\n" * (n // 10)),
    "wide table": (MARKDOWN, lambda n: "| a " * (n // 8) + "|\n" + "| - " * (n // 8) + "|\n"),
    "headings": (MARKDOWN, lambda n: "# h\n" * (n // 8)),
    "nested quotes": (MARKDOWN, lambda n: ">" * n),
    "nested items": (MARKDOWN, lambda n: "- " * (n // 2) + "x\n" + "\n" * (n // 8)),
    "dashes": (MARKDOWN, lambda n: "-" * n + "x"),
    "short fences in a long one": (MARKDOWN, lambda n: "````\n" + "```\n" * (n // 8)),
    "unclosed comments": (MARKDOWN, lambda n: "<!-- x\n\n" * (n // 16)),
    "attributes": (MARKDOWN, lambda n: "<a" + " b" * (n // 2)),
    "items": (MARKDOWN, lambda n: "- a\n" * (n // 16)),
    "lazy lines": (MARKDOWN, lambda n: "> a\n" + "b\n" * (n // 16)),
    "lines": (MARKDOWN, lambda n: "a\n" * (n // 4)),
    "lines to look at": (MARKDOWN, lambda n: "a\n" + "*a\n" * (n // 16)),
    "definitions": (MARKDOWN, lambda n: "[a]: b\n" * (n // 16) + "==="),
    "rows in one paragraph": (MARKDOWN, lambda n: "a\n" + "|-|-|\n" * (n // 16)),
}  # fmt: skip


def _seconds(text: str, media_type: str) -> float:
    def once() -> float:
        begin = time.process_time()
        chunk_spans(text, media_type, Settings(chunk_overlap=100))
        return time.process_time() - begin

    return min(once() for _ in range(2))


@pytest.mark.parametrize("name", GROWING)
def test_four_times_the_text_takes_nowhere_near_sixteen_times_as_long(name: str) -> None:
    media_type, make = GROWING[name]
    small = max(_seconds(make(100_000), media_type), 0.002)
    assert _seconds(make(400_000), media_type) / small < 10


@given(plain_texts(), media_types(), st.integers(40, 400))
def test_prose_is_cut_behind_white_space(text: str, media_type: str, size: int) -> None:
    for span in spans_of(text, media_type, Settings(chunk_size=size))[:-1]:
        assert text[span.end - 1].isspace()


def test_a_heading_that_cannot_be_parted_from_the_text_before_opens_no_chunk() -> None:
    text = "text\n\n\u0301a\n===\n"
    assert spans_of(text, MARKDOWN, Settings(chunk_size=16)) == [Span(0, len(text))]


@given(
    st.lists(st.sampled_from(["tide moon rock. ", "\n\n", "```\ncode line\nmore code\n```\n\n", "| a | b |\n| - | - |\n| 1 | 2 |\n\n"]), max_size=60).map("".join),
    st.integers(40, 120),
    st.integers(1, 39),
)  # fmt: skip
def test_an_overlap_reaches_into_no_range_that_is_kept_whole(text: str, size: int, overlap: int) -> None:
    fits = [(start, end) for start, end in outline_of(text, "text/markdown").whole if end - start <= size]
    for span, _ in chunk_spans(text, "text/markdown", Settings(chunk_size=size, chunk_overlap=overlap)):
        assert not [each for each in fits if each[0] < span.start < each[1]]
