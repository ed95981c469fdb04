"""The text of a page holds what the page shows, laid out by stated rules; places point at what they name."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundkit.adapters.html import HtmlExtractor
from groundkit.core.extraction import Extraction, ExtractionFailed, ExtractionProblem, Hint, checked
from groundkit.core.result import Failure, Success

HINT = Hint("text/html")


def extracted(markup: str) -> Extraction:
    made = HtmlExtractor().extract(markup.encode(), HINT)
    assert isinstance(made, Success), made
    return made.unwrap()


def refused(markup: str) -> ExtractionFailed:
    made = HtmlExtractor().extract(markup.encode(), HINT)
    assert isinstance(made, Failure), made
    return made.failure()


LAYOUTS = [
    ("<p>one</p><p>two</p>", "one\n\ntwo"),
    ("<p>one<p>two", "one\n\ntwo"),
    ("<div>one<div>two</div>three</div>", "one\n\ntwo\n\nthree"),
    ("a<div></div>b", "a\n\nb"),
    ("<p>  a \n\t b  </p>", "a b"),
    ("a<b>b</b>c <i> d</i>", "abc d"),
    ("a<b> </b>c", "a c"),
    ("a<wbr>b", "ab"),
    ("a&nbsp;&nbsp; b", "a\xa0\xa0 b"),
    ("a<br>b", "a\nb"),
    ("a<br><br>b", "a\n\nb"),
    ("a<br><br><br>b", "a\n\nb"),
    ("a<br> <br>b", "a\n\nb"),
    ("a</br>b", "a\nb"),
    ("a<hr>b", "a\n\nb"),
    ("<p>a</p><ul><li>b<li>c</ul><p>d", "a\n\nb\nc\n\nd"),
    ("<ul><li>b<ul><li>c</ul><li>d</ul>", "b\nc\nd"),
    ("<ul><li><p>b</p></li><li><p>c</p><p>d</p></li><li>e</li></ul>", "b\nc\n\nd\ne"),
    ("<p>a</p><ul><li></li><li>b</li></ul>", "a\n\nb"),
    ("<dl><dt>a<dd>b<dt>c<dd>d</dl>", "a\nb\nc\nd"),
    ("<table><caption>t</caption><tr><th>a<th>b<tr><td>c<td>d</table>e", "t\na\nb\nc\nd\n\ne"),
    ("<table><tr><td><p>a</p></td><td><div>b</div></td></tr></table>", "a\nb"),
    ("<td><br>a<br></td><td><br>b", "a\nb"),
    ("<pre>\na\n  b <b> c</b>\n\n\nd\n</pre>e", "a\n  b  c\n\n\nd\n\ne"),
    ("<pre>\n\n\n  a\n\n</pre>", "  a"),
    ("x<pre>a<br>b</pre>", "x\n\na\nb"),
    ("<pre> <i> </i>a</pre>", "  a"),
    ("a<textarea>\n b\n &lt;i> </textarea>c", "a\n b\n <i>\nc"),
    ("a<xmp> <b>&lt;</xmp>c", "a\n\n <b>&lt;\n\nc"),
    ("a<plaintext><b>\n</plaintext>", "a\n\n<b>\n</plaintext>"),
    ("a<select><option>b<option>c</select>d", "a\nb\nc\nd"),
    ("<noscript><p>a</p></noscript>b", "a\n\nb"),
    ("漢<ruby>字<rp>(</rp><rt>ji</rt><rp>)</rp></ruby>", "漢字(ji)"),
    ("<svg><title>no</title><desc>no</desc><text>a</text><text>b</text></svg>", "a\nb"),
    ("<svg><![CDATA[a<b]]></svg>", "a<b"),
    ("<svg><style>a</style></svg>b", "b"),
    ("<![CDATA[no]]>b", "b"),
    ("<math><mi>x</mi><mo>=</mo><mn>1</mn><annotation>no</annotation></math>", "x=1"),
    ("<p style='display:none'>a</p><p aria-hidden=true>b", "a\n\nb"),
    ("<p hidden>no<p>a<p hidden=until-found>b", "a\n\nb"),
    ("<ul><li hidden>no<li>a</ul>", "a"),
    ("<div hidden>no<p>no</div>a", "a"),
    ("<img alt=no>a", "a"),
    ("<template>no</template><datalist><option>no</datalist>a", "a"),
    ("<iframe>no</iframe><noframes>no</noframes><noembed>no</noembed>a", "a"),
    ("<script>no</script\n><style>no</style x>a", "a"),
    ("<?xml version='1.0'?><html><script src='x'/><p>a</p></html>", "a"),
    ("a &lt; b &amp; c &copy; &#x80; &notit;", "a < b & c © € ¬it;"),
    ("a\0b&#0;&#xD800;&#x110000;", "a" + "\ufffd" + "b" + "\ufffd" * 3),
    ("a\r\nb<pre>\r\nc\rd</pre>", "a b\n\nc\nd"),
    ("</p></div></b>a</i>", "a"),
    ("<listing>a<b>  </b>c</listing>", "a  c"),
    ("<script><script></script>a", "a"),
    ("<script><!-- <script></script> no --></script>a", "a"),
]


@pytest.mark.parametrize(("markup", "text"), LAYOUTS)
def test_a_page_is_laid_out_by_the_stated_rules(markup: str, text: str) -> None:
    assert extracted(markup).text == text


WORD = st.from_regex(r"[a-zé漢0-9]{1,8}", fullmatch=True)
WORDS = st.lists(WORD, min_size=1, max_size=5)
SPACE = st.sampled_from([" ", "\n", "\t ", " \n ", "  "])
INLINE = st.sampled_from(["b", "i", "span", "a", "code", "x-y"])
#: What may stand between two blocks without a trace.
HIDDEN = [
    "<script>SECRET<p></script>",
    "<style>SECRET</style>",
    "<template><p>SECRET</template>",
    "<p hidden>SECRET</p>",
]
EMPTY = ["", "\n", " <!-- c --> ", "<p></p>", "<div> </div>", "<img alt=SECRET>", "<!doctype html>", "<?pi SECRET?>"]
NOISE = st.sampled_from([*HIDDEN, *EMPTY])


@st.composite
def inlined(draw: st.DrawFn, words: list[str]) -> str:
    """Words with white space between them in any amount and inline elements round any of them."""
    wrapped = []
    for word in words:
        name = draw(st.none() | INLINE)
        wrapped.append(f"<{name} class='x'>{word}</{name}>" if name else word)
    return "".join(draw(SPACE) * bool(index) + each for index, each in enumerate(wrapped))


@st.composite
def blocks(draw: st.DrawFn) -> tuple[str, str]:
    """A block, and its text."""
    words = draw(WORDS)
    kind = draw(st.sampled_from(["p", "div", "blockquote", "section", "h2", "ul", "ol", "table", "dl", "pre"]))
    if kind == "pre":
        kept = draw(SPACE).join(words)
        return f"<pre>{kept}</pre>", kept
    if kind in ("ul", "ol"):
        return f"<{kind}>{''.join(f'<li>{draw(inlined([each]))}' for each in words)}</{kind}>", "\n".join(words)
    if kind == "dl":
        terms = [f"<dt>{each}<dd>{each}" for each in words]
        return f"<dl>{''.join(terms)}</dl>", "\n".join(word for word in words for _ in range(2))
    if kind == "table":
        return f"<table><tr>{''.join(f'<td> {each} </td>' for each in words)}</tr></table>", "\n".join(words)
    return f"<{kind}>{draw(SPACE)}{draw(inlined(words))}{draw(SPACE)}</{kind}>", " ".join(words)


@given(st.data())
def test_the_text_of_known_blocks_is_these_and_nothing_else(data: st.DataObject) -> None:
    made = data.draw(st.lists(blocks(), min_size=1, max_size=6))
    markup = data.draw(NOISE) + "".join(block + data.draw(NOISE) for block, _ in made)
    assert extracted(markup).text == "\n\n".join(text for _, text in made)


@given(st.data())
def test_headings_are_recorded_with_their_places(data: st.DataObject) -> None:
    parts = data.draw(st.lists(st.tuples(st.integers(0, 6), WORDS), min_size=1, max_size=8))
    markup, starts, at = "", [], 0
    for level, words in parts:
        tag = f"h{level}" if level else "p"
        markup += f"<{tag}>{data.draw(inlined(words))}</{tag}>{data.draw(NOISE)}"
        starts.append(at)
        at += len(" ".join(words)) + 2
    starts.append(at - 2)
    made = extracted(markup)
    expected = [(level, " ".join(words), starts[n], starts[n + 1]) for n, (level, words) in enumerate(parts) if level]
    assert [(each.level, each.text, each.start, each.end) for each in made.headings] == expected


@given(st.data())
def test_anchors_stand_where_their_text_begins(data: st.DataObject) -> None:
    words = data.draw(st.lists(WORD, min_size=1, max_size=8))
    how = st.sampled_from(["<p id={0}>{1}</p>", "<b id={0}>{1}</b> ", "<a name={0}></a>{1} ", "<li><i id={0}>{1}</i>"])
    made = extracted("".join(data.draw(how).format(f"n{n}", word) for n, word in enumerate(words)))
    assert [each.name for each in made.anchors] == [f"n{n}" for n in range(len(words))]
    assert all(made.text.startswith(word, each.start) for each, word in zip(made.anchors, words, strict=True))


PIECES = st.sampled_from(
    """<p> </p> <div> </div> <h1> </h1> <h2 </h3> <b> </b> <pre> </pre> <ul> <li> </ul> <table> <tr> <td> </table> <br> <hr>
    <svg> </svg> <title> </title> <textarea> </textarea> <template> </template> <script> </script> <p\x20hidden> <i\x20id=x>
    <a\x20name=y> <math> <mi> <xmp> </xmp> <plaintext> <!-- --> <![CDATA[ ]]> & &nbsp; &#0; < > \0 a b é 漢 \ud800""".split()  # noqa: SIM905
).map(lambda piece: piece.replace("\x20", " "))
MARKUP = st.lists(PIECES | st.sampled_from(" \n\t\f\r") | st.text(max_size=3), max_size=60).map("".join)


