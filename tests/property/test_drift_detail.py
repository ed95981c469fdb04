"""What a drift's detail says is true of the two texts, and it never changes a verdict."""

from hypothesis import assume, given
from hypothesis import strategies as st

from groundkit.core.fingerprint import text_digest
from groundkit.core.model import Citation, FromText, Reason, Span, Verdict
from groundkit.core.verdicts import TextFound, judge
from groundkit.testing.strategies import texts


def citation_of(text: str, start: int, end: int) -> Citation:
    return Citation("d" * 32, "c" * 32, "a.md", FromText(), Span(start, end), text_digest(text[start:end]))


@given(texts(), texts(), st.data())
def test_the_cited_text_at_hand_says_more_and_decides_nothing(old: str, new: str, data: st.DataObject) -> None:
    assume(old)
    start = data.draw(st.integers(0, len(old) - 1))
    end = data.draw(st.integers(start + 1, len(old)))
    citation = citation_of(old, start, end)
    plain = judge(citation, TextFound(new))
    for cited in (old[start:end], "something else", ""):
        told = judge(citation, TextFound(new), cited)
        assert (told.verdict, told.context_changed) == (plain.verdict, plain.context_changed)


@given(st.text("ab c", min_size=1, max_size=400), st.integers(0, 399), st.text("xy", min_size=1, max_size=3))
def test_the_first_difference_is_shown_from_both_texts(old: str, at: int, put: str) -> None:
    at = min(at, len(old) - 1)
    new = old[:at] + put + old[at + 1 :] + " " * 9
    told = judge(citation_of(old, 0, len(old)), TextFound(new), old)
    assert (told.verdict, told.reason) == (Verdict.DRIFTED, Reason.CHANGED)
    assert " is now " in told.detail
    assert put[0] in told.detail.split(" is now ")[1]


def test_other_white_space_is_called_that() -> None:
    old = "John Smeaton built the third of granite blocks and lit it in 1759."
    told = judge(citation_of(old, 0, len(old)), TextFound(old.replace(" of ", "\r\nof ")), old)
    assert "has other white space now" in told.detail
    assert "is now" not in told.detail


def test_a_changed_year_is_named() -> None:
    old = "John Smeaton built the third of granite blocks and lit it in 1759. " * 2
    new = old.replace("1759", "1579", 1)
    told = judge(citation_of(old, 0, len(old)), TextFound(new), old)
    assert "lit it in 1759" in told.detail.split(" is now ")[0]
    assert "lit it in 1579" in told.detail.split(" is now ")[1]
