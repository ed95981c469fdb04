"""Raw responses as WARC 1.1 files (ISO 28500:2017) through warcio: one gzipped `response` record each."""

from collections.abc import Iterator
from hashlib import sha256
from importlib.util import find_spec
from io import BytesIO
from uuid import NAMESPACE_URL, UUID, uuid5

from attrs import frozen

from groundkit.core.fetching import RawResponse
from groundkit.core.urls import WebUrl

_VERSION = "WARC/1.1"
_HTTP = "application/http; msgtype=response"
#: Headers that are true of the transfer and not of what is stored, and the names under which they are kept.
_TRANSFER, _LENGTH = "Transfer-Encoding", "Content-Length"
_KEPT_AS = "X-Crawler-"
_BREAKS = str.maketrans("\r\n\0", "   ")


def warc_missing() -> str | None:
    """The command that installs what `WarcArchive` needs; None where it is installed."""
    return None if find_spec("warcio") else "pip install 'groundkit[warc]'"


@frozen
class WarcArchive:
    """An archive without a clock, a random number or a host name in it: its bytes depend on the response alone."""

    def record(self, url: WebUrl, raw: RawResponse, fetched_at: str) -> bytes:
        """The WARC file. Raises ImportError where `warc_missing` says so."""
        block = _block(raw)
        payload_digest = _digest(raw.payload)
        headers = [
            ("WARC-Type", "response"),
            ("WARC-Record-ID", f"<{_id(url, fetched_at, payload_digest).urn}>"),
            ("WARC-Target-URI", url.source),
            ("WARC-Date", fetched_at),
            ("WARC-IP-Address", raw.address),
            ("WARC-Payload-Digest", payload_digest),
            ("WARC-Block-Digest", _digest(block)),
        ]
        return _written(headers, block)


def _id(url: WebUrl, fetched_at: str, payload_digest: str) -> UUID:
    return uuid5(NAMESPACE_URL, f"{url.source}\n{fetched_at}\n{payload_digest}")


def _written(headers: list[tuple[str, str]], block: bytes) -> bytes:
    from warcio.recordloader import ArcWarcRecord  # type: ignore[import-untyped]
    from warcio.statusandheaders import StatusAndHeaders  # type: ignore[import-untyped]
    from warcio.warcwriter import WARCWriter  # type: ignore[import-untyped]

    file = BytesIO()
    about = StatusAndHeaders("", headers, protocol=_VERSION)
    # Given HTTP headers of their own, warcio percent-encodes what is not ASCII in them: so they are part of the content.
    record = ArcWarcRecord("warc", "response", about, BytesIO(block), None, _HTTP, len(block))
    WARCWriter(file, gzip=True, warc_version=_VERSION).write_record(record)
    return file.getvalue()


def _digest(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}"


def _block(raw: RawResponse) -> bytes:
    """The response as it is stored: of its transfer coding nothing is left, so its headers say nothing of one."""
    lines = [raw.status_line, *(f"{name}: {value}" for name, value in _headers(raw))]
    return b"".join(_bytes(line) + b"\r\n" for line in lines) + b"\r\n" + raw.payload


def _headers(raw: RawResponse) -> Iterator[tuple[str, str]]:
    length = str(len(raw.payload))
    for name, value in raw.headers:
        moved = name.lower() == _TRANSFER.lower() or (name.lower() == _LENGTH.lower() and value.strip() != length)
        yield (_KEPT_AS + name if moved else name), value
    if not any(name.lower() == _LENGTH.lower() and value.strip() == length for name, value in raw.headers):
        yield _LENGTH, length


def _bytes(line: str) -> bytes:
    """A header's characters stand for its bytes. One that cannot is told in UTF-8, and none of them ends the line."""
    line = line.translate(_BREAKS)
    try:
        return line.encode("latin-1")
    except UnicodeEncodeError:
        return line.encode("utf-8", "replace")
