"""Laws of undoing content codings: exact, bounded in steps, and nothing but the whole of what was encoded is taken."""

import gzip
import tracemalloc
import zlib
from collections.abc import Callable, Sequence
from itertools import pairwise

import brotli
import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from groundkit.adapters.web.coding import STEP, ZSTD_STEP, Undecodable, available, decoder_for


def bare(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush()


ENCODERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("x-gzip", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "bare deflate": ("deflate", bare),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", zstandard.ZstdCompressor(write_checksum=True).compress),
}
KINDS = st.sampled_from(sorted(ENCODERS))
BODIES = st.one_of(
    st.binary(max_size=300),
    st.tuples(st.sampled_from([b"a", b"ab", b"<p>"]), st.integers(0, 30_000)).map(lambda parts: parts[0] * parts[1]),
)


def undone(codings: Sequence[str], pieces: Sequence[bytes]) -> list[bytes]:
    decoder = decoder_for(codings)
    steps = [step for piece in pieces for step in decoder.feed(piece)]
    decoder.end()
    return steps


def cut(data: bytes, at: Sequence[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in at)})
    return [data[start:end] for start, end in pairwise(edges)]


@given(BODIES, st.lists(KINDS, max_size=2), st.lists(st.integers(0), max_size=8))
def test_what_was_encoded_comes_back_however_it_is_cut_and_in_small_steps(
    body: bytes, kinds: list[str], at: list[int]
) -> None:
    encoded = body
    for kind in kinds:
        encoded = ENCODERS[kind][1](encoded)
    steps = undone([ENCODERS[kind][0] for kind in kinds], cut(encoded, at))
    assert b"".join(steps) == body
    assert not kinds or all(len(step) <= (ZSTD_STEP if "zstd" in kinds else STEP) for step in steps)


@given(BODIES, KINDS, st.integers(0))
def test_what_breaks_off_anywhere_is_refused(body: bytes, kind: str, at: int) -> None:
    coding, encode = ENCODERS[kind]
    encoded = encode(body)
    with pytest.raises(Undecodable):
        undone([coding], [encoded[: at % len(encoded)]])


@given(BODIES, KINDS, st.binary(min_size=1, max_size=40), st.booleans())
def test_what_follows_the_end_is_refused(body: bytes, kind: str, tail: bytes, together: bool) -> None:
    coding, encode = ENCODERS[kind]
    pieces = [encode(body) + tail] if together else [encode(body), tail]
    with pytest.raises(Undecodable):
        undone([coding], pieces)


@given(
    st.lists(BODIES, min_size=1, max_size=4), st.sampled_from(["gzip", "zstd"]), st.lists(st.integers(0), max_size=4)
)
def test_several_members_are_one_body(bodies: list[bytes], kind: str, at: list[int]) -> None:
    coding, encode = ENCODERS[kind]
    assert b"".join(undone([coding], cut(b"".join(map(encode, bodies)), at))) == b"".join(bodies)


@given(BODIES, BODIES, st.sampled_from(["deflate", "bare deflate", "br"]))
def test_only_gzip_and_zstd_have_several_members(first: bytes, second: bytes, kind: str) -> None:
    coding, encode = ENCODERS[kind]
    with pytest.raises(Undecodable):
        undone([coding], [encode(first), encode(second)])


@given(KINDS, st.binary(max_size=200))
@example("deflate", b"\x78\x9c")
@example("zstd", zstandard.FRAME_HEADER)
@example("gzip", b"\x1f\x8b\x08\x00")
def test_any_bytes_are_decoded_or_refused(kind: str, junk: bytes) -> None:
    coding = ENCODERS[kind][0]
    try:
        undone([coding], [junk])
    except Undecodable as refused:
        assert str(refused).isprintable()


@given(KINDS, BODIES.filter(lambda body: len(body) > 20), st.integers(0), st.integers(1, 255))
def test_a_flipped_byte_never_gives_another_body(kind: str, body: bytes, at: int, flip: int) -> None:
    # Only these carry a check of their content; bare deflate and br have none.
    if kind not in ("gzip", "deflate", "zstd"):
        return
    coding, encode = ENCODERS[kind]
    damaged = bytearray(encode(body))
    damaged[at % len(damaged)] ^= flip
    try:
        steps = undone([coding], [bytes(damaged)])
    except Undecodable:
        return
    assert b"".join(steps) == body


@given(st.lists(st.text(max_size=12), min_size=1, max_size=4))
def test_codings_that_are_not_known_or_too_many_are_refused(codings: list[str]) -> None:
    if len(codings) <= 2 and {*codings} <= {*available(), "x-gzip"}:
        return
    with pytest.raises(Undecodable):
        decoder_for(codings)


def test_without_codings_the_bytes_are_the_body() -> None:
    assert undone([], [b"ab", b"c"]) == [b"ab", b"c"]


def test_a_window_that_a_browser_would_not_allow_is_refused() -> None:
    settings = zstandard.ZstdCompressionParameters(window_log=24)
    compressor = zstandard.ZstdCompressor(compression_params=settings).compressobj()
    wide = b"".join(compressor.compress(b"x" * 1_000_000) for _ in range(20)) + compressor.flush()
    with pytest.raises(Undecodable):
        undone(["zstd"], [wide])


GIGABYTE = {
    "gzip": gzip.compress(bytes(1 << 20)) * 1024,
    "deflate": zlib.compress(bytes(1 << 26)),
    "br": brotli.compress(bytes(1 << 26), quality=1),
    "zstd": zstandard.ZstdCompressor().compress(bytes(1 << 20)) * 1024,
}


@pytest.mark.parametrize("coding", sorted(GIGABYTE))
def test_a_bomb_takes_no_more_memory_than_a_step(coding: str) -> None:
    bomb, size = GIGABYTE[coding], 0
    decoder = decoder_for([coding])
    tracemalloc.start()
    for at in range(0, len(bomb), 65536):
        for step in decoder.feed(bomb[at : at + 65536]):
            size += len(step)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    decoder.end()
    assert size >= 1 << 26
    assert peak < 8 * ZSTD_STEP, f"{peak} bytes"
