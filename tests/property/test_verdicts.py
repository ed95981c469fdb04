"""Evidence to verdict: total, never falsely verified, and by one table."""

from attrs import evolve
from hypothesis import assume, given
from hypothesis import strategies as st

from groundkit.core.fingerprint import text_digest
from groundkit.core.model import (
    CONTEXT,
    Citation,
    FromExtractor,
    FromSnapshot,
    FromText,
    Reason,
    Span,
    Verdict,
)
from groundkit.core.sources import ReadFailure, ReadProblem
from groundkit.core.verdicts import (
    VERDICT_OF,
    Evidence,
    ExtractorInactive,
    NoBase,
    NoSnapshots,
    NoText,
    OutOfBudget,
    TextFound,
    judge,
    unknown_chunk,
)
from groundkit.testing.strategies import texts as nasty

#: Few letters, so that passages repeat; or anything.
texts = st.text("ab \n", max_size=30) | nasty()
offsets = st.integers(-3, 40)


@st.composite
def citations(draw: st.DrawFn, text: str | None = None) -> Citation:
    """Of a passage that stands in a text, with its neighbourhood."""
    source = draw(texts.filter(bool)) if text is None else text
    assume(source)
    start = draw(st.integers(0, len(source) - 1))
    end = draw(st.integers(start + 1, len(source)))
    recorded = cited(source, start, end)
    if draw(st.booleans()):
        recorded = evolve(recorded, before=None)
    return evolve(recorded, after=None) if draw(st.booleans()) else recorded


def cited(text: str, start: int, end: int) -> Citation:
    return Citation(
        document_id="d",
        chunk_id="c",
        source="a.md",
        provenance=FromText(),
        span=Span(start, end),
        digest=text_digest(text[start:end]),
        before=text[max(0, start - CONTEXT) : start],
        after=text[end : end + CONTEXT],
    )


#: Made by nobody who was honest.
forged = st.builds(
    Citation,
    document_id=st.just("d"),
    chunk_id=st.just("c"),
    source=st.sampled_from(("a.md", "", "../a.md", "a\x00")),
    provenance=st.sampled_from((FromText(), FromSnapshot(), FromExtractor("x/1"))),
    span=st.builds(Span, offsets, offsets),
    digest=st.sampled_from(("", "zz", text_digest(""), text_digest("a"))),
    before=st.text("ab", max_size=3),
    after=st.text("ab", max_size=3),
)
failures = st.builds(ReadFailure, st.text(max_size=4), st.sampled_from(ReadProblem), st.text(max_size=4))
evidences: st.SearchStrategy[Evidence] = st.one_of(
    st.builds(TextFound, texts),
    st.builds(NoText, failures),
    st.just(NoBase()),
    st.builds(ExtractorInactive, st.text(max_size=4), st.none() | st.text(max_size=4)),
    st.just(NoSnapshots()),
    st.builds(OutOfBudget, st.text(max_size=4)),
)


@given(citations() | forged, evidences)
def test_law_6_every_evidence_has_one_verdict_with_a_detail(citation: Citation, evidence: Evidence) -> None:
    judged = judge(citation, evidence)
    assert judged.verdict is VERDICT_OF[judged.reason]
    assert judged.detail
    assert bool(judged) == (judged.reason is Reason.SAME)


def test_the_table_knows_every_reason() -> None:
    assert set(VERDICT_OF) == set(Reason)
    assert {reason for reason, verdict in VERDICT_OF.items() if verdict is Verdict.VERIFIED} == {Reason.SAME}


@given(st.data())
def test_law_4_a_text_that_is_what_it_was_verifies(data: st.DataObject) -> None:
    text = data.draw(texts)
    judged = judge(data.draw(citations(text)), TextFound(text))
    assert judged
    assert not judged.context_changed


@given(st.data())
def test_law_5_verified_exactly_when_the_span_says_the_same(data: st.DataObject) -> None:
    text = data.draw(texts)
    citation = data.draw(citations(text))
    now = data.draw(edited(text))
    start, end = citation.span.start, citation.span.end
    judged = judge(citation, TextFound(now))
    assert bool(judged) == (end <= len(now) and now[start:end] == text[start:end])
    assert judged.reason in (Reason.SAME, Reason.MOVED, Reason.CHANGED)


@st.composite
def edited(draw: st.DrawFn, text: str) -> str:
    """One stretch of a text is another one now; or it is another text."""
    at = draw(st.integers(0, len(text)))
    gone = draw(st.integers(0, 5))
    return draw(
        st.sampled_from((text[:at] + draw(st.text("ab ", max_size=5)) + text[at + gone :], text[at:], text * 2))
    )


@given(st.data())
def test_context_changed_is_said_exactly_where_a_verified_passage_has_other_neighbours(data: st.DataObject) -> None:
    text = data.draw(texts)
    citation = data.draw(citations(text))
    now = data.draw(edited(text))
    judged = judge(citation, TextFound(now))
    start, end = citation.span.start, citation.span.end
    sides = ((citation.before, now[max(0, start - CONTEXT) : start]), (citation.after, now[end : end + CONTEXT]))
    other = any(recorded is not None and recorded != found for recorded, found in sides)
    assert judged.context_changed == (bool(judged) and other)


@given(forged, texts)
def test_a_forged_span_never_verifies_outside_the_text(citation: Citation, text: str) -> None:
    start, end = citation.span.start, citation.span.end
    if judge(citation, TextFound(text)):
        assert 0 <= start < end <= len(text)
        assert text_digest(text[start:end]) == citation.digest


def test_a_twin_elsewhere_does_not_verify_a_passage_that_changed() -> None:
    text = "a same passage here; a same passage there"
    judged = judge(cited(text, 0, 14), TextFound("a SAME passage here; a same passage there"))
    assert judged.verdict is Verdict.DRIFTED


@given(failures)
def test_law_8_a_source_without_text_is_unresolvable_and_never_drifted(failure: ReadFailure) -> None:
    judged = judge(cited("ferry", 0, 5), NoText(failure))
    assert judged.verdict is Verdict.UNRESOLVABLE
    assert failure.detail in judged.detail


@given(st.text(min_size=1, max_size=5), st.none() | st.text(min_size=1, max_size=5))
def test_a_mismatch_names_both_extractors(recorded: str, active: str | None) -> None:
    judged = judge(cited("ferry", 0, 5), ExtractorInactive(recorded, active))
    assert judged.reason is Reason.EXTRACTOR_MISMATCH
    assert recorded in judged.detail
    assert (active or "none") in judged.detail


@given(st.text(max_size=5))
def test_an_unknown_id_is_unresolvable_and_named(identifier: str) -> None:
    judged = unknown_chunk(identifier)
    assert (judged.verdict, judged.reason) == (Verdict.UNRESOLVABLE, Reason.UNKNOWN_CHUNK)
    assert identifier in judged.detail
