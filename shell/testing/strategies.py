"""Texts that are nasty on purpose, for property tests of whatever cuts, stores, quotes or shows text."""

from hypothesis import strategies as st

__all__ = ["CLUSTERS", "hostile_texts", "markdown_texts", "multilingual_texts", "plain_texts", "texts"]

#: Sequences of code points that a reader sees as one character.
CLUSTERS = (
    "a", "\r\n", "e\u0301", "o\u0302\u0323\u0308", "👩\u200d👩\u200d👧\u200d👦", "🇩🇪", "👍🏽", "❤\ufe0f", "각", "\u1100\u1161\u11a8",
    "가\u11a8", "กำ", "नि", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "か\u3099", "ｶ\uff9e",
)  # fmt: skip

_WORDS = ("the", "borrow", "checker", "rejects", "what", "e.g.", "Mr.", "x86_64", "don't", "C++", "state-of-the-art")
_SEPARATORS = (" ", " ", " ", ". ", ", ", "! ", "? ", ".) ", "\n", "\n\n", "\n \t\n", "\t")
_MULTILINGUAL = (
    "日本語の文章です。", "次の文！", "「引用」", "中文没有空格", "한국어 문장. ", "ไทยไม่มีช่องว่าง", "עברית מימין ", "العربية من اليمين ",
    "Ελληνικά ", "naïve ", "Straße ", "İstanbul ", "हिन्दी ", "\n", "\n\n", "　",
)  # fmt: skip
_HOSTILE = (
    *CLUSTERS, "\n", "\r\n", "\r", "\n\n", "\r\n\r\n", "\n\r", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\ufeff", "\x00", "\x1b[31m",
    "\u0301", "\u200d", "\u200c", "\u200b", "\u202e", "\u2066", "\xad", "\xa0", "\u3000", "\ufffd", "\uffff", "𝔘", "🇩", "🇪" * 5, "\U0010ffff",
    " " * 70, "\n" * 40, "x" * 90, "aGVsbG8gd29ybGQ" * 6, "\u0301" * 80, "🇦" * 33, "same passage. ", "same passage. ", " ", ". ",
)  # fmt: skip
_LINES = (
    "# One", "## Two ##", "### ", "####### seven", "#nospace", "Setext", "======", "---", "--", "- - -", "***", "___", "- item", "-", "* item",
    "+ item", "1. one", "2) two", "10. ten", "  continued", "    code or continued", "\ttabbed", "-\ttabbed item", "      deep", "> quote", ">",
    "> # quoted heading", "> - item", "- > quote", "- # heading in item", "- ```", "```", "````", "```sh", "~~~", "   ~~~", "``` not ` a fence",
    "<!-- comment", "-->", "<pre>", "</pre> end", "<div>", "</div>", "<b>inline", "<Custom attr='1'>", "</Custom>", "<?php", "?>", "<!DOCTYPE x>",
    "<![CDATA[", "]]>", "| a | b |", "| - | - |", "a | b", "--- | ---", "| 1 | 2 |", "[ref]: /url", "[ref]: /url 'title'", "plain text.",
    "two words", "日本語。", "title: x", "", "", "", " ", "   # indented heading", "\\# escaped", "trailing  ", "* # *", "1234567890. ten digits",
)  # fmt: skip
_LINE_ENDS = ("\n", "\n", "\n", "\r\n", "\r")


def _joined(parts: st.SearchStrategy[str], most: int) -> st.SearchStrategy[str]:
    return st.lists(parts, max_size=most).map("".join)


def plain_texts() -> st.SearchStrategy[str]:
    """Prose with words, sentences, lines, paragraphs."""
    pairs = st.tuples(st.sampled_from(_WORDS), st.sampled_from(_SEPARATORS)).map("".join)
    return _joined(pairs, 120)


def multilingual_texts() -> st.SearchStrategy[str]:
    """Scripts with and without spaces, from the left and from the right."""
    return _joined(st.sampled_from(_MULTILINGUAL), 60)


def hostile_texts() -> st.SearchStrategy[str]:
    """Marks without a base, joiners, flags, every kind of line break, NUL, BOM, bidi, long runs, repeated passages."""
    parts = st.sampled_from(_HOSTILE) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
    repeated = st.tuples(_joined(parts, 6), st.integers(2, 12)).map(lambda pair: pair[0] * pair[1])
    return _joined(parts, 50) | repeated


def markdown_texts() -> st.SearchStrategy[str]:
    """Lines that open, continue and close Markdown blocks, in any order and nesting."""
    indented = st.tuples(st.sampled_from(("", "", "", "  ", "    ", "> ", "- ", "1. ")), st.sampled_from(_LINES)).map(
        "".join
    )
    lines = st.lists(st.tuples(st.sampled_from(_LINES) | indented, st.just("\n")).map("".join), max_size=40).map(
        "".join
    )
    mixed = st.lists(st.tuples(indented, st.sampled_from(_LINE_ENDS)).map("".join), max_size=30).map("".join)
    return st.tuples(st.sampled_from(("", "", "\ufeff", "---\ntitle: T\n---\n")), lines | mixed).map("".join)


def texts() -> st.SearchStrategy[str]:
    """Any of them."""
    return plain_texts() | multilingual_texts() | hostile_texts() | markdown_texts()
