"""Kept responses, read back and checked by warcio's own reader."""

import gzip
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from groundkit.adapters.web.archive import WarcArchive, warc_missing
from groundkit.core.fetching import RawResponse
from groundkit.core.urls import WebUrl

URL = WebUrl("https://news.example/a?b=ü", "https", "news.example", 443, "/a?b=%C3%BC")
AT = "2026-11-30T12:00:00Z"
RAW = RawResponse("HTTP/1.1 200 OK", (("Content-Type", "text/html"), ("Content-Length", "5")), b"<p>hi", "203.0.113.7")

# The space in a row of printable characters is folded or stripped by no reader.
names = st.text("abcXYZ-_", min_size=1, max_size=12).map(lambda name: f"h-{name}")
values = st.text(st.characters(min_codepoint=0x21, max_codepoint=0xFF, exclude_characters="\x7f\x85\xa0"), max_size=30)
headers = st.lists(st.tuples(names, values), max_size=6).map(tuple)
responses = st.builds(
    RawResponse,
    st.sampled_from(["HTTP/1.1 200 OK", "HTTP/1.0 200", "HTTP/1.1 200 d\xe9j\xe0 vu"]),
    headers,
    st.binary(max_size=200),
    st.sampled_from(["203.0.113.7", "2001:db8::1"]),
)


def kept(raw: RawResponse, at: str = AT) -> bytes:
    return WarcArchive().record(URL, raw, at)


@contextmanager
def only_record(file: bytes) -> Iterator[Any]:
    """The one record of a file, with its digests checked once it is read."""
    iterator = ArchiveIterator(BytesIO(file), check_digests=True)
    record = next(iterator)
    yield record
    assert record.digest_checker.problems == []
    assert next(iterator, None) is None


def block_of(raw: RawResponse) -> bytes:
    """What stands behind the record's own headers, up to the blank lines that end a record."""
    plain = gzip.decompress(kept(raw))
    assert plain.endswith(b"\r\n\r\n")
    return plain.partition(b"\r\n\r\n")[2][:-4]


def payload_of(raw: RawResponse) -> bytes:
    with only_record(kept(raw)) as record:
        payload = record.raw_stream.read()
        assert record.digest_checker.passed is True
        return bytes(payload)


def kept_headers(raw: RawResponse) -> list[tuple[str, str]]:
    with only_record(kept(raw)) as record:
        record.raw_stream.read()
        return list(record.http_headers.headers)


@given(responses)
def test_a_response_is_read_back_byte_for_byte(raw: RawResponse) -> None:
    assert payload_of(raw) == raw.payload
    lines = block_of(raw).removesuffix(raw.payload).split(b"\r\n")
    assert lines[0] == raw.status_line.encode("latin-1")
    assert lines[1 : 1 + len(raw.headers)] == [f"{name}: {value}".encode("latin-1") for name, value in raw.headers]
    assert lines[1 + len(raw.headers) :] == [f"Content-Length: {len(raw.payload)}".encode(), b"", b""]


@given(responses)
def test_the_same_response_gives_the_same_bytes_and_another_gives_others(raw: RawResponse) -> None:
    file = kept(raw)
    assert kept(raw) == file
    others = [
        evolve(raw, payload=raw.payload + b"."),
        evolve(raw, headers=(*raw.headers, ("h", "v"))),
        evolve(raw, address="::"),
    ]
    assert len({file, *map(kept, others), kept(raw, "2026-11-30T12:00:01Z")}) == 5


def test_the_file_holds_no_time_name_or_host_of_its_making() -> None:
    file = kept(RAW)
    assert file[:4] == b"\x1f\x8b\x08\x00"
    assert file[4:8] == b"\0\0\0\0"
    with only_record(file) as record:
        record.raw_stream.read()
        assert [name for name, _ in record.rec_headers.headers] == [
            *("WARC-Type", "WARC-Record-ID", "WARC-Target-URI", "WARC-Date", "WARC-IP-Address", "WARC-Payload-Digest"),
            *("WARC-Block-Digest", "Content-Type", "Content-Length"),
        ]