@given(MARKUP)
def test_any_markup_ends_in_a_sound_text_or_in_a_named_refusal(markup: str) -> None:
    made = HtmlExtractor().extract(markup.encode("utf-8", "replace"), HINT)
    if isinstance(made, Failure):
        assert made.failure().problem is ExtractionProblem.NO_TEXT
        return
    extraction = made.unwrap()
    sound = checked(extraction)
    assert isinstance(sound, Success), sound
    assert sound.unwrap().text == extraction.text
    assert extraction.text == extraction.text.rstrip(" \t\n\f\r")
    assert not re.match(r"[ \t\f\r]*\n", extraction.text)
    assert all(extraction.text[each.start :].split()[0] == each.text.split()[0][:200] for each in extraction.headings)
    if not re.search("<pre|<textarea|<xmp|<plaintext", markup):
        assert not re.search(r"\n\n\n| \n|\n |  |\t", extraction.text)


@given(st.binary(max_size=200))
def test_any_bytes_end_in_a_text_or_in_a_named_refusal(data: bytes) -> None:
    made = HtmlExtractor().extract(data, HINT)
    assert isinstance(made, Success) or made.failure().problem in (ExtractionProblem.CHARSET, ExtractionProblem.NO_TEXT)


@given(MARKUP, st.sampled_from(["text/html", "application/xhtml+xml", "text/plain"]))
def test_only_the_bytes_matter(markup: str, media_type: str) -> None:
    data = markup.encode("utf-8", "replace")
    assert HtmlExtractor().extract(data, Hint(media_type)) == HtmlExtractor().extract(data, HINT)


