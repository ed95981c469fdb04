"""One document read with pypdf: its pages, what they lost, and why there is nothing of it. The seam for its exceptions."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any

from attrs import frozen

from groundkit.adapters.pdf.hearing import Heard, hearing, said, starved
from groundkit.adapters.pdf.labels import page_labels
from groundkit.adapters.pdf.streams import CutShort, shows_a_picture
from groundkit.core.extraction import Extraction, ExtractionFailed, ExtractionProblem, Page, clean
from groundkit.core.result import Failure, Result, Success

if TYPE_CHECKING:
    from pypdf import PdfReader

#: Between two pages.
PAGE_BREAK = "\n\n"
#: More text than this, in code points, is not kept.
CHARACTERS_LIMIT = 64 * 1024 * 1024
#: pypdf's limits, said here so that what a caller set for himself does not reach our text. Lengths in bytes.
LIMITS: dict[str, Any] = {
    "maximum_declared_stream_length": 75_000_000,
    "array_based_stream_maximum_output_length": 75_000_000,
    "array_maximum_element_count": 100_000,
    "dictionary_maximum_element_count": 100_000,
    "lzw_maximum_output_length": 75_000_000,
    "run_length_maximum_output_length": 75_000_000,
    "zlib_maximum_output_length": 75_000_000,
    "zlib_maximum_recovery_input_length": 5_000_000,
    "brotli_maximum_output_length": 75_000_000,
    "flate_maximum_columns": 250_000,
    "flate_maximum_row_length": 4_000_000,
    "stream_filters_maximum_length": 16,
    "stream_decoding_work_maximum_length": 300_000_000,
    # Half of pypdf's own: so many operators take some three seconds, and no page of text has them.
    "stream_parsing_work_maximum_count": 1_000_000,
    "xmp_maximum_input_length": 1_000_000,
    "xmp_maximum_element_count": 10_000,
    "page_tree_maximum_entries": 100_000,
    "page_tree_maximum_depth": 100,
    "page_tree_maximum_page_entries": 2_000_000,
    "xform_maximum_invocations_per_extraction": 5_000,
    # No other program is started for a picture that holds no text anyway.
    "jbig2dec_binary": None,
    "disable_legacy_handling": True,
}

#: Characters that mean nothing to anybody but the font, or not even to it.
_UNKNOWN = re.compile("\ufffd")
_CONTROL = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd]")
#: How an object begins.
_OBJECT = re.compile(rb"[\r\n]\d{1,10}\s\d{1,5}\sobj\b")
#: Text of nothing else than the first two is no text.
_NOTHING = re.compile(r"[\s\ufffd\x01-\x1f\x7f-\x9f]*")
_SCARCE = (
    (_UNKNOWN, "no Unicode meaning in the file's fonts: U+FFFD stands for each"),
    (_CONTROL, "only a control code in the file's fonts: what is seen there is not known"),
    (_PRIVATE, "a private meaning in the file's fonts: they cannot be searched for"),
)

_PASSWORD = "it needs a password: save it without one (for instance: qpdf --decrypt --password=… in.pdf out.pdf)"
_PACKAGE = "pip install 'groundkit[pdf]'"


@frozen
class _Pages:
    texts: tuple[str, ...]
    starts: tuple[int, ...]
    title: str
    labels: tuple[str, ...]


def read(data: bytes) -> Result[Extraction, ExtractionFailed]:
    """The document in these bytes, not yet checked, or the reason why there is none."""
    broken = _broken_library()
    if broken is not None:
        return _failed(ExtractionProblem.RAISED, broken)
    try:
        with hearing() as heard, _configured():
            return _read(data, heard)
    except MemoryError:
        raise
    except Exception as error:
        if starved(error):
            raise MemoryError from error
        return Failure(_refusal(error, data))


def _broken_library() -> str | None:
    """What stands in the way of using pypdf at all: no fault of any file."""
    try:
        import pypdf  # noqa: F401 - to see whether it can be
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - it is installed, or nobody would ask; whatever is wrong with it
        return f"pypdf is installed and cannot be used ({said(error)})"
    return None


@contextmanager
def _configured() -> Iterator[None]:
    from pypdf import Configuration, apply_configuration

    with apply_configuration(Configuration(**LIMITS)):
        yield


def _read(data: bytes, heard: Heard) -> Result[Extraction, ExtractionFailed]:
    from pypdf import PasswordType, PdfReader

    if not data:
        return _failed(ExtractionProblem.DAMAGED, "the file is empty")
    reader = PdfReader(BytesIO(data))
    if reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED:
        return _failed(ExtractionProblem.ENCRYPTED, _PASSWORD)
    texts = _texts(reader, heard)
    _count_missing(reader, len(texts), heard)
    if _goes_on(data):
        heard.lose("it goes on after its last end mark, and was cut off there: what comes after that mark is missing")
    if heard.starved:
        raise MemoryError
    if sum(map(len, texts)) > CHARACTERS_LIMIT:
        return _failed(ExtractionProblem.DAMAGED, f"it holds more than {CHARACTERS_LIMIT:,} characters of text")
    if all(_NOTHING.fullmatch(each) for each in texts):
        return Failure(_nothing(texts, heard))
    # Last, so that what is wrong with these is never taken for something wrong with the text.
    heard.deaf = True
    return Success(_extraction(_Pages(texts, _starts(texts), _title(reader), _labels(reader, len(texts))), heard))


def _texts(reader: "PdfReader", heard: Heard) -> tuple[str, ...]:
    """The text of each page, "" for one that cannot be read. Ends early above the limit of characters."""
    texts: list[str] = []
    kept, short = 0, CutShort()
    for number, page in enumerate(reader.pages, 1):
        heard.page = number
        try:
            texts.append(clean(page.extract_text(extraction_mode="plain")))
        except MemoryError:
            raise
        except Exception as error:
            if starved(error):
                raise MemoryError from error
            heard.lose(said(error))
            texts.append("")
        else:
            _lose_ends(page, short, heard)
            if not texts[-1].strip():
                _note_picture(page, heard)
        kept += len(texts[-1])
        if kept > CHARACTERS_LIMIT:
            break
    heard.page = None
    return tuple(texts)


def _lose_ends(page: Any, short: CutShort, heard: Heard) -> None:
    # What is said while looking at a form or picture that is not even drawn has no bearing on the text.
    heard.deaf = True
    contents, forms = _or_none(lambda: short.contents(page)), _or_none(lambda: short.forms(page))
    heard.deaf = False
    if contents:
        heard.lose("its contents break off: what came after is missing")
    if forms:
        heard.lose("a form on it breaks off: what came after is missing")


def _note_picture(page: Any, heard: Heard) -> None:
    """A scanned page among others would else leave no trace."""
    heard.deaf = True
    picture = _or_none(lambda: shows_a_picture(page))
    heard.deaf = False
    if picture:
        heard.note("it has a picture and no text: it may be a scan")


def _starts(texts: tuple[str, ...]) -> tuple[int, ...]:
    starts, at = [], 0
    for each in texts:
        starts.append(at)
        at += len(each) + len(PAGE_BREAK)
    return tuple(starts)


def _extraction(pages: _Pages, heard: Heard) -> Extraction:
    text = PAGE_BREAK.join(pages.texts)
    return Extraction(
        text=text,
        title=pages.title,
        pages=tuple(Page(start, label) for start, label in zip(pages.starts, pages.labels, strict=True)),
        losses=(*heard.lost(), *_unreadable(text, pages.starts), *heard.notes()),
        incomplete=bool(heard.lost()),
    )


def _unreadable(text: str, starts: tuple[int, ...]) -> Iterator[str]:
    for kind, why in _SCARCE:
        found = [each.start() for each in kind.finditer(text)]
        if found:
            many = "1 character has" if len(found) == 1 else f"{len(found):,} characters have"
            yield f"{many} {why} (first on page {bisect_right(starts, found[0])})"


def _count_missing(reader: "PdfReader", found: int, heard: Heard) -> None:
    """pypdf passes over entries of the page tree that are null without a word; the tree's own count tells."""
    declared = _or_none(lambda: reader.root_object["/Pages"].get("/Count"))  # type: ignore[attr-defined]
    if isinstance(declared, int) and declared > found:
        heard.lose(f"the file declares {declared:,} pages, and {found:,} could be found")


