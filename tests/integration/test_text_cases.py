"""Texts after public bug reports: how they are decoded and cut. The inputs lie beside this checkout or are made here."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from shared import shared

from groundkit.core.boundaries import Boundaries
from groundkit.core.chunking import chunk_spans, chunks
from groundkit.core.decoding import NotText, TextProblem, decode
from groundkit.core.fingerprint import document_id, text_digest
from groundkit.core.markdown import parse
from groundkit.core.model import Document, FromText, Span
from groundkit.core.result import Failure, Success
from groundkit.core.settings import Settings, SettingsRefused, checked
from groundkit.core.spans import LineMap

MEDIA_TYPES = {".md": "text/markdown", ".txt": "text/plain"}
SETTINGS = (Settings(), Settings(chunk_size=200, chunk_overlap=60), Settings(chunk_size=40, chunk_overlap=39))


def text_of(path: Path) -> str:
    decoded = decode(path.read_bytes())
    assert isinstance(decoded, Success), decoded
    return decoded.unwrap()


def refused(path: Path) -> NotText:
    decoded = decode(path.read_bytes())
    assert isinstance(decoded, Failure), decoded
    return decoded.failure()


def spans_of(text: str, suffix: str, settings: Settings) -> list[Span]:
    return [span for span, _ in chunk_spans(text, MEDIA_TYPES[suffix], settings)]


def assert_tiled(text: str, suffix: str, settings: Settings) -> None:
    spans = spans_of(text, suffix, settings)
    assert (spans[0].start, spans[-1].end) == (0, len(text))
    for one, two in pairwise(spans):
        assert one.start < two.start <= one.end < two.end
        assert one.end - two.start <= settings.chunk_overlap
    assert max(span.length for span in spans) <= settings.hard_limit


class TestRepeatedText:
    """A chunk must not be found by searching for its text: that finds the first of several equal passages."""

    @pytest.mark.parametrize("name", ["overlap.md", "repeat.txt"])
    @pytest.mark.parametrize("settings", SETTINGS, ids=["default", "small", "tiny"])
    def test_chunks_of_repeated_passages_lie_one_behind_the_other(self, name: str, settings: Settings) -> None:
        path = shared("cases/21-chunk-offsets-repeated-text") / name
        text = text_of(path)
        assert_tiled(text, path.suffix, settings)
        whole = Document(
            document_id(name, "text", ""), name, FromText(), text, text_digest(text), MEDIA_TYPES[path.suffix]
        )
        made = chunks(whole, settings)
        assert all(text[each.span.start : each.span.end] == each.text for each in made)
        assert len({each.id for each in made}) == len(made)

    def test_equal_passages_are_told_apart_by_their_place(self) -> None:
        passage = "The same words, again and again.\n\n"
        spans = spans_of(passage * 40, ".txt", Settings(chunk_size=len(passage) + 4))
        assert [span.start for span in spans] == [len(passage) * each for each in range(40)]


UNSPLITTABLE: dict[str, Callable[[], str]] = {
    "base64-line.md": lambda: "intro\n\n" + "aGVsbG8gd29ybGQ" * 20_000 + "\n\nneedle\n",
    "newlines-500k.txt": lambda: "\n" * 500_000 + "needle",
    "one-word-1MB.txt": lambda: "x" * 1_000_000 + " needle",
    "spaces-2MB.txt": lambda: " " * 2_000_000 + "needle",
}


class TestUnsplittable:
    """Nowhere to cut: ends, within the limit, and what stands behind the filler is still there."""

    @pytest.mark.parametrize("name", UNSPLITTABLE)
    def test_made_filler_is_cut_within_the_limit(self, name: str) -> None:
        text = UNSPLITTABLE[name]()
        settings = Settings()
        assert_tiled(text, Path(name).suffix, settings)
        last = spans_of(text, Path(name).suffix, settings)[-1]
        assert "needle" in text[last.start : last.end]

    @pytest.mark.parametrize("name", ["cjk-no-space.txt", "combining-stack.txt", "wide-table.md", "zwj-families.txt"])
    @pytest.mark.parametrize("settings", SETTINGS[:2], ids=["default", "overlapping"])
    def test_stored_filler_is_cut_within_the_limit(self, name: str, settings: Settings) -> None:
        path = shared("cases/22-chunk-unsplittable") / name
        assert_tiled(text_of(path), path.suffix, settings)

    @pytest.mark.parametrize("name", ["cjk-no-space.txt", "wide-table.md", "zwj-families.txt"])
    def test_no_character_is_cut_where_that_can_be_avoided(self, name: str) -> None:
        path = shared("cases/22-chunk-unsplittable") / name
        text = text_of(path)
        boundaries = Boundaries(text)
        assert all(boundaries.may_cut(span.end) for span in spans_of(text, path.suffix, Settings()))

    @pytest.mark.parametrize("overlap", [100, 101])
    def test_an_overlap_as_large_as_the_chunk_is_refused(self, overlap: int) -> None:
        answer = checked(Settings(chunk_size=100, chunk_overlap=overlap))
        assert isinstance(answer, Failure)
        assert isinstance(answer.failure(), SettingsRefused)


class TestNewlinesAndMarks:
    """The text is the decoded bytes: nothing is folded, so encoding it again gives the file."""

    @pytest.mark.parametrize(
        "name", ["astral.txt", "bom-crlf.md", "bom-in-middle.txt", "cr-only.txt", "mixed.txt", "nfd-vs-nfc.txt"]
    )
    def test_every_chunk_is_found_again_in_the_file(self, name: str) -> None:
        path = shared("cases/23-newline-bom-offsets") / name
        text = text_of(path)
        assert text.encode() == path.read_bytes()
        assert_tiled(text, path.suffix, Settings(chunk_size=16))

    @pytest.mark.parametrize(
        "name",
        [
            "cp1252.txt",
            "latin1.txt",
            "overlong-surrogate.txt",
            "utf16be-nobom.txt",
            "utf16le-bom.txt",
            "utf32le.txt",
            "utf8-broken-tail.txt",
        ],
    )
    def test_what_is_not_utf8_is_refused_with_its_place(self, name: str) -> None:
        path = shared("cases/23-newline-bom-offsets") / name
        said = refused(path)
        assert path.read_bytes()[said.offset] == said.byte
        assert str(said.offset) in said.detail

    def test_a_heading_behind_a_byte_order_mark_with_crlf_is_a_heading(self) -> None:
        outline = parse("\ufeff# Title\r\n\r\ntext\r\n")
        assert [each.heading_path for each in outline.sections] == [("Title",)]
        assert outline.sections[0].start == 0

    def test_only_lf_crlf_and_cr_end_lines(self) -> None:
        lines = LineMap.of("a\nb\r\nc\rd\x85e\u2028f")
        assert lines.line_column(10) == (4, 4)


class TestFences:
    def test_only_real_headings_open_sections(self) -> None:
        text = text_of(shared("cases/24-markdown-fences") / "fences.md")
        outline = parse(text)
        assert [each.heading_path for each in outline.sections] == [("Real One",), ("Setext",), ("Setext", "Closed")]

    def test_an_unclosed_fence_reaches_to_the_end(self) -> None:
        text = text_of(shared("cases/24-markdown-fences") / "fences.md")
        start, end = parse(text).whole[-1]
        assert text[start:].startswith("```\n# unclosed")
        assert end == len(text)

    def test_tab_and_no_break_space_stay(self) -> None:
        text = text_of(shared("cases/24-markdown-fences") / "fences.md")
        assert "\tmake\xa0all" in text
        for settings in SETTINGS:
            assert_tiled(text, ".md", settings)

    def test_front_matter_holds_no_heading(self) -> None:
        outline = parse(text_of(shared("cases/24-markdown-fences") / "frontmatter.md"))
        assert outline.title == "a: b"
        assert [each.heading_path for each in outline.sections] == [(), ("After",)]


class TestControlCharacters:
    @pytest.mark.parametrize("name", ["nul.txt", "binary-named.md"])
    def test_text_with_nul_is_refused_as_binary(self, name: str) -> None:
        said = refused(shared("cases/25-nul-and-control") / name)
        assert said.problem in (TextProblem.HOLDS_NUL, TextProblem.NOT_UTF8)

    @pytest.mark.parametrize("name", ["ansi.md", "bidi-override.md", "zero-width.txt"])
    def test_control_characters_are_kept_in_the_text(self, name: str) -> None:
        path = shared("cases/25-nul-and-control") / name
        text = text_of(path)
        assert text.encode() == path.read_bytes()
        assert_tiled(text, path.suffix, Settings(chunk_size=16))

    def test_an_empty_file_has_no_chunks(self) -> None:
        assert spans_of(text_of(shared("cases/25-nul-and-control") / "empty.md"), ".md", Settings()) == []

    @pytest.mark.parametrize("name", ["only-bom.md", "only-space.txt"])
    def test_a_file_without_words_is_one_chunk(self, name: str) -> None:
        path = shared("cases/25-nul-and-control") / name
        text = text_of(path)
        assert spans_of(text, path.suffix, Settings()) == [Span(0, len(text))]
