"""A citation that came from outside is taken exactly if all that it says fits together; its form in JSON, and back."""

import json
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from portable_support import SPAN, TEXT, at, documents, example, form, of_json, paths, portables, put, without

from groundkit.config import collection_name
from groundkit.core.fingerprint import chunk_id, document_id, text_digest
from groundkit.core.model import CONTEXT, Span
from groundkit.core.portable import (
    CITATION_SCHEMA,
    LARGEST_NUMBER,
    CitationRefused,
    Flaw,
    PortableCitation,
    checked,
    is_collection_name,
    occurrence_of,
)
from groundkit.core.result import Failure, Success
from groundkit.portable_json import citation_data, citation_from


def refused(data: object) -> CitationRefused:
    found = citation_from(data)
    assert isinstance(found, Failure), found
    return found.failure()


def named(problems: CitationRefused) -> dict[str, Flaw]:
    return {each.key: each.flaw for each in problems.problems}


repeating = st.tuples(st.text("ab", min_size=1, max_size=4), st.integers(1, 9), st.text("ab", max_size=4)).map(
    lambda parts: parts[0] * parts[1] + parts[2]
)


@given(st.lists(repeating | documents, min_size=1, max_size=4).map("".join), st.data())
def test_an_occurrence_is_the_number_of_its_place_among_all_places_of_its_text(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, min(len(text), start + 12)) | st.integers(start + 1, len(text)))
    places = [place for place in range(len(text)) if text.startswith(text[start:end], place)]
    assert occurrence_of(text, Span(start, end)) == (places.index(start) + 1, len(places))


@pytest.mark.parametrize("start, number", [(0, 1), (1, 2), (6, 3), (13, 6)])
def test_places_count_up_to_the_span_alone(start: int, number: int) -> None:
    assert occurrence_of("aaa b aaa b aaa", Span(start, start + 2)) == (number, 6)


@pytest.mark.parametrize("unit", ["-", "ab", "-" * 40 + "\n"])
def test_places_that_overlap_by_the_million_are_counted_without_looking_at_each(unit: str) -> None:
    # Looking at each takes minutes.
    times = 2_000_000 // len(unit)
    span = Span(5 * len(unit), 505 * len(unit))
    assert occurrence_of(unit * times, span) == (6, times - 499)


@given(portables())
def test_what_is_made_of_a_document_fits_together(citation: PortableCitation) -> None:
    assert checked(citation) == Success(citation)


@given(portables())
def test_a_citation_comes_back_from_json_as_it_was(citation: PortableCitation) -> None:
    assert citation_from(form(citation)) == Success(citation)


def test_the_keys_of_the_portable_form_and_their_order() -> None:
    data = citation_data(example())
    assert " ".join(data) == (
        "schema collection source source_class extractor fetched_at incomplete document_id document_digest chunk_id "
        "chunk_start chunk_end start end digest text before after occurrence occurrences locator"
    )
    assert data["schema"] == CITATION_SCHEMA == 1
    assert list(data["locator"]) == ["line", "column", "heading_path", "pages", "anchor"]
    assert list(data["locator"]["pages"]) == ["first", "last", "first_label", "last_label"]


@given(portables(), st.data())
def test_each_missing_key_is_named(citation: PortableCitation, data: st.DataObject) -> None:
    whole = form(citation)
    gone = data.draw(st.lists(st.sampled_from(paths(whole)), min_size=1, max_size=3, unique=True))
    spoiled = whole
    for path in sorted(gone, key=len, reverse=True):
        spoiled = without(spoiled, path)
    outermost = [path for path in gone if not any(path != other and path[: len(other)] == other for other in gone)]
    assert named(refused(spoiled)) == {".".join(path): Flaw.MISSING for path in outermost}


@given(portables(), st.data())
def test_each_unknown_key_is_named(citation: PortableCitation, data: st.DataObject) -> None:
    whole = form(citation)
    holders = [(), *(path for path in paths(whole) if isinstance(at(whole, path), dict))]
    added = {
        (*data.draw(st.sampled_from(holders)), name) for name in data.draw(st.sets(_unknown, min_size=1, max_size=2))
    }
    spoiled = whole
    for path in added:
        spoiled = put(spoiled, path, data.draw(of_json()))
    assert named(refused(spoiled)) == {".".join((*above, name or '""')): Flaw.UNKNOWN for *above, name in added}


_unknown = st.sampled_from(("Schema", "start ", "", "text\0", "line2", "é", "citations", "hits", "\ud800", "__class__"))


