"""Laws of snippets: a slice of the text, marks within it that are words which were asked for, whatever the script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.folding import search_view
from groundkit.core.model import Span
from groundkit.core.snippets import snippet

words = st.sampled_from(
    ["tide", "Tides", "ferry", "東京", "ระบบ", "e\u0301tat", "ﬁsh", "a_b", "loaf", "\U0001f468\u200d\U0001f469"]
)
texts = st.one_of(st.lists(words, max_size=60).map(" ".join), st.text(max_size=200))
asked = st.frozensets(
    st.sampled_from(["tide", "tides", "ferry", "東", "京", "ระ", "ร", "état", "fish", "a_b"]), max_size=4
)


def terms_of(text: str) -> list[str]:
    return search_view(text)[0].split()


@given(texts, asked, st.integers(1, 120))
def test_marks_are_asked_words_within_a_slice(text: str, wanted: frozenset[str], size: int) -> None:
    found = snippet(text, wanted, terms_of, size)
    assert 0 <= found.span.start <= found.span.end <= len(text)
    assert found.span.length <= max(size, 0) or len(text) <= size
    last = found.span.start
    for mark in found.marks:
        assert last <= mark.start < mark.end <= found.span.end
        last = mark.end
        assert set(terms_of(text[mark.start : mark.end])) <= wanted


@given(texts, asked)
def test_a_text_that_fits_is_whole_and_all_its_words_are_marked(text: str, wanted: frozenset[str]) -> None:
    found = snippet(text, wanted, terms_of, len(text) + 1)
    assert found.span == Span(0, len(text))
    assert bool(found.marks) >= any(
        term in wanted for word in text.split(" ") for term in terms_of(word) if terms_of(word) == [word]
    )


def test_the_words_asked_for_are_in_the_stretch() -> None:
    text = "nothing here " * 50 + "the tide and the ferry meet " + "nothing more " * 50
    found = snippet(text, frozenset({"tide", "ferry"}), terms_of, 80)
    assert [text[mark.start : mark.end] for mark in found.marks] == ["tide", "ferry"]
    assert not text[found.span.start - 1].isalnum()


def test_signs_of_scripts_without_blanks_are_marked_together() -> None:
    text = "今日は東京で検索システムの評価実験を行いました。"
    found = snippet(text, frozenset({"東", "京"}), terms_of, 100)
    assert [text[mark.start : mark.end] for mark in found.marks] == ["東京"]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("un e\u0301tat ici", "état"),
        ("यह हिन्दी है", "हिन्दी"),
        ("ที่นี่มีน้ำ", "น้ำ"),
        ("ｶﾞﾗｽ と", "ガラス"),
    ],
)
def test_marks_on_letters_part_no_word(text: str, word: str) -> None:
    found = snippet(text, frozenset(terms_of(word)), terms_of, 100)
    shown = [text[mark.start : mark.end] for mark in found.marks]
    assert [terms_of(each) for each in shown] == [terms_of(word)]


def test_a_long_passage_of_asked_words_is_looked_at_once() -> None:
    found = snippet("tide " * 50_000, frozenset({"tide"}), terms_of, 300)
    assert 50 <= len(found.marks) <= 60
