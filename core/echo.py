"""The echo check: passages with markers that nobody can guess, questions about them, and what an answer's citations show.

Only a passage that was found can have told a marker, so an answer is scored by what its citations resolve to, not by what
it says. Everything here follows from a seed.
"""

import re
from base64 import b32encode
from collections import Counter
from collections.abc import Collection, Sequence
from enum import StrEnum
from hashlib import sha256
from typing import Final

from attrs import frozen

#: 100 bits each.
MARKER_LENGTH: Final = 20
_MARKER = re.compile(rf"(?<![A-Z2-7])[A-Z2-7]{{{MARKER_LENGTH}}}(?![A-Z2-7])")

_KINDS = (
    "amber",
    "birch",
    "copper",
    "dusty",
    "ebony",
    "frosted",
    "granite",
    "hollow",
    "ivory",
    "jade",
    "lunar",
    "marble",
)
_THINGS = ("lighthouse", "windmill", "observatory", "greenhouse", "foundry", "aqueduct", "bakery", "harbour")
#: Some things of every kind are nowhere: what absent questions ask for.
_PLANTED = _THINGS[:6]

#: How many subjects there are with a passage; each needs another one, its decoy.
MOST_SUBJECTS: Final = len(_KINDS) * len(_PLANTED)
#: How many subjects there are words for and no passage.
MOST_ABSENT: Final = len(_KINDS) * (len(_THINGS) - len(_PLANTED))

_PADDING = (
    "Keepers write it on the first page of the log and read it out at every change of the watch.",
    "It is asked for at the gate, and whoever does not know it waits outside until the morning.",
    "Nobody remembers who chose it, and it has not been changed since the records were begun.",
    "A copy lies in the archive of the town, sealed, and is compared with the log once a year.",
)


class EchoOutcome(StrEnum):
    """What the citations of an answer show. Only `RIGHT` is one."""

    RIGHT = "right"
    DECOY = "decoy"
    WRONG = "wrong_passage"
    WIDE = "too_wide"
    UNCITED = "no_citation"
    UNRESOLVABLE = "unresolvable"
    UNSUPPORTED = "unsupported_marker"
    INVENTED = "invented"
    FAILED = "failed"


@frozen
class EchoQuestion:
    """A question about a subject, its marker and that of its decoy; both None where no passage has an answer."""

    id: str
    text: str
    subject: str
    marker: str | None
    decoy: str | None


@frozen
class EchoDocument:
    """A Markdown document with a few passages of a marker each."""

    source: str
    text: str


@frozen
class EchoPlan:
    seed: str
    documents: tuple[EchoDocument, ...]
    questions: tuple[EchoQuestion, ...]


@frozen
class EchoCited:
    """A citation of an answer, looked at: the text of its passage, None where it does not resolve, and why not."""

    text: str | None
    why: str = ""


@frozen
class EchoRow:
    """A question, and what its answer came to."""

    question: EchoQuestion
    outcome: EchoOutcome
    detail: str


@frozen
class EchoReport:
    """All questions asked. `score` is the share of right answers, 1.0 at best."""

    seed: str
    rows: tuple[EchoRow, ...]

    @property
    def right(self) -> int:
        return sum(row.outcome is EchoOutcome.RIGHT for row in self.rows)

    @property
    def score(self) -> float:
        return self.right / len(self.rows) if self.rows else 0.0

    @property
    def counts(self) -> dict[str, int]:
        """How many answers had each outcome, in the order of `EchoOutcome`, without those that had none."""
        found = Counter(row.outcome for row in self.rows)
        return {outcome.value: found[outcome] for outcome in EchoOutcome if found[outcome]}


def marker_of(seed: str, number: int) -> str:
    """The marker of this number: 20 letters and digits of base 32 from the SHA-256 of both."""
    return b32encode(sha256(f"{seed}\n{number}".encode()).digest()).decode("ascii")[:MARKER_LENGTH]


