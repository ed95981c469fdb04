"""What a person typed, as a value. Total: every text is a query or is refused for its size."""

from attrs import frozen


@frozen
class LexicalQuery:
    """What the index is asked: any of `terms` (sorted, no duplicates) and all `phrases` (of two terms or more).

    `required` terms must stand in a match. Every term of a phrase and every required term is among `terms`.
    """

    terms: tuple[str, ...]
    required: tuple[str, ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()
