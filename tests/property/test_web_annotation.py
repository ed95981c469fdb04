"""Citations as Web Annotations and back, what is read of annotations that others made, and where their passages stand."""

import json
import re
from typing import Any

import pytest
from attrs import evolve
from hypothesis import assume, given
from hypothesis import strategies as st
from portable_support import documents, example, of_json, paths, portables, put, without

from groundkit.core.annotation_selectors import NotAnchored, Places, Selectors, anchored, selectors_from
from groundkit.core.model import Span
from groundkit.core.portable import CitationRefused, Flaw, PortableCitation
from groundkit.core.result import Failure, Success
from groundkit.core.web_annotation import EXTENSION, annotation_of, iri_of, is_annotation
from groundkit.portable_json import citation_data, citation_from_annotation


def exported(citation: PortableCitation) -> dict[str, Any]:
    """As somebody else's reader of JSON has it."""
    data: dict[str, Any] = json.loads(json.dumps(annotation_of(citation, iri_of(citation.citation))))
    return data


def refusal(found: object) -> CitationRefused:
    assert isinstance(found, Failure), found
    refused = found.failure()
    assert isinstance(refused, CitationRefused)
    return refused


def keys(found: object) -> dict[str, Flaw]:
    return {each.key: each.flaw for each in refusal(found).problems}


@given(portables())
def test_a_citation_comes_back_from_an_annotation_as_it_was(citation: PortableCitation) -> None:
    assert citation_from_annotation(exported(citation)) == Success(citation)


@given(portables())
def test_selectors_and_state_are_the_standards(citation: PortableCitation) -> None:
    data, cited = exported(citation), citation.citation
    assert data["@context"][0] == "http://www.w3.org/ns/anno.jsonld"
    assert list(data["@context"][1]) == [EXTENSION]
    assert (data["type"], data["motivation"]) == ("Annotation", "highlighting")
    position, quote = data["target"]["selector"]
    assert position == {"type": "TextPositionSelector", "start": cited.span.start, "end": cited.span.end}
    said = {"prefix": cited.before, "suffix": cited.after}
    assert quote == {"type": "TextQuoteSelector", "exact": citation.text} | {
        k: v for k, v in said.items() if v is not None
    }
    state = {"type": "TimeState", "sourceDate": citation.fetched_at}
    assert data["target"].get("state") == (state if citation.fetched_at else None)


@given(portables())
def test_nothing_is_said_in_two_places_but_the_source(citation: PortableCitation) -> None:
    data = exported(citation)
    in_selectors = {"start", "end", "text", "before", "after", "fetched_at"}
    assert set(data[EXTENSION]) == set(citation_data(citation)) - in_selectors


@given(portables(), portables())
def test_equal_passages_of_equal_documents_have_equal_names_and_others_do_not(
    one: PortableCitation, other: PortableCitation
) -> None:
    first, second = ((each.citation.document_id, each.citation.span) for each in (one, other))
    assert (exported(one)["id"] == exported(other)["id"]) is (first == second)
    assert exported(one)["id"].startswith("urn:")


@given(portables(), st.data())
def test_members_for_others_are_passed_over(citation: PortableCitation, data: st.DataObject) -> None:
    whole = exported(citation)
    for name in ("body", "creator", "created", "rights", "via", "id"):
        whole = put(whole, (name,), data.draw(of_json()))
    whole = put(whole, ("target", "scope"), data.draw(of_json()))
    whole["target"]["selector"].insert(1, {"type": "RangeSelector", "startSelector": data.draw(of_json())})
    whole["target"] = data.draw(st.sampled_from((whole["target"], [whole["target"], "https://example.org/other"])))
    assert citation_from_annotation(whole) == Success(citation)


