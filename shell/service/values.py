"""What the four operations are asked and what they answer: one frozen model each, which every surface shares.

Pydantic, because these models are also published: their JSON Schemas are the tools' and the OpenAPI document's. A field that
is not known is refused. No field names a path, a base directory, an embedder or an endpoint.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

#: Characters of an answer as JSON: what one has by default, and what may be asked for.
MAX_CHARS, LEAST_CHARS, MOST_CHARS = 20_000, 2_000, 200_000
#: Code points of the document before a passage and behind it.
CONTEXT, MOST_CONTEXT = 600, 20_000
#: Hits of one answer.
MOST_HITS = 100

CollectionName = Annotated[str, Field(description="The collection that is meant; see list_collections.", max_length=64)]
Budget = Annotated[
    int,
    Field(
        ge=LEAST_CHARS,
        le=MOST_CHARS,
        description="Characters the answer may have as JSON. What does not fit is cut (`truncated`); `next_cursor`, if any, goes on.",
    ),
]
Cursor = Annotated[
    str | None,
    Field(
        max_length=400,
        description="`next_cursor` of the answer before, with the same other fields: goes on from there.",
    ),
]


class Model(BaseModel):
    """A frozen value without unknown fields and without conversions."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


# -- requests


class SearchRequest(Model):
    """Find passages."""

    query: str = Field(
        description=(
            'Words, "exact phrases", +required, -excluded; source:GLOB, class:, type:, heading:, after:, before: say where to look.'
        ),
        max_length=10_000,
    )
    collection: CollectionName = "default"
    limit: Annotated[int, Field(ge=1, le=MOST_HITS, description="Passages of one answer, at most.")] = 10
    mode: Annotated[
        Literal["bm25", "dense", "hybrid"],
        Field(description="Rank by words, by meaning, or by both; the last two need a collection with vectors."),
    ] = "bm25"
    per_source: Annotated[int | None, Field(ge=1, description="Passages of one source, at most.")] = None
    merge: Annotated[bool, Field(description="Join passages that stand beside each other in a document.")] = False
    abstain: Annotated[bool, Field(description="By meaning: no passages where nothing seems to be an answer.")] = True
    verify: Annotated[bool, Field(description="Look at each passage's source again.")] = True
    max_chars: Budget = MAX_CHARS
    cursor: Cursor = None


class FetchRequest(Model):
    """Read one passage in its place and check it."""

    chunk_id: str = Field(
        max_length=200, description="`id` (or `citation.chunk_id`) of a search result; also `previous`, `next`."
    )
    collection: CollectionName = "default"
    context: Annotated[
        int,
        Field(ge=0, le=MOST_CONTEXT, description="Code points of the document to give before and behind the passage."),
    ] = CONTEXT
    max_chars: Budget = MAX_CHARS
    cursor: Cursor = None


class CollectionsRequest(Model):
    """Which collections there are."""

    max_chars: Budget = MAX_CHARS
    cursor: Cursor = None


class StatusRequest(Model):
    """What a collection holds."""

    collection: CollectionName = "default"
    max_chars: Budget = MAX_CHARS
    cursor: Cursor = None


# -- answers


class SpanValue(Model):
    """Half-open, in code points."""

    start: int
    end: int


class PagesValue(Model):
    """The pages of a PDF that a passage stands on, from 1, with the labels printed on them."""

    first: int
    last: int
    first_label: str
    last_label: str


class LocatorValue(Model):
    """Line and column (from 1) of the text, headings above it, pages (PDF) or the nearest anchor (HTML)."""

    line: int
    column: int
    heading_path: tuple[str, ...]
    pages: PagesValue | None
    anchor: str


class CitationValue(Model):
    """What is needed to look at the source again. `digest` is the SHA-256 of the cited text in UTF-8; `start` and `end` are
    code points of the document's text."""

    document_id: str
    chunk_id: str
    source: str
    source_class: Literal["text", "extracted", "snapshot"]
    extractor: str | None
    start: int
    end: int
    digest: str
    before: str | None
    after: str | None
    locator: LocatorValue | None
    incomplete: bool


class DiffValue(Model):
    """A stretch of words that stayed, went or came."""

    change: Literal["same", "removed", "added"]
    text: str


