"""Citations on their way: as JSON and as web annotations, out and in. Ordinary Python, which raises `CitationError`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from groundkit.core.model import SourceClass
from groundkit.core.portable import CitationRefused, PortableCitation
from groundkit.core.result import Failure, Result
from groundkit.core.sources import is_utf8
from groundkit.errors import CitationError

if TYPE_CHECKING:
    from groundkit.core.annotation_selectors import Selectors


def dump_citation(citation: PortableCitation) -> dict[str, Any]:
    """A citation as plain data for JSON, with its `schema` number (docs/citations.md has every key)."""
    from groundkit.portable_json import citation_data

    return citation_data(citation)


def load_citation(data: object) -> PortableCitation:
    """The citation that plain data from JSON is. `CitationError` that names every key which is unknown, missing or wrong."""
    from groundkit.portable_json import citation_from

    return _taken(citation_from(data))


def dump_citations(citations: Iterable[PortableCitation]) -> str:
    """One citation a line (JSON lines), as `gk verify --file` reads them."""
    return "".join(f"{_line(dump_citation(each))}\n" for each in citations)


def _line(data: dict[str, Any]) -> str:
    """As UTF-8, but for what no UTF-8 has: half a surrogate pair, which an extractor may have made."""
    text = json.dumps(data, ensure_ascii=False)
    return text if is_utf8(text) else json.dumps(data)


def load_citations(data: bytes | str, name: str = "citations") -> list[PortableCitation | CitationRefused]:
    """The citations of a file, JSON or JSON lines, in its order; what is none of them stands there as what is wrong with it.

    `CitationError` where the whole is no file of citations. `name` is what it is called in messages.
    """
    from groundkit.citation_files import read_citations

    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    entries = read_citations(raw, name)
    if isinstance(entries, Failure):
        raise CitationError(str(entries.failure()), entries.failure())
    return [each.found for each in entries.unwrap()]


def to_web_annotation(citation: PortableCitation, base_iri: str = "") -> dict[str, Any]:
    """The citation as a W3C web annotation: TextPositionSelector and TextQuoteSelector, and for a page a TimeState.

    `base_iri` stands before the name of a local source, which is relative without it. What the standard has no word for
    stands in one member of our own, so that nothing is lost on the way back.
    """
    from groundkit.core.web_annotation import annotation_of, iri_of

    page = citation.citation.source_class is SourceClass.SNAPSHOT
    base = f"{base_iri}/" if base_iri and not base_iri.endswith("/") else base_iri
    return annotation_of(citation, f"{'' if page else base}{iri_of(citation.citation)}")


def from_web_annotation(data: object) -> PortableCitation:
    """The citation that `to_web_annotation` made an annotation of. `CitationError` for what is none.

    An annotation by somebody else has no citation in it, but says where to look: see `selectors_of`.
    """
    from groundkit.portable_json import citation_from_annotation

    return _taken(citation_from_annotation(data))


def selectors_of(data: object) -> Selectors:
    """The source, the quoted text and its place that an annotation names, whoever made it. `CitationError` where none does."""
    from groundkit.core.annotation_selectors import selectors_from

    selectors = selectors_from(data)
    if isinstance(selectors, Failure):
        raise CitationError(str(selectors.failure()), selectors.failure())
    return selectors.unwrap()


def _taken(result: Result[PortableCitation, CitationRefused]) -> PortableCitation:
    if isinstance(result, Failure):
        raise CitationError(str(result.failure()), result.failure())
    return result.unwrap()