def test_the_bytes_are_the_same_in_another_process() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import importlib.util as u; "
        "s = u.spec_from_file_location('t', sys.argv[2]); m = u.module_from_spec(s); s.loader.exec_module(m); "
        "sys.stdout.buffer.write(m.kept(m.RAW))"
    )
    here = Path(__file__)
    command = [sys.executable, "-c", code, str(here.parents[1]), str(here)]
    run = subprocess.run(
        command, capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    )
    assert run.stdout == kept(RAW)


def test_what_is_known_of_the_exchange_is_in_the_record() -> None:
    with only_record(kept(RAW)) as record:
        record.raw_stream.read()
        about = dict(record.rec_headers.headers)
        assert (record.rec_type, record.rec_headers.protocol) == ("response", "WARC/1.1")
        assert record.http_headers.get_statuscode() == "200"
    assert about["WARC-Target-URI"] == URL.source
    assert (about["WARC-Date"], about["WARC-IP-Address"]) == (AT, "203.0.113.7")
    assert about["Content-Type"] == "application/http; msgtype=response"
    digest = f"sha256:{sha256(b'<p>hi').hexdigest()}"
    assert about["WARC-Payload-Digest"] == digest
    identifier = uuid5(NAMESPACE_URL, f"{URL.source}\n{AT}\n{digest}")
    assert about["WARC-Record-ID"] == f"<urn:uuid:{identifier}>"


def test_a_transfer_coding_is_kept_under_a_name_that_says_nothing_of_the_payload() -> None:
    raw = evolve(RAW, headers=(("Server", "x"), ("transfer-Encoding", "chunked"), ("Content-Encoding", "gzip")))
    assert kept_headers(raw) == [
        ("Server", "x"),
        ("X-Crawler-transfer-Encoding", "chunked"),
        ("Content-Encoding", "gzip"),
        ("Content-Length", "5"),
    ]
    assert payload_of(raw) == RAW.payload


def test_a_payload_in_a_content_coding_is_kept_as_it_came_and_decoded_by_the_reader() -> None:
    text = b"some text " * 100
    raw = evolve(RAW, payload=gzip.compress(text, mtime=0), headers=(("Content-Encoding", "gzip"),))
    assert payload_of(raw) == raw.payload
    with only_record(kept(raw)) as record:
        assert record.content_stream().read() == text


def test_a_length_is_right_or_kept_under_another_name() -> None:
    right = [*RAW.headers]
    assert kept_headers(RAW) == right
    for wrong in ("4", "", "5, 5", "-5"):
        raw = evolve(RAW, headers=(RAW.headers[0], ("content-length", wrong)))
        assert kept_headers(raw) == [RAW.headers[0], ("X-Crawler-content-length", wrong), ("Content-Length", "5")]


def test_an_empty_payload_is_a_payload() -> None:
    raw = evolve(RAW, payload=b"", headers=())
    assert payload_of(raw) == b""
    assert kept_headers(raw) == [("Content-Length", "0")]


def test_a_big_payload_is_kept_whole() -> None:
    payload = bytes(range(256)) * (5 * 4096)
    assert payload_of(evolve(RAW, payload=payload)) == payload


def test_nothing_in_a_header_ends_its_line_or_the_headers() -> None:
    odd = (("a\r\nb", "c\r\n\r\nd\0"), ("e", "\u4e2d\ud800"))
    raw = evolve(RAW, headers=odd)
    lines = block_of(raw).removesuffix(raw.payload).split(b"\r\n")
    assert lines[1:] == [b"a  b: c    d ", b"e: " + "中?".encode(), b"Content-Length: 5", b"", b""]


@pytest.mark.parametrize("flip", [60, 120])
def test_warcios_own_check_passes_it_and_sees_an_altered_one(flip: int, tmp_path: Path) -> None:
    payload = bytes(range(256)) * 4
    plain = gzip.decompress(kept(evolve(RAW, payload=payload, headers=())))
    altered = bytearray(plain)
    altered[-flip] ^= 1
    for name, data, code in (("good", plain, 0), ("gzipped", gzip.compress(plain), 0), ("bad", bytes(altered), 1)):
        file = tmp_path / f"{name}.warc"
        file.write_bytes(data)
        command = [sys.executable, "-c", "from warcio.cli import main; main()", "check", str(file)]
        assert subprocess.run(command, check=False, capture_output=True).returncode == code, name


def test_what_is_installed_is_not_missing() -> None:
    assert warc_missing() is None
