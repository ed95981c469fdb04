"""How far two short texts are apart: Levenshtein distances, many columns of the table at once.

One integer holds a whole row of the table (Myers 1999, in the form of Hyyrö 2003), so a code point of the text costs a handful of
operations on numbers as long as the pattern.
"""

#: Code points of a pattern that one step of work on one code point of the other text covers.
_LANE = 256


def cost(pattern: int, text: int) -> int:
    """Steps of work that a comparison of texts of these lengths takes."""
    return (text + 1) * (1 + pattern // _LANE)


def _distances(pattern: str, text: str, anywhere: bool) -> list[int]:
    """The distance of the pattern to the best stretch that ends behind each code point; it starts at 0, or `anywhere`."""
    places: dict[str, int] = {}
    for at, sign in enumerate(pattern):
        places[sign] = places.get(sign, 0) | 1 << at
    size = len(pattern)
    mask, last = (1 << size) - 1, 1 << size - 1
    more, less, score = mask, 0, size
    first = 0 if anywhere else 1
    scores = []
    for sign in text:
        here = places.get(sign, 0)
        down = here | less
        across = (((here & more) + more) ^ more) | here
        up = less | (~(across | more) & mask)
        back = more & across
        if up & last:
            score += 1
        elif back & last:
            score -= 1
        up = up << 1 | first
        more = (back << 1 | ~(down | up)) & mask
        less = up & down & mask
        scores.append(score)
    return scores


def distance(one: str, other: str) -> int:
    """The number of insertions, deletions and substitutions of code points between two texts."""
    shorter, longer = _differing(*sorted((one, other), key=len))
    return _distances(shorter, longer, anywhere=False)[-1] if shorter else len(longer)


def _differing(one: str, other: str) -> tuple[str, str]:
    """What is left of two texts without what both begin and end with."""
    head = next((at for at, (sign, there) in enumerate(zip(one, other, strict=False)) if sign != there), len(one))
    one, other = one[head:], other[head:]
    pairs = zip(reversed(one), reversed(other), strict=False)
    tail = next((at for at, (sign, there) in enumerate(pairs) if sign != there), len(one))
    return one[: len(one) - tail], other[: len(other) - tail]


def likeness(one: str, other: str) -> float:
    """1 for equal texts, 0 for texts without anything in common: 1 − distance / longer length."""
    longest = max(len(one), len(other))
    return 1.0 if one == other else 1 - distance(one, other) / longest


def nearest_beginning(pattern: str, text: str) -> tuple[int, int]:
    """The length of the beginning of `text` that is nearest to the pattern, and its distance. The longest of equals."""
    if text.startswith(pattern):
        return len(pattern), 0
    scores = _distances(pattern, text, anywhere=False)
    score = min(scores, default=len(pattern))
    if score > len(pattern):
        return 0, len(pattern)
    return (len(scores) - scores[::-1].index(score) if scores else 0), score


def nearest_within(pattern: str, text: str, most: int) -> tuple[int, int, int] | None:
    """The stretch `[start, end)` of `text` that is nearest to the pattern, and its distance. The first of equals.

    None where even that one is farther away than `most`.
    """
    at = text.find(pattern)
    if at >= 0:
        return at, at + len(pattern), 0
    if not text:
        return (0, 0, len(pattern)) if len(pattern) <= most else None
    scores = _distances(pattern, text, anywhere=True)
    score = min(scores)
    if score > most:
        return None
    end = scores.index(score) + 1
    size, _ = nearest_beginning(pattern[::-1], text[:end][::-1][: 2 * len(pattern)])
    return end - size, end, score


def ends_within(pattern: str, text: str) -> list[int]:
    """How far the pattern is from the nearest stretch of `text` that ends behind each of its code points."""
    return _distances(pattern, text, anywhere=True) if pattern else [0] * len(text)
