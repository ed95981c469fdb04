"""The one decision about the charset of a page: bytes become text, or a refusal says why not. See ADR 0014."""

from collections.abc import Iterator
from enum import Enum
from itertools import chain

from attrs import evolve, frozen

from groundkit.core.charset_labels import UTF_8, UTF_16BE, UTF_16LE, UTF_32BE, UTF_32LE, Charset, charset_of
from groundkit.core.charset_prescan import declared_labels
from groundkit.core.result import Failure, Result, Success


class DecidedBy(Enum):
    BOM = "bom"
    TRANSPORT = "transport"
    #: A meta element or the XML declaration.
    META = "meta"
    #: Nothing usable was declared, or the bytes are UTF-8 whatever was declared.
    UTF8 = "utf8"


@frozen
class DecodedHtml:
    """The text of a page without its byte order mark; `charset` is the Encoding standard's name in lower case."""

    text: str
    charset: str
    decided_by: DecidedBy


@frozen
class Misfit:
    """The first byte that does not fit a charset, `offset` in bytes from 0."""

    charset: str
    offset: int
    byte: int

    def __str__(self) -> str:
        return f"byte 0x{self.byte:02x} at offset {self.offset} does not fit {self.charset}"


@frozen
class CharsetRefused:
    """Bytes that no charset may be assumed for.

    `declared` is the label as it was given (printable, at most 40 characters), None if there was none. `misfits` says
    where the declared charset, if it is one that is honoured, and UTF-8 fail.
    """

    declared: str | None
    declared_by: DecidedBy | None
    misfits: tuple[Misfit, ...]

    @property
    def detail(self) -> str:
        misfits = " and ".join(map(str, self.misfits))
        if self.declared is None:
            return f"no charset is declared, and {misfits}; declare the charset, or save the page as UTF-8"
        if self.declared_by is DecidedBy.BOM:
            return f"the byte order mark says {self.declared}, but {misfits}; save the page as UTF-8"
        where = "by the server" if self.declared_by is DecidedBy.TRANSPORT else "in the page"
        fate = "is wrong:" if charset_of(self.declared) else "is not honoured, and"
        return f"the charset {self.declared!r} declared {where} {fate} {misfits}; save the page as UTF-8"


# UTF-32 before UTF-16, whose mark begins UTF-32's.
_MARKS = (
    (b"\xef\xbb\xbf", UTF_8),
    (b"\xff\xfe\x00\x00", UTF_32LE),
    (b"\x00\x00\xfe\xff", UTF_32BE),
    (b"\xff\xfe", UTF_16LE),
    (b"\xfe\xff", UTF_16BE),
)
#: The one way a page in UTF-16 without a mark can say so in its own bytes.
_XML_IN_UTF_16 = ((b"<\0?\0x\0", UTF_16LE), (b"\0<\0?\0x", UTF_16BE))
_UTF_16 = frozenset((UTF_16LE, UTF_16BE))
_LABEL_SHOWN = 40


@frozen
class _Declared:
    label: str
    by: DecidedBy
    charset: Charset | None


def decode_html(data: bytes, transport: str | None = None) -> Result[DecodedHtml, CharsetRefused]:
    """The text of HTML bytes; `transport` is the charset of the HTTP header, if there was one. Total and strict."""
    return _decoded(data, chain(_by_transport(transport), _in_page(data)))


def decode_unmarked(data: bytes, transport: str | None = None) -> Result[DecodedHtml, CharsetRefused]:
    """As `decode_html`, of bytes in whose text nothing declares a charset, such as plain text."""
    return _decoded(data, _by_transport(transport))


def _decoded(data: bytes, declarations: Iterator[_Declared]) -> Result[DecodedHtml, CharsetRefused]:
    marked = [(mark, charset) for mark, charset in _MARKS if data.startswith(mark)]
    if marked:
        return _by_mark(data, marked)
    declared = _declared(declarations)
    utf_8 = _read(UTF_8, data)
    if declared is None or declared.charset is None or declared.charset is UTF_8 or _is_utf_8(utf_8, declared, data):
        return _as_utf_8(utf_8, declared)
    read = _read(declared.charset, data)
    if isinstance(read, str):
        return Success(DecodedHtml(read, declared.charset.name, declared.by))
    if isinstance(utf_8, str):
        return Success(DecodedHtml(utf_8, UTF_8.name, DecidedBy.UTF8))
    return Failure(CharsetRefused(_shown(declared.label), declared.by, (read, utf_8)))


def _by_mark(data: bytes, marked: list[tuple[bytes, Charset]]) -> Result[DecodedHtml, CharsetRefused]:
    misfits = []
    for mark, charset in marked:
        read = _read(charset, data[len(mark) :])
        if isinstance(read, str):
            return Success(DecodedHtml(read, charset.name, DecidedBy.BOM))
        misfits.append(evolve(read, offset=read.offset + len(mark)))
    return Failure(CharsetRefused(misfits[-1].charset, DecidedBy.BOM, (misfits[-1],)))


def _as_utf_8(read: str | Misfit, declared: _Declared | None) -> Result[DecodedHtml, CharsetRefused]:
    if isinstance(read, str):
        by = declared.by if declared and declared.charset is UTF_8 else DecidedBy.UTF8
        return Success(DecodedHtml(read, UTF_8.name, by))
    label, declared_by = (_shown(declared.label), declared.by) if declared else (None, None)
    return Failure(CharsetRefused(label, declared_by, (read,)))


def _is_utf_8(utf_8: str | Misfit, declared: _Declared, data: bytes) -> bool:
    """Whether the bytes are UTF-8 and the declaration is wrong.

    Text in another charset is next to never well-formed UTF-8 beyond ASCII, and HTML in UTF-16 has NULs.
    """
    if not isinstance(utf_8, str):
        return False
    return 0 not in data if declared.charset in _UTF_16 else not data.isascii()


def _declared(declarations: Iterator[_Declared]) -> _Declared | None:
    """The first declaration that is honoured, else the first there is."""
    first = None
    for found in declarations:
        if found.charset:
            return found
        first = first or found
    return first


def _by_transport(transport: str | None) -> Iterator[_Declared]:
    if transport is not None:
        yield _Declared(transport, DecidedBy.TRANSPORT, charset_of(transport))


def _in_page(data: bytes) -> Iterator[_Declared]:
    for start, charset in _XML_IN_UTF_16:
        if data.startswith(start):
            yield _Declared(charset.name, DecidedBy.META, charset)
    for label in declared_labels(data):
        named = charset_of(label)
        # Bytes in which a declaration was found one byte a letter are not UTF-16: the standard takes UTF-8.
        yield _Declared(label, DecidedBy.META, UTF_8 if named in _UTF_16 else named)


def _read(charset: Charset, data: bytes) -> str | Misfit:
    try:
        return charset.decode(data)
    except UnicodeDecodeError as error:
        return Misfit(charset.name, error.start, data[error.start])


def _shown(label: str) -> str:
    return "".join(char if " " <= char <= "~" else "?" for char in label.strip()[:_LABEL_SHOWN])
