"""Text that repeats itself: every chunk and citation is of its own place, and says so wherever it travels."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import evolve
from integration.support import law_breaks, opened, put, stored
from shared import shared

import groundkit
from groundkit import Collection, Reason, Verdict
from groundkit.core.fingerprint import text_digest
from groundkit.core.model import CONTEXT, Span
from groundkit.core.portable import PortableCitation
from groundkit.core.settings import Settings
from groundkit.portable_json import citation_data, citation_from

SETTINGS = Settings(chunk_size=200, chunk_overlap=40)


@pytest.fixture(params=["overlap.md", "repeat.txt"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def text(name: str) -> str:
    return (shared("cases/21-chunk-offsets-repeated-text") / name).read_bytes().decode()


@pytest.fixture
def kb(tmp_path: Path, name: str, text: str) -> Iterator[Collection]:
    put(tmp_path, {name: text})
    with opened(tmp_path) as made:
        made.ingest("", chunk_size=SETTINGS.chunk_size, chunk_overlap=SETTINGS.chunk_overlap)
        yield made


def test_chunks_are_slices_in_order_that_cover_the_text(kb: Collection, tmp_path: Path, name: str, text: str) -> None:
    chunks = stored(tmp_path)[name]
    assert len(chunks) > 3
    assert law_breaks(text, chunks, SETTINGS) == []
    starts = [each.chunk.span.start for each in chunks]
    assert starts == sorted(set(starts))
    assert all(text[each.chunk.span.start : each.chunk.span.end] == each.chunk.text for each in chunks)


def test_each_citation_verifies_at_its_own_place(kb: Collection, tmp_path: Path, text: str) -> None:
    citations = list(kb.citations())
    assert len({each.span for each in citations}) == len({each.chunk_id for each in citations}) == len(citations)
    for each in citations:
        start, end = each.start_offset, each.end_offset
        assert each.digest == text_digest(text[start:end])
        assert (each.before, each.after) == (text[max(0, start - CONTEXT) : start], text[end : end + CONTEXT])
        assert kb.resolve_citation(each) == text[start:end]
    for check in (*kb.verify_all(), *groundkit.verify_each(citations, base=tmp_path)):
        assert (check.verification.reason, check.verification.context_changed) == (Reason.SAME, False)


def test_a_portable_citation_names_which_of_the_copies_it_is(kb: Collection, tmp_path: Path, text: str) -> None:
    travelled = list(kb.portable_each(kb.citations()))
    for each in travelled:
        places = [at for at in range(len(text)) if text.startswith(each.text, at)]
        assert each.occurrences == len(places)
        assert places[each.occurrence - 1] == each.citation.start_offset
        assert citation_from(json.loads(json.dumps(citation_data(each)))).unwrap() == each
        assert groundkit.verify(each, base=tmp_path).reason is Reason.SAME
    assert any(each.occurrence > 1 for each in travelled)


def middle(kb: Collection) -> PortableCitation:
    citations = list(kb.citations())
    return kb.portable(citations[len(citations) // 2])


def test_one_changed_letter_is_a_drift_of_the_citations_that_hold_it_and_of_no_copy(
    kb: Collection, tmp_path: Path, name: str, text: str
) -> None:
    citations = list(kb.citations())
    at = middle(kb).citation.start_offset + 3
    changed = text[:at] + "X" + text[at + 1 :]
    assert changed != text
    put(tmp_path, {name: changed})
    for each in citations:
        holds = each.start_offset <= at < each.end_offset
        seen = kb.verify(each)
        assert seen.verdict is (Verdict.DRIFTED if holds else Verdict.VERIFIED)
        # The copies stood there before: none of them is the passage.
        assert not holds or seen.reason is Reason.EDITED
        assert not holds or seen.span == each.span


def test_text_before_all_copies_moves_each_by_as_much(kb: Collection, tmp_path: Path, name: str, text: str) -> None:
    citations = list(kb.citations())
    put(tmp_path, {name: "Something else comes first here.\n\n" + text})
    for each in citations:
        seen = kb.verify(each)
        if seen.verdict is Verdict.VERIFIED:  # what repeats may land on the very span
            assert text_digest(kb.resolve_citation(each)) == each.digest
            continue
        assert seen.reason is Reason.MOVED
        assert seen.span == Span(each.start_offset + 34, each.end_offset + 34)


def test_a_citation_of_a_place_that_has_no_copy_is_verified_nowhere(kb: Collection, text: str) -> None:
    cited = middle(kb).citation
    beyond = evolve(cited, span=Span(len(text), len(text) + cited.span.length))
    assert kb.verify(beyond).verdict is Verdict.DRIFTED
