"""A passage in its place: its exact span marked, the lines around it, where it stands now."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from commands import Ran, gk
from extracted_support import HTML, PDF, world
from hypothesis import example, given
from hypothesis import strategies as st
from integration.support import INDEX, put
from web_support import page, web_collection

from groundkit import Citation
from groundkit.cli.passages import lines_around, shown
from groundkit.cli.printable import printable
from groundkit.core.model import Span
from groundkit.testing.strategies import texts

SMALL = {"chunk_size": 120, "chunk_overlap": 0}

LINES = "".join(f"Line {n} of the log says that mark {n * 37} held.\n" for n in range(1, 13))
FILES: Mapping[str, bytes | str] = {
    "lines.txt": LINES,
    "crlf.txt": LINES.replace("\n", "\r\n").replace("Line", "Row"),
    "one-line.txt": " ".join(f"word{n}" for n in range(80)),
    "blank.md": "# Head\n\n\n\nFirst of it.\n\n\n\nSecond of it, which is a bit longer than the first one was.\n\n\n",
    "signs.txt": "".join(f"灯台守{n}は霧の中で鐘を鳴らした。😀e\u0301\n" for n in range(12)),
    "evil.txt": "A bell\x07 rings \x1b[31mred\x1b[0m and \x1b]8;;http://evil.example\x07here\x9b2J.\n\u202ekcab and \u200bnothing.\n",
    "report.pdf": PDF,
    "tides.html": HTML,
}


@frozen
class World:
    base: Path
    citations: dict[str, list[Citation]]
    texts: dict[str, str]

    def citation(self, source: str, n: int = 1) -> Citation:
        return self.citations[source][n]

    def passage(self, citation: Citation) -> str:
        return self.texts[citation.source][citation.start_offset : citation.end_offset]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    base = tmp_path_factory.mktemp("shelf")
    with world(base, FILES, **SMALL) as kb:
        citations = {source: list(kb.citations(source)) for source in FILES}
        texts = {source: kb.document_text(each[0].document_id) or "" for source, each in citations.items()}
    yield World(base, citations, texts)


_ROW = re.compile(r" *(\d*) ([▌│]) ?(.*)")


def rows(ran: Ran) -> list[tuple[str, str, str]]:
    """Number, bar and words of each line of the passage's surroundings."""
    _, _, below = ran.out.partition("\n\n")
    found = [_ROW.fullmatch(line) for line in below.removesuffix("\n").split("\n")]
    return [(each[1], each[2], each[3]) for each in found if each is not None]


def marked(ran: Ran) -> str:
    """What stands between the marks."""
    words = "\n".join(words for _, _, words in rows(ran))
    assert (words.count("⟦"), words.count("⟧")) == (1, 1)
    return words[words.index("⟦") + 1 : words.index("⟧")]


def as_shown(text: str) -> str:
    """The passage without the end of its last line."""
    return printable(text).removesuffix("\n")


@pytest.mark.parametrize("source", ["lines.txt", "crlf.txt", "signs.txt", "evil.txt", "tides.html", "report.pdf"])
def test_the_exact_span_is_marked(shelf: World, source: str) -> None:
    cited = shelf.citation(source, min(1, len(shelf.citations[source]) - 1))
    ran = gk(shelf.base, "show", cited.chunk_id)
    assert (ran.code, ran.err) == (0, "")
    assert marked(ran) == as_shown(shelf.passage(cited))


def test_so_many_lines_before_and_after_with_their_numbers(shelf: World) -> None:
    cited = shelf.citation("lines.txt")
    first = cited.locator.line if cited.locator else 0
    own = shelf.passage(cited).count("\n")
    assert (first, own) == (3, 2)
    for context in (0, 1, 2):
        found = rows(gk(shelf.base, "show", cited.chunk_id, "-C", str(context)))
        assert [int(number) for number, _, _ in found] == list(range(first - context, first + own + context))
        assert [bar for _, bar, _ in found] == ["│"] * context + ["▌"] * own + ["│"] * context
        plain = [words.replace("⟦", "").replace("⟧", "") for _, _, words in found]
        assert plain == LINES.split("\n")[first - context - 1 : first + own + context - 1]


def test_more_lines_than_there_are_show_the_whole_file_and_no_line_behind_its_end(shelf: World) -> None:
    found = rows(gk(shelf.base, "show", shelf.citation("lines.txt").chunk_id, "-C", "1000"))
    assert [words.replace("⟦", "").replace("⟧", "") for _, _, words in found] == LINES.splitlines()


