"""Laws of the charset decision, and what it makes of the pages that are known to be difficult."""

from functools import cache

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from shared import shared

from groundkit.core.charset_labels import BY_LABEL, CHARSETS, REFUSED, UTF_8, UTF_16BE, UTF_16LE, Charset, charset_of
from groundkit.core.charset_prescan import LIMIT, STANDARD, declared_labels
from groundkit.core.charsets import CharsetRefused, DecidedBy, DecodedHtml, Misfit, decode_html
from groundkit.core.result import Failure, Success

_UTF_16 = (UTF_16LE, UTF_16BE)
_DECLARABLE = tuple(charset for charset in CHARSETS if charset not in _UTF_16)
_SINGLE = tuple(charset for charset in CHARSETS if charset.single_byte)
_UNUSABLE = st.sampled_from((*sorted(REFUSED), "no-such-charset-42", "", "utf-32", "ibm855", "utf\N{KELVIN SIGN}8"))
_LABEL = st.sampled_from((*BY_LABEL, *sorted(REFUSED), "nonsense"))
_PIECES = st.sampled_from(
    (
        b"<meta ",
        b"<META/",
        b"charset=",
        b'"',
        b"'",
        b">",
        b"<!--",
        b"-->",
        b"utf-8",
        b"gb2312",
        b"shift_jis",
        b" ",
        b"=",
        b"http-equiv=content-type ",
        b"content=",
        b"<?xml encoding='koi8-r'?>",
        b"<script>",
        b"</script>",
        b"<body>",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\x00",
        b"\x1b$B",
        b"\xe9",
        b"\xc3\xa9",
        b"<",
        b"</",
        b"<!",
        b"/",
    )
)
_BMP = (*range(0x20, 0xD800), *range(0xE000, 0xFFFF))
_PAGES = st.one_of(st.binary(max_size=60), st.lists(_PIECES, max_size=30).map(b"".join))


def _meta(label: str) -> str:
    return f'<meta charset="{label}">'


def _is_utf_8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _encode(text: str, charset: Charset) -> bytes:
    if not charset.single_byte:
        return text.encode(charset.codec)
    byte = {charset.decode(bytes([at])): at for at in range(256) if _fits(charset, at)}
    return bytes(byte[char] for char in text)


def _fits(charset: Charset, byte: int) -> bool:
    try:
        charset.decode(bytes([byte]))
    except UnicodeDecodeError:
        return False
    return True


@cache
def _alphabet(charset: Charset) -> st.SearchStrategy[str]:
    if charset.single_byte:
        return st.sampled_from([charset.decode(bytes([at])) for at in range(256) if _fits(charset, at)])
    if charset is UTF_8 or charset.name == "gb18030":
        return st.characters(codec=charset.codec)
    return st.sampled_from([char for char in map(chr, _BMP) if _returns(charset, char)])


def _returns(charset: Charset, char: str) -> bool:
    """Some codecs write what they read back as something else, such as U+301C in shift_jis."""
    try:
        return charset.decode(char.encode(charset.codec)) == char
    except UnicodeEncodeError:
        return False


# Laws


@given(_PAGES, st.none() | _LABEL | st.text(max_size=8))
def test_every_page_is_text_or_a_refusal_that_says_where_and_what_to_do(data: bytes, transport: str | None) -> None:
    match decode_html(data, transport):
        case Success(page):
            assert page.text or not data.strip(b"\xef\xbb\xbf\xff\xfe\x00\x1b$B(J")
        case Failure(refused):
            assert all(data[misfit.offset] == misfit.byte for misfit in refused.misfits)
            assert "save the page as UTF-8" in refused.detail
            assert refused.detail.isprintable()


