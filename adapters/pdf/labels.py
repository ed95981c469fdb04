"""The labels printed on the pages: the number tree at `/PageLabels` (ISO 32000-2, 7.9.7 and 12.4.2).

pypdf reads it too, but its labels have no limit in length, and a tree made for it takes minutes.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pypdf import PdfReader

#: A tree of more nodes is not read.
NODES_LIMIT = 10_000
#: Roman numbers and letters get longer with their value: none is printed beyond these.
ROMAN_LIMIT = 5_000
LETTERS_LIMIT = 26 * 20

_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


@frozen
class Numbering:
    """How the pages from one on are numbered, until the next one that says otherwise."""

    prefix: str = ""
    style: str = ""
    first: int = 1

    def label(self, offset: int) -> str:
        spell = _STYLES.get(self.style)
        return self.prefix + (spell(self.first + offset) if spell else "")


def page_labels(reader: "PdfReader", count: int) -> tuple[str, ...]:
    """A label for each of `count` pages, "" where the file has none. Raises whatever a malformed tree leads to."""
    if "/PageLabels" not in reader.root_object:
        return ("",) * count
    numberings = dict(_entries(reader.root_object["/PageLabels"]))
    labels, begun, current = [], 0, None
    for page in range(count):
        if page in numberings:
            begun, current = page, numberings[page]
        labels.append(current.label(page - begun) if current else "")
    return tuple(labels)


def _entries(root: Any) -> "Iterator[tuple[int, Numbering]]":
    waiting = [root]
    for _ in range(NODES_LIMIT):
        if not waiting:
            return
        node = waiting.pop().get_object()
        numbers = node.get("/Nums", ())
        for key, value in zip(numbers[::2], numbers[1::2], strict=False):
            yield int(key.get_object()), _numbering(value.get_object())
        waiting.extend(reversed(node.get("/Kids", ())))
    raise ValueError(f"more than {NODES_LIMIT} nodes")


def _numbering(found: Any) -> Numbering:
    prefix, style, first = found.get("/P", ""), found.get("/S", ""), found.get("/St", 1)
    if not (isinstance(prefix, str) and isinstance(style, str) and isinstance(first, int) and 0 < first < 10**9):
        raise TypeError("not a page label")
    return Numbering(str(prefix)[:100], str(style), int(first))


def _roman(number: int) -> str:
    if number > ROMAN_LIMIT:
        return ""
    spelled = []
    for value, letters in _ROMAN:
        spelled.append(letters * (number // value))
        number %= value
    return "".join(spelled)


def _letters(number: int) -> str:
    if number > LETTERS_LIMIT:
        return ""
    again, letter = divmod(number - 1, 26)
    return chr(ord("a") + letter) * (again + 1)


_STYLES: dict[str, Callable[[int], str]] = {
    "/D": str,
    "/r": _roman,
    "/R": lambda number: _roman(number).upper(),
    "/a": _letters,
    "/A": lambda number: _letters(number).upper(),
}