HEADINGS = [
    ("<h1>a<p>b", [(1, "a", 0, 3)]),
    ("<h1>a<h2>b</h2>c", [(1, "a", 0, 3), (2, "b", 3, 6)]),
    ("<h1>a</h2>b", [(1, "a", 0, 3)]),
    ("<h1><div>a</div><div>b</div></h1>c", [(1, "a b", 0, 6)]),
    ("<h1>a<br>b</h1>c", [(1, "a b", 0, 5)]),
    ("<h1> </h1><h2></h2><h3>&nbsp;</h3>a", []),
    ("<ul><li><h4>a</h4>b</ul>", [(4, "a", 0, 3)]),
    ("<table><tr><td><h4>a</h4><td>b</table>", [(4, "a", 0, 2)]),
    ("<p>x</p><h6 hidden>a</h6><h5>b</h5>", [(5, "b", 3, 4)]),
    ("<h1>a<div>b<h2>c</h2>d", [(1, "a", 0, 3), (2, "c", 6, 9)]),
]


@pytest.mark.parametrize(("markup", "headings"), HEADINGS)
def test_a_heading_ends_where_a_reader_sees_it_end(markup: str, headings: list[tuple[int, str, int, int]]) -> None:
    assert [(each.level, each.text, each.start, each.end) for each in extracted(markup).headings] == headings


