"""Links that a person can click: to a place in a file, on a page of a PDF, in a web page.

Whatever stands in a name or a text, a link is printable ASCII and leads to that name.
"""

from groundkit.core.model import Citation, SourceClass, Span
from groundkit.core.paths import is_within_base
from groundkit.core.percent import IN_PATH, IN_URL, encoded
from groundkit.core.spans import line_view
from groundkit.core.text_directives import text_directive
from groundkit.core.url_kinds import is_page


def link_of(citation: Citation, text: str, document: str | None = None) -> str | None:
    """Where the passage `text` is found: a reference relative to the base directory, or the URL of a page.

    Text files have `#char=` (RFC 5147), PDFs `#page=`, all else `#:~:text=` (WICG, URL Fragment Text Directives), behind
    the nearest anchor. With the text of the whole `document`, terms that stand elsewhere too are told apart; without it, text
    files have `#line=`. None of a source that is neither below its base nor a page: a citation from elsewhere may name any.
    """
    located = _located(citation)
    if located is None:
        return None
    fragment = _fragment(citation, text, document, located[1])
    return f"{located[0]}#{fragment}" if fragment else located[0]


def _located(citation: Citation) -> tuple[str, str] | None:
    if citation.source_class is not SourceClass.SNAPSHOT:
        return (encoded(citation.source, IN_PATH), "") if is_within_base(citation.source) else None
    if not is_page(citation.source):
        return None
    page, _, fragment = citation.source.partition("#")
    return encoded(page, IN_URL), encoded(fragment.partition(":~:")[0], IN_URL - {0x23})


def _fragment(citation: Citation, text: str, document: str | None, anchor: str) -> str:
    locator = citation.locator
    if citation.source_class is SourceClass.TEXT:
        return _in_text_file(citation, text, document)
    if locator is not None and locator.pages is not None:
        return f"page={locator.pages.first}"
    if locator is not None and locator.anchor:
        anchor = encoded(locator.anchor)
    directive = text_directive(citation, text, document)
    return f"{anchor}:~:{directive}" if directive else anchor


def _in_text_file(citation: Citation, text: str, document: str | None) -> str:
    if document is not None:
        return "char={},{}".format(*char_positions(document, citation.span))
    if citation.locator is None:
        return ""
    first = citation.locator.line
    last = first + line_view(text).count("\n", 0, -1)
    return f"line={first - 1},{last}"


def char_positions(document: str, span: Span) -> tuple[int, int]:
    """The positions between characters where a span begins and ends, for `#char=` (RFC 5147).

    Every line break counts as one character, CRLF too; where a span cuts one, the whole is meant. A byte order mark at the
    beginning belongs to the encoding (RFC 3629, 6) and is not counted.
    """
    cuts_break = span.start > 0 and document[span.start - 1 : span.start + 1] == "\r\n"
    return _position(document, span.start - cuts_break), _position(document, span.end)


def _position(document: str, at: int) -> int:
    # Most texts have no CR, which is seen ten times as fast as pairs are counted.
    pairs = document.count("\r\n", 0, at) if "\r" in document else 0
    return max(0, at - pairs - document.startswith("\ufeff"))
