"""Text of documents in reports: what moves a cursor, turns the reading direction or is no character is shown as an escape."""

import html
import unicodedata
from collections.abc import Callable

#: Cc, Cf, Zl, Zp, Cs and Cn. XML 1.0 can hold only a part of these.
_UNSAFE = frozenset(("Cc", "Cf", "Zl", "Zp", "Cs", "Cn"))
_BLANKS = {" ": "␣", "\n": "↵\n", "\t": "⇥"}


def _code(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class _Table(dict[int, str]):
    """What `str.translate` puts for a character, found out when it first comes."""

    def __init__(self, safe: Callable[[str], str], unsafe: Callable[[str], str], lines: bool) -> None:
        super().__init__({ord(sign): sign for sign in "\n\t"} if lines else {10: unsafe("\\n"), 9: unsafe("\\t")})
        self._safe, self._escape = safe, unsafe

    def __missing__(self, code: int) -> str:
        unsafe = unicodedata.category(chr(code)) in _UNSAFE
        self[code] = self._escape(_code(code)) if unsafe else self._safe(chr(code))
        return self[code]


def _as_it_is(sign: str) -> str:
    return sign


def _tagged(escape: str) -> str:
    return f'<b class="x">{escape}</b>'


_TEXT = _Table(_as_it_is, _as_it_is, lines=True)
_LINE = _Table(_as_it_is, _as_it_is, lines=False)
_HTML_TEXT = _Table(html.escape, _tagged, lines=True)
_HTML_LINE = _Table(html.escape, _tagged, lines=False)


def visible(text: str) -> str:
    """The text with its unsafe characters as escapes; line breaks (CRLF as one) and tabs stay."""
    return text.replace("\r\n", "\n").translate(_TEXT)


def one_line(text: str) -> str:
    """The same for a name or a sentence: line breaks and tabs as escapes, too."""
    return text.replace("\r\n", "\n").translate(_LINE)


def markup(text: str) -> str:
    """The text as it may stand in an element of HTML, each escape in a `<b class="x">`."""
    return text.replace("\r\n", "\n").translate(_HTML_TEXT)


def markup_line(text: str) -> str:
    return text.replace("\r\n", "\n").translate(_HTML_LINE)


def attribute(text: str) -> str:
    """The text as it may stand between quotation marks in HTML or XML."""
    return html.escape(one_line(text))


def element(text: str) -> str:
    """The text as it may stand in an element of XML."""
    return html.escape(visible(text), quote=False)


def with_blanks(text: str) -> str:
    """A text of white space alone with signs for it, so that it can be seen; any other as it is."""
    if not text.isspace():
        return text
    return "".join(_BLANKS.get(sign) or _code(ord(sign)) for sign in text)