def test_a_name_that_is_of_no_use_is_left_out_and_the_first_of_equal_ones_counts() -> None:
    made = extracted(f"<p id='a b'>x<p id={'y' * 201}>y<p id=''>z<p id=k>k<p id=k>l<p id=last></p>")
    assert [(each.name, each.start) for each in made.anchors] == [("k", 9), ("last", 13)]


def test_the_title_is_the_first_one_and_not_in_the_text() -> None:
    made = extracted("<svg><title>no</title></svg><title> a\n&amp; b</title><title>c</title><p>text")
    assert (made.title, made.text) == ("a & b", "text")


LOSSES = [
    ("a\n<!-- open <p>b", "an unclosed comment from line 2 on hides the rest of the file"),
    ("a<script>b", "an unclosed <script> from line 1 on hides the rest of the file"),
    ("a\r\n\r\n<style>b", "an unclosed <style> from line 3 on hides the rest of the file"),
    ("a<title>b", "an unclosed <title> from line 1 on hides the rest of the file"),
    ("a<textarea>b", "an unclosed <textarea> from line 1 on holds the rest of the file as it stands"),
    ("a<p class='b><p>c", "an unclosed tag from line 1 on hides the rest of the file"),
    ("a<?php b", "an unclosed declaration from line 1 on hides the rest of the file"),
    ("a<template><p>b</body>", "an unclosed <template> from line 1 on hides the rest of the file"),
    ("<body>a<div hidden>b</body>", "an unclosed hidden <div> from line 1 on hides the rest of the file"),
]


@pytest.mark.parametrize(("markup", "loss"), LOSSES)
def test_what_swallows_the_rest_of_a_page_is_told(markup: str, loss: str) -> None:
    made = extracted(markup)
    assert (made.losses, made.incomplete) == ((loss,), True)


@pytest.mark.parametrize(
    "markup", ["a<!-- \n", "a<script>", "a</htm", "a<p hidden>b", "a<div hidden>b</div>", "a<!---->"]
)
def test_a_page_that_swallows_nothing_is_complete(markup: str) -> None:
    made = extracted(markup)
    assert (made.losses, made.incomplete) == ((), False)


@pytest.mark.parametrize(
    "markup", ["", " \n", "<p></p>", "<title>a</title>", "<p>&nbsp;", "<p hidden>a", "<!-- a -->", "<img>"]
)
def test_a_page_without_text_is_refused(markup: str) -> None:
    assert refused(markup) == ExtractionFailed(ExtractionProblem.NO_TEXT, "no text in the page")


def test_a_page_without_text_names_what_swallowed_it() -> None:
    assert (
        refused("<!-- a").detail == "no text in the page; an unclosed comment from line 1 on hides the rest of the file"
    )


def test_a_link_to_itself_is_no_part_of_a_headings_name() -> None:
    extraction = extracted('<h1>Name<a href="#name">¶</a></h1><p>text</p>')
    assert [each.text for each in extraction.headings] == ["Name"]
    assert extraction.text.startswith("Name¶")
