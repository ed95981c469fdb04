"""Pages, anchors and sections of passages of extracted text, beside a search character by character."""

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.chunking import chunks
from groundkit.core.extraction import Anchor, Extraction, Page, checked
from groundkit.core.fingerprint import document_id, text_digest
from groundkit.core.locating import outline_of_extraction, placed, seen_span
from groundkit.core.model import Chunk, Document, FromExtractor, PageRange
from groundkit.core.outline import Heading
from groundkit.core.settings import Settings
from groundkit.testing.strategies import texts


@st.composite
def extractions(draw: st.DrawFn) -> Extraction:
    """Sound ones: places anywhere in a text, also several at one and at its end."""
    text = draw(texts())
    places = st.lists(st.integers(0, len(text)), max_size=6).map(sorted)
    pages = tuple(Page(at, draw(st.sampled_from(("", "i", "7")))) for at in draw(places))
    anchors = tuple(Anchor(at, f"a{number}") for number, at in enumerate(draw(places)))
    ends = draw(st.lists(st.integers(0, len(text)), max_size=8, unique=True).map(sorted))
    headings = tuple(
        Heading(draw(st.integers(1, 3)), f"h{start}", start, end)
        for start, end in zip(ends[::2], ends[1::2], strict=False)
    )
    return checked(Extraction(text, "T", pages, headings, anchors)).unwrap()


sizes = st.builds(Settings, chunk_size=st.integers(16, 200), chunk_overlap=st.integers(0, 15))


def cut(extraction: Extraction, settings: Settings) -> tuple[Chunk, ...]:
    digest = text_digest(extraction.text)
    made = document_id("a.pdf", "extracted", digest)
    document = Document(made, "a.pdf", FromExtractor("x/1"), extraction.text, digest, "application/pdf")
    return chunks(document, settings, outline_of_extraction(extraction))


def shown(chunk: Chunk) -> list[int]:
    """Offsets of what can be seen of a chunk; of a blank one, all."""
    visible = [chunk.span.start + at for at, each in enumerate(chunk.text) if not each.isspace()]
    return visible or list(range(chunk.span.start, chunk.span.end))


@given(extractions(), sizes)
def test_the_span_that_is_seen_runs_from_the_first_visible_character_to_the_last(
    extraction: Extraction, settings: Settings
) -> None:
    for chunk in cut(extraction, settings):
        span = seen_span(chunk)
        assert (span.start, span.end - 1) == (shown(chunk)[0], shown(chunk)[-1])


@given(extractions(), sizes)
def test_the_pages_of_a_chunk_are_those_its_first_and_last_visible_character_stand_on(
    extraction: Extraction, settings: Settings
) -> None:
    for chunk in placed(cut(extraction, settings), extraction):
        on = [max(1, sum(page.start <= at for page in extraction.pages)) for at in shown(chunk)]
        if extraction.pages:
            first, last = extraction.pages[min(on) - 1], extraction.pages[max(on) - 1]
            assert chunk.locator.pages == PageRange(min(on), max(on), first.label, last.label)
        else:
            assert chunk.locator.pages is None


@given(extractions(), sizes)
def test_the_anchor_of_a_chunk_is_the_last_one_before_it_or_else_the_first_within(
    extraction: Extraction, settings: Settings
) -> None:
    for chunk in placed(cut(extraction, settings), extraction):
        visible = shown(chunk)
        before = [each.name for each in extraction.anchors if each.start <= visible[0]]
        within = [each.name for each in extraction.anchors if visible[0] < each.start <= visible[-1]]
        assert chunk.locator.anchor == (before[-1:] or within[:1] or [""])[0]


@given(extractions(), sizes)
def test_places_change_nothing_else_of_a_chunk(extraction: Extraction, settings: Settings) -> None:
    bare = cut(extraction, settings)
    for one, other in zip(bare, placed(bare, extraction), strict=True):
        assert evolve(other, locator=evolve(other.locator, pages=None, anchor="")) == one


@given(extractions(), sizes)
def test_chunks_of_an_extraction_are_slices_that_cover_it(extraction: Extraction, settings: Settings) -> None:
    text = ""
    for chunk in placed(cut(extraction, settings), extraction):
        assert chunk.text == extraction.text[chunk.span.start : chunk.span.end]
        assert chunk.span.start <= len(text) <= chunk.span.start + settings.chunk_overlap
        text += chunk.text[len(text) - chunk.span.start :]
    assert text == extraction.text


@given(extractions())
def test_the_outline_of_an_extraction_has_its_headings_as_sections(extraction: Extraction) -> None:
    outline = outline_of_extraction(extraction)
    assert outline.title == extraction.title
    assert outline.sections[0].start == 0
    starts = {each.start: each for each in outline.sections if each.heading_path}
    assert set(starts) == {each.start for each in extraction.headings}
    for heading in extraction.headings:
        section = starts[heading.start]
        assert (section.body, section.heading_path[-1]) == (heading.end, heading.text)
        above: list[Heading] = []
        for each in extraction.headings:
            if each.start <= heading.start:
                above = [*(other for other in above if other.level < each.level), each]
        assert section.heading_path == tuple(each.text for each in above)


@given(extractions())
def test_no_block_begins_directly_below_a_heading(extraction: Extraction) -> None:
    outline = outline_of_extraction(extraction)
    assert not {each.end for each in extraction.headings} & set(outline.breaks)
    assert list(outline.breaks) == sorted(set(outline.breaks))
    assert all(0 < at < len(extraction.text) for at in outline.breaks)


def test_a_chunk_across_pages_names_the_first_and_the_last_with_their_labels() -> None:
    text = "one on the first page\ntwo on the next\n\n\n"
    extraction = Extraction(text, pages=(Page(0, "i"), Page(22, "1"), Page(len(text) - 2, "2"), Page(len(text), "")))
    (chunk,) = placed(cut(extraction, Settings()), extraction)
    assert chunk.locator.pages == PageRange(1, 2, "i", "1")  # the third page holds nothing but white space


def test_text_before_the_first_page_start_is_the_first_pages() -> None:
    extraction = Extraction("a text of some words", pages=(Page(9, "7"),))
    (chunk,) = placed(cut(extraction, Settings()), extraction)
    assert chunk.locator.pages == PageRange(1, 1, "7", "7")


def test_of_two_pages_that_begin_at_one_place_the_first_one_is_empty() -> None:
    extraction = Extraction("a text", pages=(Page(0, "i"), Page(0, "ii")))
    (chunk,) = placed(cut(extraction, Settings()), extraction)
    assert chunk.locator.pages == PageRange(2, 2, "ii", "ii")
