"""What a verification says of a drift, held against the two texts by rules of this file's own."""

from groundkit.core.fingerprint import text_digest
from groundkit.core.model import CONTEXT, Citation, FromText, Reason, Span, Verdict, Verification
from groundkit.core.relocation_tokens import folded, tokens
from groundkit.core.verdicts import VERDICT_OF
from groundkit.core.word_diff import Change

#: What is less like the passage than this is another one.
LEAST_LIKE = 0.4


def cited_at(old: str, span: Span) -> Citation:
    before, after = old[max(0, span.start - CONTEXT) : span.start], old[span.end : span.end + CONTEXT]
    digest = text_digest(old[span.start : span.end])
    return Citation("d" * 32, "c" * 32, "a.md", FromText(), span, digest, before, after)


def words(text: str) -> list[str]:
    plain = folded(text)
    return tokens(plain, 0, len(plain)).keys


def borne_out(verification: Verification, old: str, new: str, span: Span) -> None:
    """All that an answer says is true of the two texts."""
    cited = old[span.start : span.end]
    place = verification.span
    assert verification.verdict is VERDICT_OF[verification.reason]
    assert verification.detail.strip()
    assert (verification.verdict is Verdict.VERIFIED) is bool(verification) is (new[span.start : span.end] == cited)
    assert verification.cited in (None, cited)
    assert (place is not None) == (verification.reason in (Reason.MOVED, Reason.REFORMATTED, Reason.EDITED))
    if place is not None:
        assert 0 <= place.start < place.end <= len(new)
        assert verification.found == new[place.start : place.end]
        assert f"{place.start}–{place.end}" in verification.detail
    assert (verification.similarity is not None) == (verification.reason is Reason.EDITED)
    _as_the_reason_says(verification, cited)
    _candidates_stand(verification, new)
    _diff_rebuilds(verification)


def _as_the_reason_says(verification: Verification, cited: str) -> None:
    found = verification.found
    match verification.reason:
        case Reason.MOVED:
            assert found == cited
        case Reason.REFORMATTED:
            assert found is not None
            assert found != cited
            assert words(found) == words(cited)
        case Reason.EDITED:
            assert found is not None
            assert words(found) != words(cited)
            assert verification.similarity is not None
            assert LEAST_LIKE <= verification.similarity <= 1
        case _:
            assert found is None
            assert verification.reason in (Reason.SAME, Reason.AMBIGUOUS, Reason.REMOVED, Reason.CHANGED)


def _candidates_stand(verification: Verification, new: str) -> None:
    places = verification.candidates
    assert (len(places) > 1) == (verification.reason is Reason.AMBIGUOUS)
    assert len(places) == 0 or verification.reason is Reason.AMBIGUOUS
    assert list(places) == sorted(set(places))
    assert all(0 <= each.start < each.end <= len(new) for each in places)


def _diff_rebuilds(verification: Verification) -> None:
    parts = verification.diff
    assert bool(parts) == (verification.reason in (Reason.REFORMATTED, Reason.EDITED))
    if parts:
        assert "".join(part.text for part in parts if part.change is not Change.ADDED) == verification.cited
        assert "".join(part.text for part in parts if part.change is not Change.REMOVED) == verification.found


def places_between(text: str, citation: Citation, cited: str) -> list[Span]:
    """Where the cited text stands between both of its neighbours."""
    assert citation.before is not None
    assert citation.after is not None
    starts = [at for at in range(len(text) - len(cited) + 1) if text.startswith(cited, at)]
    ends = [(at, at + len(cited)) for at in starts]
    beside = [
        (at, end) for at, end in ends if text[:at].endswith(citation.before) and text.startswith(citation.after, end)
    ]
    return [Span(at, end) for at, end in beside]