@given(portables(), portables())
def test_selectors_and_a_member_that_disagree_are_refused(citation: PortableCitation, other: PortableCitation) -> None:
    mixed = exported(citation) | {EXTENSION: exported(other)[EXTENSION]}
    whole = citation_from_annotation(mixed)
    if isinstance(whole, Success):
        # Only what no digest binds can be another's.
        taken = whole.unwrap()
        assert (taken.text, taken.citation.span) == (citation.text, citation.citation.span)
        assert taken.citation.digest == citation.citation.digest
        # A file may be named from wherever its base is.
        assert f"/{citation.citation.source}".endswith(f"/{taken.citation.source}")
        assert taken.citation.document_id == other.citation.document_id


@given(portables(), st.sampled_from(("https://evil.example/", "./other", "", "..", "urn:x")))
def test_another_target_than_the_source_is_refused(citation: PortableCitation, iri: str) -> None:
    moved = put(exported(citation), ("target", "source"), iri)
    assert keys(citation_from_annotation(moved)) == {"target.source": Flaw.MISMATCH}


@pytest.mark.parametrize("base", ["", "./", "file:///home/me/docs/", "https://example.org/", "../"])
def test_a_file_may_be_named_from_wherever_its_base_is(base: str) -> None:
    citation = example("a b%20ä#?:.md")
    iri = iri_of(citation.citation)
    assert iri == "a%20b%2520%C3%A4%23%3F%3A.md"
    assert citation_from_annotation(put(exported(citation), ("target", "source"), base + iri)) == Success(citation)


@given(portables())
def test_the_name_of_a_source_is_a_reference_and_leads_to_no_other_host(citation: PortableCitation) -> None:
    iri = iri_of(citation.citation)
    assert iri.isascii() and iri.isprintable() and not set(' "<>\\^`{|}#') & set(iri)
    if citation.citation.source_class == "snapshot":
        assert iri.lower().startswith(("http://example.org/", "https://example.org/"))
    else:
        assert not iri.startswith("/") and not set(":?") & set(iri)


@given(portables(), st.data())
def test_another_letter_or_place_is_refused(citation: PortableCitation, data: st.DataObject) -> None:
    whole = exported(citation)
    position, quote = whole["target"]["selector"]
    which = data.draw(st.sampled_from(("start", "end", "exact", "prefix")))
    if which in ("start", "end"):
        position[which] += 1
    elif which == "prefix":
        quote["prefix"] = "x" * 65
    else:
        quote["exact"] += "x"
    assert refusal(citation_from_annotation(whole)).problems


@given(portables(), st.data())
def test_anything_in_the_place_of_a_member_is_an_answer_and_no_accident(
    citation: PortableCitation, data: st.DataObject
) -> None:
    whole = exported(citation)
    spoiled = put(whole, data.draw(st.sampled_from(paths(whole))), data.draw(of_json()))
    found = citation_from_annotation(spoiled)
    assert isinstance(found, Success) or str(found.failure())
    selected = selectors_from(spoiled)
    assert isinstance(selected, Success) or str(selected.failure())


@given(portables(), st.data())
def test_a_key_of_ours_that_is_missing_or_unknown_is_named(citation: PortableCitation, data: st.DataObject) -> None:
    whole = exported(citation)
    key = data.draw(st.sampled_from(sorted(whole[EXTENSION])))
    assert keys(citation_from_annotation(without(whole, (EXTENSION, key)))) == {key: Flaw.MISSING}
    assert keys(citation_from_annotation(put(whole, (EXTENSION, "more"), 1))) == {"more": Flaw.UNKNOWN}
    again = data.draw(st.sampled_from(("start", "end", "text", "before", "after", "fetched_at")))
    assert keys(citation_from_annotation(put(whole, (EXTENSION, again), 1))) == {f"{EXTENSION}.{again}": Flaw.UNKNOWN}


@given(portables())
def test_a_member_of_another_version_is_refused_by_its_number(citation: PortableCitation) -> None:
    newer = exported(citation) | {EXTENSION: {"schema": 2, "start": 1}}
    assert keys(citation_from_annotation(newer)) == {"schema": Flaw.VERSION}


@given(of_json())
def test_what_is_no_annotation_of_ours_is_refused(data: object) -> None:
    assert refusal(citation_from_annotation(data)).problems
    assert refusal(selectors_from(data)).problems


