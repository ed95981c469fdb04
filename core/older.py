"""What can still be read of the store of an earlier version."""

from attrs import field, frozen

from groundkit.core.model import Span


@frozen
class OldSource:
    """What the store of an earlier version says of a source."""

    source: str
    document_id: str
    ingested_at: str
    chunks: int


@frozen
class OldStore:
    """The store of an earlier version (schema `version`), its sources by name. It can be listed and read, no more."""

    version: int
    sources: tuple[OldSource, ...]


@frozen
class OldChunk:
    """A chunk as an earlier version left it; whether its offsets can be trusted is not known."""

    id: str
    ordinal: int
    span: Span
    text: str = field(repr=False)
