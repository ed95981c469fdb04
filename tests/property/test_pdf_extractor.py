"""Laws of the PDF extractor, over files made on the spot and what is left of them after damage."""

import logging
import zlib

from hypothesis import given
from hypothesis import strategies as st
from pdf_builder import deflated, first_more, pdf, prose, shown, stream, streams_pdf

from groundkit.adapters.pdf import PdfExtractor
from groundkit.adapters.pdf.document import PAGE_BREAK
from groundkit.adapters.pdf.hearing import Heard, said, starved
from groundkit.adapters.pdf.labels import Numbering
from groundkit.adapters.pdf.messages import MEANINGS, Weight, meaning_of
from groundkit.core.extraction import Extraction, ExtractionFailed, ExtractionProblem, Hint, extraction_digest
from groundkit.core.result import Failure, Result, Success

WORDS = st.text("abcdefghij ()\\éß€", min_size=1, max_size=30).map(str.strip).filter(bool)
PAGES = st.lists(st.lists(WORDS, min_size=1, max_size=4).map("\n".join), min_size=1, max_size=5)
SMALL = pdf(["first page", "second\npage"], labels={0: "/S /r"}, title="Title")
SMALL_DEFLATED = pdf(["first page", "second\npage"], title="Title", compressed=True)


def extract(data: bytes) -> Result[Extraction, ExtractionFailed]:
    return PdfExtractor().extract(data, Hint("application/pdf"))


def extracted(data: bytes) -> Extraction:
    result = extract(data)
    assert isinstance(result, Success), result
    return result.unwrap()


def page_texts(extraction: Extraction) -> list[str]:
    ends = [each.start - len(PAGE_BREAK) for each in extraction.pages[1:]] + [len(extraction.text)]
    return [extraction.text[page.start : end] for page, end in zip(extraction.pages, ends, strict=True)]


def squeezed(text: str) -> str:
    return "".join(text.split())


@given(PAGES, st.booleans())
def test_each_page_begins_where_its_text_does(pages: list[str], compressed: bool) -> None:
    extraction = extracted(pdf(pages, compressed=compressed))
    assert [squeezed(each) for each in page_texts(extraction)] == [squeezed(each) for each in pages]
    assert not extraction.incomplete
    assert extraction.losses == ()


@given(PAGES, st.lists(st.booleans(), min_size=5, max_size=5))
def test_a_page_without_text_keeps_its_place(pages: list[str], blank: list[bool]) -> None:
    texts = ["" if none else text for text, none in zip(pages, blank, strict=False)]
    result = extract(pdf(texts))
    if not any(texts):
        assert result.failure().problem is ExtractionProblem.NO_TEXT
    else:
        assert [squeezed(each) for each in page_texts(result.unwrap())] == [squeezed(each) for each in texts]


