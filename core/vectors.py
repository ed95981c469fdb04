"""How near unrelated passages of a collection are: the level above which a cosine means something. ADR 0033, ADR 0034."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import TypeVar

from groundkit.core.embedding import cosine

#: Passages that are compared with each other, and the part of their pairs that the level is not below.
SAMPLE, UNRELATED = 512, (95, 100)

T = TypeVar("T")


def sample(named: Iterable[tuple[str, T]]) -> list[T]:
    """Of things with their chunk ids, those with the smallest ids: the same ones whatever the order or way they came."""
    return [each for _, each in sorted(named, key=lambda pair: pair[0])[:SAMPLE]]


def level_of(named: Iterable[tuple[str, bytes]]) -> float:
    """The cosine that pairs of chunks seldom exceed, by id and vector. Chunk ids are digests, so the sample is as if drawn.

    1.0 where there are no pairs.
    """
    return level([cosine(one, other) for one, other in combinations(sample(named), 2)])


def level(cosines: Sequence[float]) -> float:
    """The smallest of the cosines (rounded) that the part `UNRELATED` of them does not exceed; 1.0 without any."""
    return sorted(cosines)[place(len(cosines))] if cosines else 1.0


def place(count: int) -> int:
    """Where the level stands among so many cosines in ascending order, at least one."""
    part, whole = UNRELATED
    return -(-count * part // whole) - 1
