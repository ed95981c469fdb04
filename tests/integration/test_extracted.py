"""The laws for class `extracted`, on whole collections: PDF, HTML, and a user's extractor."""

import json
from pathlib import Path

from attrs import evolve
from commands import gk
from extracted_support import (
    MIXED,
    error_of,
    held,
    opened,
    ports_at,
    rows,
    verdicts,
    world,
)
from integration.support import law_breaks, put
from own_extractors import Changed

from groundkit import IngestionError, SourceClass
from groundkit.adapters.html import HtmlExtractor
from groundkit.adapters.pdf import PdfExtractor
from groundkit.core.changes import CountedChunk, NewDocument, Write
from groundkit.core.chunking import chunks
from groundkit.core.extraction import Extraction, Hint, IncompleteRefused, NotExtracted
from groundkit.core.fingerprint import bytes_digest, document_id, text_digest
from groundkit.core.folding import search_view
from groundkit.core.model import (
    Chunk,
    Document,
    DocumentRecord,
    ExtractionFacts,
    FromExtractor,
    Locator,
    PageRange,
)
from groundkit.core.model import (
    SourceClass as Class,
)
from groundkit.core.outline import Heading
from groundkit.core.ports import Extractor
from groundkit.core.settings import Settings
from groundkit.testing.sample_extractors import (
    MEDIA_TYPE,
    Lines,
)
from groundkit.writing import Writer

SMALL = {"chunk_size": 300, "chunk_overlap": 40}
X1 = Lines().identity

# Slice, tiling, whole characters, verified after ingest, places


def extraction_of(source: str, data: bytes | str) -> Extraction | None:
    """What the extractor of a file of `MIXED` gives, called here and now."""
    named: dict[str, tuple[Extractor, str]] = {
        ".pdf": (PdfExtractor(), "application/pdf"),
        ".html": (HtmlExtractor(), "text/html"),
        ".x": (Lines(), MEDIA_TYPE),
    }
    extractor, media_type = named.get(Path(source).suffix, (None, ""))
    raw = data if isinstance(data, bytes) else data.encode()
    return None if extractor is None else extractor.extract(raw, Hint(media_type)).unwrap()


def seen(chunk: Chunk) -> list[int]:
    """Where the characters of a chunk stand that can be seen."""
    shown = [chunk.span.start + at for at, character in enumerate(chunk.text) if not character.isspace()]
    return shown or list(range(chunk.span.start, chunk.span.end))


def expected(chunk: Chunk, extraction: Extraction) -> tuple[PageRange | None, str]:
    """Pages and anchor of a chunk, looked for character by character."""
    on = [max(0, sum(page.start <= at for page in extraction.pages) - 1) for at in seen(chunk)]
    pages = extraction.pages
    anchors = [each.name for each in extraction.anchors if each.start <= seen(chunk)[0]]
    within = [each.name for each in extraction.anchors if each.start <= seen(chunk)[-1]]
    labels = (pages[min(on)].label, pages[max(on)].label) if pages else ("", "")
    return (
        PageRange(min(on) + 1, max(on) + 1, *labels) if pages else None,
        anchors[-1] if anchors else within[0] if within else "",
    )


def path_at(headings: tuple[Heading, ...], at: int) -> tuple[str, ...]:
    path: list[Heading] = []
    for each in headings:
        if each.start <= at:
            path = [above for above in path if above.level < each.level] + [each]
    return tuple(each.text for each in path)


def test_slice_tiling_and_places_hold_for_each_format(tmp_path: Path) -> None:
    world(tmp_path, MIXED, Lines(), **SMALL).close()
    _, documents = rows(tmp_path)
    assert set(documents) == set(MIXED)
    ranges, anchors = set(), set()
    for source, (record, stored) in documents.items():
        extraction = extraction_of(source, MIXED[source])
        if extraction is None:
            assert record.source_class is Class.TEXT
            assert all(each.chunk.locator.pages is None and not each.chunk.locator.anchor for each in stored)
            continue
        assert law_breaks(extraction.text, stored, Settings(**SMALL)) == []
        assert (record.length, record.title) == (len(extraction.text), extraction.title)
        for each in stored:
            locator = each.chunk.locator
            assert (locator.pages, locator.anchor) == expected(each.chunk, extraction)
            assert locator.heading_path == path_at(extraction.headings, seen(each.chunk)[0])
            ranges.add(locator.pages)
            anchors.add(locator.anchor)
    assert PageRange(1, 2, "i", "ii") in ranges
    assert PageRange(3, 3, "1", "1") in ranges
    assert {"old-2", "part-3"} <= anchors


def test_every_citation_is_verified_directly_after_ingest(tmp_path: Path) -> None:
    with world(tmp_path, MIXED, Lines(), **SMALL) as collection:
        assert verdicts(collection) == {source: {"verified: same"} for source in MIXED}
        hits = collection.search("harbour tide rule water", limit=400, verify=True)
        assert {Path(hit.source).suffix for hit in hits} == {".md", ".txt", ".pdf", ".html", ".x"}
        assert all(hit.verification for hit in hits)
        for hit in hits:
            assert collection.resolve_citation(hit.citation) == hit.text