def _goes_on(data: bytes) -> bool:
    """Whether objects follow the last end mark: of a later revision, which pypdf passes over without a word."""
    end = data.rfind(b"%%EOF")
    return end >= 0 and _OBJECT.search(data, end) is not None


def _title(reader: "PdfReader") -> str:
    """From the document information, else from the metadata stream, else ""."""
    title = _or_none(lambda: reader.metadata and reader.metadata.title)
    if isinstance(title, str) and title.strip():
        return str(title)
    titles = _or_none(lambda: reader.xmp_metadata and reader.xmp_metadata.dc_title) or {}
    return str(titles.get("x-default") or next((titles[each] for each in sorted(titles)), ""))


def _labels(reader: "PdfReader", count: int) -> tuple[str, ...]:
    return _or_none(lambda: page_labels(reader, count)) or ("",) * count


def _or_none(look: Any) -> Any:
    """What is said about the text must not cost the text."""
    try:
        return look()
    except MemoryError:
        raise
    except Exception as error:
        if starved(error):
            raise MemoryError from error
        return None


def _nothing(texts: tuple[str, ...], heard: Heard) -> ExtractionFailed:
    lost = heard.lost()
    if lost:
        return ExtractionFailed(ExtractionProblem.DAMAGED, f"no text could be read: {lost[0]}")
    if not texts:
        return ExtractionFailed(ExtractionProblem.NO_TEXT, "it has no pages")
    where = "its only page" if len(texts) == 1 else f"any of its {len(texts):,} pages"
    unknown = any(each.strip() for each in texts)
    why = "none of its characters has a meaning in its fonts" if unknown else "it may be a scan"
    return ExtractionFailed(
        ExtractionProblem.NO_TEXT, f"no text on {where}: {why}; run OCR first (for instance: ocrmypdf in.pdf out.pdf)"
    )