def test_a_passage_within_a_line(shelf: World) -> None:
    cited = shelf.citation("one-line.txt")
    whole = shelf.texts["one-line.txt"]
    assert 0 < cited.start_offset < cited.end_offset < len(whole)
    ((number, bar, words),) = rows(gk(shelf.base, "show", cited.chunk_id))
    assert (number, bar) == ("1", "▌")
    before, passage, behind = re.split("[⟦⟧]", words)
    assert passage == shelf.passage(cited)
    assert whole[: cited.start_offset].endswith(before.removeprefix("…"))
    assert whole[cited.end_offset :].startswith(behind.removesuffix("…"))


def test_blank_lines_belong_to_what_they_stand_in(shelf: World) -> None:
    text = shelf.texts["blank.md"]
    for cited in shelf.citations["blank.md"]:
        ran = gk(shelf.base, "show", cited.chunk_id, "-C", "1000")
        found = rows(ran)
        lines = text.splitlines()
        assert [words.replace("⟦", "").replace("⟧", "") for _, _, words in found] == lines
        held = [int(number) for number, bar, _ in found if bar == "▌"]
        first = text.count("\n", 0, cited.start_offset) + 1
        assert held == list(range(first, text.count("\n", 0, cited.end_offset - 1) + 2))
        assert marked(ran) == as_shown(shelf.passage(cited))


def test_nothing_that_moves_a_cursor_or_turns_the_text_is_printed(shelf: World) -> None:
    cited = shelf.citation("evil.txt", 0)
    for more in ((), ("--color", "always"), ("--format", "json")):
        out = gk(shelf.base, "show", cited.chunk_id, *more).out
        ours = re.sub(r"\x1b\[\d+(;\d+)*m", "", out) if "always" in more else out
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u200b\u2066-\u2069]", ours)
        assert "evil.example" in ours
    assert "\\x1b[31mred" in gk(shelf.base, "show", cited.chunk_id).out


def test_colours_mark_the_passage_instead(shelf: World) -> None:
    cited = shelf.citation("one-line.txt")
    out = gk(shelf.base, "show", cited.chunk_id, "--color", "always").out
    assert "⟦" not in out
    assert f"\x1b[1m{shelf.passage(cited)}\x1b[0m" in out


def data(ran: Ran) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ran.out)
    return found