FOREIGN: dict[str, Any] = {
    "id": "Jx3tPq",
    "uri": "https://example.org/page",
    "target": [
        {
            "source": "https://example.org/page",
            "selector": [
                {"type": "RangeSelector", "startContainer": "/div[1]", "endContainer": "/div[1]", "startOffset": 3},
                {"type": "TextPositionSelector", "start": 3, "end": 6},
                {"type": "TextQuoteSelector", "exact": "efg", "prefix": "bcd", "suffix": "hij"},
            ],
        }
    ],
}
QUOTE: dict[str, Any] = FOREIGN["target"][0]["selector"][2]
EXPECTED = Selectors("https://example.org/page", "efg", "bcd", "hij", Span(3, 6))


def target(**members: object) -> dict[str, Any]:
    return {"type": "Annotation", "target": {"source": "https://example.org/page", **members}}


def test_an_annotation_as_annotation_tools_write_them_is_read() -> None:
    assert selectors_from(FOREIGN) == Success(EXPECTED)


@pytest.mark.parametrize(
    "data, expected",
    [
        (target(selector=QUOTE), evolve(EXPECTED, position=None)),
        (target(selector=[QUOTE | {"type": ["TextQuoteSelector", "x:Y"]}]), evolve(EXPECTED, position=None)),
        (target(selector={"type": "TextQuoteSelector", "exact": "efg"}), Selectors("https://example.org/page", "efg")),
        (target(selector=QUOTE | {"prefix": None, "suffix": ""}), Selectors("https://example.org/page", "efg", None, "")),
        (target(selector=QUOTE, source={"id": "https://example.org/2"}), Selectors("https://example.org/2", "efg", "bcd", "hij")),
        (target(selector=[QUOTE, {"type": "XPathSelector", "value": "/p", "refinedBy": QUOTE}]), evolve(EXPECTED, position=None)),
        (
            target(selector=QUOTE, state=[{"type": "HttpRequestState"}, {"type": "TimeState", "sourceDate": "2015-07-20T13:30:00Z"}]),
            evolve(EXPECTED, position=None, source_date="2015-07-20T13:30:00Z"),
        ),
        (target(selector=QUOTE, state={"type": "TimeState", "sourceDate": ["2015", "2016"]}), evolve(EXPECTED, position=None)),
    ],
)  # fmt: skip
def test_what_the_standard_leaves_open_is_read(data: dict[str, Any], expected: Selectors) -> None:
    assert selectors_from(data) == Success(expected)


_POSITION = {"type": "TextPositionSelector", "start": 3, "end": 6}


@pytest.mark.parametrize(
    "data, problems",
    [
        ({"type": "Annotation", "target": "https://example.org/page"}, {"target.selector": Flaw.MISSING}),
        (target(), {"target.selector": Flaw.MISSING}),
        (target(selector=_POSITION), {"target.selector": Flaw.MISSING}),
        (target(selector={"type": "FragmentSelector", "value": "p", "refinedBy": QUOTE}), {"target.selector": Flaw.MISSING}),
        (target(selector=[QUOTE, QUOTE]), {"target.selector": Flaw.TWICE}),
        (target(selector=[QUOTE, _POSITION, _POSITION]), {"target.selector": Flaw.TWICE}),
        ({"target": [target(selector=QUOTE)["target"]] * 2}, {"target": Flaw.TWICE}),
        (target(selector=QUOTE | {"refinedBy": _POSITION}), {"target.selector.refinedBy": Flaw.UNKNOWN}),
        (target(selector=[QUOTE, _POSITION | {"refinedBy": QUOTE}]), {"target.selector.refinedBy": Flaw.UNKNOWN}),
        (target(selector=QUOTE | {"exact": ""}), {"target.selector.exact": Flaw.VALUE}),
        (target(selector={"type": "TextQuoteSelector"}), {"target.selector.exact": Flaw.VALUE}),
        (target(selector=QUOTE | {"exact": ["efg"]}), {"target.selector.exact": Flaw.TYPE}),
        (target(selector=QUOTE | {"prefix": 5}), {"target.selector.prefix": Flaw.TYPE}),
        (target(selector=[QUOTE, _POSITION | {"start": "3"}]), {"target.selector.start": Flaw.TYPE}),
        (target(selector=[QUOTE, _POSITION | {"start": True}]), {"target.selector.start": Flaw.TYPE}),
        (target(selector=[QUOTE, _POSITION | {"start": -3}]), {"target.selector.start": Flaw.VALUE}),
        (target(selector=[QUOTE, _POSITION | {"end": 10**5000}]), {"target.selector.end": Flaw.VALUE}),
        (target(selector=[QUOTE, _POSITION | {"end": 3}]), {"target.selector.end": Flaw.MISMATCH}),
        (target(selector=QUOTE, source=None), {"target.source": Flaw.TYPE}),
        (target(selector=QUOTE, source=["a", "b"]), {"target.source": Flaw.TYPE}),
    ],
)  # fmt: skip
def test_what_leads_to_no_one_passage_is_named(data: dict[str, Any], problems: dict[str, Flaw]) -> None:
    assert keys(selectors_from(data)) == problems
    assert keys(citation_from_annotation(data | {EXTENSION: {"schema": 1}})) == problems


