"""What checking the quotations of a text ends in."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from groundkit.core.model import Citation, Span, Verification
    from groundkit.core.portable import PortableCitation
    from groundkit.core.quote_matching import NearKind
    from groundkit.core.word_diff import DiffPart


class QuoteState(StrEnum):
    """How a quotation stands in its source."""

    EXACT = "exact"
    NEAR = "near"
    NOWHERE = "nowhere"


class MarkerState(StrEnum):
    """Whether what a mark points to is there."""

    OK = "ok"
    UNKNOWN = "unknown"


@frozen
class MarkerCheck:
    """A mark of a text: `[1]`, `[^a]`, a place, a chunk id. True when everything that it points to is there.

    `span` is in code points of the text, line and column from 1. `sources` are the sources it points to; `detail` says what
    is not there.
    """

    text: str
    span: Span
    line: int
    column: int
    state: MarkerState
    sources: tuple[str, ...] = ()
    detail: str = ""

    def __bool__(self) -> bool:
        return self.state is MarkerState.OK


@frozen
class QuoteCheck:
    """A quotation of a text and where it stands. True when it is exact there, and its source still says so.

    `span` is in code points of the text, without quotation marks; `quote` is without marks that stand in it. `found` is what
    stands at the citation, `found_parts` what of it stands for each part between ellipses, `kind` in what it differs and
    `similarity` how much (from 0 to 1), of a near one. `places` counts the exact places in the documents that were looked at.
    With marks, it must stand in a document that one of them points to: `elsewhere` is a citation of where it stands exactly
    although not there. Where in that document it should stand may have shifted, so `detail` only says it if it stands
    elsewhere in it. `verification` is None where nobody looked at the source.
    """

    quote: str
    span: Span
    line: int
    column: int
    state: QuoteState
    kind: NearKind | None = None
    similarity: float | None = None
    citation: Citation | None = None
    found: str | None = field(default=None, repr=False)
    places: int = 0
    markers: tuple[MarkerCheck, ...] = ()
    elsewhere: Citation | None = None
    verification: Verification | None = None
    detail: str = ""
    found_parts: tuple[str, ...] = field(default=(), repr=False)

    def __bool__(self) -> bool:
        return self.state is QuoteState.EXACT and bool(self.verification)

    @property
    def diff(self) -> tuple[DiffPart, ...]:
        """From what the source says to what is quoted, word by word; empty unless it is near."""
        from groundkit.core.word_diff import word_diff

        return () if self.state is not QuoteState.NEAR or self.found is None else word_diff(self.found, self.quote)


@frozen
class AnswerCheck:
    """All quotations and marks of a text, in order. True when every one of them holds.

    `passed_over` counts the quotations that were too short to be told from other use of quotation marks.
    """

    quotations: tuple[QuoteCheck, ...]
    markers: tuple[MarkerCheck, ...]
    passed_over: int = 0

    def __bool__(self) -> bool:
        return all(self.quotations) and all(self.markers)

    def count(self, state: QuoteState) -> int:
        return sum(1 for each in self.quotations if each.state is state)


@frozen
class CitedQuote:
    """One quotation as a citation: of the first place by (source, start) that has it letter for letter, out of `places`.

    White space counts as in every quotation: a run of it is one blank. False, without a citation, where it stands nowhere;
    `near` is then the nearest passage there is, if one is near.
    """

    quote: str
    citation: PortableCitation | None
    places: int = 0
    near: QuoteCheck | None = None

    def __bool__(self) -> bool:
        return self.citation is not None
