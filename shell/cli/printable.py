"""Text from documents, file names and errors as it may reach a terminal: control characters are shown, never executed."""

import re
import unicodedata

#: Cc, Cf, Zl, Zp, Cs and Cn: what moves a cursor, turns the reading direction, breaks lines or is no character.
_UNSAFE = frozenset(("Cc", "Cf", "Zl", "Zp", "Cs", "Cn"))
_PLAIN = re.compile(r"[ -~\n\t]*\Z")


def printable(text: str) -> str:
    """The text with every unsafe character as its escape; line breaks (CRLF as one) and tabs stay."""
    text = text.replace("\r\n", "\n")
    if _PLAIN.match(text):
        return text
    return "".join(map(_shown, text))


def one_line(text: str) -> str:
    """The same for what has to stay on one line: a name, a heading."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def _shown(character: str) -> str:
    if character in "\n\t" or unicodedata.category(character) not in _UNSAFE:
        return character
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
