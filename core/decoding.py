"""The one way bytes become text, for ingest and for verification alike."""

import re
from enum import Enum

from attrs import frozen

from groundkit.core.result import Failure, Result, Success


class TextProblem(Enum):
    HOLDS_NUL = "holds_nul"
    NOT_UTF8 = "not_utf8"
    CUT_SHORT = "cut_short"


class Guess(Enum):
    """What the bytes look like instead. A help for a person; nothing is ever decoded by it."""

    UTF_16 = "UTF-16"
    UTF_32 = "UTF-32"
    WINDOWS_1252 = "Windows-1252"
    LATIN_1 = "ISO-8859-1"
    BINARY = "binary data"


@frozen
class NotText:
    """Bytes that are no text: what stands in the way, where (`offset` in bytes from 0, `line` from 1), and a guess."""

    problem: TextProblem
    offset: int
    line: int
    byte: int
    guess: Guess | None

    @property
    def detail(self) -> str:
        looks = f"; looks like {self.guess.value}" if self.guess else ""
        return f"{_SAID[self.problem]}: byte 0x{self.byte:02x} at offset {self.offset}, line {self.line}{looks}"


_SAID = {
    TextProblem.HOLDS_NUL: "holds NUL",
    TextProblem.NOT_UTF8: "not UTF-8",
    TextProblem.CUT_SHORT: "not UTF-8, the last character is cut short",
}
_MARKS = (
    (b"\xff\xfe\x00\x00", Guess.UTF_32),
    (b"\x00\x00\xfe\xff", Guess.UTF_32),
    (b"\xff\xfe", Guess.UTF_16),
    (b"\xfe\xff", Guess.UTF_16),
)
# Patterns are compiled when the first bytes that are no text are met.
_LINE_BREAK = rb"\r\n?|\n"
_CONTROL = rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]"
_NOT_IN_1252 = rb"[\x81\x8d\x8f\x90\x9d]"
_C1 = rb"[\x80-\x9f]"
#: Enough of a file to guess from.
_SAMPLE = 4096


def decode(data: bytes) -> Result[str, NotText]:
    """Strict UTF-8, a BOM kept as U+FEFF, no newline changed. NUL means binary, and so no text."""
    nul = data.find(0)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        if nul < 0 or error.start < nul:
            cut = error.reason == "unexpected end of data"
            return Failure(_not_text(TextProblem.CUT_SHORT if cut else TextProblem.NOT_UTF8, data, error.start))
    else:
        if nul < 0:
            return Success(text)
    return Failure(_not_text(TextProblem.HOLDS_NUL, data, nul))


def _not_text(problem: TextProblem, data: bytes, offset: int) -> NotText:
    line = 1 + sum(1 for _ in re.finditer(_LINE_BREAK, data[:offset]))
    guess = None if problem is TextProblem.CUT_SHORT else guess_encoding(data, offset)
    return NotText(problem, offset, line, data[offset], guess)


def guess_encoding(data: bytes, offset: int) -> Guess | None:
    """What bytes that are not UTF-8 from `offset` on might be."""
    for mark, guess in _MARKS:
        if data.startswith(mark):
            return guess
    sample = data[:_SAMPLE]
    if _every_other_is_nul(sample):
        return Guess.UTF_16
    around = data[max(0, offset - _SAMPLE // 2) : offset + _SAMPLE // 2]
    if re.search(_CONTROL, sample) or re.search(_CONTROL, around):
        return Guess.BINARY
    if not re.search(_C1, around):
        return Guess.LATIN_1
    return None if re.search(_NOT_IN_1252, around) else Guess.WINDOWS_1252


def _every_other_is_nul(sample: bytes) -> bool:
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    return half > 0 and (even > half * 0.4) != (odd > half * 0.4)