def _refusal(error: Exception, data: bytes) -> ExtractionFailed:
    kind = type(error).__name__
    if kind in _REFUSALS:
        problem, detail = _REFUSALS[kind]
        return ExtractionFailed(problem, detail.format(said=said(error)))
    if b"%PDF-" not in data:
        return ExtractionFailed(ExtractionProblem.DAMAGED, f"not a PDF file: it begins with {data[:16]!r}")
    return ExtractionFailed(ExtractionProblem.DAMAGED, f"it cannot be read as a PDF: {said(error)}")


#: By name, because the classes are not there before pypdf is.
_REFUSALS = {
    "FileNotDecryptedError": (ExtractionProblem.ENCRYPTED, _PASSWORD),
    "WrongPasswordError": (ExtractionProblem.ENCRYPTED, _PASSWORD),
    # pypdf raises it outside pages only for what it cannot decrypt.
    "NotImplementedError": (ExtractionProblem.ENCRYPTED, "it is encrypted in a way that pypdf does not know: {said}"),
    "DependencyError": (ExtractionProblem.NEEDS_PACKAGE, f"it needs a package ({{said}}): {_PACKAGE}"),
    "ModuleNotFoundError": (ExtractionProblem.NEEDS_PACKAGE, f"it needs a package ({{said}}): {_PACKAGE}"),
}


def _failed(problem: ExtractionProblem, detail: str) -> Failure[ExtractionFailed]:
    return Failure(ExtractionFailed(problem, detail))
