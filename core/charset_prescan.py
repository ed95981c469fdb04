"""What charset a page says it is in: its meta elements, then its XML declaration.

The prescan of the HTML standard (13.2.3.2), which reads 1,024 bytes. Declarations further on are common, so here it goes
on to the end of the head. Up to byte 1,024 everything is as the standard says, which knows no scripts and no head.
"""

import re
from collections.abc import Iterator
from itertools import chain

#: As far as the standard looks.
STANDARD = 1024
#: As far as this looks, in bytes: a bound for pages whose head does not end.
LIMIT = 1 << 20

_MARKUP = re.compile(
    rb"<(?:(?P<comment>!--)|(?P<meta>meta)[\t\n\f\r /]|(?P<name>/?[a-z][^\t\n\f\r >]*+)|[!/?])", re.IGNORECASE
)
# A quoted value that is not closed takes all that is left, and so ends the scan.
_ATTRIBUTE = re.compile(
    rb"""[\t\n\f\r /]*+
    (?:([^\t\n\f\r />][^\t\n\f\r />=]*+)
       (?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:"([^"]*+)(?:"|\Z)|'([^']*+)(?:'|\Z)|([^"'\t\n\f\r >][^\t\n\f\r >]*+)?))?)?""",
    re.VERBOSE,
)
# Where the quote is not closed, no group matches.
_IN_CONTENT = re.compile(
    rb"""charset[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:"([^"]*+)"|'([^']*+)'|([^"'\t\n\f\r ;][^\t\n\f\r ;]*+))?""",
    re.IGNORECASE,
)
_XML_ENCODING = re.compile(rb"""encoding[\x00-\x20]*+=[\x00-\x20]*+(?:"([^"\x00-\x20]*+)"|'([^'\x00-\x20]*+)')""")

_RAW_TEXT = {b"script": re.compile(rb"</script", re.IGNORECASE), b"style": re.compile(rb"</style", re.IGNORECASE)}
_HEAD_ENDS = frozenset((b"/head", b"body"))


def declared_labels(data: bytes) -> Iterator[str]:
    """The labels a page declares, in the order in which they count. Linear in the size of the head, at most LIMIT."""
    window = data[:LIMIT]
    for label in chain(_meta_labels(window), _xml_labels(window)):
        yield label.decode("latin-1")


def _meta_labels(window: bytes) -> Iterator[bytes]:
    at = 0
    while match := _MARKUP.search(window, at):
        name = (match["name"] or b"").lower()
        beyond = match.start() >= STANDARD
        if beyond and name in _HEAD_ENDS:
            return
        found, at = _behind(window, match)
        if at < 0:
            return
        if match["meta"] and (label := _meta_label(found)) is not None:
            yield label
        if beyond and name in _RAW_TEXT:
            at = _start(_RAW_TEXT[name].search(window, at), len(window))


def _behind(window: bytes, match: re.Match[bytes]) -> tuple[dict[bytes, bytes], int]:
    """The attributes of a piece of markup and where it ends, -1 if it does not."""
    if match["comment"]:
        # The two hyphens that end a comment may be those that begin it.
        end = window.find(b"-->", match.start() + 2)
        return {}, end + 3 if end >= 0 else -1
    if match["meta"] or match["name"]:
        return _attributes(window, match.end())
    return {}, window.find(b">", match.end())


def _attributes(window: bytes, at: int) -> tuple[dict[bytes, bytes], int]:
    found: dict[bytes, bytes] = {}
    while (match := _ATTRIBUTE.match(window, at)) and match.end() < len(window):
        at = match.end()
        if match[1] is None:
            return found, at
        found.setdefault(match[1].lower(), match[2] or match[3] or match[4] or b"")
    return {}, -1


def _meta_label(attributes: dict[bytes, bytes]) -> bytes | None:
    if b"charset" in attributes:
        return attributes[b"charset"]
    if attributes.get(b"http-equiv", b"").lower() != b"content-type":
        return None
    return _label_in_content(attributes.get(b"content", b""))


def _label_in_content(content: bytes) -> bytes | None:
    match = _IN_CONTENT.search(content)
    return match and (match[1] or match[2] or match[3])


def _xml_labels(window: bytes) -> Iterator[bytes]:
    if not window.startswith(b"<?xml"):
        return
    declaration_end = window.find(b">")
    at = window.find(b"encoding", 0, max(declaration_end, 0))
    match = _XML_ENCODING.match(window, at) if at >= 0 else None
    if match:
        yield match[1] or match[2] or b""


def _start(match: re.Match[bytes] | None, otherwise: int) -> int:
    return match.start() if match else otherwise
