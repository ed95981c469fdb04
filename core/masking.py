"""Texts without the secrets of the URLs in them, for whatever is shown, logged or kept. In doubt, more is masked.

Places are found in the text as it stands, from several points of view at once, and then masked together: what one rule
hides cannot hide a second secret from another rule. This is repeated until nothing changes, so masking twice is masking once.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from groundkit.core.secrets import credential_name, decoded, shapes_in

MASK: Final = "***"

#: Half-open, in code points.
Place = tuple[int, int]

#: Rounds until a text that keeps changing is given up and masked whole.
_ROUNDS: Final = 8

#: "@", its look-alikes that some parsers take for it, and both percent-encoded any number of times.
_AT = re.compile(r"[@\uff20\ufe6b]|%(?:25)*(?:40|ef%(?:25)*bc%(?:25)*a0|ef%(?:25)*b9%(?:25)*ab)", re.IGNORECASE)
#: Behind these an authority may begin.
_SLASHES = re.compile(r"[/\\]{2,}|(?<=:)[/\\]")
_AUTHORITY = re.compile(r"[^/\\?#\s]*")
_LITERAL = re.compile(r"\[[^\]]*\]")
_PART = re.compile(r"[/&]")
_PORT = re.compile(r"[0-9]{0,5}[^\w]*")
_NAME_EDGE = re.compile(r"([?&;#/=@,:\\|<>])")
_NESTED_USERINFO = re.compile(r"[/\\]{2}[^/\\?#\s]*@")
_RUN, _FIELD = re.compile(r"\S+"), re.compile(r"[^\s&]+")
_WHOLE, _WHOLE_FIELD = re.compile(r"(?s).+"), re.compile(r"[^&]+")


def masked(text: str) -> str:
    """Any text (a URL, a message with URLs in it) with user information and credentials as `***`; idempotent.

    White space ends a URL. Control characters stay as they are.
    """
    return _settled(text, (False,))


def masked_url(text: str) -> str:
    """`masked` for a text that is one URL, however malformed: white space within it ends nothing."""
    return _settled(text, (True, False))


def credential_in(target: str) -> str | None:
    """What kind of credential a path, query or fragment carries, in words of ours; None if none is seen.

    Seen are listed parameter names (also after `;` and in encoded values), value shapes, nested URLs with user information.
    """
    levels = decoded(target)
    for text in (target, *levels.levels):
        name = next((name for name, _ in _credential_values(text)), None)
        kind = next((kind for kind, _, _ in shapes_in(text)), None)
        if name is not None or kind is not None:
            return kind if name is None else f"a parameter named like {name!r}"
        if _NESTED_USERINFO.search(text):
            return "a URL with user information"
    return None if levels.settled else "something percent-encoded many times over"


def _settled(text: str, views: tuple[bool, ...]) -> str:
    """The text masked until nothing changes, seen as one URL (`True`), as words some of which are URLs (`False`), or both."""
    for _ in range(_ROUNDS):
        places = (place for whole in views for find in (_plain_places, _encoded_places) for place in find(text, whole))
        further = _covered(text, sorted(places))
        if further == text:
            return text
        text = further
    return MASK


def _covered(text: str, places: list[Place]) -> str:
    parts: list[str] = []
    at = 0
    for start, end in places:
        if start >= at:
            parts += [text[at:start], MASK]
        at = max(at, end)
    return "".join([*parts, text[at:]])


def _plain_places(text: str, whole: bool) -> Iterator[Place]:
    for run in (_WHOLE if whole else _RUN).finditer(text):
        yield from _userinfo_places(text, *run.span())
    for _, start, end in shapes_in(text):
        yield start, end
    for field in (_WHOLE_FIELD if whole else _FIELD).finditer(text):
        for _, start in islice(_credential_values(field.group()), 1):
            yield field.start() + start, field.end()


def _encoded_places(text: str, whole: bool) -> Iterator[Place]:
    """Fields that show a secret only once decoded: from the first encoded part on, or all of it."""
    for field in (_WHOLE_FIELD if whole else _FIELD).finditer(text):
        if "%" in field.group() and _hides_secret(field.group()):
            parts = _NAME_EDGE.split(field.group()[: field.group().index("%")])
            start = field.start() + sum(map(len, parts[:-1]))
            yield (start if _hides_secret(text[start : field.end()]) else field.start()), field.end()


def _hides_secret(text: str) -> bool:
    levels = decoded(text)
    return not levels.settled or any(
        level[start:end] != MASK for level in levels.levels for start, end in _plain_places(level, whole=True)
    )


def _credential_values(field: str) -> Iterator[tuple[str, int]]:
    """The entry of our lists, and where the value begins, for each `name=value` with a listed name and a value."""
    parts = _NAME_EDGE.split(field)
    at = 0
    for index in range(1, len(parts), 2):
        at += len(parts[index - 1]) + 1
        name = parts[index - 1]
        listed = credential_name(name) if name and parts[index] == "=" and at < len(field) else None
        if listed is not None:
            yield listed, at


def _userinfo_places(text: str, start: int, end: int) -> Iterator[Place]:
    """From where an authority begins to the last "@" of the run, if there is user information or parsers may see some."""
    begins = [start, *(match.end() for match in _SLASHES.finditer(text, start, end))]
    last = max((match.start() for match in _AT.finditer(text, start, end)), default=-1)
    if last < 0:
        yield from _lost_userinfo(text, begins[1:], end)
        return
    for begin in begins:
        if begin >= last:
            break
        # An authority may end at "?" or "#", but not for every parser.
        stop = end if (slash := text.find("/", begin, end)) < 0 else slash
        if _is_doubtful(text[begin:stop], before_slash=stop < end):
            yield begin, last
            return
    colon = _colon_before_at(text[start:end])
    if colon is not None:
        yield max(begin for begin in begins if begin <= start + colon), last


def _colon_before_at(run: str) -> int | None:
    """Where a colon and an "@" stand in one part of a path or query, as they would in a name with a "/" and its password."""
    at = 0
    for part in _PART.split(run):
        colon = part.find(":")
        if colon >= 0 and _AT.search(part, colon):
            return at + colon
        at += len(part) + 1
    return None


def _lost_userinfo(text: str, begins: list[int], end: int) -> Iterator[Place]:
    """Authorities whose port is none, and so may be a password whose "@" is beyond white space."""
    for begin in begins:
        if (authority := _AUTHORITY.match(text, begin, end)) and _has_no_port(authority.group()):
            yield authority.span()


def _is_doubtful(authority: str, before_slash: bool) -> bool:
    host = _LITERAL.sub("", authority, count=1)
    is_scheme = before_slash and host.find(":") == len(host) - 1
    return "\\" in host or (":" in host and not is_scheme) or _AT.search(authority) is not None


def _has_no_port(authority: str) -> bool:
    _, colon, port = _LITERAL.sub("", authority, count=1).partition(":")
    return bool(colon) and _PORT.fullmatch(port) is None
