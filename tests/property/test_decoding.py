"""One way from bytes to text, and where it ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.decoding import Guess, NotText, TextProblem, decode
from groundkit.core.result import Failure, Success

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")) | st.text(
    st.sampled_from("a\r\n\ufeff\u2028\x85\x1b\u202eé🫢"), max_size=20
)


@given(texts)
def test_text_is_kept_to_the_last_code_point(text: str) -> None:
    assert decode(text.encode()) == Success(text)


@given(texts)
def test_a_byte_order_mark_stays_a_character(text: str) -> None:
    assert decode(b"\xef\xbb\xbf" + text.encode()) == Success("\ufeff" + text)


@given(st.binary(max_size=60))
def test_bytes_are_text_exactly_when_they_are_utf8_without_nul(data: bytes) -> None:
    answer = decode(data)
    try:
        strict = data.decode("utf-8")
    except UnicodeDecodeError:
        assert isinstance(answer, Failure)
        return
    assert isinstance(answer, Success) == ("\0" not in strict)
    if isinstance(answer, Success):
        assert answer.unwrap().encode() == data


@given(texts, st.sampled_from([b"\0", b"\xff", b"\xc0\x80", b"\xed\xa0\x80"]), st.binary(max_size=20))
def test_the_first_bad_byte_is_named_with_its_place(before: str, bad: bytes, after: bytes) -> None:
    head = before.encode()
    refused = decode(head + bad + after).failure()
    assert (refused.offset, refused.byte) == (len(head), bad[0])
    assert refused.line == 1 + before.replace("\r\n", "\n").replace("\r", "\n").count("\n")
    assert refused.problem is (TextProblem.HOLDS_NUL if bad == b"\0" else TextProblem.NOT_UTF8)
    assert f"0x{bad[0]:02x} at offset {len(head)}, line {refused.line}" in refused.detail


@given(texts, st.sampled_from(["é", "日", "🫢"]), st.integers(1, 3))
def test_a_cut_off_end_is_said_to_be_one(text: str, last: str, missing: int) -> None:
    whole = text.encode() + last.encode()
    cut = whole[: -min(missing, len(last.encode()) - 1)]
    refused = decode(cut).failure()
    assert refused.problem is TextProblem.CUT_SHORT
    assert refused.offset == len(text.encode())


@pytest.mark.parametrize(
    ("encoding", "guess"),
    [
        ("utf-16", Guess.UTF_16),
        ("utf-16-le", Guess.UTF_16),
        ("utf-16-be", Guess.UTF_16),
        ("utf-32", Guess.UTF_32),
        ("latin-1", Guess.LATIN_1),
        ("cp1252", Guess.WINDOWS_1252),
    ],
)
def test_a_guess_helps_with_the_usual_encodings(encoding: str, guess: Guess) -> None:
    text = "Grüße\nund ein Satz, der länger ist.\n" + ("“quoted”" if guess is Guess.WINDOWS_1252 else "")
    refused = decode(text.encode(encoding)).failure()
    assert refused.guess is guess
    assert guess.value in refused.detail


def test_what_looks_like_nothing_is_not_given_a_name() -> None:
    assert decode(b"abc \x81\x8d").failure() == NotText(TextProblem.NOT_UTF8, 4, 1, 0x81, None)
    assert decode(b"\x7fELF\x02\x01\x01\0\0\0\0").failure().guess is Guess.BINARY
    assert decode(b"a\0b").failure().problem is TextProblem.HOLDS_NUL
