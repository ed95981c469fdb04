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


def json_text(text: str) -> str:
    """A JSON document with every unsafe character as JSON escapes it, which changes no value in it; line breaks stay."""
    if _PLAIN.match(text):
        return text
    return "".join(character if character == "\n" or _safe(character) else _escaped(character) for character in text)


def _safe(character: str) -> bool:
    return unicodedata.category(character) not in _UNSAFE


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _shown(character: str) -> str:
    if character in "\n\t" or _safe(character):
        return character
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
