"""What an extractor makes of the bytes of a source, or why it makes nothing of them. Nothing here reads a format."""

from collections.abc import Iterable
from enum import StrEnum
from itertools import pairwise

from attrs import evolve, field, frozen

from groundkit.core.fingerprint import digest_of
from groundkit.core.outline import HEADING_LIMIT, Heading
from groundkit.core.result import Failure, Result, Success

#: Longer titles and page labels are cut, in code points; an anchor with a longer name is left out: cut, it leads nowhere.
TITLE_LIMIT = 500
LABEL_LIMIT = 40
ANCHOR_LIMIT = 200
#: So many losses are named; how many more there are is said in one.
LOSSES_LIMIT = 20
LOSS_LIMIT = 300


@frozen
class Hint:
    """What is known of the bytes from outside: the media type of their source, and a charset that a transport declared."""

    media_type: str
    charset: str | None = None


@frozen
class Page:
    """Where a page's text begins, in code points, and the label printed on it where the file has one."""

    start: int
    label: str = ""


@frozen
class Anchor:
    """The `id` of an element and where its text begins, in code points."""

    start: int
    name: str


@frozen
class Extraction:
    """The text of a source, and what is known of its places.

    `pages` and `anchors` ascend by start, several may share one; `headings` ascend and are disjoint: `start` is where the
    heading's text begins, `end` where what follows it does. `losses` are sentences about what is not in the text, or not
    as it stands in the source; `incomplete` says that text is missing.
    """

    text: str = field(repr=False)
    title: str = ""
    pages: tuple[Page, ...] = ()
    headings: tuple[Heading, ...] = ()
    anchors: tuple[Anchor, ...] = field(default=(), repr=False)
    losses: tuple[str, ...] = ()
    incomplete: bool = False


class ExtractionProblem(StrEnum):
    ENCRYPTED = "encrypted"
    DAMAGED = "damaged"
    NO_TEXT = "no_text"
    CHARSET = "charset"
    TIME = "time"
    CPU = "cpu"
    MEMORY = "memory"
    DIED = "died"
    RAISED = "raised"
    BROKEN_RESULT = "broken_result"
    NOT_LOADED = "not_loaded"
    NEEDS_PACKAGE = "needs_package"
    IDENTITY_CHANGED = "identity_changed"


@frozen
class ExtractionFailed:
    """Why there is no text: `detail` is a sentence's worth of facts, with the way out where there is one."""

    problem: ExtractionProblem
    detail: str

    @property
    def passing(self) -> bool:
        """Whether the same bytes may well be extracted at another time."""
        return self.problem in (ExtractionProblem.TIME, ExtractionProblem.DIED, ExtractionProblem.IDENTITY_CHANGED)


@frozen
class ExtractorMissing:
    """No extractor is at work for a media type: what is not installed, or too old, and the command that mends it, if any."""

    media_type: str
    detail: str
    command: str = ""

    @property
    def said(self) -> str:
        return f"{self.detail}; {self.command}" if self.command else self.detail


#: The way out where nothing that comes with groundkit reads a format.
ONE_OF_YOUR_OWN = "install a package that offers one, or give one in Python: extractors=[…]"


@frozen
class IncompleteRefused:
    """Text of a source is missing, and the request was not to take it so."""

    losses: tuple[str, ...]


@frozen
class NotExtracted:
    """A source whose text was not taken, and why."""

    source: str
    why: ExtractionFailed | ExtractorMissing | IncompleteRefused

    @property
    def reason(self) -> str:
        match self.why:
            case ExtractionFailed(problem):
                return problem.value
            case ExtractorMissing():
                return "extractor_missing"
            case IncompleteRefused():
                return "incomplete"

    @property
    def detail(self) -> str:
        match self.why:
            case ExtractionFailed(_, detail):
                return detail
            case ExtractorMissing() as missing:
                return missing.said
            case IncompleteRefused(losses):
                return f"its text is incomplete: {'; '.join(losses)}"


_REPLACED = {0: "\ufffd"} | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


def clean(text: str) -> str:
    """NUL and lone surrogates, which neither a store nor UTF-8 takes, as U+FFFD each: no offset moves."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.translate(_REPLACED)
    return text.replace("\0", "\ufffd") if "\0" in text else text


def _line(text: str, limit: int) -> str:
    return " ".join(clean(text).split())[:limit].rstrip()


def told(losses: Iterable[str]) -> tuple[str, ...]:
    """Each loss once, in order, short, and not more of them than anybody reads."""
    known = list(dict.fromkeys(_line(each, LOSS_LIMIT) for each in losses))
    if len(known) <= LOSSES_LIMIT:
        return tuple(known)
    return (*known[: LOSSES_LIMIT - 1], f"and {len(known) - LOSSES_LIMIT + 1} more")


def checked(extraction: Extraction) -> Result[Extraction, ExtractionFailed]:
    """The extraction as it may be stored: every text in it clean and bounded, every place within the text and in order."""
    length = len(extraction.text)
    wrong = _wrong_places("pages", [each.start for each in extraction.pages], length)
    wrong = wrong or _wrong_places("anchors", [each.start for each in extraction.anchors], length)
    wrong = wrong or _wrong_headings(extraction.headings, length)
    if wrong:
        return Failure(ExtractionFailed(ExtractionProblem.BROKEN_RESULT, wrong))
    return Success(
        evolve(
            extraction,
            text=clean(extraction.text),
            title=_line(extraction.title, TITLE_LIMIT),
            pages=tuple(Page(each.start, _line(each.label, LABEL_LIMIT)) for each in extraction.pages),
            headings=tuple(evolve(each, text=_line(each.text, HEADING_LIMIT)) for each in extraction.headings),
            anchors=tuple(Anchor(each.start, clean(each.name)) for each in extraction.anchors if _usable(each.name)),
            losses=told(extraction.losses),
        )
    )


def _usable(name: str) -> bool:
    return 0 < len(name) <= ANCHOR_LIMIT and not any(map(str.isspace, name))


def _wrong_places(what: str, starts: list[int], length: int) -> str | None:
    if any(not 0 <= each <= length for each in starts):
        return f"{what} lie outside the text"
    return f"{what} are not in order" if any(one > other for one, other in pairwise(starts)) else None


def _wrong_headings(headings: tuple[Heading, ...], length: int) -> str | None:
    if any(not (0 <= each.start <= each.end <= length and 1 <= each.level <= 6) for each in headings):
        return "headings lie outside the text, or have no level from 1 to 6"
    overlapping = any(one.end > other.start or one.start == other.start for one, other in pairwise(headings))
    return "headings overlap or are not in order" if overlapping else None


def extraction_digest(extraction: Extraction) -> str:
    """SHA-256 in hex over all of it. Two extractions with one digest give the same document, to the last page and heading."""
    places = [f"{len(group)}" for group in (extraction.pages, extraction.headings, extraction.anchors)]
    fields = [extraction.text, extraction.title, *places]
    fields += [cell for each in extraction.pages for cell in (str(each.start), each.label)]
    fields += [cell for each in extraction.headings for cell in (f"{each.level} {each.start} {each.end}", each.text)]
    fields += [cell for each in extraction.anchors for cell in (str(each.start), each.name)]
    return digest_of((*fields, *extraction.losses, str(extraction.incomplete)))
