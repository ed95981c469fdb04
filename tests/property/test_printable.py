"""Laws of what may reach a terminal."""

import re
import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from groundkit.cli.printable import one_line, printable

#: Any string Python can hold, lone surrogates included; controls and format characters often.
TEXTS = st.text(
    st.one_of(
        st.characters(),
        st.characters(categories=("Cc", "Cf", "Zl", "Zp", "Cs", "Cn")),
        st.sampled_from("\x1b\r\n\t\u202e\u2066\u200b\ufeff\x9b\x07\\"),
    )
)
UNSAFE = {"Cc", "Cf", "Zl", "Zp", "Cs", "Cn"}


@given(TEXTS)
@example("\x1b[31mred\x1b]0;title\x07")
@example("abc\u202egnp.md")
@example("\udcff\ud800")
def test_nothing_that_a_terminal_would_obey_comes_through(text: str) -> None:
    shown = printable(text)
    assert {unicodedata.category(c) for c in shown if c not in "\n\t"}.isdisjoint(UNSAFE)
    shown.encode("utf-8")


@given(TEXTS)
def test_one_line_is_one_line(text: str) -> None:
    shown = one_line(text)
    assert len(shown.splitlines()) <= 1
    assert "\t" not in shown
    assert {unicodedata.category(c) for c in shown}.isdisjoint(UNSAFE)


@given(st.text(st.characters(exclude_categories=("Cc", "Cf", "Zl", "Zp", "Cs", "Cn"))))
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert printable(text) == one_line(text) == text


@given(TEXTS)
def test_what_is_printable_stays_so(text: str) -> None:
    assert printable(printable(text)) == printable(text)


@given(st.text(st.characters(categories=("Cc", "Cf", "Zl", "Zp", "Cs")), min_size=1).filter(lambda t: "\n" not in t))
def test_an_escape_says_which_character_it_was(text: str) -> None:
    codes = re.findall(r"\\x(..)|\\u(....)|\\U(.{8})", printable(text).replace("\t", "\\x09"))
    assert [chr(int("".join(code), 16)) for code in codes] == list(text)


@given(st.lists(st.text(st.characters(categories=("L", "N"))), min_size=1))
def test_line_breaks_of_every_system_are_line_breaks(lines: list[str]) -> None:
    assert printable("\r\n".join(lines)) == printable("\n".join(lines)) == "\n".join(lines)
