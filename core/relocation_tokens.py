"""The tokens of a text where they stand: what is compared when two versions of a text are laid beside each other.

White space parts tokens and is none. A run of letters, digits and `_` with their marks is a token; so is each character of a
script that writes no blanks between words, and each other sign. A token's key is its NFKC and case folded form.
"""

import re
import unicodedata
from functools import cache
from itertools import accumulate

from attrs import field, frozen

#: Scripts without blanks between words: Thai to Lao, Myanmar, Khmer, then those of China, Japan and Korea.
_SINGLE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\ua9e0-\ua9fe\uaa60-\uaa7f\uac00-\ud7ff"
    "\uf900-\ufaff\uff66-\uff9d\uffa0-\uffdc\U00016fe0-\U0001b2ff\U00020000-\U0003ffff\u1100-\u11ff"
)
#: A Hangul syllable written as its letters, in any mix with composed ones.
_HANGUL = "(?:[\u1100-\u115f][\u1160-\u11a7]*|[\uac00-\ud7a3])[\u11a8-\u11ff]*"
#: Halfwidth voicing marks are letters by category and belong to the sign before them.
_VOICING = "\uff9e\uff9f"
_BLOCKS_WITH_MARKS = (range(0x300, 0x20000), range(0xE0100, 0xE01F0))

#: Code points beside a stretch that show whether its token goes on, marks and all.
_BESIDE = 64

_PLAIN = re.compile(r"\s+|\w+|[^\w\s]")


#: Most words, at once: a run of ASCII with nothing behind it that could belong to it.
_ASCII_WORD = r"[0-9A-Za-z_]++(?![^\x00-\x7f])"


@cache
def _general() -> re.Pattern[str]:
    codes = (code for block in _BLOCKS_WITH_MARKS for code in block)
    marks = [sign for sign in map(chr, codes) if unicodedata.category(sign)[0] == "M"]
    low = "".join(sign for sign in marks if sign <= "\uffff")
    high = "".join(sign for sign in marks if sign > "\uffff")
    # A class of nothing above U+FFFF is a table; one with more is read through from its beginning.
    mark = f"(?:[{_VOICING}{low}]|(?=[\U00010000-\U0010ffff])[{high}])"
    word = rf"[^\W{_SINGLE}{_VOICING}]"
    return re.compile(
        rf"\s++|{_ASCII_WORD}|{_HANGUL}{mark}*+|{word}++(?:{mark}++{word}*+)*+|.{mark}*+",
        re.DOTALL,
    )


def folded(text: str) -> str:
    """NFKC, case folding, NFKC again: forms that differ only in these become one."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


@frozen
class Tokens:
    """Keys of tokens in order, with the code points `[start, end)` of the text that each stands on."""

    keys: list[str] = field(repr=False)
    starts: list[int] = field(repr=False)
    ends: list[int] = field(repr=False)


def tokens(text: str, start: int, end: int) -> Tokens:
    """The tokens of `text[start:end]`, with offsets in `text`. Linear."""
    part = text[start:end]
    pieces = _PLAIN.findall(part.lower()) if part.isascii() else _general().findall(part)
    edges = list(accumulate(map(len, pieces), initial=start))
    kept = [at for at, piece in enumerate(pieces) if not piece.isspace()]
    keys = [pieces[at] for at in kept]
    if not part.isascii():
        forms = {key: folded(key) for key in dict.fromkeys(keys)}
        keys = [forms[key] for key in keys]
    return Tokens(keys, [edges[at] for at in kept], [edges[at + 1] for at in kept])


def same_words(one: str, other: str) -> bool:
    """Whether two texts are equal up to white space between tokens, case and compatibility forms."""
    first, second = folded(one), folded(other)
    return tokens(first, 0, len(first)).keys == tokens(second, 0, len(second)).keys


def lies_in_a_token(text: str, start: int, end: int) -> bool:
    """Whether a stretch holds no end of a token: it is a part of one that goes on before it or behind it."""
    if any(map(str.isspace, text[start:end])):
        return False
    part = tokens(text, max(0, start - _BESIDE), min(len(text), end + _BESIDE))
    return any(
        first <= start and end <= last and last - first > end - start
        for first, last in zip(part.starts, part.ends, strict=True)
    )
