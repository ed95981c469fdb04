"""What the messages in pypdf's log mean for the text. Known by their templates, so that no value in them matters."""

import re
from enum import Enum

from attrs import frozen


class Weight(Enum):
    LOST = "text is missing"
    NOTED = "text may differ from what stands in the file"
    IGNORED = "no bearing on the text"


@frozen
class Meaning:
    """`sentence` may name values of the message in braces, those that are numbers, names or exceptions."""

    weight: Weight
    sentence: str = ""


def _lost(sentence: str, *templates: str) -> dict[str, Meaning]:
    return dict.fromkeys(templates, Meaning(Weight.LOST, sentence))


def _noted(sentence: str, *templates: str) -> dict[str, Meaning]:
    return dict.fromkeys(templates, Meaning(Weight.NOTED, sentence))


def _ignored(*templates: str) -> dict[str, Meaning]:
    return dict.fromkeys(templates, Meaning(Weight.IGNORED))


#: Forms hold text of their own; pypdf goes on without one that it cannot read, and after the limit without any.
_FORMS = (
    _lost(
        "a form on it could not be read ({exception})",
        "Impossible to decode XFormObject %(operand)s: %(exception)s",
    )
    | _lost(
        "a form on it draws itself: what comes of that is left out",
        "Detected cyclic form XObject reference, skipping %(operand)s.",
    )
    | _lost(
        "more than {limit} forms are drawn on it: what comes after is left out",
        "Exceeded %(limit)d form XObject invocations while extracting text; further form content is skipped.",
    )
)

#: Objects that are not there, or are cut short: a page, its contents, its fonts may be among them.
_OBJECTS = (
    _lost("object {idnum} {generation} is not in the file", "Object %(idnum)d %(generation)d not defined.")
    | _lost("a dictionary is damaged: its rest is skipped", "%(exception)r", "%(exception)s")
    | _lost(
        "an object stream is damaged: objects in it are skipped",
        "Invalid /N (%(n)d) or /First (%(first)d) in object stream %(stmnum)d; ignoring the stream.",
        "Value /N %(n)d for object %(stmnum)d exceeds maximum allowed value %(max_n)d. Limiting to %(max_n)d.",
        "Invalid object number (%(objnum)d) or offset (%(offset)d) in object stream %(stmnum)d; skipping the entry.",
        "Invalid stream (index %(index)d) within object %(obj_num)d 0: %(exc)s",
        "found %(actual_count)d objects within Object(%(object_number)d,%(generation_number)d) whereas"
        " %(expected)d expected",
    )
    | _lost(
        "an entry of the page tree is not a page: it is skipped",
        "Ignoring page tree entry that is not a dictionary: %(entry)s",
    )
    | _lost(
        "its contents are damaged: a part is skipped",
        "Page contents are not a stream or an array: %(contents)s",
        "Expected StreamObject, got %(type_name)s instead. Data might be wrong.",
    )
    | _lost(
        "its resources are damaged: text in them is skipped",
        "Page resources are not a dictionary: %(resources)s",
        "Font resources are not a dictionary: %(fonts)s",
    )
    | _lost("a token is cut at {max_bytes} bytes", "Token exceeds maximum length of %(max_bytes)d bytes.")
    # Which of two values was meant nobody can tell; the first is taken.
    | _noted(
        "a dictionary defines a key twice: the first counts",
        "Multiple definitions in dictionary at byte %(position)s for key %(key)s",
    )
    | _noted(
        "a number is malformed: it counts as 0",
        "%(error)s : FloatObject (%(value)s) invalid; use 0.0 instead",
        "NumberObject(%(value)s) invalid; use 0 instead",
    )
    | _noted("a text string is malformed: its rest is skipped", "%(exception)s; initial string: %(initial_string)r")
    | _noted("a string has an unknown escape: the backslash is kept", "Unexpected escaped string: %(token)s")
    # A stream without a length ends at its end mark; a name means what it means however it is spelled.
    | _ignored(
        "Stream length not defined @pos=%(position)d",
        "Illegal character in NameObject (%(name)r), you may need to adjust NameObject.CHARSETS",
        "Superfluous whitespace found in object header %(idnum)r %(generation)r",
        "Overwriting cache for %(generation)d %(idnum)d",
    )
)

