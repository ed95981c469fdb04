"""Two versions of a passage, word by word, for a person to read."""

from enum import StrEnum

from attrs import frozen


class Change(StrEnum):
    """What became of a stretch."""

    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"


@frozen
class DiffPart:
    """A stretch of the old text, of the new one, or of both."""

    change: Change
    text: str


def word_diff(old: str, new: str) -> tuple[DiffPart, ...]:
    """What is the same, removed and added, in order.

    The parts that are not `ADDED` make up the old text, those that are not `REMOVED` the new one.
    """
    return (DiffPart(Change.REMOVED, old), DiffPart(Change.ADDED, new))
