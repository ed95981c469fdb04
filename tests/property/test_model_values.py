"""Values that cannot be wrong once they are built, and what is read off them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.model import (
    Citation,
    FromExtractor,
    FromSnapshot,
    FromText,
    Locator,
    Provenance,
    ProvenanceRefused,
    Reason,
    RetrievalResult,
    SourceClass,
    Span,
    Verdict,
    Verification,
    extractor_of,
    provenance,
    source_class_of,
)
from groundkit.core.result import Failure, Success

classes = st.sampled_from((*(each.value for each in SourceClass), "TEXT", "web", ""))
extractors = st.none() | st.text(max_size=5)
provenances = st.sampled_from((FromText(), FromSnapshot())) | st.builds(FromExtractor, st.text(min_size=1, max_size=5))


@given(classes, extractors)
def test_exactly_the_extracted_class_has_an_extractor(source_class: str, extractor: str | None) -> None:
    made = provenance(source_class, extractor)
    fits = {"text": extractor is None, "snapshot": extractor is None, "extracted": bool(extractor)}
    if fits.get(source_class, False):
        assert isinstance(made, Success)
        assert source_class_of(made.unwrap()).value == source_class
        assert extractor_of(made.unwrap()) == extractor
    else:
        assert made == Failure(ProvenanceRefused(source_class, extractor))


@given(provenances)
def test_a_provenance_survives_being_written_down(origin: Provenance) -> None:
    assert provenance(source_class_of(origin).value, extractor_of(origin)) == Success(origin)


@given(provenances, st.integers(0, 99), st.integers(0, 99))
def test_class_and_extractor_are_the_same_wherever_they_are_asked(origin: Provenance, start: int, end: int) -> None:
    citation = Citation("d", "c", "a.md", origin, Span(start, end), "digest")
    hit = RetrievalResult(1.0, "text", citation, Locator(1, 1))
    assert hit.source_class == citation.source_class == source_class_of(origin)
    assert hit.extractor == citation.extractor == extractor_of(origin)
    assert (citation.start_offset, citation.end_offset) == (start, end)
    assert (hit.chunk_id, hit.document_id, hit.source) == ("c", "d", "a.md")


@given(st.sampled_from(Verdict), st.sampled_from(Reason), st.booleans())
def test_a_verification_is_true_exactly_when_it_is_verified(verdict: Verdict, reason: Reason, context: bool) -> None:
    assert bool(Verification(verdict, reason, "", context)) == (verdict is Verdict.VERIFIED)


@pytest.mark.parametrize("identity", ["", " ", None, 7])
def test_nobody_extracts(identity: object) -> None:
    with pytest.raises(ValueError, match="no identity"):
        FromExtractor(identity)  # type: ignore[arg-type]
    if identity != 7:
        assert isinstance(provenance("extracted", identity), Failure)  # type: ignore[arg-type]
