"""A corpus made from a seed: Markdown files whose words follow Zipf's law, in nested folders. Same seed, same bytes."""

import random
from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

SEED = 20_240_501
VOCABULARY = 50_000
#: Zipf's law with Mandelbrot's shift, as English has it: the most frequent word is every sixteenth. Then the mean size.
EXPONENT, SHIFT = 1.07, 2.7
FILE_BYTES = 4_000

_ONSETS = ("b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "br", "cl", "gr", "st")
_VOWELS = ("a", "e", "i", "o", "u", "a", "e", "o", "ea", "ou")
_CODAS = ("", "", "", "n", "r", "s", "t", "l", "st")
_ENDINGS = ("", "", "", "", "s", "s", "ed", "ing", "er", "ation")


class Words:
    """The vocabulary, most frequent first, and draws from it."""

    def __init__(self, seed: int = SEED, size: int = VOCABULARY) -> None:
        self.words = _vocabulary(random.Random(seed), size)
        self._sums = list(accumulate(1 / (rank + SHIFT) ** EXPONENT for rank in range(1, size + 1)))

    def draw(self, chance: random.Random, count: int) -> list[str]:
        total, sums, words = self._sums[-1], self._sums, self.words
        return [words[bisect_left(sums, chance.random() * total)] for _ in range(count)]


def _vocabulary(chance: random.Random, size: int) -> list[str]:
    """Words that sound alike and stem; short ones are the frequent ones, as in languages."""
    made: dict[str, None] = {}
    while len(made) < size:
        syllables = 1 + (len(made) > 300) + (len(made) > 9_000 and chance.random() < 0.6)
        word = "".join(
            chance.choice(_ONSETS) + chance.choice(_VOWELS) + chance.choice(_CODAS) for _ in range(syllables)
        )
        made.setdefault(word + (chance.choice(_ENDINGS) if syllables > 1 else ""))
    return list(made)


def text(words: Words, seed: int, number: int) -> str:
    """One file: a title, sections with headings, paragraphs, now and then a list or a block of code."""
    chance = random.Random(seed * 1_000_003 + number)
    parts = [f"# {_heading(words, chance)}\n"]
    size, wanted = 0, int(FILE_BYTES * chance.uniform(0.6, 1.4))
    while size < wanted:
        part = _part(words, chance)
        size += len(part) + 1
        parts.append(part)
    return "\n".join(parts)


def _part(words: Words, chance: random.Random) -> str:
    kind = chance.random()
    if kind < 0.2:
        return f"{'#' * chance.choice((2, 2, 3))} {_heading(words, chance)}\n"
    if kind < 0.27:
        return "".join(f"- {_sentence(words, chance)}\n" for _ in range(chance.randint(2, 5)))
    if kind < 0.3:
        lines = (f"{' = '.join(words.draw(chance, 2))}(1)\n" for _ in range(chance.randint(2, 6)))
        return f"```\n{''.join(lines)}```\n"
    return " ".join(_sentence(words, chance) for _ in range(chance.randint(2, 7))) + "\n"


def _heading(words: Words, chance: random.Random) -> str:
    return " ".join(words.draw(chance, chance.randint(2, 5))).capitalize()


def _sentence(words: Words, chance: random.Random) -> str:
    drawn = words.draw(chance, chance.randint(5, 18))
    return f"{' '.join(drawn).capitalize()}."


def name(number: int) -> str:
    """Forty files to a folder, twenty folders to a folder."""
    return f"part{number // 800:03}/chapter{number // 40 % 20:02}/page{number:06}.md"


def make(directory: Path, files: int, seed: int = SEED) -> int:
    """Write the corpus; its size in bytes. One that stands there already is left."""
    done = directory.with_name(directory.name + ".size")
    if done.exists():
        return int(done.read_text())
    words, size = Words(seed), 0
    for number in range(files):
        path = directory / name(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        size += path.write_bytes(text(words, seed, number).encode())
    done.write_text(str(size))
    return size


def queries(words_each: int, count: int, seed: int = SEED) -> Iterator[str]:
    """Running text of the corpus: so many words in a row, stop words and all."""
    words, chance = Words(seed), random.Random(seed + words_each)
    for _ in range(count):
        yield " ".join(words.draw(chance, words_each))
