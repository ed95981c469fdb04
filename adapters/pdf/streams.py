"""Contents of a page that end before their compressed data does. pypdf decodes what there is of them without a word."""

import zlib
from collections.abc import Iterator
from typing import Any

_STEP = 1 << 20
#: A zlib stream is two bytes, the deflated data, and four bytes of checksum, which says nothing of the data's end.
_HEADER = 2
_RAW = -15


def cut_short(page: Any) -> bool:
    """Whether deflated contents of the page have no end, or cannot be inflated to it."""
    return any(not _ends(raw) for raw in _deflated(page))


def _deflated(page: Any) -> Iterator[bytes]:
    contents = page.get("/Contents")
    contents = contents.get_object() if contents is not None else None
    for each in contents if isinstance(contents, list) else [contents]:
        stream: Any = each.get_object() if each is not None else None
        filters: Any = stream.get("/Filter") if hasattr(stream, "get") else None
        first = filters[0] if isinstance(filters, list) and filters else filters
        raw = getattr(stream, "_data", None)
        if first in ("/FlateDecode", "/Fl") and isinstance(raw, bytes) and raw:
            yield raw


def _ends(raw: bytes) -> bool:
    """Inflates in bounded steps and keeps nothing. Data that is no deflate at all is for pypdf to complain of."""
    inflating = zlib.decompressobj(_RAW)
    rest, begun = raw[_HEADER:], False
    while rest and not inflating.eof:
        try:
            begun = bool(inflating.decompress(rest, _STEP)) or begun
        except zlib.error:
            return not begun
        rest = inflating.unconsumed_tail
    return inflating.eof
