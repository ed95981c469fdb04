"""Laws of the search view."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from shared import shared

from groundkit.core.folding import (
    ANALYZER_RECIPE,
    HEADING_WEIGHT,
    SEAM,
    TOKEN_BYTES,
    _general_view,
    _view,
    index_view,
    search_view,
)

SCRIPTS = "aZ9_é ß ſ ﬁ Ω ά ϊ i̇ İ ñ ä ̈ ' - ’ “ … \u00a0 \u2003 \u200d \u3000 \x1c \x85 ０ Ａ ｶﾞ が か゚ 東 京 ー ・ 々 한 ᄒ ᅡ ᆫ ก ำ ที่ ่ ๑ ກ ່ ក ្ ខ က ြ ့ ا َ ـ न ि ् 𝔞 𠀀 👍🏽 \ud800"
nasty = st.one_of(st.text(), st.text(st.sampled_from(SCRIPTS)), st.text(st.characters(categories=["L", "M", "N", "Z"])))
ascii_text = st.text(st.characters(max_codepoint=127))
english = st.text(st.sampled_from("aB9_ -.,\n\u00a0§©«»–—‘’“”•…→"))


def tokens_of(text: str) -> list[str]:
    return search_view(text)[0].split(" ")


@given(nasty)
def test_the_count_is_the_number_of_tokens_however_they_are_split(text: str) -> None:
    view, count = search_view(text)
    assert count == len(view.split()) == len(list(filter(None, view.split(" "))))


@given(nasty)
def test_a_token_is_letters_digits_marks_and_underscores(text: str) -> None:
    for sign in search_view(text)[0]:
        assert sign in " _" or unicodedata.category(sign)[0] in "LNM"


@given(st.text(st.sampled_from("aé_東 .")))
def test_a_token_neither_begins_nor_ends_with_an_underscore_and_keeps_those_inside(text: str) -> None:
    expected = [run.strip("_") for run in text.replace("東", " 東 ").replace(".", " ").split()]
    assert search_view(text)[0].split() == [run for run in expected if run]


def test_a_long_run_of_underscores_costs_no_more_than_its_length() -> None:
    assert search_view(f"a{'_' * 900}b")[1] == 1
    assert search_view("x" + "_" * 2_000_000 + " y")[0].split() == ["x", "y"]


@given(st.one_of(ascii_text, english))
def test_the_short_way_gives_the_tokens_of_the_long_way(text: str) -> None:
    assert _view(text).split() == _general_view(text).split()


@given(nasty)
def test_the_view_of_a_text_does_not_depend_on_its_compatibility_form(text: str) -> None:
    view, count = search_view(text)
    folded, same = search_view(unicodedata.normalize("NFKC", text))
    assert (view.split(), count) == (folded.split(), same)


@given(st.text(st.sampled_from("abcßéΣςſK")))
def test_case_makes_no_difference(text: str) -> None:
    assert search_view(text)[0] == search_view(text.casefold())[0]


@given(nasty, nasty)
def test_a_separator_never_joins_or_changes_what_stands_around_it(left: str, right: str) -> None:
    both = search_view(f"{left} . {right}")
    assert both[0].split() == search_view(left)[0].split() + search_view(right)[0].split()


@given(st.text(st.sampled_from("東京日本あアー々한국어"), min_size=1))
def test_each_ideograph_kana_and_syllable_is_a_token(text: str) -> None:
    assert search_view(text) == (f" {'  '.join(text)} ", len(text))


@given(st.lists(st.sampled_from(["ก", "ที่", "ค้", "ກ່", "ក្", "ကြ့", "a1", "๑๒"]), min_size=1))
def test_letters_of_scripts_without_blanks_keep_their_marks(parts: list[str]) -> None:
    text = "".join(parts)
    clusters = [token for token in tokens_of(text) if not (token[0].isascii() or token[0].isdigit())]
    assert clusters == [part for part in parts if not (part[0].isascii() or part[0].isdigit())]
    assert "".join(tokens_of(text)) == text


@given(st.sampled_from(["k", "é", "ก็", "न्", "𝔤"]), st.integers(1, 4 * TOKEN_BYTES))
def test_a_long_token_is_cut_into_pieces_of_at_most_1024_bytes(unit: str, times: int) -> None:
    text = f"before {unit * times} after"
    tokens = [token for token in tokens_of(text) if token]
    assert all(len(token.encode()) <= TOKEN_BYTES for token in tokens)
    assert "".join(tokens) == "".join(_general_view(text).split())
    assert search_view(text)[1] == len(tokens)


def test_a_letter_with_more_marks_than_a_token_holds_is_cut_too() -> None:
    view, count = search_view("ก" + "็" * 1000)
    assert count == 3
    assert view.replace(" ", "") == "ก" + "็" * 1000


def test_words_are_what_a_reader_takes_for_words() -> None:
    text = "Don’t panic: x86_64, C++ and naïve STRASSE straße ﬁn 今日は ระบบที่ 한국 ๑๒ 2.21"
    assert search_view(text)[0].split() == [
        "don", "t", "panic", "x86_64", "c", "and", "naïve", "strasse", "strasse", "fin", "今", "日", "は", "ร", "ะ", "บ", "บ",
        "ที่", "한", "국", "๑๒", "2", "21",
    ]  # fmt: skip


def test_the_recipe_names_the_unicode_tables() -> None:
    assert unicodedata.unidata_version in ANALYZER_RECIPE


def test_the_short_way_is_right_on_real_english() -> None:
    for path in sorted(shared("data/text/rust-book").rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        for start in range(0, len(text), 1200):
            assert _view(text[start : start + 1200]).split() == _general_view(text[start : start + 1200]).split()


titles = st.one_of(st.text(max_size=12), st.sampled_from(["", "…", "Tides", "東京", SEAM]))


@given(st.text(max_size=60), st.lists(titles, max_size=3).map(tuple), titles)
def test_what_is_indexed_is_the_text_and_then_its_headings_and_title_as_often_as_they_weigh(
    text: str, above: tuple[str, ...], title: str
) -> None:
    body, told = search_view(text)[0].split(), index_view(text, above, title)
    tokens = told[0].split()
    assert len(tokens) == told[1]
    assert tokens[: len(body)] == body
    named = [search_view(each)[0].split() for each in (above if title in above else (title, *above))]
    once = [token for words in named if words for token in (SEAM, *words)]
    assert tokens[len(body) :] == once * HEADING_WEIGHT
    # No phrase reaches from one part into the next: no text has a seam.
    assert SEAM not in body and not any(SEAM in words for words in named)