@given(portables(), st.data())
def test_a_value_of_another_type_is_named(citation: PortableCitation, data: st.DataObject) -> None:
    whole = form(citation)
    path = data.draw(st.sampled_from(paths(whole)))
    other = data.draw(of_json().filter(lambda value: not _may_stand_for(at(whole, path), path, value)))
    flaws = named(refused(put(whole, path, other)))
    assert list(flaws) == [".".join(path)]
    assert flaws[".".join(path)] is Flaw.TYPE


def _may_stand_for(value: object, path: tuple[str, ...], other: object) -> bool:
    """Of the same type, or null where a key may say nothing, or an object where there could be one."""
    may_be_null = path[-1] in ("extractor", "fetched_at", "before", "after", "locator", "pages")
    may_be_text = path[-1] in ("extractor", "fetched_at", "before", "after")
    may_be_more = isinstance(value, list | dict) or path[-1] in ("locator", "pages")
    return (
        type(other) is type(value)
        or (other is None and may_be_null)
        or (isinstance(other, str) and may_be_text)
        or (isinstance(other, list | dict) and may_be_more)
    )


@pytest.mark.parametrize(
    "key, value",
    [
        ("start", True), ("start", 80.0), ("start", "80"), ("start", None), ("incomplete", 0), ("incomplete", "false"),
        ("text", ["o"]), ("text", None), ("source", 5), ("locator", []), ("locator", "3:9"), ("schema", "1"), ("schema", 1.0),
        ("schema", True), ("occurrence", float("inf")), ("locator.line", False), ("locator.pages", 3), ("locator.pages.last", 2.0),
        ("locator.heading_path", "One"), ("locator.heading_path", {"0": "One"}), ("locator.anchor", None),
    ],
)  # fmt: skip
def test_nothing_is_converted(key: str, value: object) -> None:
    path = tuple(key.split("."))
    assert named(refused(put(form(example()), path, value))) == {key: Flaw.TYPE}


def test_all_problems_are_told_at_once() -> None:
    spoiled = put(without(form(example()), ("digest",)), ("more",), 1)
    spoiled = put(put(spoiled, ("locator", "pages", "first"), "i"), ("locator", "heading_path"), ["One", 2, None])
    problems = refused(put(spoiled, ("incomplete",), None))
    assert named(problems) == {
        "digest": Flaw.MISSING,
        "more": Flaw.UNKNOWN,
        "locator.pages.first": Flaw.TYPE,
        "locator.heading_path[1]": Flaw.TYPE,
        "locator.heading_path[2]": Flaw.TYPE,
        "incomplete": Flaw.TYPE,
    }
    assert str(problems).endswith("; and 1 more")


@given(of_json())
def test_anything_else_that_json_can_say_is_refused(data: object) -> None:
    assert refused(data).problems
    assert str(refused(data))


@given(portables(), st.data())
def test_anything_in_the_place_of_a_key_is_an_answer_and_no_accident(
    citation: PortableCitation, data: st.DataObject
) -> None:
    whole = form(citation)
    spoiled = put(whole, data.draw(st.sampled_from(paths(whole))), data.draw(of_json()))
    found = citation_from(spoiled)
    assert isinstance(found, Success) or str(found.failure())


def test_an_object_without_an_end_is_refused_without_following_it() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert named(refused(deep)) == {"": Flaw.TYPE}
    assert named(refused(put(form(example()), ("text",), None) | {"text": deep})) == {"text": Flaw.TYPE}
    assert named(refused(form(example()) | {"more": deep})) == {"more": Flaw.UNKNOWN}


@pytest.mark.parametrize(
    "schema, by",
    [(2, "newer"), (10**5000, "newer"), (0, "no such"), (-1, "no such"), (-(10**5000), "no such")],
    ids=["next", "huge", "none", "negative", "hugely negative"],
)
def test_another_schema_is_refused_by_its_number_alone(schema: int, by: str) -> None:
    problems = refused({"schema": schema, "whatever": 1})
    assert named(problems) == {"schema": Flaw.VERSION}
    assert by in str(problems)
    assert "reads schema 1" in str(problems)


#: What is bound by a digest or an id: another value of any of these is seen, whatever it is.
BOUND = ("source", "source_class", "document_id", "document_digest", "chunk_id", "chunk_start", "chunk_end", "start", "end", "digest", "text")  # fmt: skip