def test_a_report_counts_what_is_up_to_date_by_format(tmp_path: Path) -> None:
    put(tmp_path, MIXED)
    with opened(tmp_path, Lines()) as collection:
        formats = (
            ("application/pdf", 1), (MEDIA_TYPE, 1), ("text/html", 1), ("text/markdown", 1), ("text/plain", 1),
        )  # fmt: skip
        for unchanged in (0, 5):
            report = collection.ingest("")
            assert (report.added, report.unchanged, report.formats) == (5 - unchanged, unchanged, formats)


# The class round trip: what was recorded is what is told


def by_hand(base: Path, incomplete: bool = False) -> DocumentRecord:
    """A document that no ingest made, in a collection of its own, written as an ingest writes."""
    text = "# Deep\n\nThe quokka sleeps by day.\n" * 3
    digest, losses = text_digest(text), ("page 2 is damaged",) if incomplete else ()
    made = document_id("hand/made.x", "extracted", digest)
    document = Document(made, "hand/made.x", FromExtractor("x@1"), text, digest, MEDIA_TYPE, "Deep")
    cut = tuple(
        evolve(each, locator=Locator(each.locator.line, each.locator.column, ("Deep",), PageRange(1, 1, "i", "i"), "a"))
        for each in chunks(document, Settings(chunk_size=50))
    )
    facts = ExtractionFacts(bytes_digest(text.encode()), text_digest("e"), 1, losses, incomplete)
    record = DocumentRecord(
        made, document.source, document.provenance, digest, len(text), len(cut), MEDIA_TYPE, "Deep", digest, "2026-01-01T00:00:00Z",
        facts,
    )  # fmt: skip
    ports = ports_at(base)
    with ports.lock.hold(1).unwrap():
        ports.documents.create(Settings(base=".."), ports.lexical("english").analyzer).unwrap()
        writer = Writer(ports.documents, ports.lexical("english"))
        writer.recover().unwrap()
        counted = tuple(CountedChunk(each, *search_view(each.text)) for each in cut)
        assert writer.write(Write((NewDocument(record, counted),))).unwrap().pending is None
    ports.documents.close()
    return record


def test_a_document_made_by_x_1_is_told_as_extracted_by_x_1_everywhere(tmp_path: Path) -> None:
    record = by_hand(tmp_path)
    told = (SourceClass.EXTRACTED, "x@1")
    with opened(tmp_path) as collection:
        (listed,) = collection.get_document_records()
        assert listed == record
        assert (listed.source_class, listed.extractor) == told
        hits = collection.search("quokka")
        assert len(hits) == record.chunks
        for hit in hits:
            assert (hit.source_class, hit.extractor) == told
            assert hit.citation.provenance == FromExtractor("x@1")
            assert hit.locator == hit.citation.locator
            assert hit.locator.pages == PageRange(1, 1, "i", "i")
            fetched = collection.fetch_chunk(hit.chunk_id)
            assert fetched.citation is not None
            assert (fetched.citation.source_class, fetched.citation.extractor) == told
            assert fetched.citation == hit.citation
            assert fetched.verification.reason.value == "extractor_mismatch"
        for citation in collection.citations():
            assert (citation.source_class, citation.extractor) == told
        (bound,) = collection.status().extractors
        assert (bound.identity, bound.documents, bound.active) == ("x@1", 1, False)


def test_the_commands_tell_a_document_of_x_1_as_extracted_by_x_1(tmp_path: Path) -> None:
    by_hand(tmp_path)
    told = {"source_class": "extracted", "extractor": "x@1"}

    def json_of(*arguments: str) -> dict[str, object]:
        return json.loads(gk(tmp_path, *arguments, "--format", "json").stdout)  # type: ignore[no-any-return]

    def of(data: object) -> dict[str, object]:
        assert isinstance(data, dict)
        return {name: data[name] for name in told}

    (listed,) = json_of("files")["documents"]  # type: ignore[misc]
    assert of(listed) == told
    hits = json_of("search", "quokka")["hits"]
    assert isinstance(hits, list)
    assert hits
    for hit in hits:
        assert of(hit) == told
        assert of(hit["citation"]) == told
    chunk = hits[0]["chunk_id"]
    assert of(json_of("show", chunk)["citation"]) == told
    (checked,) = json_of("verify", chunk)["checked"]  # type: ignore[misc]
    assert of(checked["citation"]) == told
    assert "extracted, x@1" in gk(tmp_path, "show", chunk).out
    assert "hand/made.x  extracted" in gk(tmp_path, "files").out
    assert "x@1: 1 document, not active here" in gk(tmp_path, "status").out
    assert "p. 1 (i)" in gk(tmp_path, "search", "quokka").out


