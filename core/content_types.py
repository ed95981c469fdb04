"""`Content-Type` headers read: media type and charset, as RFC 9110 (8.3.1) writes them and as browsers take them."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from groundkit.core.fetching import ContentType

_TOKEN: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_BLANK: Final = " \t"
_MEDIA_TYPE: Final = re.compile(rf"{_TOKEN}/{_TOKEN}")
_NAME: Final = re.compile(_TOKEN)
# A quoted string that is not closed goes on to the end, as in the MIME Sniffing standard (4.4).
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)("|\\?$)', re.DOTALL)
_PAIR: Final = re.compile(r"\\(.)", re.DOTALL)
#: More of a header than this is neither kept nor shown.
_SHOWN: Final = 200


def content_type(header: str) -> ContentType:
    """A header read. The media type is "" where there is none or it is malformed, which `said` tells apart.

    Of several charsets the first counts; a malformed parameter is passed over. Total.
    """
    said = _printable(header.strip(_BLANK))[:_SHOWN]
    essence, _, rest = header.partition(";")
    media_type = essence.strip(_BLANK).lower()
    if not _MEDIA_TYPE.fullmatch(media_type):
        return ContentType(said=said)
    return ContentType(media_type, _charset(rest), said)


def agreed(headers: Iterable[str]) -> str | None:
    """The one header among several, "" without any; None if they differ."""
    different = {header.strip(_BLANK).lower(): header for header in headers}
    if len(different) > 1:
        return None
    return next(iter(different.values()), "")


def _charset(parameters: str) -> str:
    found = (value for name, value in _parameters(parameters) if name == "charset" and value)
    charset = next(found, "").lower()
    return charset if charset.isascii() and charset.isprintable() else ""


def _parameters(text: str) -> Iterator[tuple[str, str]]:
    """Names in lower case with their values, unquoted."""
    at = 0
    while at < len(text):
        at = _past_blanks(text, at)
        end = _end_of(text, at, ";=")
        name = text[at:end].lower()
        if end == len(text) or text[end] == ";":
            at = end + 1
            continue
        value, at = _value(text, end + 1)
        if _NAME.fullmatch(name):
            yield name, value


def _value(text: str, at: int) -> tuple[str, int]:
    """A parameter's value that begins here, and where the next parameter does."""
    quoted = _QUOTED.match(text, at)
    if quoted:
        return _PAIR.sub(r"\1", quoted[1]), _end_of(text, quoted.end(), ";") + 1
    end = _end_of(text, at, ";")
    value = text[at:end].rstrip(_BLANK)
    return (value if _NAME.fullmatch(value) else ""), end + 1


def _past_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _end_of(text: str, at: int, stops: str) -> int:
    while at < len(text) and text[at] not in stops:
        at += 1
    return at


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text)
