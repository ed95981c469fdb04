"""Small PDF files, made on the spot, with a correct cross-reference table."""

import zlib
from collections.abc import Mapping, Sequence

#: Helvetica in the Windows code page, so that what can be encoded in it is read back as it was.
HELVETICA = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
LEFT, TOP, LEADING = 50, 800, 14


def stream(data: bytes, entries: bytes = b"") -> bytes:
    """The body of a stream object; `entries` are more of its dictionary, such as a filter."""
    return b"<< /Length %d %b >>\nstream\n%b\nendstream" % (len(data), entries, data)


def deflated(data: bytes) -> bytes:
    return stream(zlib.compress(data, 9), b"/Filter /FlateDecode")


def objects_pdf(objects: Mapping[int, bytes], trailer: bytes = b"") -> bytes:
    """A file of these objects by number, without gaps from 1, which is the catalog."""
    file = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number in range(1, len(objects) + 1):
        offsets.append(len(file))
        file += b"%d 0 obj\n%b\nendobj\n" % (number, objects[number])
    begin = len(file)
    file += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    file += b"".join(b"%010d 00000 n \n" % each for each in offsets)
    size = len(objects) + 1
    file += b"trailer\n<< /Size %d /Root 1 0 R %b >>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, begin)
    return bytes(file)


def streams_pdf(
    contents: Sequence[bytes],
    *,
    font: bytes = HELVETICA,
    resources: bytes = b"",
    more: Mapping[int, bytes] | None = None,
    catalog: bytes = b"",
    trailer: bytes = b"",
) -> bytes:
    """One page for each content stream (as `stream` makes them), all with the font F1, which is object 3.

    The page at `index` is object `4 + 2 * index`, its contents the next one; `more` objects follow all of these, and
    their numbers count from 0.
    """
    kids = b" ".join(b"%d 0 R" % (4 + 2 * index) for index in range(len(contents)))
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R %b >>" % catalog,
        2: b"<< /Type /Pages /Kids [%b] /Count %d >>" % (kids, len(contents)),
        3: font,
    }
    for index, each in enumerate(contents):
        objects[4 + 2 * index] = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> %b >> >>" % (5 + 2 * index, resources)
        )
        objects[5 + 2 * index] = each
    first = first_more(len(contents))
    objects |= {first + number: body for number, body in (more or {}).items()}
    return objects_pdf(objects, trailer)


def first_more(pages: int) -> int:
    """The number of the first object after those of so many pages."""
    return 4 + 2 * pages


def shown(text: str) -> bytes:
    """The operators that show these lines, top down. Characters outside the Windows code page cannot be shown."""
    lines = text.encode("cp1252").split(b"\n")
    escaped = [each.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)") for each in lines]
    said = b"\n".join(b"(%b) Tj T*" % each for each in escaped)
    return b"BT /F1 11 Tf %d TL %d %d Td\n%b\nET" % (LEADING, LEFT, TOP, said)


def pdf(
    pages: Sequence[str], *, labels: Mapping[int, str] | None = None, title: str = "", compressed: bool = False
) -> bytes:
    """A page for each text, line by line. `labels` are dictionaries by index of page: `{0: "/S /r", 4: "/S /D"}`."""
    make = deflated if compressed else stream
    catalog = b""
    if labels:
        numbers = " ".join(f"{index} << {body} >>" for index, body in labels.items())
        catalog = f"/PageLabels << /Nums [{numbers}] >>".encode("latin-1")
    trailer = b"/Info %d 0 R" % first_more(len(pages)) if title else b""
    information = b"<< /Title <FEFF%b> >>" % title.encode("utf-16-be").hex().encode()
    more = {0: information} if title else None
    return streams_pdf([make(shown(each)) for each in pages], more=more, catalog=catalog, trailer=trailer)


def prose(pages: int, lines: int = 50) -> list[str]:
    """Pages of different lines of words, always the same."""
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"]
    return [
        "\n".join(
            f"page {page} line {line} "
            + " ".join(words[(page * 7 + line * 5 + at * 3) % len(words)] for at in range(10))
            for line in range(lines)
        )
        for page in range(1, pages + 1)
    ]
