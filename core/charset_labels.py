"""The labels of the Encoding standard: what a page may call a charset, and how its bytes are read.

Facts of https://encoding.spec.whatwg.org (names and labels; single-byte indexes), spelled in lower case.
"""

import codecs
from functools import cache

from attrs import frozen


@frozen
class Charset:
    """A charset that is honoured: the standard's name, Python's codec, and the bytes Python reads differently."""

    name: str
    codec: str
    #: Byte to character where the standard's index and Python's codec disagree.
    instead: tuple[tuple[int, str], ...] = ()

    @property
    def single_byte(self) -> bool:
        return self.codec not in _MULTI_BYTE

    def decode(self, data: bytes) -> str:
        """Strict. Raises UnicodeDecodeError at the first byte that does not fit."""
        if self.single_byte:
            return codecs.charmap_decode(data, "strict", _index(self))[0]
        return data.decode(self.codec)


_MULTI_BYTE = frozenset(
    (
        "utf-8",
        "utf-16-le",
        "utf-16-be",
        "utf-32-le",
        "utf-32-be",
        "gb18030",
        "big5hkscs",
        "euc_jp",
        "iso2022_jp",
        "cp932",
        "cp949",
    )
)
#: What stands for "no character here" in a mapping string of `codecs.charmap_decode`.
_NONE = "\ufffe"


@cache
def _index(charset: Charset) -> str:
    """All 256 characters. Bytes 0x80 to 0x9F that a code page leaves open are C1 controls in the standard."""
    instead = dict(charset.instead)
    return "".join(instead.get(byte) or _character(charset.codec, byte) for byte in range(256))


def _character(codec: str, byte: int) -> str:
    try:
        return bytes([byte]).decode(codec)
    except UnicodeDecodeError:
        return chr(byte) if 0x80 <= byte <= 0x9F else _NONE


UTF_8 = Charset("utf-8", "utf-8")
UTF_16LE = Charset("utf-16le", "utf-16-le")
UTF_16BE = Charset("utf-16be", "utf-16-be")
#: Not in the standard, and no label names them: only their byte order marks do.
UTF_32LE = Charset("utf-32le", "utf-32-le")
UTF_32BE = Charset("utf-32be", "utf-32-be")

_TABLE = (
    (UTF_8, "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8"),
    (UTF_16LE, "utf-16le utf-16 csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff"),
    (UTF_16BE, "utf-16be unicodefffe"),
    (Charset("ibm866", "cp866"), "ibm866 866 cp866 csibm866"),
    (
        Charset("iso-8859-2", "iso8859_2"),
        "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
    ),
    (
        Charset("iso-8859-3", "iso8859_3"),
        "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3",
    ),
    (
        Charset("iso-8859-4", "iso8859_4"),
        "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4",
    ),
    (
        Charset("iso-8859-5", "iso8859_5"),
        "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988",
    ),
    (
        Charset("iso-8859-6", "iso8859_6"),
        (
            "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e iso-8859-6-i "
            "iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987"
        ),
    ),
    (
        Charset("iso-8859-7", "iso8859_7"),
        (
            "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7 "
            "iso_8859-7:1987 sun_eu_greek"
        ),
    ),
    (
        Charset("iso-8859-8", "iso8859_8"),
        (
            "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 "
            "iso_8859-8:1988 visual"
        ),
    ),
    (Charset("iso-8859-8-i", "iso8859_8"), "csiso88598i iso-8859-8-i logical"),
    (
        Charset("iso-8859-10", "iso8859_10"),
        "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    ),
    (Charset("iso-8859-13", "iso8859_13"), "iso-8859-13 iso8859-13 iso885913"),
    (Charset("iso-8859-14", "iso8859_14"), "iso-8859-14 iso8859-14 iso885914"),
    (
        Charset("iso-8859-15", "iso8859_15"),
        "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9",
    ),
    (Charset("iso-8859-16", "iso8859_16"), "iso-8859-16"),
    (Charset("koi8-r", "koi8_r"), "cskoi8r koi koi8 koi8-r koi8_r"),
    (Charset("koi8-u", "koi8_u", ((0xAE, "\u045e"), (0xBE, "\u040e"))), "koi8-u koi8-ru"),
    (Charset("macintosh", "mac_roman"), "csmacintosh mac macintosh x-mac-roman"),
    (Charset("x-mac-cyrillic", "mac_cyrillic"), "x-mac-cyrillic x-mac-ukrainian"),
    (Charset("windows-874", "cp874"), "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874"),
    (Charset("windows-1250", "cp1250"), "cp1250 windows-1250 x-cp1250"),
    (Charset("windows-1251", "cp1251"), "cp1251 windows-1251 x-cp1251"),
    (
        Charset("windows-1252", "cp1252"),
        (
            "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 "
            "iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252"
        ),
    ),
    (Charset("windows-1253", "cp1253"), "cp1253 windows-1253 x-cp1253"),
    (
        Charset("windows-1254", "cp1254"),
        (
            "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 "
            "windows-1254 x-cp1254"
        ),
    ),
    (Charset("windows-1255", "cp1255", ((0xCA, "\u05ba"),)), "cp1255 windows-1255 x-cp1255"),
    (Charset("windows-1256", "cp1256"), "cp1256 windows-1256 x-cp1256"),
    (Charset("windows-1257", "cp1257"), "cp1257 windows-1257 x-cp1257"),
    (Charset("windows-1258", "cp1258"), "cp1258 windows-1258 x-cp1258"),
    # GBK is read with the decoder of gb18030, of which it is a part.
    (
        Charset("gb18030", "gb18030"),
        "gb18030 chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk",
    ),
    (Charset("big5", "big5hkscs"), "big5 big5-hkscs cn-big5 csbig5 x-x-big5"),
    (Charset("euc-jp", "euc_jp"), "cseucpkdfmtjapanese euc-jp x-euc-jp"),
    (Charset("iso-2022-jp", "iso2022_jp"), "csiso2022jp iso-2022-jp"),
    (
        Charset("shift_jis", "cp932"),
        "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    ),
    (
        Charset("euc-kr", "cp949"),
        "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949",
    ),
)

#: Never honoured: the standard's "replacement" labels, x-user-defined (bytes that are no text), and utf-7, which the
#: standard does not know either and which hides markup in ASCII.
REFUSED = frozenset(
    (
        "csiso2022kr",
        "hz-gb-2312",
        "iso-2022-cn",
        "iso-2022-cn-ext",
        "iso-2022-kr",
        "replacement",
        "x-user-defined",
        "utf-7",
        "utf7",
        "unicode-1-1-utf-7",
    )
)

BY_LABEL = {label: charset for charset, labels in _TABLE for label in labels.split()}

#: What a label may name, in the order of the table.
CHARSETS = tuple(charset for charset, _ in _TABLE)

_BLANK = "\t\n\f\r "


def charset_of(label: str) -> Charset | None:
    """The charset a label names, or None: unknown or refused. Blanks around it and the case of letters do not count."""
    return BY_LABEL.get(label.strip(_BLANK).lower()) if label.isascii() else None