@given(st.sampled_from([SMALL, SMALL_DEFLATED]), st.data())
def test_damaged_bytes_give_a_text_or_a_reason_twice_the_same(whole: bytes, data: st.DataObject) -> None:
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 8))):
        damaged[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    one, other = extract(bytes(damaged)), extract(bytes(damaged))
    assert one == other
    assert isinstance(one, Success) or one.failure().detail


@given(st.sampled_from([SMALL, SMALL_DEFLATED]), st.data())
def test_a_cut_file_is_never_silently_short(whole: bytes, data: st.DataObject) -> None:
    # The last line may go: nothing of the text is in it.
    end = data.draw(st.integers(0, len(whole) - len("startxref\n1234\n%%EOF\n")))
    result = extract(whole[:end])
    assert isinstance(result, Failure)
    assert result.failure().problem in (ExtractionProblem.DAMAGED, ExtractionProblem.NO_TEXT)


@given(st.binary(max_size=400))
def test_what_is_no_pdf_is_refused_as_damaged(data: bytes) -> None:
    assert extract(data).failure().problem is ExtractionProblem.DAMAGED


@given(st.integers(0, 4), st.sampled_from(["(unterminated", "<4142", "1 0 R Tj", "[ (a) <41"]))
def test_a_page_that_cannot_be_read_is_named_and_costs_no_other(broken: int, contents: str) -> None:
    streams = [stream(shown(f"page {number}")) for number in range(1, 6)]
    streams[broken] = stream(b"BT /F1 12 Tf (shown) Tj " + contents.encode())
    extraction = extracted(streams_pdf(streams))
    assert extraction.incomplete
    assert extraction.losses[0].startswith(f"page {broken + 1}: ")
    assert page_texts(extraction)[broken] == ""
    kept = [squeezed(each) for number, each in enumerate(page_texts(extraction)) if number != broken]
    assert kept == [f"page{number}" for number in range(1, 6) if number != broken + 1]


def test_when_every_page_is_broken_the_first_error_is_the_reason() -> None:
    failed = extract(streams_pdf([stream(b"BT (a) Tj (a"), stream(b"BT (a) Tj 1 0 R Tj")])).failure()
    assert failed.problem is ExtractionProblem.DAMAGED
    assert failed.detail.startswith("no text could be read: page 1: PdfStreamError")


def test_text_of_white_space_is_no_text() -> None:
    failed = extract(pdf(["  \n ", " "])).failure()
    assert failed.problem is ExtractionProblem.NO_TEXT
    assert "any of its 2 pages" in failed.detail


def test_an_unknown_font_gives_replacement_characters_that_are_counted() -> None:
    contents = stream(b"BT /F1 9 Tf 50 700 Td (known) Tj /F9 9 Tf (xyz) Tj ET")
    extraction = extracted(streams_pdf([contents]))
    assert extraction.text.count("\ufffd") == 3
    assert extraction.losses[0].startswith("3 characters have no Unicode meaning")
    assert not extraction.incomplete
    assert extract(streams_pdf([stream(b"BT /F9 9 Tf (xyz) Tj ET")])).failure().problem is ExtractionProblem.NO_TEXT


def test_forms_that_multiply_without_end_make_the_text_incomplete() -> None:
    first = first_more(1)
    form = b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /Font << /F1 3 0 R >> %b >>"
    more = {
        level: stream(
            b"BT /F1 9 Tf (deep) Tj ET " + b"/X Do " * 4, form % b"/XObject << /X %d 0 R >>" % (first + level + 1)
        )
        for level in range(24)
    }
    more[24] = stream(b"BT /F1 9 Tf (end) Tj ET", form % b"")
    contents = stream(b"BT /F1 9 Tf (top) Tj ET /X Do")
    extraction = extracted(streams_pdf([contents], resources=b"/XObject << /X %d 0 R >>" % first, more=more))
    assert extraction.incomplete
    assert extraction.losses[0].startswith("page 1: more than 5000 forms")


def test_a_form_that_draws_itself_makes_the_text_incomplete() -> None:
    first = first_more(1)
    itself = b"/XObject << /X %d 0 R >>" % first
    form = b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /Font << /F1 3 0 R >> %b >>" % itself
    more = {0: stream(b"BT /F1 9 Tf (inner) Tj ET /X Do", form)}
    extraction = extracted(streams_pdf([stream(b"/X Do")], resources=itself, more=more))
    assert extraction.text.strip() == "inner"
    assert extraction.incomplete


def test_a_page_that_the_tree_declares_and_does_not_hold_is_missed() -> None:
    extraction = extracted(pdf(["one", "two"]).replace(b"/Count 2", b"/Count 3"))
    assert extraction.incomplete
    assert extraction.losses == ("the file declares 3 pages, and 2 could be found",)


def test_titles_and_labels_are_taken_as_they_are_printed() -> None:
    extraction = extracted(
        pdf(["a", "b", "c", "d", "e"], labels={0: "/S /r", 2: "/S /D /P (A-) /St 7", 4: ""}, title="Häß")
    )
    assert extraction.title == "Häß"
    assert [each.label for each in extraction.pages] == ["i", "ii", "A-7", "A-8", ""]
    assert {each.label for each in extracted(pdf(["a", "b"])).pages} == {""}


@given(st.sampled_from(["/S /r /St 0", "/S /D /St (x)", "/S 1", "/P 3", "/St 99999999999999999999"]))
def test_malformed_labels_cost_the_labels_and_nothing_else(body: str) -> None:
    extraction = extracted(pdf(["a", "b"], labels={0: body}))
    assert [each.label for each in extraction.pages] == ["", ""]
    assert extraction.losses == ()
    assert not extraction.incomplete


def test_a_tree_of_labels_that_holds_itself_ends() -> None:
    first = first_more(1)
    tree = {0: b"<< /Kids [%d 0 R %d 0 R] >>" % (first, first)}
    data = streams_pdf([stream(shown("text"))], more=tree, catalog=b"/PageLabels %d 0 R" % first)
    assert extracted(data).pages[0].label == ""


@given(st.integers(1, 4999))
def test_roman_labels_add_up(number: int) -> None:
    values = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
    worth = [values[each] for each in Numbering(style="/r", first=number).label(0)]
    following = [*worth[1:], 0]
    assert sum(-one if one < next_one else one for one, next_one in zip(worth, following, strict=True)) == number


def test_letters_double_after_z() -> None:
    assert [Numbering(style="/A").label(each) for each in (0, 25, 26, 52)] == ["A", "Z", "AA", "AAA"]


def test_the_same_bytes_give_the_same_after_hostile_ones() -> None:
    data = pdf(prose(3), labels={0: "/S /r"}, title="T")
    before = extraction_digest(extracted(data))
    for hostile in (b"", b"%PDF-1.7", streams_pdf([stream(b"[" * 50_000)]), SMALL[:300], SMALL.replace(b"Tj", b"T(")):
        extract(hostile)
    assert extraction_digest(extracted(data)) == before


def test_settings_that_a_caller_made_do_not_reach_the_text() -> None:
    from pypdf import apply_configuration

    data = pdf(prose(2), compressed=True)
    with apply_configuration(zlib_maximum_output_length=10, stream_parsing_work_maximum_count=1):
        assert extract(data) == Success(extracted(data))
        from pypdf import get_configuration

        assert get_configuration().zlib_maximum_output_length == 10


def test_a_log_that_is_switched_off_hides_no_loss_and_stays_off() -> None:
    data = streams_pdf([stream(b"BT /F1 9 Tf (text) Tj ET /None Do")])
    expected = extracted(data)
    assert expected.incomplete
    logger, child = logging.getLogger("pypdf"), logging.getLogger("pypdf._page")
    before = logger.level
    logging.disable(logging.CRITICAL)
    logger.setLevel(logging.CRITICAL)
    child.disabled = True
    try:
        assert extracted(data) == expected
        assert logging.root.manager.disable == logging.CRITICAL
        assert (logger.level, child.disabled, logger.propagate) == (logging.CRITICAL, True, True)
        assert logger.handlers == []
    finally:
        logging.disable(logging.NOTSET)
        logger.setLevel(before)
        child.disabled = False


def test_every_meaning_that_tells_something_can_be_told() -> None:
    for template, meaning in MEANINGS.items():
        assert bool(meaning.sentence) is (meaning.weight is not Weight.IGNORED), template
        heard = Heard()
        names = ("exception", "limit", "idnum", "generation", "max_bytes", "encoding")
        heard.take(logging.LogRecord("pypdf", logging.WARNING, "", 0, template, (dict.fromkeys(names, 7),), None))
        assert bool(heard.lost()) is (meaning.weight is Weight.LOST), template
        assert bool(heard.notes()) is (meaning.weight is Weight.NOTED), template


@given(st.text(max_size=400))
def test_a_message_that_is_not_known_is_noted_and_never_raises(template: str) -> None:
    meaning = meaning_of(template + "?")
    heard = Heard()
    heard.take(logging.LogRecord("pypdf", logging.WARNING, "", 0, template + "?", ({"a": object()},), None))
    if template + "?" not in MEANINGS and not template.startswith("Error -"):
        assert meaning.weight is Weight.NOTED
        assert len(heard.notes()) == 1


def test_pages_of_one_sentence_are_told_together() -> None:
    heard = Heard()
    for page in (2, 2, 5, 9, 11, 12, 12):
        heard.page = page
        heard.lose("torn")
    assert heard.lost() == ("pages 2, 5, 9 and 2 more: torn",)


@given(st.text(max_size=300), st.integers(2**20, 2**48))
def test_what_is_said_of_an_exception_holds_no_address_and_one_line(text: str, address: int) -> None:
    one = said(ValueError(f"{text} IndirectObject(4, 0, {address}) at {address:#x}"))
    assert one.isprintable()
    assert f"{address:#x}" not in one
    assert f", {address})" not in one


def test_want_of_memory_is_seen_behind_what_wraps_it() -> None:
    try:
        try:
            raise MemoryError
        except MemoryError as error:
            raise ValueError("wrapped") from error
    except ValueError as wrapped:
        assert starved(wrapped)
    assert not starved(ValueError("alone"))


def test_deflated_data_that_is_damaged_makes_the_text_incomplete() -> None:
    good = deflated(shown("\n".join(prose(1)[0].splitlines())))
    body = bytearray(good)
    middle = len(body) // 2
    body[middle : middle + 8] = b"\xff" * 8
    result = extract(streams_pdf([stream(shown("whole")), bytes(body)]))
    assert result.unwrap().incomplete


@given(st.integers(1, 3), st.floats(0.05, 0.9))
def test_contents_that_break_off_make_the_text_incomplete(broken: int, part: float) -> None:
    """pypdf inflates what there is of a stream that was cut, and says nothing."""
    whole = [deflated(shown(f"page {number} " + "more of it " * 40)) for number in range(1, 4)]
    assert not extracted(streams_pdf(whole)).incomplete
    data = zlib.compress(shown(f"page {broken} " + "more of it " * 40), 9)
    cut = data[: max(20, int(len(data) * part))]
    streams = [*whole[: broken - 1], stream(cut, b"/Filter /FlateDecode"), *whole[broken:]]
    extraction = extracted(streams_pdf(streams))
    assert extraction.incomplete
    assert extraction.losses[0].startswith(f"page {broken}: ")


def test_a_checksum_that_is_missing_or_wrong_costs_no_text() -> None:
    data = zlib.compress(shown("all of it is here"), 9)
    for ending in (b"", b"\0\0\0\0", data[-4:] + b"\r"):
        extraction = extracted(streams_pdf([stream(data[:-4] + ending, b"/Filter /FlateDecode")]))
        assert (squeezed(extraction.text), extraction.incomplete) == ("allofitishere", False)


def test_a_page_with_a_picture_and_no_text_is_noted_and_a_blank_one_is_not() -> None:
    picture = stream(
        b"\x00" * 3, b"/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceRGB /BitsPerComponent 8"
    )
    pages = [stream(shown("text")), stream(b"q 9 0 0 9 0 0 cm /Im1 Do Q"), stream(shown("more"))]
    number = first_more(len(pages))
    drawn = streams_pdf(pages, resources=b"/XObject << /Im1 %d 0 R >>" % number, more={0: picture})
    extraction = extracted(drawn)
    assert (extraction.losses, extraction.incomplete) == (
        ("page 2: it has a picture and no text: it may be a scan",),
        False,
    )
    assert extracted(streams_pdf([pages[0], stream(b""), pages[2]])).losses == ()