def echo_plan(seed: str, subjects: int = 12, per_document: int = 4, absent: int = 2) -> EchoPlan:
    """Documents and questions: an even number of `subjects`, each the decoy of another; `absent` ones that no passage has.

    A subject and its decoy are the same kind of thing, in the same sentence, in different places. ValueError beyond what
    there are words for.
    """
    if not (2 <= subjects <= MOST_SUBJECTS and subjects % 2 == 0):
        raise ValueError(f"subjects must be an even number from 2 to {MOST_SUBJECTS}")
    if per_document < 1 or not 0 <= absent <= MOST_ABSENT:
        raise ValueError(f"per_document must be 1 or more, absent 0 to {MOST_ABSENT}")
    names = [_subject(number) for number in range(subjects)]
    markers = [marker_of(seed, number) for number in range(subjects)]
    passages = [_passage(name, marker) for name, marker in zip(names, markers, strict=True)]
    # First all of the even numbers, then all of the odd ones: a decoy stands far from what it is the decoy of.
    order = (*range(0, subjects, 2), *range(1, subjects, 2))
    documents = tuple(
        EchoDocument(f"echo-{place // per_document + 1:02}.md", _document([passages[n] for n in group]))
        for place in range(0, subjects, per_document)
        for group in (order[place : place + per_document],)
    )
    asked = [
        EchoQuestion(f"q{n + 1:02}", _question(names[n]), names[n], markers[n], markers[n ^ 1]) for n in range(subjects)
    ]
    nowhere = [f"{_KINDS[n % len(_KINDS)]} {_THINGS[len(_PLANTED) + n // len(_KINDS)]}" for n in range(absent)]
    none = [EchoQuestion(f"a{n + 1:02}", _question(name), name, None, None) for n, name in enumerate(nowhere)]
    return EchoPlan(seed, documents, (*asked, *none))


def _subject(number: int) -> str:
    """Two neighbours (0 and 1, 2 and 3 …) share their kind and differ in the thing."""
    pair, second = divmod(number, 2)
    kind, thing = pair % len(_KINDS), pair // len(_KINDS)
    return f"{_KINDS[kind]} {_PLANTED[2 * thing + second]}"


def _question(subject: str) -> str:
    return f"What is the code of the {subject}?"


def _passage(subject: str, marker: str) -> str:
    padding = " ".join(_PADDING)
    return f"## The {subject}\n\nThe code of the {subject} is {marker}. {padding}\n"


def _document(passages: Sequence[str]) -> str:
    return "# Codes\n\n" + "\n".join(passages)


def markers_in(text: str) -> frozenset[str]:
    """Everything in a text that looks like a marker."""
    return frozenset(_MARKER.findall(text))


def echo_outcome(question: EchoQuestion, answer: str, cited: Sequence[EchoCited]) -> tuple[EchoOutcome, str]:
    """What an answer came to, and a sentence about it. The first fault of these is told: a citation that does not resolve,
    a decoy, another passage, one too wide, a marker that no citation supports."""
    said = markers_in(answer)
    if question.marker is None:
        return _absent(said, cited)
    if not cited:
        return _uncited(said)
    lost = [each for each in cited if each.text is None]
    if lost:
        return EchoOutcome.UNRESOLVABLE, lost[0].why or "a citation does not resolve"
    shown = [markers_in(each.text or "") for each in cited]
    fault = _misplaced(question.marker, question.decoy, shown)
    if fault is not None:
        return fault
    if said - {question.marker}:
        return EchoOutcome.UNSUPPORTED, "the answer names a marker that no cited passage has"
    return EchoOutcome.RIGHT, "every cited passage has the marker"


def _absent(said: Collection[str], cited: Sequence[EchoCited]) -> tuple[EchoOutcome, str]:
    if cited:
        return EchoOutcome.INVENTED, "no passage has an answer, and one is cited"
    if said:
        return EchoOutcome.INVENTED, "no passage has an answer, and the answer names a marker"
    return EchoOutcome.RIGHT, "nothing is cited, as there is no answer"


def _uncited(said: Collection[str]) -> tuple[EchoOutcome, str]:
    if said:
        return EchoOutcome.UNSUPPORTED, "the answer names a marker and cites nothing"
    return EchoOutcome.UNCITED, "nothing is cited"


def _misplaced(marker: str, decoy: str | None, shown: Sequence[Collection[str]]) -> tuple[EchoOutcome, str] | None:
    if any(decoy in each for each in shown):
        return EchoOutcome.DECOY, "a cited passage has the marker of the decoy"
    if any(marker not in each for each in shown):
        return EchoOutcome.WRONG, "a cited passage does not have the marker"
    if any(len(each) > 1 for each in shown):
        return EchoOutcome.WIDE, "a cited passage has other markers too"
    return None
