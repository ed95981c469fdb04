"""What a hit shows of its passage: the asked words, whole lines or stretches, within the room there is."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from groundkit.cli.excerpts import LINES, WIDTH, asked, excerpt, marked, shortened, wrapped
from groundkit.core.folding import search_view

WORDS = ("tide", "moon", "rock", "_lamp_", "港", "ferry-boat", "of", "x" * 30)
passages = st.lists(st.sampled_from([*WORDS, "\n", "\n\n"]), max_size=300).map(" ".join)
queries = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)


def terms_of(text: str) -> Sequence[str]:
    return search_view(text)[0].split()


@given(passages, queries)
def test_an_excerpt_is_made_of_lines_of_the_passage_in_their_order(passage: str, query: str) -> None:
    shown = [line.strip("…").strip() for line in excerpt(passage, asked(query, terms_of)).split("\n") if line != "…"]
    assert len(shown) <= LINES
    at = 0
    for line in shown:
        at = passage.find(line, at)
        assert at >= 0


@given(passages, queries)
def test_an_asked_word_of_the_passage_is_in_the_excerpt(passage: str, query: str) -> None:
    wanted = asked(query, terms_of)
    there = wanted.terms.intersection(terms_of(passage))
    assert bool(wanted.terms.intersection(terms_of(excerpt(passage, wanted)))) == bool(there)


def test_a_long_line_is_cut_where_the_words_stand_together() -> None:
    line = f"of {'sand ' * 200}the comet of 1812 {'sand ' * 200}"
    assert "comet of 1812" in shortened(line, asked("comet of 1812", terms_of))


@given(st.text("ab c", max_size=2 * WIDTH + 50))
def test_a_shortened_line_is_no_longer_than_the_room_for_it(line: str) -> None:
    assert len(shortened(line, asked("a", terms_of))) <= max(WIDTH + 2, 0)


@given(passages, queries)
def test_marking_adds_nothing_but_colour(passage: str, query: str) -> None:
    wanted = asked(query, terms_of)
    shown = marked(passage, wanted, color=True)
    for code in ("\x1b[35m", "\x1b[1m", "\x1b[0m"):
        shown = shown.replace(code, "")
    assert shown == passage == marked(passage, wanted, color=False)


@given(st.text("ab 港é\u0301", max_size=200), st.integers(4, 60))
def test_a_wrapped_line_loses_only_blanks_and_fits(line: str, columns: int) -> None:
    pieces = wrapped(line, columns)
    assert "".join(pieces).replace(" ", "") == line.replace(" ", "")
    assert all(sum(2 if sign == "港" else sign != "\u0301" for sign in piece) <= columns for piece in pieces)
