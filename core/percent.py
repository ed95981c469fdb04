"""Percent-encoding (RFC 3986, 2.1) of text as UTF-8."""

from typing import Final

UNRESERVED: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
#: Of a path nothing but its "/" is kept, so that no name becomes a scheme, a host, a query or a fragment.
IN_PATH: Final = UNRESERVED | {0x2F}
#: What was encoded when a URL was given stays as it is.
IN_URL: Final = frozenset(range(0x21, 0x7F)) - frozenset(b'"<>\\^`{|}')


def encoded(text: str, kept: frozenset[int] = UNRESERVED) -> str:
    """Printable ASCII. Bytes of a file name that are no UTF-8 (`surrogateescape`) stay the bytes they are."""
    return "".join(chr(byte) if byte in kept else f"%{byte:02X}" for byte in _octets(text))


def _octets(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
