"""A text whose code points know where they come from, so that the truth about an edited passage is known and not guessed."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random

#: The origin of code points that the old text does not have.
NEW = -1
WORDS = [
    "time",
    "year",
    "people",
    "way",
    "day",
    "man",
    "thing",
    "woman",
    "life",
    "child",
    "world",
    "school",
    "state",
    "family",
    "student",
    "group",
    "country",
    "problem",
    "hand",
    "part",
    "place",
    "case",
    "week",
    "company",
    "system",
    "program",
    "question",
    "work",
    "number",
    "night",
    "point",
    "home",
    "water",
    "room",
    "mother",
    "area",
    "money",
    "story",
    "fact",
    "month",
    "lot",
    "right",
    "study",
    "book",
    "eye",
    "job",
    "word",
    "business",
    "issue",
    "side",
    "kind",
    "head",
    "house",
    "service",
    "friend",
    "father",
    "power",
    "hour",
    "game",
    "line",
    "end",
    "member",
    "law",
    "car",
    "city",
    "community",
    "name",
]
#: A word of ASCII, or one letter of another script: what an edit takes at once.
_ITEM = re.compile(r"[0-9A-Za-z]+|[^\W\x00-\x7f_]")


@dataclass(frozen=True)
class Marked:
    """A text, and for each code point the offset in the old text that it comes from, or stands in place of."""

    text: str
    origins: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.text)

    def __add__(self, other: "Marked") -> "Marked":
        return Marked(self.text + other.text, self.origins + other.origins)

    def part(self, start: int, end: int | None = None) -> "Marked":
        return Marked(self.text[start:end], self.origins[start:end])

    def without(self, start: int, end: int) -> "Marked":
        return self.part(0, start) + self.part(end)

    def with_inserted(self, at: int, other: "Marked") -> "Marked":
        return self.part(0, at) + other + self.part(at)

    def edited(self, start: int, end: int, edit: Callable[["Marked"], "Marked"]) -> "Marked":
        return self.part(0, start) + edit(self.part(start, end)) + self.part(end)


def original(text: str, start: int = 0) -> Marked:
    return Marked(text, tuple(range(start, start + len(text))))


def new(text: str) -> Marked:
    return Marked(text, (NEW,) * len(text))


def _joined(parts: Iterable[Marked]) -> Marked:
    found = list(parts)
    return Marked("".join(part.text for part in found), tuple(at for part in found for at in part.origins))


def _written(text: str, origin: int) -> Marked:
    return Marked(text, (origin,) * len(text))


def paragraphs(text: str) -> list[tuple[int, int]]:
    """`[start, end)` of what blank lines part, without them."""
    found, at = [], 0
    for part in text.split("\n\n"):
        if part.strip():
            found.append((at, at + len(part)))
        at += len(part) + 2
    return found


def enclosing(text: str, start: int, end: int) -> tuple[int, int]:
    """The paragraphs that a stretch touches."""
    first = text.rfind("\n\n", 0, start)
    last = text.find("\n\n", end)
    return (0 if first < 0 else first + 2), (len(text) if last < 0 else last)


def reworded(chance: Random, part: Marked, share: float) -> Marked:
    """Of the words (letters, in other scripts) this share is replaced (60 %), followed by another (20 %), or dropped (20 %)."""
    done, at = [], 0
    for match in _ITEM.finditer(part.text):
        if chance.random() >= share:
            continue
        done.append(part.part(at, match.start()))
        done.append(_reworded(chance, part.part(match.start(), match.end())))
        at = match.end()
    return _joined([*done, part.part(at)])


def _reworded(chance: Random, item: Marked) -> Marked:
    kind, origin = chance.random(), item.origins[0]
    if kind >= 0.8:
        return new("")
    if item.text.isascii():
        word = chance.choice(WORDS)
        return _written(word, origin) if kind < 0.6 else item + _written(f" {word}", origin)
    code = ord(item.text)
    return _written(chr(code + 1), origin) if kind < 0.6 else item + _written(chr(code + 2), origin)


def misspelt(chance: Random, part: Marked, share: float) -> Marked:
    """Of the code points this share is replaced (50 %), followed by another (25 %), or dropped (25 %)."""
    done = []
    for at in range(len(part)):
        sign = part.part(at, at + 1)
        if chance.random() < share:
            kind, letter = chance.random(), _written(chance.choice("abcdefghij"), part.origins[at])
            sign = letter if kind < 0.5 else sign + letter if kind < 0.75 else new("")
        done.append(sign)
    return _joined(done)


def rewrapped(chance: Random, part: Marked) -> Marked:
    """Lines of another width. In scripts without blanks a line breaks between any two letters."""
    width, column, text = chance.choice((40, 60, 100)), 0, part.text
    signs: list[str] = []
    origins: list[int] = []
    for at, sign in enumerate(text):
        near = text[max(0, at - 1) : at + 2]
        if sign == " " or (sign == "\n" and "\n\n" not in near):
            sign = "\n" if column > width else " "
        elif column > width and sign > "\u2e80" and at and text[at - 1] > "\u2e80":
            signs.append("\n")
            origins.append(part.origins[at])
            column = 0
        column = 0 if sign == "\n" else column + 1
        signs.append(sign)
        origins.append(part.origins[at])
    return Marked("".join(signs), tuple(origins))


def rejoined(part: Marked) -> Marked:
    """One blank for each run of white space: the whole text on one line."""
    kept = [at for at, sign in enumerate(part.text) if not (sign.isspace() and at and part.text[at - 1].isspace())]
    text = "".join(" " if part.text[at].isspace() else part.text[at] for at in kept)
    return Marked(text, tuple(part.origins[at] for at in kept))


def spelt(part: Marked, form: Callable[[str], str]) -> Marked:
    """Each code point in another form of it."""
    return _joined(_written(form(sign), at) for sign, at in zip(part.text, part.origins, strict=True))


def decomposed(sign: str) -> str:
    return unicodedata.normalize("NFKD", sign)


def revised(chance: Random, text: Marked, count: int) -> Marked:
    """The text after other edits, anywhere: a paragraph put in, taken out, reworded by a fifth, or moved."""
    for _ in range(count):
        found = paragraphs(text.text)
        if len(found) < 6:
            return text
        start, end = chance.choice(found)
        kind = chance.randrange(4)
        if kind == 0:
            text = text.with_inserted(start, new(" ".join(chance.choices(WORDS, k=chance.randrange(5, 60))) + ".\n\n"))
        elif kind == 1:
            text = text.without(start, end + 2)
        elif kind == 2:
            text = text.edited(start, end, lambda part: reworded(chance, part, 0.2))
        else:
            text = moved(chance, text, start, end)
    return text


def moved(chance: Random, text: Marked, start: int, end: int, share: float = 0.0) -> Marked:
    """The text with a paragraph put before another one, this share of its words edited."""
    block, rest = text.part(start, end), text.without(start, end + 2)
    block = reworded(chance, block, share) if share else block
    found = paragraphs(rest.text)
    return rest.with_inserted(chance.choice(found)[0] if found else 0, block + new("\n\n"))
