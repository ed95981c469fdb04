"""Which texts are meant as URLs, told apart from paths before anything else is done with either."""

import re
import unicodedata
from typing import Final

#: Schemes that need no "//" after them to be meant. A name such as `notes: today.md` is a path all the same.
KNOWN_SCHEMES: Final = frozenset(
    (
        *("about", "blob", "chrome", "data", "dict", "feed", "file", "ftp", "ftps", "gopher", "http", "https"),
        *("imap", "irc", "jar", "javascript", "ldap", "ldaps", "magnet", "mailto", "news", "nntp", "phar", "rtsp"),
        *("sftp", "sip", "smb", "ssh", "svn", "tel", "telnet", "tftp", "unix", "urn", "vbscript", "view-source"),
        *("ws", "wss"),
    )
)

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PAGE = re.compile(r"https?://", re.IGNORECASE)


def is_url(text: str) -> bool:
    """Whether this is meant as a URL, fetchable or not; such a text never goes through path code.

    It is if it begins with a scheme and `://`, with `://` alone, or with a scheme of `KNOWN_SCHEMES`, a colon and something
    more. White space and control characters before it, and tabs and line breaks within, do not count, as for browsers.
    """
    begin = next((index for index, char in enumerate(text) if not _is_blank(char)), len(text))
    meant = re.sub(r"[\t\r\n]", "", text[begin:])
    scheme = _SCHEME.match(meant)
    if scheme is None:
        return meant.startswith("://")
    rest = meant[scheme.end() :]
    return rest.startswith("//") or (rest != "" and scheme[1].lower() in KNOWN_SCHEMES)


def is_page(source: str) -> bool:
    """Whether a stored source is a page's URL. A local one has no empty part, and so no `//`, whatever it is called."""
    return _PAGE.match(source) is not None


def _is_blank(char: str) -> bool:
    return char.isspace() or unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp", "Zs")