_TABLE_DAMAGED = "the file's table of objects is damaged: they were searched for"

#: The cross-reference table. Searching for the objects finds them, or says "not defined" of each that is needed.
_TABLE = (
    _lost(
        "the file is cut off, or its last revision cannot be read: an earlier one was",
        "CAUTION: startxref found while searching for %%EOF. The file might be truncated and some data might not be"
        " read.",
        "found startxref pointing to a previous revision after a corrupt one",
        "Previous trailer cannot be read: %(args)s",
    )
    | _lost(
        "a part of the file's table of objects cannot be read: objects may be missing",
        "XRef object at %(xref_stm)d can not be read, some object may be missing",
        "entry %(num)d in Xref table invalid; object not found",
        "Cross-reference stream encodes no entry data.",
        "Negative XRef count %(count)d, using 0.",
        "Clamping XRef count from %(old_count)d to %(new_count)d to fit stream size.",
    )
    | _noted(
        _TABLE_DAMAGED,
        "Negative startxref pointer (%(startxref)d), treating it as zero.",
        "incorrect startxref pointer(%(xref_issue_nr)d)",
        "Invalid/Truncated xref table. Rebuilding it.",
        "Invalid parent xref., rebuild xref",
        "parsing for Object Streams",
        "entry %(num)d in Xref table invalid but object found",
        "Ignoring wrong pointing object %(id)d %(gen)d (offset %(offset)d)",
        "Object ID %(idnum)d,%(generation)d ref repaired",
        "Object %(idnum)d %(generation)d found",
        "Circular xref chain detected at offset %(startxref)d, stopping",
    )
    | _noted(
        "the file's catalog is damaged: it was searched for",
        'Cannot find "/Root" key in trailer',
        "Invalid Root object in trailer",
        'Searching object with "/Catalog" key',
        "Root found at %(obj_reference)r",
        "Possible root found at %(root_ref)r, but missing /Catalog key",
    )
    | _noted("the end of the file may be cut off", "EOF marker seems truncated", "EOF marker not found")
    # Where header and end mark stand says nothing of the text between them.
    | _ignored(
        "invalid pdf header: %(header_byte)r",
        "EOF marker not at start of line",
        "Duplicate %%EOF marker(s) found, skipping them",
        "startxref on same line as offset",
        "Xref table not zero-indexed. ID numbers for objects will be corrected.",
        "/Prev=0 in the trailer - assuming there is no previous xref table",
    )
)

#: Compressed data. What is not decoded is not read.
_FILTERS = (
    _lost("compressed data is damaged: a part is skipped", "Ignoring too large LZW table index.")
    | _lost(
        "compressed data ends too early: what follows is skipped",
        "Early EOD in RunLengthDecode, check if output is OK",
        "Missing EOD in RunLengthDecode, check if output is OK",
    )
    | _noted(
        "compressed data has no end mark: it may be cut off",
        "missing EOD in ASCIIHexDecode, check if output is OK",
        "missing EOD in RunLengthDecode, check if output is OK",
        "Ignoring missing Ascii85 end marker.",
    )
    | _noted(
        "how data is compressed is not said properly: it may be read wrongly",
        "Detected invalid /DecodeParms, results might be incorrect: %(value)s (type %(type_name)s)",
        "Ignoring invalid DecodeParms: %(value)s",
    )
    | _noted(
        "where a picture in the contents ends was guessed",
        "Early EOD in RunLengthDecode of inline image, using fallback.",
    )
    # Pictures, and one byte after the end mark.
    | _ignored(
        "Image data is not rectangular. Adding padding.",
        "Found trailing newline in stream data, check if output is OK",
        "Ignoring invalid DecodeParms entry: %(value)s",
        "Unknown inline image key %(key)s, keeping it as-is.",
    )
)