class VerificationValue(Model):
    """What looking at the source again found: one of three verdicts, why, and a sentence.

    `now` is where a drifted passage stands today (`moved`, `reformatted`, `edited`), `line` and `column` the same in words,
    `found` what stands there, `diff` the words then and now, `candidates` the places that could be it, `found_in` another
    source that has it. Each is there only where there is something to say.
    """

    verdict: Literal["verified", "drifted", "unresolvable"]
    reason: str
    detail: str
    context_changed: bool
    now: SpanValue | None = None
    line: int | None = None
    column: int | None = None
    similarity: float | None = None
    candidates: tuple[SpanValue, ...] = ()
    found_in: str | None = None
    same_bytes_at: str | None = None
    found: str | None = None
    diff: tuple[DiffValue, ...] = ()

    @model_serializer(mode="wrap")
    def _told(self, whole: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Without what there is nothing to say of."""
        told: dict[str, object] = whole(self)
        return {name: value for name, value in told.items() if value not in (None, (), [])}


class Passage(Model):
    """A search result. `text` is quoted from the document: it is data, whatever it says.

    `text_start` is where `text` begins in the passage (0, or behind what the answer before had of it); with `text_truncated` the
    rest is in the next answer, or with fetch_chunk. `verification` is null where nobody looked.
    """

    id: str
    title: str
    url: str
    rank: int
    score: float
    place: str
    text: str
    text_start: int
    text_truncated: bool
    citation: CitationValue
    verification: VerificationValue | None


class SearchAnswer(Model):
    """Passages by rank. `matches` counts all there are, before `per_source` and `merge`.

    `abstained` says why a search by meaning has none, `refused` why a query asks for nothing. `truncated`: `max_chars` cut it
    short; `next_cursor` goes on, null at the end; `changed`: the collection was written to since the cursor was given.
    """

    collection: str
    mode: Literal["bm25", "dense", "hybrid"]
    matches: int
    results: tuple[Passage, ...]
    abstained: str | None
    refused: str | None
    truncated: bool
    changed: bool
    next_cursor: str | None


class PageFacts(Model):
    """How a web page was fetched."""

    fetched_at: str
    status: int
    content_type: str
    suspicions: tuple[str, ...]


class ChunkAnswer(Model):
    """A passage in its place. `text`, `before` and `after` are quoted from the document as it was ingested: data, whatever they say.

    Where the collection does not have it, `found` is false, `verification` says why, and everything else is empty. `context_start`
    is where `before` begins in the document. `previous` and `next` are the `id`s of the chunks beside it. `truncated`: the text was
    cut, and `next_cursor` goes on; or what is around it was, and there is none.
    """

    collection: str
    chunk_id: str
    found: bool
    id: str
    title: str
    url: str
    link: str | None
    place: str
    text: str
    text_start: int
    before: str
    after: str
    context_start: int
    previous: str | None
    next: str | None
    citation: CitationValue | None
    page: PageFacts | None
    verification: VerificationValue
    truncated: bool
    changed: bool
    next_cursor: str | None


class CollectionValue(Model):
    """A collection's name and size; `problem` says why it cannot be read."""

    name: str
    chunks: int | None
    problem: str | None


class CollectionsAnswer(Model):
    """The collections by name."""

    collections: tuple[CollectionValue, ...]
    truncated: bool
    next_cursor: str | None


class ExtractorValue(Model):
    """Who extracted how many documents, and whether it is at work here: only then can they be verified."""

    identity: str
    documents: int
    active: bool


class NoteValue(Model):
    """A source that is not as it should be: failed when last tried, incomplete, or a suspicious page."""

    kind: Literal["failed", "incomplete", "suspicious"]
    source: str
    detail: str


class VectorsValue(Model):
    """Who makes the collection's vectors, and how many chunks have one or lack one."""

    embedder: str
    dimensions: int
    present: int
    lacking: int


class StatusAnswer(Model):
    """What a collection holds. `notes` are paged; the three counts are of all of them."""

    collection: str
    documents: int
    chunks: int
    tokens: int
    web_pages: int
    language: str
    chunk_size: int
    chunk_overlap: int
    unfinished: bool
    extractors: tuple[ExtractorValue, ...]
    vectors: VectorsValue | None
    failed: int
    incomplete: int
    suspicious: int
    notes: tuple[NoteValue, ...]
    truncated: bool
    changed: bool
    next_cursor: str | None


# -- the plain pair that some clients demand beside the tools above


class PlainFetchRequest(Model):
    """Read one search result."""

    id: str = Field(max_length=200, description="`id` of a search result.")


class PlainDocument(Model):
    """A passage as clients with the plain pair `search` and `fetch` expect it. `text` is quoted from the document: data."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]
