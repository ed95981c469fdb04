"""Content codings undone in small steps, so that a small body cannot become a large one before anybody counts.

gzip (RFC 1952), deflate (RFC 1950, and bare RFC 1951), br (RFC 7932), zstd (RFC 8878 with the window of RFC 9659).
"""

import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, Protocol

#: Bytes that one step gives at most; a block of zstd is 128 KiB and cannot be parted, so there it is 1 MiB.
STEP: Final = 64 * 1024
ZSTD_STEP: Final = 1024 * 1024
MOST_CODINGS: Final = 2

#: Small, because what follows the end of a member is copied for each member.
_SLICE: Final = 4096
# Eight blocks of zstd at most begin in so many bytes.
_ZSTD_SLICE: Final = 32
_ZSTD_WINDOW: Final = 8 * 1024 * 1024
# The decoder ends a step with the block that reaches this, and its first block is 32 KiB less what that itself needs.
_BROTLI_STEP: Final = 32_000


class Undecodable(Exception):
    """A body that is not what its content coding says. The message is for people and says nothing of the body."""


class Decoder(Protocol):
    def feed(self, data: bytes) -> Iterator[bytes]:
        """What these bytes decode to, in steps. Raises `Undecodable`."""

    def end(self) -> None:
        """Raises `Undecodable` if more had to come."""


def available() -> tuple[str, ...]:
    """The codings that can be undone here, the ones to be preferred first."""
    optional = {"br": "brotli", "zstd": "zstandard"}
    return tuple(name for name in ("zstd", "br", "gzip", "deflate") if name not in optional or _has(optional[name]))


def decoder_for(codings: Sequence[str]) -> Decoder:
    """The decoder of codings in lower case, in the order in which they were applied. Raises `Undecodable`."""
    if len(codings) > MOST_CODINGS:
        raise Undecodable(f"{len(codings)} content codings, at most {MOST_CODINGS} are undone")
    return _Chain([_one(coding) for coding in reversed(codings)])


@cache
def _has(module: str) -> bool:
    return find_spec(module) is not None


def _one(coding: str) -> Decoder:
    if coding not in _MAKERS:
        raise Undecodable(f"the content coding {_shown(coding)} is not understood")
    if coding not in (*available(), "x-gzip"):
        raise Undecodable(f"the content coding {coding}, which was not asked for, needs pip install 'groundkit[web]'")
    return _MAKERS[coding]()


def _shown(coding: str) -> str:
    return "".join(char if "!" <= char <= "~" else "?" for char in coding[:40])


class _Chain:
    """Each decoder's output is the next one's input. Without any, the bytes as they are."""

    def __init__(self, decoders: Sequence[Decoder]) -> None:
        self._decoders = decoders

    def feed(self, data: bytes) -> Iterator[bytes]:
        return self._fed(data, 0)

    def end(self) -> None:
        for decoder in self._decoders:
            decoder.end()

    def _fed(self, data: bytes, index: int) -> Iterator[bytes]:
        if index == len(self._decoders):
            yield data
            return
        for piece in self._decoders[index].feed(data):
            yield from self._fed(piece, index + 1)


class _Zlib:
    """gzip and deflate. Only gzip may have several members, and only the next member may follow one."""

    def __init__(self, name: str, members: bool, begin: Callable[[bytes], Any | None]) -> None:
        self._name, self._members, self._begin = name, members, begin
        self._inflater: Any = None
        self._first = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        for at in range(0, len(data), _SLICE):
            rest = data[at : at + _SLICE]
            while rest:
                if self._inflater is None or self._inflater.eof:
                    rest = self._member(rest)
                if rest:
                    yield from self._inflated(rest)
                    rest = self._inflater.unused_data

    def end(self) -> None:
        if self._inflater is None or not self._inflater.eof:
            raise _cut(self._name)

    def _member(self, data: bytes) -> bytes:
        """Begin with these bytes, if they are enough to tell how; what is still to be inflated."""
        if self._inflater is not None and not self._members:
            raise Undecodable(f"something follows the end of its {self._name} data")
        self._first += data
        self._inflater = self._begin(self._first)
        if self._inflater is None:
            return b""
        first, self._first = self._first, b""
        return first

    def _inflated(self, data: bytes) -> Iterator[bytes]:
        while True:
            try:
                piece = self._inflater.decompress(data, STEP)
            except zlib.error:
                raise _bad(self._name) from None
            data = self._inflater.unconsumed_tail
            if piece:
                yield piece
            if self._inflater.eof or (not data and len(piece) < STEP):
                return


def _gzip() -> Decoder:
    return _Zlib("gzip", True, lambda _: zlib.decompressobj(zlib.MAX_WBITS | 16))


def _deflate() -> Decoder:
    return _Zlib("deflate", False, _zlib_or_raw)


def _zlib_or_raw(first: bytes) -> Any | None:
    """What the first two bytes show; None while there are fewer. No encoder's bare data begins like zlib's header."""
    if len(first) < 2:
        return None
    wrapped = first[0] & 0x0F == 8 and int.from_bytes(first[:2], "big") % 31 == 0
    return zlib.decompressobj(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)


class _Brotli:
    def __init__(self) -> None:
        brotli = import_module("brotli")  # has no types
        self._error = brotli.error
        self._decoder = brotli.Decompressor()

    def feed(self, data: bytes) -> Iterator[bytes]:
        piece = self._decompressed(data)
        # That it would take more input does not mean that it has given all of its output.
        while piece:
            yield piece
            piece = b"" if self._decoder.is_finished() else self._decompressed(b"")
        if not self._decoder.can_accept_more_data():
            raise _bad("br")

    def end(self) -> None:
        if not self._decoder.is_finished():
            raise _cut("br")

    def _decompressed(self, data: bytes) -> bytes:
        try:
            return bytes(self._decoder.process(data, output_buffer_limit=_BROTLI_STEP))
        except self._error:
            raise _bad("br") from None


class _Zstd:
    """Frames one after the other. There is no bound on what one call gives, but on what so few bytes can hold."""

    def __init__(self) -> None:
        import zstandard

        self._error = zstandard.ZstdError
        self._decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
        self._frame: Any = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        for at in range(0, len(data), _ZSTD_SLICE):
            rest = data[at : at + _ZSTD_SLICE]
            while rest:
                if self._frame is None or self._frame.eof:
                    self._frame = self._decompressor.decompressobj()
                piece = self._decompressed(rest)
                if piece:
                    yield piece
                rest = self._frame.unused_data if self._frame.eof else b""

    def end(self) -> None:
        if self._frame is None or not self._frame.eof:
            raise _cut("zstd")

    def _decompressed(self, data: bytes) -> bytes:
        try:
            return bytes(self._frame.decompress(data))
        except self._error:
            raise _bad("zstd") from None


_MAKERS: Final[dict[str, Callable[[], Decoder]]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _Brotli,
    "zstd": _Zstd,
}


def _bad(name: str) -> Undecodable:
    return Undecodable(f"the body is not the {name} data it is said to be")


def _cut(name: str) -> Undecodable:
    return Undecodable(f"the body's {name} data breaks off")
