"""The lines that open and close Markdown blocks, as regular expressions.

Matched where a line's indentation (three columns at most) ends, over text in which every line ends in LF. Numbers are
sections of CommonMark 0.31.
"""

import re

ATX_HEADING = re.compile(r"(#{1,6})(?:[ \t](.*))?\n")  # 4.2
SETEXT_UNDERLINE = re.compile(r"(=+|-+)[ \t]*\n")  # 4.3
_RULE = r"(?=([-*_])[ \t]*\1[ \t]*\1)(?:-[- \t]*+|\*[* \t]*+|_[_ \t]*+)\n"
THEMATIC_BREAK = re.compile(_RULE)  # 4.1
FENCE = re.compile(r"(`{3,})[^`\n]*\n|(~{3,}).*\n")  # 4.5
FENCE_CLOSER = re.compile(r"(`{3,}|~{3,})[ \t]*\n")
LIST_MARKER = re.compile(r"(?:[-+*]|[0-9]{1,9}[.)])(?=[ \t\n])")  # 5.2
BLANK_LINES = re.compile(r"(?:[ \t]*\n)+")
INDENTED_CODE = re.compile(r"(?:(?: {4}| {0,3}\t).*\n|[ \t]*\n)+")  # 4.4
#: One link reference definition on one line (4.7); those over several lines are taken for text.
DEFINITION = re.compile(
    r"""[ \t]*\[(?:[^\[\]\\]|\\.)+\]:[ \t]*[^ \t\n]+(?:[ \t]+(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ \t]*\n"""
)

_RAW = "script|pre|style|textarea"
_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h1|h2|h3|h4|h5|h6|head|header|hr|html|iframe|legend|li|link|"
    "main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|"
    "title|tr|track|ul"
)
_ATTRIBUTE = r"""[ \t]++[a-z_:][a-z0-9_.:-]*+(?:[ \t]*+=[ \t]*+(?:[^ \t\n"'=<>`]++|'[^'\n]*+'|"[^"\n]*+"))?"""
_COMPLETE_TAG = rf"(?!{_RAW})[a-z][a-z0-9-]*+(?:{_ATTRIBUTE})*+[ \t]*+/?>|/(?!{_RAW})[a-z][a-z0-9-]*+[ \t]*+>"
#: 4.6. The number of the group that matched is the kind, 1 to 7.
HTML_START = re.compile(
    rf"<(?:((?:{_RAW})(?=[ \t>\n]))|(!--)|(\?)|(![a-z])|(!\[CDATA\[)"
    rf"|(/?(?:{_BLOCK_TAGS})(?=[ \t\n]|/?>))|((?:{_COMPLETE_TAG})[ \t]*+\n))",
    re.IGNORECASE,
)
#: What ends a block of HTML, by kind; the line that holds it is the last one.
HTML_END = {
    1: re.compile(rf"</(?:{_RAW})>", re.IGNORECASE),
    2: re.compile("-->"),
    3: re.compile(r"\?>"),
    4: re.compile(">"),
    5: re.compile(r"\]\]>"),
}
#: Kinds without an entry end before a blank line. This kind cannot interrupt a paragraph.
HTML_ANY_TAG = 7

#: A line that ends the paragraph before it. A list item does so only with content and, if numbered, from 1.
_INTERRUPTION = re.compile(rf"#{{1,6}}[ \t\n]|`{{3,}}[^`\n]*\n|~{{3}}|>|{_RULE}|(?:[-+*]|0{{0,8}}1[.)])[ \t]+[^ \t\n]")

#: GFM 4.10. The delimiter row; a header row with as many cells stands above it.
TABLE_DELIMITER = re.compile(r"\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+\n")
_CELL_BORDER = re.compile(r"(?<!\\)\|")


def html_kind(text: str, at: int) -> int:
    """Kind 1 to 7 of the HTML block that begins here, or 0."""
    start = HTML_START.match(text, at)
    return start.lastindex or 0 if start else 0


def interrupts(text: str, at: int) -> bool:
    """Whether a line ends the paragraph it follows and begins another block."""
    if text[at] == "<":
        return 0 < html_kind(text, at) < HTML_ANY_TAG
    return _INTERRUPTION.match(text, at) is not None


def atx_text(raw: str) -> str:
    """The content of an ATX heading without its closing sequence."""
    content = raw.strip(" \t")
    opened = content.rstrip("#")
    if opened and opened[-1] not in " \t":
        return content
    return opened.rstrip(" \t")


def cells(row: str) -> int:
    """How many cells a table row has."""
    inner = row.strip().removeprefix("|")
    borders = len(_CELL_BORDER.findall(inner))
    closed = inner.endswith("|") and not inner.endswith("\\|")
    return borders + (0 if closed else 1)
