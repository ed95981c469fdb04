"""Laws of what a fetched page is and of its text, by header and first bytes alone."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from shared import shared

from groundkit.core.charset_labels import BY_LABEL
from groundkit.core.charsets import CharsetRefused, DecidedBy, DecodedHtml, decode_html, decode_unmarked
from groundkit.core.decoding import Guess, NotText, TextProblem, decode
from groundkit.core.fetching import ContentType
from groundkit.core.kinds import Kind, Loader, contradiction
from groundkit.core.pages import PAGE_KINDS, SNIFFED, UNKNOWN_TYPES, PageRefused, html_charset, page_kind, page_text
from groundkit.core.result import Failure, Success

HTML, XHTML = Kind(Loader.EXTRACTOR, "text/html"), Kind(Loader.EXTRACTOR, "application/xhtml+xml")
PDF, TEXT = Kind(Loader.EXTRACTOR, "application/pdf"), Kind(Loader.TEXT, "text/plain")
MARKDOWN = Kind(Loader.MARKDOWN, "text/markdown")
DECLARED = {
    "text/html": HTML,
    "application/xhtml+xml": XHTML,
    "application/pdf": PDF,
    "application/x-pdf": PDF,
    "text/plain": TEXT,
    "text/markdown": MARKDOWN,
    "text/x-markdown": MARKDOWN,
}
TAGS = [
    *("!DOCTYPE HTML", "HTML", "HEAD", "SCRIPT", "IFRAME", "H1", "DIV", "FONT"),
    *("TABLE", "A", "STYLE", "TITLE", "B", "BODY", "BR", "P"),
]
BINARY = frozenset((*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)))

beginnings = st.sampled_from(
    [
        b"",
        b"%PDF-1.7",
        b"<!DOCTYPE html>",
        b" <p>",
        b"\x89PNG\r\n\x1a\n",
        b"PK\x03\x04",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"BZh",
    ]
)
bodies = st.tuples(beginnings, st.binary(max_size=40)).map(b"".join)
unknown = st.sampled_from(sorted(UNKNOWN_TYPES)).map(ContentType)
labels = st.sampled_from(
    ["", "utf-8", "latin1", "utf-16le", "shift_jis", "koi8-r", "utf-7", "nonsense", "x-user-defined"]
)
blanks = st.text("\t\n\f\r ", max_size=4).map(str.encode)
words = st.text(st.sampled_from("abc xyz\n.,éß中"), max_size=40)


def kind_without_type(body: bytes) -> Kind | None:
    match page_kind(ContentType(), body):
        case Success(kind):
            return kind
        case Failure(PageRefused(detail)):
            assert detail.isprintable()
            return None


# What it is


def test_the_types_that_are_taken_are_these() -> None:
    assert dict(PAGE_KINDS) == DECLARED


@given(st.sampled_from(sorted(DECLARED)), bodies, labels)
def test_what_the_server_says_decides_unless_the_first_bytes_contradict(media: str, body: bytes, charset: str) -> None:
    kind = DECLARED[media]
    said = contradiction(kind.media_type, body)
    match page_kind(ContentType(media, charset, f"{media}; charset={charset}"), body):
        case Success(found):
            assert said is None and found == kind
        case Failure(PageRefused(detail)):
            assert said is not None and detail.endswith(said) and media in detail


@given(words)
def test_text_that_begins_as_a_page_stays_the_text_that_the_server_says_it_is(rest: str) -> None:
    body = f"<!DOCTYPE html><html>{rest}".encode()
    for media in ("text/plain", "text/markdown"):
        assert page_kind(ContentType(media), body) == Success(DECLARED[media])


@given(st.text(min_size=1, max_size=100), bodies)
def test_any_other_type_is_refused_by_its_name_whatever_the_bytes_are(media: str, body: bytes) -> None:
    assume(media not in PAGE_KINDS and media not in UNKNOWN_TYPES)
    detail = page_kind(ContentType(media), body).failure().detail
    assert detail.isprintable() and len(detail) < 200


@pytest.mark.parametrize("media", ["image/png", "application/json", "application/octet-stream", "text/css", "text/xml"])
def test_a_refused_type_is_named(media: str) -> None:
    detail = f"the page is {media}; HTML, PDF, plain text and Markdown can be taken"
    assert page_kind(ContentType(media), b"<html>") == Failure(PageRefused(detail))


@given(unknown, bodies)
def test_a_type_that_says_nothing_is_as_none(content_type: ContentType, body: bytes) -> None:
    assert page_kind(content_type, body) == page_kind(ContentType(), body)


@given(
    blanks, st.sampled_from(TAGS), st.sampled_from([str.lower, str.upper, str.title]), st.sampled_from(b" >"), bodies
)
def test_without_a_type_a_tag_of_the_standards_list_makes_it_a_page(
    before: bytes, tag: str, cased: object, end: int, rest: bytes
) -> None:
    start = before + b"<" + cased(tag).encode()  # type: ignore[operator]
    assert kind_without_type(start + bytes([end]) + rest) == HTML


@given(blanks, bodies)
def test_without_a_type_a_comment_makes_it_a_page(before: bytes, rest: bytes) -> None:
    assert kind_without_type(before + b"<!--" + rest) == HTML


@given(blanks, st.sampled_from(TAGS), st.sampled_from(["/>", "x>", "\n", "\t", "-a>", ""]), words)
def test_without_a_type_a_tag_that_does_not_end_makes_it_none(before: bytes, tag: str, end: str, rest: str) -> None:
    assume(end or not rest.startswith((" ", "a", "b", "c", "x", "y", "z")))
    body = before + f"<{tag}{end}{rest}".encode()
    if contradiction("application/pdf", body) is None:
        assert kind_without_type(body) == TEXT


@given(st.binary(max_size=60))
def test_without_a_type_what_begins_as_a_pdf_is_one(rest: bytes) -> None:
    assert kind_without_type(b"%PDF-" + rest) == PDF


@given(st.sampled_from([b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"]), st.binary(max_size=60))
def test_without_a_type_a_byte_order_mark_makes_it_text(mark: bytes, rest: bytes) -> None:
    assert kind_without_type(mark + rest) == TEXT


@given(st.integers(0, 255), st.integers(0, SNIFFED + 20))
def test_without_a_type_text_is_what_has_no_binary_byte_in_its_first_1445(byte: int, at: int) -> None:
    body = b"." * at + bytes([byte]) + b"." * 40
    assert kind_without_type(body) == (None if byte in BINARY and at < 1445 else TEXT)


def test_without_a_type_an_empty_body_is_text() -> None:
    assert kind_without_type(b"") == TEXT


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{\\rtf1\\ansi}", "an RTF document"),
        (b"%!PS-Adobe", "a PostScript file"),
        (b"\x1f\x8b\x08", "a gzip file"),
        (b"\x89PNG\r\n\x1a\n", "a PNG image"),
        (b"ab\0", "binary data"),
        (b"<?xml version='1.0'?><rss>", "XML"),
    ],
)
def test_without_a_type_other_formats_are_refused_by_name(body: bytes, said: str) -> None:
    detail = page_kind(ContentType(), body).failure().detail
    assert detail == (
        f"the server does not say what the page is, and by its first bytes it is {said}; "
        "HTML, PDF, plain text and Markdown can be taken"
    )


def test_without_a_type_xml_with_the_root_of_xhtml_is_xhtml() -> None:
    root = b"<html lang='x' xmlns='http://www.w3.org/1999/xhtml'>"
    assert kind_without_type(b"<?xml version='1.0'?>\n<!DOCTYPE html>\n" + root) == XHTML
    assert kind_without_type(b"<?xml version='1.0'?>" + b" " * SNIFFED + root) is None


def test_the_pages_of_the_corpus_are_pages_without_a_type() -> None:
    pages = sorted(shared("data/html/python-docs").rglob("*.html"))
    assert len(pages) > 10
    assert {kind_without_type(path.read_bytes()) for path in pages} == {HTML}


# What its text is


@given(st.binary(max_size=80) | words.map(str.encode), labels)
def test_every_text_is_read_or_refused_with_a_printable_reason(body: bytes, charset: str) -> None:
    match page_text(body, charset):
        case Success(found):
            assert "\0" not in found.text
            found.text.encode()
        case Failure(CharsetRefused() | NotText() as refused):
            assert refused.detail.isprintable()


@given(st.binary(max_size=80) | st.text(max_size=40).map(str.encode))
def test_without_a_charset_a_text_is_what_it_is_as_a_local_file(body: bytes) -> None:
    assume(not body.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")))
    local, found = decode(body), page_text(body, "")
    if isinstance(local, Success):
        assert found.unwrap().text == local.unwrap()
    elif local.failure().problem is TextProblem.HOLDS_NUL and isinstance(decode(body.replace(b"\0", b" ")), Success):
        assert found == local
    else:
        assert isinstance(found, Failure)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30), labels)
def test_a_byte_order_mark_decides_and_is_kept(text: str, charset: str) -> None:
    marks = {"utf-8": b"\xef\xbb\xbf", "utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}
    for codec, mark in marks.items():
        found = page_text(mark + text.encode(codec), charset).unwrap()
        assert found == DecodedHtml(f"\ufeff{text}", codec.replace("16-", "16"), DecidedBy.BOM)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30).map(lambda text: f"é{text}"), labels)
def test_text_that_is_utf_8_is_read_as_utf_8_whatever_is_declared(text: str, charset: str) -> None:
    found = page_text(text.encode(), charset).unwrap()
    assert (found.text, found.charset) == (text, "utf-8")


def test_a_declared_charset_is_read_by_its_label() -> None:
    assert page_text(b"\xe9t\xe9 \x80", "latin1") == Success(DecodedHtml("été €", "windows-1252", DecidedBy.TRANSPORT))
    assert page_text("при".encode("koi8-r"), "KOI8").unwrap().text == "при"
    assert page_text("ab".encode("utf-16-le"), "utf-16").unwrap().text == "ab"


def test_a_declared_charset_that_does_not_fit_is_told_as_wrong() -> None:
    refused = page_text(b"\xff\xe9", "big5").failure()
    assert refused.detail.startswith("the charset 'big5' declared by the server is wrong: byte 0xff at offset 0")


@given(words, st.sampled_from(sorted(BY_LABEL)))
def test_what_a_text_says_of_a_charset_declares_none(text: str, label: str) -> None:
    body = f'<meta charset="{label}">{text}'.encode("latin-1", "ignore")
    if not body.isascii():
        assert isinstance(decode_unmarked(body), Failure)
    else:
        assert decode_unmarked(body) == Success(DecodedHtml(body.decode(), "utf-8", DecidedBy.UTF8))


@given(st.text("ab\n\r", max_size=20), st.sampled_from(["utf-8", "utf-16-le", "utf-16-be", "koi8-r"]))
def test_nul_is_refused_where_it_stands(before: str, codec: str) -> None:
    body = f"{before}\0é".encode(codec if codec != "koi8-r" else "utf-8")
    refused = page_text(body, codec.replace("16-", "16")).failure()
    assert isinstance(refused, NotText) and refused.problem is TextProblem.HOLDS_NUL
    assert refused.offset == len(before.encode(codec))
    assert refused.line == 1 + before.replace("\r\n", "\n").replace("\r", "\n").count("\n")


def test_a_text_in_utf_16_without_a_mark_is_told_as_such() -> None:
    refused = page_text("some words".encode("utf-16-le"), "").failure()
    assert isinstance(refused, NotText) and refused.guess is Guess.UTF_16


@given(
    st.binary(max_size=60) | st.text(max_size=30).map(lambda text: f'<meta charset="koi8-r">{text}'.encode()), labels
)
def test_the_charset_told_of_a_page_is_the_one_it_is_read_in(body: bytes, charset: str) -> None:
    match decode_html(body, charset or None):
        case Success(page):
            assert html_charset(body, charset) == (page.charset, page.decided_by.value)
        case Failure():
            assert html_charset(body, charset) == ("", "")
