"""Laws of reading `Content-Type`: total, exact on what is well formed, and one answer for headers that agree."""

import string

from hypothesis import example, given
from hypothesis import strategies as st

from groundkit.core.content_types import agreed, content_type

TOKENS = st.text(st.sampled_from(string.ascii_letters + string.digits + "!#$%&'*+-.^_`|~"), min_size=1, max_size=12)
VALUES = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=1, max_size=12)
OTHER_NAMES = TOKENS.filter(lambda name: name.lower() != "charset")


def quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


@given(st.text())
@example('a/b;charset="\\')
@example('a/b;charset="')
@example('a/b;charset="x"y;charset=z')
@example("a/b;" * 5000)
def test_any_header_is_read(header: str) -> None:
    found = content_type(header)
    assert found.said.isprintable()
    assert found.media_type == found.media_type.lower() and found.charset == found.charset.lower()
    assert found.charset.isascii() and found.charset.isprintable()
    assert found.media_type or not found.charset


@given(TOKENS, TOKENS, VALUES, st.lists(st.tuples(OTHER_NAMES, VALUES), max_size=3), st.sampled_from(["", " ", "\t"]))
def test_a_charset_is_found_behind_whatever_stands_quoted_before_it(
    kind: str, subtype: str, charset: str, others: list[tuple[str, str]], blank: str
) -> None:
    parameters = [*others, ("ChArSeT", charset), ("charset", "another")]
    header = f"{kind}/{subtype}" + "".join(f"{blank};{blank}{name}={quoted(value)}" for name, value in parameters)
    found = content_type(header)
    assert (found.media_type, found.charset) == (f"{kind}/{subtype}".lower(), charset.lower())


@given(TOKENS, TOKENS, TOKENS)
def test_a_token_needs_no_quotes(kind: str, subtype: str, charset: str) -> None:
    plain, with_quotes = f"{kind}/{subtype};charset={charset}", f"{kind}/{subtype};charset={quoted(charset)}"
    assert content_type(plain).charset == content_type(with_quotes).charset == charset.lower()


@given(st.text())
def test_what_is_no_media_type_has_none_and_is_kept_to_be_shown(text: str) -> None:
    malformed = text.replace("/", "") + ";charset=utf-8"
    found = content_type(malformed)
    assert (found.media_type, found.charset) == ("", "")
    assert found.said


@given(st.text(max_size=20), st.integers(1, 3))
def test_headers_that_agree_are_one(header: str, times: int) -> None:
    assert agreed([header] * times) == header
    assert agreed([header + "a"] * times + [header + "b"]) is None
    assert agreed([]) == ""
