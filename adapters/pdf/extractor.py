"""PDF to text by pypdf: what the content streams of the pages show, in plain mode, pages joined by a blank line.

Annotations, form fields, attachments and what stands only in pictures are not in the text.
"""

import importlib.metadata
from functools import cache

from attrs import frozen

from groundkit.adapters.pdf import document
from groundkit.core.extraction import Extraction, ExtractionFailed, Hint, checked
from groundkit.core.result import Failure, Result

#: Raised whenever the same bytes and the same pypdf give something else than before.
RECIPE = 1
#: Packages that pypdf uses where they happen to be installed, and then gives other text.
HELPERS = ("fonttools", "brotli")


@cache
def _identity() -> str:
    parts = [f"pypdf/{importlib.metadata.version('pypdf')}"]
    for helper in HELPERS:
        try:
            parts.append(f"{helper}/{importlib.metadata.version(helper)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return "+".join((*parts, f"recipe/{RECIPE}"))


@frozen
class PdfExtractor:
    """Reads `application/pdf`. One reader per call; nothing of one document reaches the next."""

    media_types: frozenset[str] = frozenset({"application/pdf"})

    @property
    def identity(self) -> str:
        """pypdf, the optional packages it finds, and our recipe. `PackageNotFoundError` without pypdf."""
        return _identity()

    def extract(self, data: bytes, hint: Hint) -> Result[Extraction, ExtractionFailed]:
        """Text, title, and where each physical page begins, with its printed label where the file has labels.

        `ENCRYPTED` unless the empty password opens it, `NEEDS_PACKAGE`, `NO_TEXT` (a scan), else `DAMAGED`. A page that
        cannot be read makes the text incomplete. Raises nothing but `MemoryError` and what is no `Exception`.
        """
        read = document.read(data)
        return read if isinstance(read, Failure) else checked(read.unwrap())