_CHARACTERS = "the table of characters of a font is damaged: some may be wrong or missing"
_WIDTHS = "the widths of a font are damaged: spaces between words may be wrong"

#: Fonts. Every glyph gives something, be it U+FFFD: no text is missing, but it may not be what is seen.
_FONTS = (
    _noted(
        "the encoding {encoding} of a font is not known to pypdf: its characters may be wrong",
        "Advanced encoding %(encoding)s not implemented yet, using %(new_encoding)s instead.",
    )
    | _noted(
        "the encoding of a font is not known to pypdf: its characters may be wrong",
        "Advanced encoding %(encoding)s not implemented yet",
    )
    | _noted(
        "the encoding inside a font can be read only with fontTools: its characters may be wrong",
        "fontTools is required to fully parse the encoding of a CFF Type1 font in font dictionary %(ft)s, but is not"
        " installed. Consider installing fontTools if you encounter encoding problems.",
    )
    | _noted(
        _CHARACTERS,
        "Font encoding differences are not an array: %(differences)s",
        "Skipping broken line %(line)r: %(error)s",
        "Skipping broken line %(line)r: Line is empty.",
        "Ignoring final token of odd-length line %(line)r.",
        "Got invalid hex string: %(exception)s (%(destination)r)",
    )
    | _noted(
        _WIDTHS,
        "Expected an array for /Widths, got %(widths_array)s. Ignoring it.",
        "Ignoring invalid /FirstChar %(code)s.",
        "Ignoring invalid /FirstChar %(code)d < 0.",
        "Ignoring invalid character codes > %(limit)d (starting at %(code)d).",
        "Expected numeric value for width, got %(w_entry)s. Ignoring it.",
        "Invalid font width definition. Last element: %(w_entry)s.",
        "Expected an array for /DescendantFonts, got %(descendant_fonts)s. Ignoring it.",
    )
    # Measures of the font as a whole, which plain text does not use; the box that a page is cut to.
    | _ignored(
        "Failed to get %(source_key)r in %(font_descriptor_obj)s: %(error)s",
        "Expected four values, got %(length)d: %(retval)s",
    )
)

#: Encrypted files. What is decrypted with a wrong key cannot be read, and says so elsewhere.
_ENCRYPTION = (
    _lost("encrypted data is cut off", "Adding missing padding.")
    | _noted("encrypted data is damaged at its end", "Ignoring padding error: %(exception)s")
    # Permissions; and what is said once in a process must not be said in one document and not in the next.
    | _ignored(
        "RC4 is not supported by the current OpenSSL build; falling back to the pure-Python RC4 implementation.",
        "SASLprep normalization failed, using plain UTF-8: %(err)s",
        "ignore '/Perms' verify failed",
        "Ignoring non-boolean /EncryptMetadata entry of the encryption dictionary",
        "Ignoring non-string first /ID entry of the trailer",
        "Ignoring malformed /ID entry of the trailer",
    )
)

MEANINGS: dict[str, Meaning] = _FORMS | _OBJECTS | _TABLE | _FILTERS | _FONTS | _ENCRYPTION

#: zlib's own words, which pypdf passes on as they are.
_ZLIB = "Error -"
_DAMAGED_DATA = Meaning(Weight.LOST, "compressed data is damaged: a part is skipped")
_VALUE = re.compile(r"%\(\w+\)[a-z]|[{}]")


def meaning_of(template: str) -> Meaning:
    """What a message means. One that is not known is told as it is, without its values."""
    if template.startswith(_ZLIB):
        return _DAMAGED_DATA
    return MEANINGS.get(template) or Meaning(Weight.NOTED, f"pypdf says: {_VALUE.sub('…', template)[:200]}")