@pytest.mark.parametrize("charset", _DECLARABLE, ids=lambda charset: charset.name)
@given(st.data())
def test_declared_text_is_read_back_unless_its_bytes_are_utf_8(charset: Charset, data: st.DataObject) -> None:
    text = data.draw(st.text(_alphabet(charset), max_size=12))
    written = _encode(text, charset)
    assume(charset.decode(written) == text)
    page = decode_html(_meta(charset.name).encode() + written)
    if charset is not UTF_8 and _is_utf_8(written) and not written.isascii():
        expected = DecodedHtml(_meta(charset.name) + written.decode(), "utf-8", DecidedBy.UTF8)
    else:
        expected = DecodedHtml(_meta(charset.name) + text, charset.name, DecidedBy.META)
    assert page == Success(expected)


@pytest.mark.parametrize("charset", _UTF_16, ids=lambda charset: charset.name)
@given(text=st.text(st.characters(codec="utf-16"), max_size=12))
def test_utf_16_is_read_by_a_mark_the_transport_or_an_xml_declaration(charset: Charset, text: str) -> None:
    html, xml = "<p>" + text, "<?xml version='1.0'?>" + text
    mark = "\ufeff".encode(charset.codec)
    assert decode_html(mark + html.encode(charset.codec)) == Success(DecodedHtml(html, charset.name, DecidedBy.BOM))
    assert decode_html(html.encode(charset.codec), charset.name) == Success(
        DecodedHtml(html, charset.name, DecidedBy.TRANSPORT)
    )
    assert decode_html(xml.encode(charset.codec)) == Success(DecodedHtml(xml, charset.name, DecidedBy.META))


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=12), _LABEL, _LABEL)
def test_a_byte_order_mark_beats_the_transport_and_the_page(text: str, transport: str, label: str) -> None:
    html = _meta(label) + text
    for mark, codec, name in ((b"\xef\xbb\xbf", "utf-8", "utf-8"), (b"\xff\xfe\0\0", "utf-32-le", "utf-32le")):
        assert decode_html(mark + html.encode(codec), transport) == Success(DecodedHtml(html, name, DecidedBy.BOM))


def test_the_transport_beats_the_page() -> None:
    html = _meta("windows-1251").encode() + b"\xef\xf0\xe8"
    assert decode_html(html, "koi8-r").unwrap().text.endswith("ОПХ")
    assert decode_html(html).unwrap().text.endswith("при")


@given(_PAGES, _UNUSABLE)
def test_a_label_that_is_not_honoured_from_the_transport_changes_nothing(data: bytes, label: str) -> None:
    with_label, without = decode_html(data, label), decode_html(data)
    if isinstance(without, Success):
        assert with_label == without
    else:
        assert isinstance(with_label, Failure)
        assert with_label.failure().misfits == without.failure().misfits


@given(st.text(max_size=12), _UNUSABLE, st.sampled_from(_DECLARABLE))
def test_a_label_that_is_not_honoured_in_the_page_leaves_the_next_one_in_force(
    text: str, label: str, charset: Charset
) -> None:
    rest = _meta(charset.name).encode() + text.encode("utf-8", "surrogatepass")
    match decode_html(rest), decode_html(_meta(label).encode("utf-8") + rest):
        case Success(alone), Success(behind):
            assert behind.text == _meta(label) + alone.text
        case alone, behind:
            assert isinstance(alone, Failure) and isinstance(behind, Failure)


@given(st.text(st.characters(codec="utf-8"), max_size=20), st.none() | _LABEL, _LABEL)
def test_utf_8_beyond_ascii_is_read_as_utf_8_whatever_is_declared(text: str, transport: str | None, label: str) -> None:
    html = _meta(label) + "é" + text
    assume("\0" not in html)
    page = decode_html(html.encode(), transport).unwrap()
    assert (page.text, page.charset) == (html, "utf-8")


@pytest.mark.parametrize("charset", _SINGLE, ids=lambda charset: charset.name)
def test_a_single_byte_charset_keeps_ascii_and_refuses_no_c1_control(charset: Charset) -> None:
    assert charset.decode(bytes(range(128))) == "".join(map(chr, range(128)))
    assert len(charset.decode(bytes(range(0x80, 0xA0)))) == 32
    assert all(charset.decode(bytes([at])) != "\ufffe" for at in range(256) if _fits(charset, at))