def test_an_annotation_of_somebody_else_is_no_citation() -> None:
    assert keys(citation_from_annotation(FOREIGN)) == {EXTENSION: Flaw.MISSING}
    (problem,) = refusal(citation_from_annotation(FOREIGN)).problems
    assert problem.detail.endswith("Collection.anchor makes one of what it quotes")


def test_what_means_to_be_an_annotation() -> None:
    assert (
        is_annotation({"@context": 1})
        and is_annotation({"type": "Annotation"})
        and is_annotation({"type": ["Annotation"]})
    )
    assert not is_annotation({"type": "AnnotationPage"}) and not is_annotation([]) and not is_annotation({})


@given(documents, st.data())
def test_a_passage_is_anchored_where_it_says_if_it_stands_there(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    span = Span(start, data.draw(st.integers(start + 1, len(text))))
    around = st.none() | st.just("nowhere")
    selectors = Selectors("", text[span.start : span.end], data.draw(around), data.draw(around), span)
    assert anchored(text, selectors) == Success(span)


@given(st.text("ab", max_size=12), st.text("ab", min_size=1, max_size=3), st.none() | st.text("ab", max_size=2), st.none() | st.text("ab", max_size=2), st.none() | st.builds(Span, st.integers(-3, 12), st.integers(-3, 12)))  # fmt: skip
def test_a_passage_is_anchored_elsewhere_only_where_it_alone_is_quoted(
    text: str, exact: str, prefix: str | None, suffix: str | None, position: Span | None
) -> None:
    found = anchored(text, Selectors("", exact, prefix, suffix, position))
    quoted = [
        place
        for place in range(len(text))
        if text.startswith(exact, place)
        and text[:place].endswith(prefix or "")
        and text[place + len(exact) :].startswith(suffix or "")
    ]
    if position in [Span(at, at + len(exact)) for at in range(len(text)) if text.startswith(exact, at)]:
        assert found == Success(position)
    elif len(quoted) == 1:
        assert found == Success(Span(quoted[0], quoted[0] + len(exact)))
    else:
        assert found == Failure(NotAnchored(Places.SEVERAL if quoted else Places.NONE))


#: Texts with runs of white space of several widths; lines that a page shows as one.
wrapped = st.lists(
    st.sampled_from(["the", "old", "lamp", "a", "b,", " ", " ", "\n", "\r\n", "\t ", "\u2003\n", "  \n"]), min_size=1, max_size=14
).map("".join)  # fmt: skip


def on_one_line(text: str) -> str:
    """As a page shows it."""
    return re.sub(r"\s+", " ", text)


def stretches(text: str) -> list[Span]:
    """Stretches without white space at their ends."""
    spans = [Span(start, end) for start in range(len(text)) for end in range(start + 1, len(text) + 1)]
    return [span for span in spans if text[span.start : span.end] == text[span.start : span.end].strip()]


@given(wrapped, st.data())
def test_a_passage_that_a_page_shows_on_one_line_is_anchored_where_it_alone_is(text: str, data: st.DataObject) -> None:
    assume(text.strip())
    span = data.draw(st.sampled_from(stretches(text)))
    exact = on_one_line(text[span.start : span.end])
    alike = [other for other in stretches(text) if on_one_line(text[other.start : other.end]) == exact]
    found = anchored(text, Selectors("", exact))
    if len(alike) == 1:
        assert found == Success(span)
    else:
        assert isinstance(found, Failure) or found.unwrap() in alike


@given(wrapped, st.data(), st.booleans())
def test_what_stands_beside_a_passage_counts_on_one_line_too(text: str, data: st.DataObject, stripped: bool) -> None:
    assume(text.strip())
    span = data.draw(st.sampled_from(stretches(text)))
    before, exact, after = map(on_one_line, (text[: span.start], text[span.start : span.end], text[span.end :]))
    if stripped:
        before, after = before.strip(), after.strip()
    assert anchored(text, Selectors("", exact, before, after)) == Success(span)


@given(wrapped, st.data())
def test_a_position_counts_where_the_text_there_reads_as_the_quotation(text: str, data: st.DataObject) -> None:
    assume(text.strip())
    span = data.draw(st.sampled_from(stretches(text)))
    selectors = Selectors("", on_one_line(text[span.start : span.end]), "nowhere", position=span)
    assert anchored(text, selectors) == Success(span)


def test_white_space_that_a_quotation_has_must_be_there() -> None:
    for exact, prefix, suffix in ((" b", None, None), ("b", "a ", None), ("b ", None, None), ("b", None, " c")):
        assert anchored("abc\n", Selectors("", exact, prefix, suffix)) == Failure(NotAnchored(Places.NONE))
    assert anchored("a\n\tb\t\n", Selectors("", " b ")) == Success(Span(1, 6))
    for blank in (" ", "\n "):
        assert anchored("a\tb", Selectors("", blank)) == Failure(NotAnchored(Places.NONE))
    assert anchored("a\nb", Selectors("", "a b", position=Span(0, 4))) == Success(Span(0, 3))
    assert anchored("a\nb a\tb", Selectors("", "a b")) == Failure(NotAnchored(Places.SEVERAL))


def test_selectors_are_printed_with_what_they_quote() -> None:
    assert repr(Selectors("a.md", "the lamp")) == (
        "Selectors(source='a.md', exact='the lamp', position=None, source_date=None)"
    )
    assert f"exact='{'x' * 60}…'," in repr(Selectors("a.md", "x" * 61))


def test_a_position_before_the_text_is_none() -> None:
    for position in (Span(-2, -1), Span(-1, 0), Span(1, -1)):
        assert anchored("aba", Selectors("", "b", position=position)) == Success(Span(1, 2))
        assert anchored("aaa", Selectors("", "a", position=position)) == Failure(NotAnchored(Places.SEVERAL))


def test_an_annotation_of_ours_without_its_position_is_refused() -> None:
    whole = exported(example())
    del whole["target"]["selector"][0]
    assert keys(citation_from_annotation(whole)) == {"target.selector": Flaw.MISSING}


@given(portables())
def test_our_own_annotations_are_anchored_as_any_others(citation: PortableCitation) -> None:
    selectors = selectors_from(exported(citation)).unwrap()
    assert selectors.position == citation.citation.span
    # 70 letters put in front: the passage is where its neighbourhood is, and nowhere else.
    shifted = "≠" * 70 + (citation.citation.before or "") + citation.text + (citation.citation.after or "")
    found = anchored(shifted, selectors)
    if isinstance(found, Success):
        assert shifted[found.unwrap().start : found.unwrap().end] == citation.text
    else:
        assert found.failure() == NotAnchored(Places.SEVERAL)
