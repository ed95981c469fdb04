"""Citations as annotations of the W3C's Web Annotation Data Model (Recommendation of 23 February 2017), and back.

Its selectors count code points from 0, the end not included (4.2.5), as our spans do. What it has no word for stands in one member
of our own. Annotations are plain data as a reader of JSON gives it.
"""

import re
from typing import Final

from groundkit.core.annotation_selectors import (
    POSITION,
    QUOTE,
    SELECTOR,
    STATE,
    Data,
    NotAnchored,
    Places,
    Selectors,
    anchored,
    selectors_from,
    types_of,
)
from groundkit.core.model import Citation, Locator, SourceClass
from groundkit.core.percent import IN_PATH, IN_URL, encoded
from groundkit.core.portable import CITATION_SCHEMA, CitationProblem, CitationRefused, Flaw, PortableCitation
from groundkit.core.result import Failure, Result, Success

__all__ = [
    "CONTEXT",
    "EXTENSION",
    "NotAnchored",
    "Places",
    "Selectors",
    "anchored",
    "annotation_of",
    "flat_of",
    "iri_of",
    "is_annotation",
    "selectors_from",
]

#: The member that holds what the data model has no word for. To readers of JSON-LD 1.1 it is one literal.
EXTENSION: Final = "groundkit"
CONTEXT: Final[tuple[str | Data, ...]] = (
    "http://www.w3.org/ns/anno.jsonld",
    {EXTENSION: {"@id": "urn:groundkit:citation", "@type": "@json"}},
)

_ELSEWHERE = "this annotation was not exported as a citation; Collection.anchor makes one of what it quotes"

#: Keys of the portable form that selectors and the state say.
_SAID = ("start", "end", "text", "before", "after", "fetched_at")


def iri_of(citation: Citation) -> str:
    """What names the source and no place in it: the URL of a page, a file's path relative to its base. Percent-encoded."""
    source = citation.source
    if citation.source_class is SourceClass.SNAPSHOT:
        return encoded(source.partition("#")[0], IN_URL)
    # A slash that begins a reference leads to a root, and two of them to a host.
    return encoded(source[:1]) + encoded(source[1:], IN_PATH)


def annotation_of(portable: PortableCitation, iri: str) -> Data:
    """The citation as an annotation: what it highlights, in which state of which resource.

    `iri` names the resource: what `iri_of` says, or that with the way to the base in front.
    """
    cited = portable.citation
    target: Data = {"type": "SpecificResource", "source": iri, "selector": _selectors(portable)}
    if portable.fetched_at is not None:
        target["state"] = {"type": STATE, "sourceDate": portable.fetched_at}
    return {
        "@context": list(CONTEXT),
        "id": f"urn:groundkit:citation:{cited.document_id}:{cited.span.start}:{cited.span.end}",
        "type": "Annotation",
        "motivation": "highlighting",
        "target": target,
        EXTENSION: _extension(portable),
    }


def _selectors(portable: PortableCitation) -> list[Data]:
    cited = portable.citation
    quote = {"type": QUOTE, "exact": portable.text, "prefix": cited.before, "suffix": cited.after}
    return [
        {"type": POSITION, "start": cited.span.start, "end": cited.span.end},
        {key: value for key, value in quote.items() if value is not None},
    ]


def _extension(portable: PortableCitation) -> Data:
    """The keys of the portable form that stand nowhere else, in its order."""
    cited = portable.citation
    return {
        "schema": CITATION_SCHEMA,
        "collection": portable.collection,
        "source": cited.source,
        "source_class": cited.source_class.value,
        "extractor": cited.extractor,
        "incomplete": cited.incomplete,
        "document_id": cited.document_id,
        "document_digest": portable.document_digest,
        "chunk_id": cited.chunk_id,
        "chunk_start": portable.chunk_span.start,
        "chunk_end": portable.chunk_span.end,
        "digest": cited.digest,
        "occurrence": portable.occurrence,
        "occurrences": portable.occurrences,
        "locator": None if cited.locator is None else _locator(cited.locator),
    }


def _locator(locator: Locator) -> Data:
    pages = locator.pages
    keys = ("first", "last", "first_label", "last_label")
    return {
        "line": locator.line,
        "column": locator.column,
        "heading_path": list(locator.heading_path),
        "pages": None if pages is None else {key: getattr(pages, key) for key in keys},
        "anchor": locator.anchor,
    }


def is_annotation(data: object) -> bool:
    """Whether data means to be an annotation, ours or another's."""
    return isinstance(data, dict) and ("@context" in data or "Annotation" in types_of(data))


def flat_of(data: object) -> Result[Data, CitationRefused]:
    """The portable form, still to be checked, of an annotation that `annotation_of` made.

    Refused: an annotation without our member, selectors that cannot be read, a member that says again what they say, and a
    target that is not the source which the member names. Other members are for others, and passed over.
    """
    if not isinstance(data, dict):
        return _refused("", Flaw.TYPE, "an annotation is an object")
    extension = data.get(EXTENSION)
    if not isinstance(extension, dict):
        return _refused(EXTENSION, Flaw.MISSING, _ELSEWHERE)
    again = [key for key in _SAID if key in extension]
    if again:
        return _refused(f"{EXTENSION}.{again[0]}", Flaw.UNKNOWN, "the target says this")
    found = selectors_from(data)
    return found if isinstance(found, Failure) else _joined(extension, found.unwrap())


def _joined(extension: Data, selectors: Selectors) -> Result[Data, CitationRefused]:
    position, source, source_class = selectors.position, extension.get("source"), extension.get("source_class")
    if position is None:
        return _refused(SELECTOR, Flaw.MISSING, f"there is no {POSITION}")
    # Where one of the two is missing or no string, that is told as of any citation.
    both = isinstance(source, str) and isinstance(source_class, str)
    if both and not _names(selectors.source, str(source), source_class):
        return _refused("target.source", Flaw.MISMATCH, f"it is another resource than {EXTENSION}.source")
    said = (position.start, position.end, selectors.exact, selectors.prefix, selectors.suffix, selectors.source_date)
    return Success(extension | dict(zip(_SAID, said, strict=True)))


def _refused(key: str, flaw: Flaw, detail: str) -> Failure[CitationRefused]:
    return Failure(CitationRefused((CitationProblem(key, flaw, detail),)))


def _names(iri: str, source: str, source_class: object) -> bool:
    """Whether an IRI is that of a page, or that of a file below wherever the base is."""
    named = _percent_decoded(iri.partition("#")[0])
    if source_class == SourceClass.SNAPSHOT:
        return named == _percent_decoded(source.partition("#")[0])
    return (b"/" + named).endswith(b"/" + source.encode("utf-8", "surrogatepass"))


def _percent_decoded(iri: str) -> bytes:
    octets = iri.encode("utf-8", "surrogatepass")
    return re.sub(rb"%([0-9A-Fa-f]{2})", lambda match: bytes.fromhex(match[1].decode()), octets)