@pytest.mark.parametrize(
    ("label", "byte", "char"),
    [
        ("latin1", 0x81, "\x81"),
        ("ascii", 0x93, "“"),
        ("iso-8859-9", 0x80, "€"),
        ("windows-1255", 0xCA, "\u05ba"),
        ("koi8-u", 0xAE, "ў"),
        ("koi8-u", 0xBE, "Ў"),
        ("x-mac-cyrillic", 0xFF, "€"),
        ("tis-620", 0x85, "…"),
    ],
)
def test_a_byte_means_what_the_standards_index_says(label: str, byte: int, char: str) -> None:
    charset = charset_of(label)
    assert charset is not None
    assert charset.decode(bytes([byte])) == char


@given(st.sampled_from(sorted(BY_LABEL)), st.text("\t\n\f\r ", max_size=3), st.text("\t\n\f\r ", max_size=3))
def test_blanks_around_a_label_and_its_case_do_not_count(label: str, before: str, after: str) -> None:
    assert charset_of(before + label.upper() + after) is BY_LABEL[label]


def test_no_refused_label_names_a_charset() -> None:
    assert not REFUSED & BY_LABEL.keys()


@pytest.mark.parametrize(
    ("page", "transport", "detail"),
    [
        (
            b"\xe9",
            None,
            "no charset is declared, and byte 0xe9 at offset 0 does not fit utf-8; declare the charset, or ",
        ),
        (b"\xff\xfe<", None, "the byte order mark says utf-16le, but byte 0x3c at offset 2 does not fit utf-16le; "),
        (b"\xe9", "\n utf-8" + " " * 50, "the charset 'utf-8' declared by the server is wrong: byte 0xe9 at offset 0 "),
        (b"ab\xe9", "UTF-7", "the charset 'UTF-7' declared by the server is not honoured, and byte 0xe9 at offset 2 "),
        (
            b"<meta charset=big5>\xff.\xe9",
            None,
            (
                "the charset 'big5' declared in the page is wrong: byte 0xff at offset 19 does not fit big5 and byte 0xff at "
                "offset 19 does not fit utf-8; "
            ),
        ),
    ],
)
def test_a_refusal_names_what_was_declared_and_where_it_fails(page: bytes, transport: str | None, detail: str) -> None:
    assert decode_html(page, transport).failure().detail.startswith(detail)


# The prescan


_FILLERS = (
    b"<a ",
    b"<!--x",
    b'<a b="',
    b"<a b='c' ",
    b"<meta charset",
    b"<a =",
    b"</",
    b"<script>",
    b"<!",
    b"<a/",
    b"< ",
)
_IN_CONTENT = (b"charset", b"charset =", b"charset ", b"charset='")


