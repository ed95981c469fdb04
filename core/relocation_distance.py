"""How far two short texts are apart: Levenshtein distances, many columns of the table at once.

One integer holds a whole row of the table (Myers 1999, in the form of Hyyrö 2003), so a code point of the text costs a handful of
operations on numbers as long as the pattern.
"""

from collections.abc import Iterator

#: Code points of a pattern that one step of work on one code point of the other text covers.
_LANE = 256


def cost(pattern: int, text: int) -> int:
    """Steps of work that a comparison of texts of these lengths takes."""
    return (text + 1) * (1 + pattern // _LANE)


def _distances(pattern: str, text: str, anywhere: bool) -> Iterator[int]:
    """The distance of the pattern to the best stretch that ends behind each code point; it starts at 0, or `anywhere`."""
    places: dict[str, int] = {}
    for at, sign in enumerate(pattern):
        places[sign] = places.get(sign, 0) | 1 << at
    size = len(pattern)
    mask, last = (1 << size) - 1, 1 << size - 1
    more, less, score = mask, 0, size
    first = 0 if anywhere else 1
    for sign in text:
        here = places.get(sign, 0)
        down = here | less
        across = (((here & more) + more) ^ more) | here
        up = less | (~(across | more) & mask)
        back = more & across
        score += 1 if up & last else -1 if back & last else 0
        up = up << 1 | first
        back <<= 1
        more = (back | ~(down | up)) & mask
        less = up & down & mask
        yield score


def distance(one: str, other: str) -> int:
    """The number of insertions, deletions and substitutions of code points between two texts."""
    if not one or not other:
        return len(one) + len(other)
    shorter, longer = sorted((one, other), key=len)
    score = len(shorter)
    for score in _distances(shorter, longer, anywhere=False):  # noqa: B007
        pass
    return score


def likeness(one: str, other: str) -> float:
    """1 for equal texts, 0 for texts without anything in common: 1 − distance / longer length."""
    longest = max(len(one), len(other))
    return 1.0 if one == other else 1 - distance(one, other) / longest


def nearest_beginning(pattern: str, text: str) -> tuple[int, int]:
    """The length of the beginning of `text` that is nearest to the pattern, and its distance. The longest of equals."""
    best = (len(pattern), 0)
    if pattern:
        for at, score in enumerate(_distances(pattern, text, anywhere=False), 1):
            best = min(best, (score, -at))
    return -best[1], best[0]


def nearest_within(pattern: str, text: str) -> tuple[int, int, int]:
    """The stretch `[start, end)` of `text` that is nearest to the pattern, and its distance. The first of equals."""
    if not pattern or not text:
        return 0, 0, len(pattern)
    score, end = min((score, at) for at, score in enumerate(_distances(pattern, text, anywhere=True), 1))
    size, _ = nearest_beginning(pattern[::-1], text[:end][::-1][: 2 * len(pattern)])
    return end - size, end, score
