"""Extractions and failures as bytes: JSON, because whoever read hostile bytes must not be able to send us a pickle.

UTF-8 with lone surrogates let through, and JSON that escapes no more than it must: so every text comes back as it was.
"""

import json
from typing import Any, TypeAlias

from groundkit.core.extraction import Anchor, Extraction, ExtractionFailed, ExtractionProblem, Page
from groundkit.core.outline import Heading

Coded: TypeAlias = Extraction | ExtractionFailed


def encode(value: Coded) -> bytes:
    """The value as bytes. Raises TypeError, ValueError or AttributeError where a field is of another type."""
    return json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _plain(value: Coded) -> list[object]:
    if isinstance(value, ExtractionFailed):
        return ["failed", value.problem, value.detail]
    return [
        "extraction",
        value.text,
        value.title,
        [[each.start, each.label] for each in value.pages],
        [[each.level, each.text, each.start, each.end] for each in value.headings],
        [[each.start, each.name] for each in value.anchors],
        list(value.losses),
        value.incomplete,
    ]


def decode(payload: bytes) -> Coded | None:
    """What was encoded, or None: for bytes of any other kind too."""
    try:
        plain = json.loads(payload.decode("utf-8", "surrogatepass"))
        return _value(plain)
    except (ValueError, TypeError, RecursionError):
        return None


def _value(plain: Any) -> Coded | None:
    match plain:
        case ["failed", str(problem), str(detail)]:
            return ExtractionFailed(ExtractionProblem(problem), detail)
        case ["extraction", str(text), str(title), list(pages), list(headings), list(anchors), list(losses), bool(cut)]:
            return Extraction(
                text,
                title,
                tuple([Page(_int(start), _str(label)) for start, label in pages]),
                tuple([Heading(_int(level), _str(name), _int(a), _int(b)) for level, name, a, b in headings]),
                tuple([Anchor(_int(start), _str(name)) for start, name in anchors]),
                tuple([_str(each) for each in losses]),
                cut,
            )
        case _:
            return None


def _int(value: object) -> int:
    if type(value) is not int:
        raise TypeError
    return value


def _str(value: object) -> str:
    if type(value) is not str:
        raise TypeError
    return value
