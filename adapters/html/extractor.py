"""The extractor of HTML: bytes in, an `Extraction` or the reason why there is none out."""

from importlib import metadata
from platform import python_version

from attrs import frozen

from groundkit.core.charsets import decode_html
from groundkit.core.extraction import Extraction, ExtractionFailed, ExtractionProblem, Hint
from groundkit.core.result import Failure, Result, Success

#: Moves with anything here, or in what is used of the core, that changes what is extracted.
RECIPE = 1
_DETAIL = 300
#: A page of which more than this part is NUL, and so many of them, is no page in one byte a letter.
_NULS, _NULS_LEAST = 0.25, 8
_MOSTLY_NUL = "much of it is NUL: it is no page, or one in UTF-16 without a byte order mark; save the page as UTF-8"


@frozen
class HtmlExtractor:
    """BeautifulSoup's tree over our own tokenizer, laid out as a page shows it."""

    @property
    def identity(self) -> str:
        """The versions of all that the text depends on; the standard library has a part in character references."""
        return f"beautifulsoup4/{metadata.version('beautifulsoup4')}+html.parser/{python_version()}+recipe/{RECIPE}"

    @property
    def media_types(self) -> frozenset[str]:
        return frozenset({"text/html", "application/xhtml+xml"})

    def extract(self, data: bytes, hint: Hint) -> Result[Extraction, ExtractionFailed]:
        """The text of a page; CHARSET, NO_TEXT, or RAISED where BeautifulSoup raises. MemoryError is let through."""
        try:
            return _extracted(data, hint.charset)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - the seam around what a library makes of a hostile page
            return _failed(ExtractionProblem.RAISED, f"{type(error).__name__}: {error}"[:_DETAIL])


def _failed(problem: ExtractionProblem, detail: str) -> Failure[ExtractionFailed]:
    return Failure(ExtractionFailed(problem, detail))


def _extracted(data: bytes, charset: str | None) -> Result[Extraction, ExtractionFailed]:
    from groundkit.adapters.html.text import extraction_of
    from groundkit.adapters.html.tree import tree_of

    decoded = decode_html(data, charset)
    if isinstance(decoded, Failure):
        return _failed(ExtractionProblem.CHARSET, decoded.failure().detail)
    text = decoded.unwrap().text
    if text.count("\0") > max(_NULS * len(text), _NULS_LEAST):
        return _failed(ExtractionProblem.CHARSET, _MOSTLY_NUL)
    extraction = extraction_of(tree_of(text))
    if extraction.text.strip():
        return Success(extraction)
    return _failed(ExtractionProblem.NO_TEXT, "; ".join(("no text in the page", *extraction.losses)))
