"""Which hits of a document stand beside each other."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

from groundkit.core.model import Span

D = TypeVar("D", bound=Hashable)


def groups(hits: Sequence[tuple[D, Span]]) -> tuple[tuple[int, ...], ...]:
    """Numbers of hits (document, span) whose spans touch or overlap, directly or by others between; each group ascending.

    By document in the order of their first hit, then by the place in it. Every hit is in exactly one group.
    """
    of_document: dict[D, list[int]] = {}
    for number, (document, _) in enumerate(hits):
        of_document.setdefault(document, []).append(number)
    found: list[tuple[int, ...]] = []
    for numbers in of_document.values():
        end = -1
        for number in sorted(numbers, key=lambda each: (hits[each][1], each)):
            span = hits[number][1]
            if end >= 0 and span.start <= end:
                found[-1] = (*found[-1], number)
            else:
                found.append((number,))
            end = max(end, span.end)
    return tuple(tuple(sorted(group)) for group in found)
