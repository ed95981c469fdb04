"""Edits and scripts of edits for property tests, and texts that read like something, so that a passage is told by its words."""

from functools import cache
from random import Random

from hypothesis import strategies as st

from groundkit.testing.edits import (
    Become,
    Breaks,
    ByteOrderMark,
    Delete,
    Duplicate,
    Edit,
    Empty,
    Insert,
    Move,
    Normalise,
    Overlay,
    Recase,
    Replace,
    Rewrap,
    Truncate,
)
from groundkit.testing.strategies import texts

__all__ = ["edits", "paragraph", "prose", "prose_of", "scripts"]

_SYLLABLES = (
    "ba",
    "ce",
    "dí",
    "fo",
    "gu",
    "ha",
    "jé",
    "ki",
    "lo",
    "mu",
    "ña",
    "pe",
    "ri",
    "só",
    "tu",
    "va",
    "we",
    "xi",
    "yo",
    "zü",
)
_IDEOGRAPHS = "春天来了花园里的都开孩子们在树下唱歌老人坐长椅上看报纸小猫从屋顶跳跑到河边喝水今气很好山高月明风清人家书"
_KANA = "さくらのはながさいてこどもたちはきのしたでうたうがぎぐパプペ"
_HANGUL = "봄이오면꽃피고아들은나무아래서노래를부른다물가에앉은새가날"
#: Signs of a script with the end of its sentences, and whether blanks part its words.
_SCRIPTS = ((_SYLLABLES, ". ", True), (_IDEOGRAPHS, "。", False), (_KANA, "。", False), (_HANGUL, ". ", True))


def paragraph(chance: Random) -> str:
    """A paragraph of one script, in which no sentence is like another."""
    signs, end, blanks = chance.choice(_SCRIPTS)
    sentences = []
    for _ in range(chance.randint(2, 4)):
        words = [
            "".join(chance.choice(signs) for _ in range(chance.randint(1, 3))) for _ in range(chance.randint(7, 12))
        ]
        sentences.append((" " if blanks else "").join(words) + end)
    return "".join(sentences).rstrip()


def prose_of(seed: int, least: int = 3, most: int = 8) -> str:
    """Paragraphs of several scripts, always the same for a seed."""
    chance = Random(seed)
    return "\n\n".join(paragraph(chance) for _ in range(chance.randint(least, most)))


def prose() -> st.SearchStrategy[str]:
    """Texts in which a passage is told by its words, in scripts with and without blanks."""
    return st.integers(0, 1 << 30).map(prose_of)


def edits(length: int) -> st.SearchStrategy[Edit]:
    """Edits of a text of about so many code points."""
    return _edits(-(-length // _STEP) * _STEP)


#: A strategy is not made for every length: that takes longer than what it gives.
_STEP = 50


@cache
def _edits(length: int) -> st.SearchStrategy[Edit]:
    at, long, short = st.integers(0, length), st.integers(1, max(1, length // 3)), st.integers(1, 12)
    stretch = short | long
    added = st.text("ab \n\r.é東", min_size=1, max_size=8) | texts() | prose()
    return st.one_of(
        st.builds(Insert, at, added),
        st.builds(Delete, at, stretch),
        st.builds(Replace, at, stretch, added),
        st.builds(Move, at, stretch, at),
        st.builds(Duplicate, at, stretch, at),
        st.builds(Overlay, at, stretch, at),
        st.builds(Rewrap, st.integers(10, 90)),
        st.builds(Breaks, st.sampled_from(("\n", "\r\n", "\r"))),
        st.builds(Normalise, st.sampled_from(("NFC", "NFD", "NFKC", "NFKD"))),
        st.builds(ByteOrderMark, st.booleans()),
        st.builds(Recase, st.sampled_from(("lower", "upper", "swapcase"))),
        st.builds(Truncate, at),
        st.builds(Empty),
        st.builds(Become, added),
    )


def scripts(length: int, most: int = 5) -> st.SearchStrategy[tuple[Edit, ...]]:
    """Some edits, to be carried out one after the other."""
    return st.lists(edits(length), max_size=most).map(tuple)
