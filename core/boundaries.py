"""Where a text may be cut without tearing apart what a reader sees as one character.

Close to the extended grapheme clusters of UAX 29, and stricter where it costs nothing: nothing is cut beside a ZWJ, or
before a mark that has no base. Left out are prepended marks (GB9b) and Indic conjuncts (GB9c), for which the standard
library has no data.
"""

import re
from bisect import bisect_right
from functools import cached_property
from unicodedata import category, unidata_version

from attrs import field, frozen

#: Part of the chunker's identity, since it decides where chunks end.
BOUNDARY_RULES = f"boundaries/1+unicode/{unidata_version}"

_ZWJ = "\u200d"
#: Not marks by category, yet they belong to what stands before them: ZWNJ, ZWJ, Thai and Lao AM, halfwidth kana marks.
_EXTENDERS = frozenset("\u200c\u200d\u0e33\u0eb3\uff9e\uff9f")
_REGIONAL_INDICATORS = re.compile("[\U0001f1e6-\U0001f1ff]+")
_SYLLABLES_PER_VOWEL = 28


def _extends(char: str) -> bool:
    return (
        category(char)[0] == "M"
        or char in _EXTENDERS
        or "\U0001f3fb" <= char <= "\U0001f3ff"  # emoji modifiers
        or "\U000e0020" <= char <= "\U000e007f"  # tag characters
    )


def _is_regional_indicator(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _hangul(char: str) -> str:
    """Hangul_Syllable_Type: L, V, T, LV, LVT, or empty."""
    if "\uac00" <= char <= "\ud7a3":
        return "LV" if (ord(char) - 0xAC00) % _SYLLABLES_PER_VOWEL == 0 else "LVT"
    if "\u1100" <= char <= "\u115f" or "\ua960" <= char <= "\ua97c":
        return "L"
    if "\u1160" <= char <= "\u11a7" or "\ud7b0" <= char <= "\ud7c6":
        return "V"
    if "\u11a8" <= char <= "\u11ff" or "\ud7cb" <= char <= "\ud7fb":
        return "T"
    return ""


#: UAX 29, GB6 to GB8: what may follow within one syllable.
_SYLLABLE_GOES_ON = {
    "": frozenset[str](),
    "L": frozenset(("L", "V", "LV", "LVT")),
    "V": frozenset(("V", "T")),
    "LV": frozenset(("V", "T")),
    "T": frozenset(("T",)),
    "LVT": frozenset(("T",)),
}


@frozen
class Boundaries:
    """The places where one text may be cut. All of it is linear in the text, also on a million flags."""

    text: str = field(repr=False)

    @cached_property
    def _flag_runs(self) -> list[int]:
        """Where runs of regional indicators begin: pairs are counted from there."""
        return [run.start() for run in _REGIONAL_INDICATORS.finditer(self.text)]

    def may_cut(self, at: int) -> bool:
        """Whether the text may end and begin at this offset. Its two ends are always allowed."""
        if not 0 < at < len(self.text):
            return True
        before, after = self.text[at - 1], self.text[at]
        if after < "\x80":
            return before != _ZWJ and not (after == "\n" and before == "\r")
        if before == _ZWJ or _extends(after):
            return False
        if before < "\x80":
            return True
        if _is_regional_indicator(after) and _is_regional_indicator(before):
            return self._between_flags(at)
        return _hangul(after) not in _SYLLABLE_GOES_ON[_hangul(before)]

    def _between_flags(self, at: int) -> bool:
        run = self._flag_runs[bisect_right(self._flag_runs, at) - 1]
        return (at - run) % 2 == 0

    def cut(self, low: int, wish: int, limit: int) -> int:
        """The greatest boundary in `(low, wish]`, else the least in `(wish, limit]`, else `limit`, a cut by force.

        `low < wish <= limit <= len(text)`, and at least two code points between `low` and `limit`: even by force a CRLF
        stays together.
        """
        for at in range(wish, low, -1):
            if self.may_cut(at):
                return at
        for at in range(wish + 1, limit + 1):
            if self.may_cut(at):
                return at
        in_crlf = self.text[limit - 1 : limit + 1] == "\r\n"
        return limit - 1 if in_crlf else limit