def test_what_ingest_records_is_what_hits_chunks_and_citations_tell(tmp_path: Path) -> None:
    with world(tmp_path, MIXED, Lines(), **SMALL) as collection:
        recorded = {each.source: each.provenance for each in collection.get_document_records()}
        assert {type(each).__name__ for each in recorded.values()} == {"FromText", "FromExtractor"}
        assert recorded["old.x"] == FromExtractor(X1)
        assert recorded["report.pdf"] == FromExtractor(PdfExtractor().identity)
        assert recorded["site/tides.html"] == FromExtractor(HtmlExtractor().identity)
        for citation in collection.citations():
            assert citation.provenance == recorded[citation.source]
        for hit in collection.search("harbour tide rule water", limit=40):
            assert hit.citation.provenance == recorded[hit.source]
            assert collection.fetch_chunk(hit.chunk_id).citation == hit.citation


# Incomplete documents


def test_an_incomplete_document_is_kept_and_marked_wherever_it_is_told(tmp_path: Path) -> None:
    put(tmp_path, MIXED)
    with opened(tmp_path, Changed(change="incomplete")) as collection:
        report = collection.ingest("")
        (lossy,) = report.losses
        assert (lossy.source, lossy.losses, lossy.incomplete) == ("old.x", ("page 2 is damaged",), True)
        assert report.complete
        (marked,) = collection.status().incomplete
        assert (marked.source, marked.losses) == ("old.x", ("page 2 is damaged",))
        (record,) = collection.get_document_records("old.x")
        assert record.incomplete
        assert record.extraction is not None
        assert record.extraction.losses == ("page 2 is damaged",)
        for hit in collection.search("old rule tide harbour", limit=40, verify=True):
            assert hit.incomplete == hit.citation.incomplete == (hit.source == "old.x")
            assert hit.verification
            fetched = collection.fetch_chunk(hit.chunk_id)
            assert fetched.citation is not None
            assert fetched.citation.incomplete == (hit.source == "old.x")
    hits = json.loads(gk(tmp_path, "search", "old", "rule", "tide", "--format", "json").stdout)["hits"]
    assert {(hit["source"], hit["incomplete"], hit["citation"]["incomplete"]) for hit in hits} > {("old.x", True, True)}
    assert all(hit["incomplete"] == (hit["source"] == "old.x") for hit in hits)
    chunk = next(hit["chunk_id"] for hit in hits if hit["source"] == "old.x")
    whole = next(hit["chunk_id"] for hit in hits if hit["source"] != "old.x")
    for command in (("search", "old rule"), ("show", chunk), ("verify", chunk)):
        assert "incomplete document" in gk(tmp_path, *command).out
    assert "incomplete" not in gk(tmp_path, "show", whole).out
    listed = json.loads(gk(tmp_path, "files", "--format", "json").stdout)["documents"]
    assert [each["source"] for each in listed if each["extraction"] and each["extraction"]["incomplete"]] == ["old.x"]
    assert json.loads(gk(tmp_path, "show", chunk, "--format", "json").stdout)["citation"]["incomplete"] is True
    (checked,) = json.loads(gk(tmp_path, "verify", chunk, "--format", "json").stdout)["checked"]
    assert checked["citation"]["incomplete"] is True
    assert "extracted, incomplete" in gk(tmp_path, "files").out
    assert "old.x: page 2 is damaged" in gk(tmp_path, "status").out
    status = json.loads(gk(tmp_path, "status", "--format", "json").stdout)
    assert status["incomplete"] == [{"source": "old.x", "losses": ["page 2 is damaged"]}]


def test_strict_refuses_what_is_incomplete_and_keeps_the_last_good_version(tmp_path: Path) -> None:
    refused = NotExtracted("old.x", IncompleteRefused(("page 2 is damaged",)))
    put(tmp_path, MIXED)
    with opened(tmp_path, Changed(change="incomplete")) as collection:
        error = error_of(collection)
        assert isinstance(error, IngestionError)
        assert error.failure == refused
        assert str(error) == "old.x: its text is incomplete: page 2 is damaged"
        assert [each.source for each in collection.get_document_records()] == sorted({*MIXED} - {"old.x"})
    with opened(tmp_path, Changed()) as collection:
        collection.ingest("")
    before = held(tmp_path)
    with opened(tmp_path, Changed("2", "incomplete")) as collection:
        assert error_of(collection).failure == refused
        assert held(tmp_path) == before
        assert [(each.source, each.reason) for each in collection.status().failures] == [("old.x", "incomplete")]
        assert collection.ingest("").rebound == 1  # what is missing is recorded; the text that there is stands
        assert collection.status().failures == ()
        # It is taken now, and nothing about it changed: strict does not let that pass either.
        assert error_of(collection).failure == refused
        assert collection.get_document_records("old.x")[0].incomplete


def test_losses_that_cost_no_text_are_told_and_strict_takes_them(tmp_path: Path) -> None:
    put(tmp_path, MIXED)
    with opened(tmp_path, Changed(change="losses")) as collection:
        report = collection.ingest("", strict=True)
        (lossy,) = report.losses
        assert (lossy.source, lossy.losses, lossy.incomplete) == ("old.x", ("one picture has no text",), False)
        assert collection.status().incomplete == ()
