"""Character references of the HTML standard (13.2.5.72 on), in text and in the values of attributes."""

import re
from html.entities import html5

_REFERENCE = re.compile(r"&(?:#[xX]([0-9a-fA-F]+);?|#([0-9]+);?|([A-Za-z][A-Za-z0-9]{0,31};?))")
#: Names that are references without a semicolon too; the longest bounds how far a name is tried.
_BARE = {name for name in html5 if not name.endswith(";")}
_LONGEST_BARE = max(map(len, _BARE))
#: A number of more digits, leading zeros aside, is beyond Unicode; Python refuses to read very long ones.
_DIGITS = 7


def _windows_1252(code: int) -> str:
    try:
        return bytes([code]).decode("cp1252")
    except UnicodeDecodeError:
        return chr(code)


_REPLACED = {0: "\ufffd"} | {code: _windows_1252(code) for code in range(0x80, 0xA0)}


def _numbered(digits: str, base: int) -> str:
    digits = digits.lstrip("0")
    code = int(digits or "0", base) if len(digits) <= _DIGITS else 0x110000
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        return "\ufffd"
    return _REPLACED.get(code) or chr(code)


def _bare_length(name: str) -> int:
    """How long the longest name is that `name` begins with and that needs no semicolon; 0 for none."""
    return next((size for size in range(min(len(name), _LONGEST_BARE), 1, -1) if name[:size] in _BARE), 0)


def _in_text(found: re.Match[str]) -> str:
    if name := found[3]:
        if name in html5:
            return html5[name]
        size = _bare_length(name)
        return html5[name[:size]] + name[size:] if size else found[0]
    return _numbered(found[1], 16) if found[1] else _numbered(found[2], 10)


def _in_value(found: re.Match[str]) -> str:
    name = found[3]
    if name is None or (name.endswith(";") and name in html5):
        return _in_text(found)
    # For historical reasons `?a=b&copy=c` is no reference: what follows a bare name must be neither `=` nor alphanumeric.
    bare = name in _BARE and not found.string.startswith("=", found.end())
    return html5[name] if bare else found[0]


def unescaped(text: str) -> str:
    """The text with each character reference replaced; what is none stays as it is."""
    return _REFERENCE.sub(_in_text, text) if "&" in text else text


def unescaped_value(value: str) -> str:
    """The same in the value of an attribute."""
    return _REFERENCE.sub(_in_value, value) if "&" in value else value
