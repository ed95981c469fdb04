"""Laws of the echo check: its plans, and that every fault of an answer is called by its name."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.echo import (
    MARKER_LENGTH,
    MOST_SUBJECTS,
    EchoCited,
    EchoOutcome,
    EchoPlan,
    EchoQuestion,
    EchoReport,
    EchoRow,
    echo_outcome,
    echo_plan,
    marker_of,
    markers_in,
)

plans = st.builds(
    lambda seed, half, absent: echo_plan(seed, 2 * half, 1 + half % 2, absent),
    st.text(st.characters(codec="utf-8"), max_size=8),
    st.integers(1, MOST_SUBJECTS // 2),
    st.integers(0, 24),
)


def passages_of(plan: EchoPlan) -> list[str]:
    return [f"## {each}" for document in plan.documents for each in document.text.split("## ")[1:]]


def passage_with(plan: EchoPlan, marker: str | None) -> EchoCited:
    return EchoCited(next(each for each in passages_of(plan) if str(marker) in each))


@given(plans)
def test_every_marker_stands_in_one_passage_with_its_subject_and_in_no_other(plan: EchoPlan) -> None:
    passages = passages_of(plan)
    for asked in plan.questions:
        holding = [each for each in passages if asked.subject in each]
        assert len(holding) == (asked.marker is not None)
        assert all(markers_in(each) == {asked.marker} for each in holding)
    assert max(Counter(marker for each in passages for marker in markers_in(each)).values()) == 1


@given(plans)
def test_a_decoy_is_the_marker_of_another_question_and_stands_in_another_passage(plan: EchoPlan) -> None:
    by_marker = {each.marker: each for each in plan.questions if each.marker}
    for marker, asked in by_marker.items():
        other = by_marker[asked.decoy]
        assert other.decoy == marker != asked.decoy
        assert other.subject.split()[0] == asked.subject.split()[0]


@given(st.text(st.characters(codec="utf-8"), max_size=8), st.integers(0, 10**6))
def test_markers_follow_from_seed_and_number_and_are_found_again(seed: str, number: int) -> None:
    marker = marker_of(seed, number)
    assert marker == marker_of(seed, number)
    assert len(marker) == MARKER_LENGTH
    assert markers_in(f"it is {marker}.") == {marker}
    assert marker not in (marker_of(seed, number + 1), marker_of(f"{seed}x", number))


def test_the_same_seed_makes_the_same_plan_and_another_one_shares_no_marker() -> None:
    assert echo_plan("a") == echo_plan("a")
    one, other = ({q.marker for q in echo_plan(seed).questions if q.marker} for seed in "ab")
    assert not one & other


@pytest.mark.parametrize(
    "wrong", [{"subjects": 3}, {"subjects": 0}, {"subjects": MOST_SUBJECTS + 2}, {"absent": 25}, {"per_document": 0}]
)
def test_a_plan_beyond_its_words_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be"):
        echo_plan("seed", **wrong)


PLAN = echo_plan("law")
ASKED: EchoQuestion = PLAN.questions[0]
ABSENT: EchoQuestion = PLAN.questions[-1]
RIGHT, DECOY, OTHER = (passage_with(PLAN, each) for each in (ASKED.marker, ASKED.decoy, PLAN.questions[2].marker))
LOST = EchoCited(None, "it drifted")
WHOLE = EchoCited(f"{RIGHT.text}{OTHER.text}")
MADE_UP = "A" * MARKER_LENGTH


@pytest.mark.parametrize(
    ("asked", "text", "cited", "outcome"),
    [
        (ASKED, f"It is {ASKED.marker}.", [RIGHT], EchoOutcome.RIGHT),
        (ASKED, "see there", [RIGHT], EchoOutcome.RIGHT),
        (ASKED, "", [RIGHT, RIGHT], EchoOutcome.RIGHT),
        (ASKED, f"It is {ASKED.decoy}.", [DECOY], EchoOutcome.DECOY),
        (ASKED, f"It is {ASKED.marker}.", [DECOY], EchoOutcome.DECOY),
        (ASKED, "one of these", [RIGHT, DECOY], EchoOutcome.DECOY),
        (ASKED, f"It is {ASKED.marker}.", [OTHER], EchoOutcome.WRONG),
        (ASKED, f"It is {ASKED.marker}.", [EchoCited("")], EchoOutcome.WRONG),
        (ASKED, f"It is {ASKED.marker}.", [RIGHT, OTHER], EchoOutcome.WRONG),
        (ASKED, f"It is {ASKED.marker}.", [WHOLE], EchoOutcome.WIDE),
        (ASKED, f"It is {ASKED.marker}.", [LOST], EchoOutcome.UNRESOLVABLE),
        (ASKED, f"It is {ASKED.marker}.", [RIGHT, LOST], EchoOutcome.UNRESOLVABLE),
        (ASKED, f"It is {MADE_UP}.", [RIGHT], EchoOutcome.UNSUPPORTED),
        (ASKED, f"It is {ASKED.marker}.", [], EchoOutcome.UNSUPPORTED),
        (ASKED, "I do not know.", [], EchoOutcome.UNCITED),
        (ABSENT, "I do not know.", [], EchoOutcome.RIGHT),
        (ABSENT, "", [RIGHT], EchoOutcome.INVENTED),
        (ABSENT, "", [LOST], EchoOutcome.INVENTED),
        (ABSENT, f"It is {MADE_UP}.", [], EchoOutcome.INVENTED),
    ],
)
def test_every_fault_has_its_name(asked: EchoQuestion, text: str, cited: list[EchoCited], outcome: EchoOutcome) -> None:
    assert echo_outcome(asked, text, cited)[0] is outcome


@given(st.lists(st.sampled_from([RIGHT, DECOY, OTHER, LOST, WHOLE]), max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_citations_does_not_matter_and_one_bad_one_is_enough(cited, random) -> None:  # type: ignore[no-untyped-def]
    outcome = echo_outcome(ASKED, "", cited)
    assert outcome == echo_outcome(ASKED, "", random.sample(cited, len(cited)))
    assert (outcome[0] is EchoOutcome.RIGHT) == (bool(cited) and set(map(id, cited)) == {id(RIGHT)})


@given(st.lists(st.sampled_from(EchoOutcome), max_size=30))
def test_a_score_is_the_share_of_right_answers(outcomes: list[EchoOutcome]) -> None:
    report = EchoReport("s", tuple(EchoRow(ASKED, each, "") for each in outcomes))
    assert report.score == (outcomes.count(EchoOutcome.RIGHT) / len(outcomes) if outcomes else 0)
    assert sum(report.counts.values()) == len(outcomes)