@given(portables(), portables(), st.sampled_from(BOUND))
def test_a_part_of_another_citation_is_seen(citation: PortableCitation, other: PortableCitation, key: str) -> None:
    whole, foreign = form(citation), form(other)
    if whole[key] == foreign[key]:
        return
    if key == "start":
        # Spans are as long as the text; what differs besides is the chunk.
        foreign["start"] = whole["start"] + 1
    assert key in str(refused(put(whole, (key,), foreign[key])))


@given(portables(), st.data())
def test_another_letter_in_the_text_is_seen(citation: PortableCitation, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(citation.text) - 1))
    other = data.draw(st.characters().filter(lambda char: char != citation.text[place]))
    text = citation.text[:place] + other + citation.text[place + 1 :]
    assert named(refused(put(form(citation), ("text",), text))) == {"digest": Flaw.MISMATCH}


def spoiled_by(change: dict[str, object]) -> dict[str, Flaw]:
    data = form(example())
    for key, value in change.items():
        data = put(data, tuple(key.split(".")), value)
    return named(refused(data))


@pytest.mark.parametrize(
    "change, problems",
    [
        ({"start": -1, "end": 9}, {"start": Flaw.VALUE}),
        ({"start": -(10**30)}, {"start": Flaw.VALUE}),
        ({"start": 90, "end": 100}, {"start": Flaw.MISMATCH}),
        ({"start": 79, "end": 89}, {"start": Flaw.MISMATCH}),
        ({"end": 80}, {"end": Flaw.MISMATCH}),
        ({"end": 79}, {"end": Flaw.MISMATCH}),
        ({"end": 91}, {"end": Flaw.MISMATCH}),
        ({"start": 2**53, "end": 2**53 + 10}, {"start": Flaw.VALUE, "end": Flaw.VALUE}),
        ({"start": 10**5000}, {"start": Flaw.VALUE, "end": Flaw.MISMATCH}),
        ({"text": ""}, {"end": Flaw.MISMATCH, "digest": Flaw.MISMATCH}),
        ({"digest": ""}, {"digest": Flaw.MISMATCH}),
        ({"digest": text_digest(TEXT[80:90]).upper()}, {"digest": Flaw.MISMATCH}),
        ({"document_digest": "F" * 64}, {"document_digest": Flaw.VALUE}),
        ({"document_digest": "f" * 64}, {"document_id": Flaw.MISMATCH}),
        ({"document_id": "g" * 32}, {"document_id": Flaw.VALUE}),
        ({"document_id": "0" * 32}, {"document_id": Flaw.MISMATCH, "chunk_id": Flaw.MISMATCH}),
        ({"chunk_id": "0" * 31}, {"chunk_id": Flaw.VALUE}),
        ({"chunk_id": "0" * 32 + "\n"}, {"chunk_id": Flaw.VALUE}),
        ({"chunk_id": "0" * 32}, {"chunk_id": Flaw.MISMATCH}),
        ({"chunk_start": 10**5000}, {"chunk_start": Flaw.VALUE, "chunk_end": Flaw.MISMATCH}),
        ({"before": TEXT[15:80]}, {"before": Flaw.VALUE}),
        ({"before": TEXT[17:80]}, {"before": Flaw.MISMATCH}),
        ({"before": ""}, {"before": Flaw.MISMATCH}),
        ({"after": "x" * 65}, {"after": Flaw.VALUE}),
        ({"occurrence": 0}, {"occurrence": Flaw.VALUE}),
        ({"occurrence": 4, "occurrences": 3}, {"occurrence": Flaw.MISMATCH}),
        ({"occurrence": 82, "occurrences": 99}, {"occurrence": Flaw.MISMATCH}),
        ({"occurrences": 0}, {"occurrences": Flaw.VALUE, "occurrence": Flaw.MISMATCH}),
        ({"occurrences": 2**53}, {"occurrences": Flaw.VALUE}),
        ({"locator.line": 0}, {"locator.line": Flaw.VALUE}),
        ({"locator.column": -1}, {"locator.column": Flaw.VALUE}),
        ({"locator.pages.first": 0}, {"locator.pages.first": Flaw.VALUE}),
        ({"locator.pages.last": 2**60}, {"locator.pages.last": Flaw.VALUE}),
        ({"locator.pages.first": 3}, {"locator.pages.last": Flaw.MISMATCH}),
        ({"collection": ""}, {"collection": Flaw.VALUE}),
        ({"collection": "../default"}, {"collection": Flaw.VALUE}),
        ({"collection": "a\n"}, {"collection": Flaw.VALUE}),
        ({"fetched_at": "2026-01-31T09:30:00Z"}, {"fetched_at": Flaw.MISMATCH}),
        ({"extractor": "pypdf/7.1.1"}, {"extractor": Flaw.MISMATCH}),
        ({"source_class": "TEXT"}, {"source_class": Flaw.VALUE}),
        ({"source_class": "extracted"}, {"extractor": Flaw.MISMATCH, "document_id": Flaw.MISMATCH}),
        ({"source": ""}, {"source": Flaw.VALUE, "document_id": Flaw.MISMATCH}),
        ({"source": "a\0"}, {"source": Flaw.VALUE, "document_id": Flaw.MISMATCH}),
        ({"source": "\ud800"}, {"source": Flaw.VALUE}),
    ],
)  # fmt: skip
def test_what_contradicts_itself_is_named(change: dict[str, object], problems: dict[str, Flaw]) -> None:
    found = spoiled_by(change)
    assert {key: found.get(key) for key in problems} == problems
    # A span that moves leaves its chunk and what stands before it, and another source has another id.
    assert found.keys() - problems.keys() <= {"start", "before", "chunk_id", "document_id", "occurrence", "end"}