def test_the_units_and_the_link_of_a_passage_with_signs_of_every_width(shelf: World) -> None:
    text, cited = shelf.texts["signs.txt"], shelf.citation("signs.txt")
    told = data(gk(shelf.base, "show", cited.chunk_id, "--format", "json"))
    start, end = cited.start_offset, cited.end_offset
    assert told["units"] == {
        "code_points": {"start": start, "end": end},
        "utf8": {"start": len(text[:start].encode()), "end": len(text[:end].encode())},
        "utf16": {"start": len(text[:start].encode("utf-16-le")) // 2, "end": len(text[:end].encode("utf-16-le")) // 2},
        "start_line": text.count("\n", 0, start) + 1,
        "start_column": start - text.rfind("\n", 0, start),
        "end_line": text.count("\n", 0, end) + 1,
        "end_column": end - text.rfind("\n", 0, end),
    }
    assert told["link"] == f"signs.txt#char={start},{end}"
    assert told["chunk"]["text"] == shelf.passage(cited)
    assert told["chunk_id"] == told["citation"]["chunk_id"] == cited.chunk_id
    assert told["verification"]["verdict"] == "verified"
    human = gk(shelf.base, "show", cited.chunk_id).out
    assert f"span  {start}–{end}, bytes " in human
    assert "UTF-16 " in human
    assert f"link  signs.txt#char={start},{end}" in human


def test_the_page_of_a_pdf_and_the_text_around(shelf: World) -> None:
    cited = shelf.citation("report.pdf", 2)
    assert cited.locator is not None
    assert cited.locator.pages is not None
    ran = gk(shelf.base, "show", cited.chunk_id)
    assert f"pages  {cited.locator.pages}" in ran.out
    assert f"link  report.pdf#page={cited.locator.pages.first}" in ran.out
    assert "class  extracted, pypdf/" in ran.out
    assert {number for number, _, _ in rows(ran)} == {""}  # the lines are those of the text, which nobody else sees
    assert len(rows(ran)) > shelf.passage(cited).count("\n")
    told = data(gk(shelf.base, "show", cited.chunk_id, "--format", "json"))
    assert told["citation"]["locator"]["pages"]["first"] == cited.locator.pages.first


def test_the_place_of_an_html_file(shelf: World) -> None:
    cited = shelf.citation("tides.html", 2)
    told = data(gk(shelf.base, "show", cited.chunk_id, "--format", "json"))
    assert told["link"].startswith("tides.html#")
    assert told["citation"]["source_class"] == "extracted"


def test_the_beginning_of_an_id_is_enough_and_an_unknown_one_is_told(shelf: World) -> None:
    cited = shelf.citation("lines.txt")
    assert gk(shelf.base, "show", cited.chunk_id[:12]).out == gk(shelf.base, "show", cited.chunk_id).out
    ran = gk(shelf.base, "show", "f" * 32)
    assert (ran.code, ran.out) == (1, "")
    assert "knows no chunk" in ran.err


def test_what_the_source_says_now_stands_beside_what_it_said(tmp_path: Path) -> None:
    with world(tmp_path, {"a.txt": LINES}, **SMALL) as kb:
        cited = list(kb.citations())[1]
    put(tmp_path, {"a.txt": "New before it.\n" + LINES.replace("mark 111", "mark 112")})
    ran = gk(tmp_path, "show", cited.chunk_id)
    assert ran.code == 1
    assert "≠ drifted (edited)" in ran.out.splitlines()[0]
    assert "now at  a.txt:4:1" in ran.out
    assert "[-111-]{+112+}" in ran.out
    assert marked(ran) == LINES[cited.start_offset : cited.end_offset].removesuffix("\n")  # as it was ingested
    told = data(gk(tmp_path, "show", cited.chunk_id, "--format", "json"))
    assert told["verification"]["span"]["start"] == cited.start_offset + 15
    (tmp_path / "a.txt").unlink()
    ran = gk(tmp_path, "show", cited.chunk_id)
    assert (ran.code, "✗ unresolvable (source_missing)" in ran.out) == (1, True)
    assert marked(ran) == LINES[cited.start_offset : cited.end_offset].removesuffix("\n")


def test_another_base_directory_for_this_run(tmp_path: Path) -> None:
    with world(tmp_path / "docs", {"a.txt": LINES}, **SMALL) as kb:
        cited = list(kb.citations())[1]
    (tmp_path / "docs" / "a.txt").unlink()
    put(tmp_path, {"copy/a.txt": LINES, "other/a.txt": LINES.replace("held", "fell")})
    asked = ("show", cited.chunk_id, "--index-dir", f"docs/{INDEX}")
    assert gk(tmp_path, *asked).code == 1
    assert gk(tmp_path, *asked, "--base-dir", "copy").code == 0
    assert "drifted (edited)" in gk(tmp_path, *asked, "--base-dir", "other").out


def test_a_page_says_how_it_was_fetched(tmp_path: Path) -> None:
    url = "http://towers.example/a"
    with web_collection(tmp_path / INDEX, {url: page(LINES)}) as kb:
        kb.ingest([url])
        cited = next(kb.citations())
    told = data(gk(tmp_path, "show", cited.chunk_id, "--format", "json"))
    assert told["link"].startswith(f"{url}#:~:text=")
    assert told["fetch"]["status"] == 200
    ran = gk(tmp_path, "show", cited.chunk_id)
    assert ran.code == 0
    assert "fetched  2026-03-01" in ran.out


# The marking itself

breaking = st.text("ab 港\n\r\t\x85\u2028", max_size=60)


@given(st.one_of(breaking, texts()).filter(bool), st.data())
@example("\n", None)
@example("a\r\nb", None)
def test_the_parts_of_all_lines_are_the_text_and_the_passages_are_the_span(
    text: str, data: st.DataObject | None
) -> None:
    start = 0 if data is None else data.draw(st.integers(0, len(text) - 1))
    end = len(text) if data is None else data.draw(st.integers(start + 1, len(text)))
    lines = list(lines_around(text, Span(start, end), 10**9))
    assert "".join(line.before + (line.passage or "") + line.behind for line in lines) == text
    assert "".join(line.passage or "" for line in lines) == text[start:end]
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))
    assert sum(line.begins for line in lines) == sum(line.ends for line in lines) == 1
    held = [line for line in lines if line.passage is not None]
    assert (held[0].begins, held[-1].ends) == (True, True)
    assert [line.number for line in held] == list(range(held[0].number, held[-1].number + 1))
    assert all(line.passage for line in held)


@given(st.one_of(breaking, texts()).filter(bool), st.integers(0, 4), st.data())
def test_fewer_lines_are_those_next_to_the_passage(text: str, context: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    span = Span(start, data.draw(st.integers(start + 1, len(text))))
    every = list(lines_around(text, span, 10**9))
    held = [at for at, line in enumerate(every) if line.passage is not None]
    assert list(lines_around(text, span, context)) == every[max(held[0] - context, 0) : held[-1] + context + 1]


@given(st.one_of(breaking, texts()).filter(bool), st.data())
def test_each_line_is_shown_as_one(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    span = Span(start, data.draw(st.integers(start + 1, len(text))))
    lines = list(lines_around(text, span, 2))
    told = list(shown(iter(lines), numbered=True, color=False))
    assert len(told) == len(lines)
    assert not any("\n" in each or "\r" in each for each in told)