@pytest.mark.parametrize("filler", _FILLERS)
def test_hostile_markup_is_scanned_once_and_never_declares_anything(filler: bytes) -> None:
    assert list(declared_labels(filler * (2 * LIMIT // len(filler)))) == []


@pytest.mark.parametrize("filler", _IN_CONTENT)
def test_hostile_content_is_scanned_once(filler: bytes) -> None:
    content = filler * (LIMIT // 2 // len(filler))
    page = b'<meta http-equiv=content-type content="' + content + b'"><meta charset=big5>'
    assert list(declared_labels(page))[-1] == "big5"


@given(st.integers(0, 64 * STANDARD))
def test_a_declaration_counts_anywhere_in_the_head(size: int) -> None:
    page = b"<head><!--" + b"x" * size + b"--><title>t</title><meta charset=big5></head>"
    assert list(declared_labels(page)) == ["big5"]


@pytest.mark.parametrize("end", [b"</head>", b"<body>", b"<BODY class=a>"])
def test_beyond_the_standards_1024_bytes_the_head_ends_where_it_ends(end: bytes) -> None:
    meta = b"<meta charset=big5>"
    assert list(declared_labels(b"<p>" + end + meta)) == ["big5"]
    assert list(declared_labels(b"<p>" + b" " * STANDARD + end + meta)) == []


def test_beyond_the_standards_1024_bytes_scripts_and_styles_declare_nothing() -> None:
    meta, pad = b"<meta charset=big5>", b" " * STANDARD
    for name in (b"script", b"style", b"SCRIPT"):
        raw = b"<" + name + b" type=x>" + meta + b"</head></" + name + b">"
        assert list(declared_labels(raw)) == ["big5"]
        assert list(declared_labels(pad + raw + b"<meta charset=koi8-r>")) == ["koi8-r"]


@pytest.mark.parametrize(
    ("page", "labels"),
    [
        (b"<?xml version='1.0' encoding='koi8-r'?><a>", ["koi8-r"]),
        (b'<?xml encoding\n=\n"koi8-r"?><meta charset=big5>', ["big5", "koi8-r"]),
        (b"<?xml encoding='koi8-r\"?>", []),
        (b"<?xml ?> encoding='koi8-r'", []),
        (b" <?xml encoding='koi8-r'?>", []),
        (b"<meta charset=big5 charset=koi8-r>", ["big5"]),
        (b"<meta content='charset=big5' http-equiv=Content-Type charset=koi8-r>", ["koi8-r"]),
        (b"<meta http-equiv=content-type content='charset charset = \"big5\"; x'>", ["big5"]),
        (b"<!--><meta charset=big5>", ["big5"]),
    ],
)
def test_the_page_declares_as_the_standard_says(page: bytes, labels: list[str]) -> None:
    assert list(declared_labels(page)) == labels


# Known difficult pages

#: Pages of the html5lib suite that declare windows-1252. For the others that expect it, it is the standard's guess where
#: nothing is declared; there is no guess here.
_DECLARES_1252 = {("tests1.dat", 1), ("tests1.dat", 37), ("tests1.dat", 40)}
#: UTF-8 bytes under a label of another charset: the suite asks what is declared, here they are read as UTF-8.
_UTF_8_BYTES = {("test-yahoo-jp.dat", 0)}


@pytest.mark.parametrize(("name", "count"), [("tests1.dat", 59), ("tests2.dat", 22), ("test-yahoo-jp.dat", 1)])
def test_the_html5lib_suite_finds_the_same_declarations(name: str, count: int) -> None:
    """Left out: scripted/tests1.dat, whose declaration exists only after a script has run."""
    parts = (shared("data/html/html5lib-tests/encoding") / name).read_bytes().split(b"#data\n")[1:]
    assert len(parts) == count
    for at, part in enumerate(parts):
        page, _, expected = part.rpartition(b"\n#encoding\n")
        charset = expected.strip().decode().lower()
        found = decode_html(page).unwrap()
        declared = next((charset_of(label) for label in declared_labels(page) if charset_of(label)), None)
        if (name, at) in _UTF_8_BYTES:
            assert declared == charset_of(charset) and found.charset == "utf-8"
        elif charset == "windows-1252" and (name, at) not in _DECLARES_1252:
            assert found.decided_by is DecidedBy.UTF8 and declared is None, (at, page)
        else:
            assert found.charset == charset and found.decided_by is not DecidedBy.UTF8, (at, page)


_TRUE = {
    "Big5": "big5hkscs",
    "CP949": "cp949",
    "GB2312": "gb18030",
    "MacCyrillic": "mac_cyrillic",
    "SHIFT_JIS": "cp932",
    "TIS-620": "cp874",
}


def _true_codec(folder: str) -> str:
    """The folder is the true encoding, some with a language behind it."""
    parts = folder.split("-")
    return _TRUE.get(folder) or "-".join(parts[: 3 if parts[0] == "iso" else 2])


#: Nothing is declared and the bytes are not UTF-8.
_UNDECLARED = 12
#: IBM855 and MacCyrillic are no labels of the standard.
_NO_LABEL = 5


def test_a_page_in_a_known_encoding_is_read_right_or_refused_and_never_read_wrong() -> None:
    files = sorted(path for path in shared("data/html/encodings").rglob("*") if path.is_file())
    refused: list[CharsetRefused] = []
    for path in files:
        data = path.read_bytes()
        match decode_html(data):
            case Success(page):
                assert page.text == data.decode(_true_codec(path.parent.name)), path
            case Failure(refusal):
                refused.append(refusal)
    assert len(files) == 60
    assert sum(refusal.declared is None for refusal in refused) == _UNDECLARED
    assert sorted({refusal.declared for refusal in refused if refusal.declared}) == ["IBM855", "MacCyrillic"]
    assert len(refused) == _UNDECLARED + _NO_LABEL


def _case(label: str, text: str) -> str:
    return f"<html><head>{_meta(label)}<title>t</title></head><body><p>{text}</p></body></html>"


_CASES = {
    "euc-kr": DecodedHtml(_case("euc-kr", "검색 needle"), "euc-kr", DecidedBy.META),
    "gb2312-declared-gb18030-bytes": DecodedHtml(_case("gb2312", "镕基 € 中文检索 needle"), "gb18030", DecidedBy.META),
    "iso-2022-jp": DecodedHtml(_case("iso-2022-jp", "検索 needle"), "iso-2022-jp", DecidedBy.META),
    "koi8-r": DecodedHtml(_case("koi8-r", "поиск needle"), "koi8-r", DecidedBy.META),
    "latin1-declared-cp1252-bytes": DecodedHtml(
        _case("iso-8859-1", "“quote” – € needle"), "windows-1252", DecidedBy.META
    ),
    "meta-after-2000-bytes": DecodedHtml(
        "<html><head>" + "<!-- pad -->" * 200 + _meta("shift_jis") + "</head><body>検索 needle</body></html>",
        "shift_jis",
        DecidedBy.META,
    ),
    "meta-gb2312-utf8-bytes": DecodedHtml(
        f"<html><head>{_meta('gb2312')}<title>检索</title></head><body>"
        + "<p>可验证引用 needle</p>" * 30
        + "</body></html>",
        "utf-8",
        DecidedBy.UTF8,
    ),
    "unknown": DecodedHtml(_case("no-such-charset-42", "café needle"), "utf-8", DecidedBy.UTF8),
    "utf16le-bom": DecodedHtml(f"<html>{_meta('utf-8')}<p>検索 needle</p>", "utf-16le", DecidedBy.BOM),
    "utf7": DecodedHtml(
        f"{_meta('utf-7')}<p>+ADw-script+AD4-alert(1)+ADw-/script+AD4- needle</p>", "utf-8", DecidedBy.UTF8
    ),
    "utf8-bom-meta-1252": DecodedHtml(_case("windows-1252", "café needle 中"), "utf-8", DecidedBy.BOM),
    "windows-1256": DecodedHtml(_case("windows-1256", "بحث needle"), "windows-1256", DecidedBy.META),
}
_REFUSED = {
    "mixed-utf8-with-1252-byte": CharsetRefused("utf-8", DecidedBy.META, (Misfit("utf-8", 72, 0x93),)),
    "x-user-defined": CharsetRefused("x-user-defined", DecidedBy.META, (Misfit("utf-8", 82, 0xE9),)),
}


def test_case_28_has_no_other_pages() -> None:
    folder = shared("cases/28-html-charset")
    assert {path.stem for path in folder.glob("*.html")} == _CASES.keys() | _REFUSED.keys()


@pytest.mark.parametrize("name", _CASES)
def test_case_28_comes_out_as_the_right_text(name: str) -> None:
    assert decode_html((shared("cases/28-html-charset") / f"{name}.html").read_bytes()) == Success(_CASES[name])


@pytest.mark.parametrize("name", _REFUSED)
def test_case_28_is_refused_where_nothing_fits(name: str) -> None:
    assert decode_html((shared("cases/28-html-charset") / f"{name}.html").read_bytes()) == Failure(_REFUSED[name])
