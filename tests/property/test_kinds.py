"""What a file is taken for by its name, and refused for by its first bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.kinds import (
    KINDS,
    PLAIN_TEXT,
    Dispatch,
    Kind,
    Loader,
    contradiction,
    kind_of,
    kind_of_record,
    known_suffixes,
    looks_like,
    mislabelled,
    suffix_of,
)
from groundkit.core.model import DocumentRecord, FromExtractor, FromText, Provenance
from groundkit.core.sources import ReadFailure, ReadProblem

PDF, HTML, XHTML, TEXT, MARKDOWN, OWN = (
    "application/pdf", "text/html", "application/xhtml+xml", "text/plain", "text/markdown", "application/x-own",
)  # fmt: skip
MEDIA = st.sampled_from((PDF, HTML, XHTML, TEXT, MARKDOWN, OWN))

stems = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1, max_size=8)
folders = st.lists(stems, max_size=2).map(lambda parts: "".join(f"{each}/" for each in parts))
cases = st.sampled_from((str.lower, str.upper, str.title))


@given(folders, stems.filter(lambda each: not each.startswith(".")), st.sampled_from(sorted(KINDS)), cases)
def test_a_known_suffix_decides_in_every_case_and_in_every_folder(
    folder: str, stem: str, suffix: str, cased: object
) -> None:
    named = f"{folder}{stem}{cased(suffix)}"  # type: ignore[operator]
    assert suffix_of(named) == suffix
    assert kind_of(named) == KINDS[suffix]


@given(folders, st.text(st.characters(exclude_characters="./\0"), max_size=8))
def test_a_name_without_a_dot_within_it_is_of_no_kind(folder: str, name: str) -> None:
    assert suffix_of(folder + name) == suffix_of(f"{folder}.{name}") == ""
    assert kind_of(folder + name) is None


@given(folders, stems)
def test_as_text_every_file_is_plain_text(folder: str, stem: str) -> None:
    assert Dispatch(as_text=True).kind_of(folder + stem) == PLAIN_TEXT
    assert kind_of(f"{folder}{stem}.pdf", as_text=True) == PLAIN_TEXT


def test_suffixes_of_a_users_extractor_stand_beside_the_known_ones() -> None:
    own = Kind(Loader.EXTRACTOR, OWN)
    dispatch = Dispatch(kinds={**KINDS, ".own": own, ".html": own})
    assert (dispatch.kind_of("a/b.OWN"), dispatch.kind_of("b.html")) == (own, own)
    assert dispatch.kind_of("a.md") == KINDS[".md"]
    assert Dispatch().kind_of("a.own") is None
    assert known_suffixes({".b": own, ".a": own}) == ".a, .b"


def test_all_and_only_what_is_no_text_is_extracted() -> None:
    texts = {suffix for suffix, kind in KINDS.items() if kind.loader is not Loader.EXTRACTOR}
    assert texts == {".md", ".markdown", ".txt"}
    assert {KINDS[each].media_type for each in texts} == {TEXT, MARKDOWN}


def stored(provenance: Provenance, media_type: str) -> DocumentRecord:
    return DocumentRecord("d", "a.md", provenance, "t", 1, 1, media_type, "", "f", "2026-01-01T00:00:00Z")


@given(MEDIA)
def test_a_stored_document_is_of_the_kind_it_was_ingested_as_whatever_its_name_is(media_type: str) -> None:
    assert kind_of_record(stored(FromExtractor("x/1"), media_type)) == Kind(Loader.EXTRACTOR, media_type)
    as_text = kind_of_record(stored(FromText(), media_type))
    if media_type in (TEXT, MARKDOWN):
        assert as_text.media_type == media_type
        assert as_text.loader is not Loader.EXTRACTOR


IMAGES = {b"\x89PNG\r\n\x1a\n": "a PNG image", b"\xff\xd8\xff": "a JPEG image", b"GIF89a": "a GIF image"}
BEGINNINGS = {
    **IMAGES,
    b"%PDF-": "a PDF",
    b"PK\x03\x04": "a ZIP archive (an office document, perhaps)",
    b"\x1f\x8b": "a gzip file",
    b"{\\rtf": "an RTF document",
    b"<!DOCTYPE html>": "an HTML page",
    b"\xef\xbb\xbf \n<HTML lang=x>": "an HTML page",
}
each_beginning = pytest.mark.parametrize("beginning", sorted(BEGINNINGS), ids=lambda each: BEGINNINGS[each])
rests = st.binary(max_size=40).filter(lambda each: b"%PDF-" not in each)


@each_beginning
@given(rest=rests)
def test_what_a_file_looks_like_is_told_by_its_first_bytes(beginning: bytes, rest: bytes) -> None:
    assert looks_like(beginning + rest) == BEGINNINGS[beginning]


@each_beginning
@given(rest=rests)
def test_a_pdf_and_a_page_are_refused_as_anything_else(beginning: bytes, rest: bytes) -> None:
    data, said = beginning + rest, BEGINNINGS[beginning]
    assert contradiction(PDF, data) == (None if said == "a PDF" else said)
    for page in (HTML, XHTML):
        assert contradiction(page, data) == (None if said == "an HTML page" else said)


@each_beginning
@given(rest=rests)
def test_of_text_only_a_pdf_is_refused_by_its_first_bytes(beginning: bytes, rest: bytes) -> None:
    """What is no UTF-8 is refused for that; Markdown may begin with HTML, or speak of RTF."""
    for media_type in (TEXT, MARKDOWN):
        assert contradiction(media_type, beginning + rest) == ("a PDF" if beginning == b"%PDF-" else None)


@each_beginning
@given(rest=rests)
def test_what_bytes_of_an_added_format_may_be_is_its_extractors_business(beginning: bytes, rest: bytes) -> None:
    for media_type in (OWN, ""):
        assert contradiction(media_type, beginning + rest) is None
        assert contradiction(media_type, rest) is None


@each_beginning
@given(before=st.integers(0, 1500), rest=rests)
def test_a_pdf_may_have_its_header_within_the_first_1024_bytes(beginning: bytes, before: int, rest: bytes) -> None:
    data = beginning + b"\0" * before + b"%PDF-1.7" + rest
    fits = len(beginning) + before + len(b"%PDF-") <= 1024 or beginning == b"%PDF-"
    assert contradiction(PDF, data) == (None if fits else BEGINNINGS[beginning])


@given(MEDIA, st.text(max_size=30).map(str.encode) | st.just(b""))
def test_bytes_that_say_nothing_contradict_nothing(media_type: str, data: bytes) -> None:
    if looks_like(data) is None:
        assert contradiction(media_type, data) is None
        assert mislabelled("a", media_type, data) is None


@each_beginning
@given(source=stems, media_type=MEDIA)
def test_a_mislabelled_file_is_told_as_what_it_is(source: str, media_type: str, beginning: bytes) -> None:
    said = contradiction(media_type, beginning)
    wrong = mislabelled(source, media_type, beginning)
    assert wrong == (
        None if said is None else ReadFailure(source, ReadProblem.MISLABELLED, f"is {said}, by its first bytes")
    )


@pytest.mark.parametrize("data", [b"<p>no doctype</p>", b"plain", b"", b"  <header>", b"<headline>", b"<bodyguard>"])
def test_a_page_needs_no_beginning_of_its_own(data: bytes) -> None:
    assert looks_like(data) is None
    assert contradiction(HTML, data) is None
