"""The file of a matrix: a page of header, then row numbers, squared lengths and vectors, padded to whole pages.

All little-endian. The header holds a digest of itself and of the sums of all pages: every opening reads the whole file, as
its first search would anyway, and no byte that changed goes unnoticed.
"""

from __future__ import annotations

import hashlib
import mmap
import struct
from collections.abc import Iterator

import numpy as np

from groundkit.adapters.vectors.matrix import Matrix

PAGE = 4096
_MAGIC = b"gkvector"
_VERSION = 1
#: Magic, version, rows, dimensions, level, and what the matrix is of.
_HEADER = struct.Struct("<8sQQQd32s")
_DIGEST = 32


class Unsound(Exception):
    """This is no file that was written here, whole, for this key."""


def pieces(matrix: Matrix, key: bytes) -> Iterator[bytes | memoryview]:
    """What is written, in order."""
    count, dimensions = matrix.vectors.shape
    parts = [
        np.ascontiguousarray(matrix.rows, "<i8"),
        np.ascontiguousarray(matrix.squares, "<f8"),
        np.ascontiguousarray(matrix.vectors, "<f4"),
    ]
    body = np.zeros(_body_size(count, dimensions), np.uint8)
    at = 0
    for part in parts:
        body[at : at + part.nbytes] = part.view(np.uint8).reshape(-1)
        at += part.nbytes
    head = _HEADER.pack(_MAGIC, _VERSION, count, dimensions, matrix.level, key)
    yield (head + _digest(head, body.data)).ljust(PAGE, b"\0")
    yield body.data


def opened(file: int, size: int, key: bytes, dimensions: int, read: bytes) -> Matrix:
    """The matrix in a file of this size that begins with `read`. Its size is known to fit before anything is mapped."""
    head = read[: _HEADER.size]
    if len(read) != PAGE:
        raise Unsound("shorter than its header")
    magic, version, count, wide, level, of = _HEADER.unpack(head)
    if (magic, version, wide, of) != (_MAGIC, _VERSION, dimensions, key):
        raise Unsound("of something else")
    if size != PAGE + _body_size(count, dimensions):
        raise Unsound("not as long as its header says")
    if any(read[_HEADER.size + _DIGEST :]):
        raise Unsound("something stands behind its header")
    body = memoryview(mmap.mmap(file, size, prot=mmap.PROT_READ))[PAGE:]
    if _digest(head, body) != read[_HEADER.size : _HEADER.size + _DIGEST]:
        raise Unsound("not what was written")
    return Matrix(
        np.frombuffer(body, "<i8", count),
        np.frombuffer(body, "<f8", count, 8 * count),
        np.frombuffer(body, "<f4", count * dimensions, 16 * count).reshape(count, dimensions),
        level,
    )


def _body_size(count: int, dimensions: int) -> int:
    size = count * (16 + 4 * dimensions)
    return -(-size // PAGE) * PAGE


def _digest(head: bytes, body: memoryview) -> bytes:
    """Sums of 64-bit words notice any change within a word, and any word or page that is lost, at the speed of memory."""
    words = np.frombuffer(body, "<u8").reshape(-1, PAGE // 8)
    sums = words.sum(axis=1, dtype=np.uint64)
    return hashlib.sha256(head + sums.tobytes()).digest()