@pytest.mark.parametrize("source", ["../a.md", "/etc/passwd", "a//b", "C:\\a.md", "notes: today.md", "~", "a\nb"])
def test_a_source_outside_of_its_base_can_still_be_looked_at(source: str) -> None:
    assert checked(example(source)) == Success(example(source))


@pytest.mark.parametrize("source", ["https://example.org/", "HTTP://example.org"])
def test_a_page_is_no_file_and_a_file_no_page(source: str) -> None:
    found = checked(example(source))
    assert isinstance(found, Failure)
    assert named(found.failure()) == {"source": Flaw.MISMATCH}
    data = form(example()) | {
        "source_class": "snapshot",
        "document_id": document_id("a.md", "snapshot", text_digest(TEXT)),
    }
    assert "source" in named(refused(data))


@pytest.mark.parametrize("url", ["https://ann:hunter2@example.org/", "HTTP://example.org/?a=1&access_token=hunter2"])
def test_a_url_with_a_credential_is_refused_and_not_told(url: str) -> None:
    page = document_id(url, "snapshot", text_digest(TEXT))
    data = form(example()) | {"source": url, "source_class": "snapshot", "document_id": page}
    found = refused(data | {"chunk_id": chunk_id(page, SPAN)})
    assert named(found) == {"source": Flaw.VALUE}
    assert "hunter2" not in str(found)


@pytest.mark.parametrize(
    "moment",
    [
        "",
        "2026-01-31",
        "2026-13-01T00:00:00Z",
        "2026-01-31T09:30:00+00:00",
        "2026-01-31T09:30:00Z\n",
        "٢٠٢٦-01-31T09:30:00Z",
    ],
)
def test_a_time_is_told_in_one_way(moment: str) -> None:
    page = document_id("https://example.org/", "snapshot", text_digest(TEXT))
    data = form(example()) | {"source": "https://example.org/", "source_class": "snapshot", "document_id": page}
    data |= {"chunk_id": chunk_id(page, SPAN)}
    assert isinstance(citation_from(data | {"fetched_at": "2026-01-31T09:30:00Z"}), Success)
    assert named(refused(data | {"fetched_at": moment})) == {"fetched_at": Flaw.VALUE}


@given(st.text("aZ9._-/ \n", max_size=6) | st.text(max_size=3) | st.integers(60, 70).map(lambda length: "a" * length))
def test_a_collection_is_called_here_as_where_it_lies(name: str) -> None:
    assert is_collection_name(name) is isinstance(collection_name(name), Success)


def test_the_largest_numbers_are_taken() -> None:
    start = LARGEST_NUMBER - 10
    there = Span(start, LARGEST_NUMBER)
    cited = evolve(example().citation, span=there, before="x" * CONTEXT)
    cited = evolve(cited, chunk_id=chunk_id(cited.document_id, there))
    far = evolve(example(), citation=cited, chunk_span=there)
    assert citation_from(form(far)) == Success(far)


def test_a_refusal_says_nothing_that_the_document_says() -> None:
    data = form(example("secret.md")) | {"text": "SECRET", "before": "SECRET", "source": "SECRET"}
    assert "SECRET" not in str(refused(data))


@given(portables())
def test_plain_data_is_what_json_gives_back(portable: PortableCitation) -> None:
    data = citation_data(portable)
    assert plain(json.loads(json.dumps(data))) == plain(data)
    assert citation_from(data) == Success(portable)


def plain(value: object) -> object:
    """A value with the types of everything in it."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else (type(value), value)
