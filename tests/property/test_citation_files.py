"""A file of citations gives each entry by itself: a bad one is refused by name and costs no other anything."""

import json
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from portable_support import at, example, form, of_json, paths, portables, put, without

from groundkit.citation_files import MOST_DIGITS, Entry, NotCitations, Unread, read_citations
from groundkit.core.portable import CitationRefused, Flaw, PortableCitation
from groundkit.core.result import Failure, Success
from groundkit.core.web_annotation import annotation_of
from groundkit.portable_json import citation_data

GOOD = example("good.md")


def array(*entries: object) -> bytes:
    return json.dumps(entries, allow_nan=True).encode()


def lines(*entries: object) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in entries)


def read(data: bytes, name: str = "citations.json") -> list[Entry]:
    found = read_citations(data, name)
    assert isinstance(found, Success), found
    return found.unwrap()


def found(data: bytes, name: str = "citations.json") -> list[PortableCitation | CitationRefused]:
    return [entry.found for entry in read(data, name)]


def keys(entry: PortableCitation | CitationRefused) -> dict[str, Flaw]:
    assert isinstance(entry, CitationRefused), entry
    assert str(entry)
    return {each.key: each.flaw for each in entry.problems}


def unread(data: bytes, name: str = "citations.json") -> Unread:
    refused = read_citations(data, name)
    assert isinstance(refused, Failure), refused
    assert refused.failure() == NotCitations(name, refused.failure().why)
    assert str(refused.failure()).startswith(name)
    return refused.failure().why


FORMS = {
    "array": lambda data: array(*data),
    "pretty array": lambda data: json.dumps(data, indent=2).encode(),
    "lines": lambda data: lines(*data),
    "lines with CRLF": lambda data: lines(*data).replace(b"\n", b"\r\n"),
    "lines and blank lines": lambda data: b"\n  \n" + lines(*data).replace(b"\n", b"\n\n"),
    "lines without a last break": lambda data: lines(*data).rstrip(),
    "byte order mark": lambda data: b"\xef\xbb\xbf" + array(*data),
    "bundle": lambda data: json.dumps({"schema": 1, "citations": data}).encode(),
    "search": lambda data: json.dumps({"schema": 1, "query": "q", "hits": [{"score": 1.5, "citation": each} for each in data]}).encode(),
    "verify": lambda data: json.dumps({"totals": {}, "checked": [{"chunk_id": "", "citation": each} for each in data]}).encode(),
    "lines of hits": lambda data: lines(*({"schema": 1, "score": 1.5, "text": "", "citation": each} for each in data)),
    "answers on lines": lambda data: lines(*({"hits": [{"citation": each}]} for each in data)),
}  # fmt: skip


@given(
    st.lists(portables(), min_size=2, max_size=3),
    st.sampled_from(sorted(FORMS)),
    st.sampled_from(("c.json", "c.jsonl", "c.NDJSON", "-")),
)
def test_every_form_gives_every_citation_in_order(citations: list[PortableCitation], shape: str, name: str) -> None:
    assert found(FORMS[shape]([form(each) for each in citations]), name) == citations


@given(portables(), st.sampled_from(("c.json", "c.jsonl", "-")))
def test_one_citation_may_be_all_there_is(citation: PortableCitation, name: str) -> None:
    data = form(citation)
    annotation = annotation_of(citation, citation.citation.source)
    for whole in (data, {"citation": data}, [data], {"citations": [data]}):
        assert found(json.dumps(whole).encode(), name) == [citation]
        assert found(json.dumps(whole, indent=1).encode(), name) == [citation]
    assert isinstance(read(json.dumps(annotation).encode(), name)[0].found, PortableCitation | CitationRefused)


def test_annotations_that_were_exported_are_taken_wherever_a_citation_is() -> None:
    annotation = annotation_of(GOOD, "good.md")
    page = {"type": "AnnotationPage", "items": [annotation, form(GOOD)]}
    for whole in (annotation, [annotation], {"citation": annotation}, {"hits": [annotation]}):
        assert found(json.dumps(whole).encode()) == [GOOD]
    assert found(json.dumps(page).encode()) == found(lines(annotation, form(GOOD))) == [GOOD, GOOD]
    foreign = {"type": "Annotation", "target": annotation["target"]}
    assert keys(found(array(foreign, annotation))[0]) == {"groundkit": Flaw.MISSING}


@pytest.mark.parametrize(
    "data, name, where",
    [
        (array(form(GOOD), 5), "a.json", ["a.json[0]", "a.json[1]"]),
        (b"\n" + lines(form(GOOD), 5), "a.jsonl", ["a.jsonl line 2", "a.jsonl line 3"]),
        (lines(form(GOOD), 5), "-", ["- line 1", "- line 2"]),
        (json.dumps(form(GOOD)).encode(), "a.json", ["a.json"]),
        (json.dumps({"hits": [5], "checked": [6]}).encode(), "a.json", ["a.json hits[0]", "a.json checked[0]"]),
        (lines({"hits": [5, 6]}), "a.jsonl", ["a.jsonl line 1 hits[0]", "a.jsonl line 1 hits[1]"]),
    ],
)  # fmt: skip
def test_where_an_entry_stands_is_told(data: bytes, name: str, where: list[str]) -> None:
    assert [entry.where for entry in read(data, name)] == where


def test_nothing_is_found_in_what_lists_nothing() -> None:
    for data in (b"[]", b'{"hits": []}', b'{"schema": 1, "citations": []}'):
        assert found(data) == []
    assert found(b"", "a.jsonl") == found(b"\n \r\n", "a.jsonl") == []


@pytest.mark.parametrize(
    "data, why",
    [
        (b"", Unread.EMPTY),
        (b"\xef\xbb\xbf \n", Unread.EMPTY),
        (b"# Notes\n\nNothing to see.\n", Unread.NOT_JSON),
        (b"5", Unread.NO_CITATIONS),
        (b"null", Unread.NO_CITATIONS),
        (b'"text"', Unread.NO_CITATIONS),
        (b"NaN", Unread.NO_CITATIONS),
        (b"9" * 5000, Unread.NO_CITATIONS),
        (b"{}", Unread.NO_CITATIONS),
        (b'{"name": "package", "hits": 5}', Unread.NO_CITATIONS),
        (b"[" * 100_000, Unread.TOO_DEEP),
        (b"[" * 100_000 + b"]" * 100_000, Unread.TOO_DEEP),
        (b'[{"a":' * 50_000, Unread.TOO_DEEP),
        (b"\x00\x00", Unread.NOT_JSON),
        ("[5]".encode("utf-16"), Unread.NOT_UTF8),
        (b"%PDF-1.7\n\xff\xfe\n", Unread.NOT_UTF8),
        (b"5\n6\n", Unread.NOT_JSON),
    ],
)  # fmt: skip
def test_a_file_without_citations_says_why(data: bytes, why: Unread) -> None:
    assert unread(data) is why


@pytest.mark.parametrize("data", [b"# Notes\n\nNothing to see.\n", b"5\n6\n", b"5", b"[" * 100_000, b"\xff\n\xfe\n"])
def test_lines_of_which_none_is_an_object_are_no_citations(data: bytes) -> None:
    assert unread(data, "c.jsonl") is unread(data)


def test_an_object_on_a_line_is_an_entry_whatever_it_is() -> None:
    for line in (b"{}", b'{"name": "package", "hits": 5}'):
        assert keys(found(line, "c.jsonl")[0])["schema"] is Flaw.MISSING


@given(st.lists(portables(), min_size=2, max_size=4), st.data())
def test_what_is_done_to_one_entry_is_told_of_it_alone(citations: list[PortableCitation], data: st.DataObject) -> None:
    forms = [form(each) for each in citations]
    which = data.draw(st.integers(0, len(forms) - 1))
    spoiled, names = data.draw(st.sampled_from(SPOILED))(forms[which], data)
    entries = found(data.draw(st.sampled_from((array, lines)))(*forms[:which], spoiled, *forms[which + 1 :]))
    assert entries[:which] + entries[which + 1 :] == citations[:which] + citations[which + 1 :]
    refused = entries[which]
    assert isinstance(refused, CitationRefused)
    assert all(name in str(refused) for name in names)


Spoiled = tuple[Any, tuple[str, ...]]


def _less(whole: dict[str, Any], data: st.DataObject) -> Spoiled:
    path = data.draw(st.sampled_from(paths(whole)))
    return without(whole, path), (".".join(path),)


def _more(whole: dict[str, Any], data: st.DataObject) -> Spoiled:
    name = data.draw(st.sampled_from(("citation", "citations", "hits", "checked", "items", "Start", "start ")))
    return put(whole, (name,), data.draw(of_json().filter(_writable))), (name,)


def _of_another_type(whole: dict[str, Any], data: st.DataObject) -> Spoiled:
    path = data.draw(st.sampled_from([path for path in paths(whole) if at(whole, path) is not None]))
    other = {str: 5, int: "5", bool: 1, list: {}, dict: []}[type(at(whole, path))]
    return put(whole, path, other), (".".join(path),)


def _another_number(whole: dict[str, Any], data: st.DataObject) -> Spoiled:
    key = data.draw(st.sampled_from(("schema", "chunk_start", "chunk_end", "start", "end")))
    other = data.draw(st.integers(-(10**30), 10**30).filter(lambda number: number != whole[key]))
    return put(whole, (key,), other), (key,)


def _another_letter(whole: dict[str, Any], data: st.DataObject) -> Spoiled:
    return put(whole, ("text",), "≠" + whole["text"][1:]), ("digest", "text")


def _forged(whole: dict[str, Any], data: st.DataObject) -> Spoiled:
    key = data.draw(st.sampled_from(("document_id", "chunk_id")))
    return put(
        whole, (key,), data.draw(st.from_regex(r"[0-9a-f]{32}", fullmatch=True).filter(lambda i: i != whole[key]))
    ), (key,)


def _no_object(whole: dict[str, Any], data: st.DataObject) -> Spoiled:
    return data.draw(st.sampled_from((5, None, [], [whole], "text", True, 1.5))), ("an object is wanted",)


SPOILED = (_less, _more, _of_another_type, _another_number, _another_letter, _forged, _no_object)


def _writable(value: object) -> bool:
    """Python writes no number of thousands of digits, nor reads what it calls a number that JSON has not."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return not any(
        len(digits) > MOST_DIGITS for digits in json.dumps(value).replace(",", " ").split() if digits.isdigit()
    )


@given(portables(), portables(), st.sampled_from(("document_id", "chunk_id")))
def test_ids_that_two_entries_swapped_are_named(one: PortableCitation, other: PortableCitation, key: str) -> None:
    first, second = form(one), form(other)
    if first[key] == second[key]:
        return
    swapped = found(array(put(first, (key,), second[key]), put(second, (key,), first[key]), form(GOOD)))
    assert all(key in keys(each) for each in swapped[:2])
    assert swapped[2] == GOOD


def test_a_hundred_forged_ids_among_good_ones() -> None:
    good, forged = form(GOOD), []
    for number in range(100):
        key = ("document_id", "chunk_id")[number % 2]
        forged.append(put(good, (key,), f"{number:032x}"))
    entries = found(lines(*(each for bad in forged for each in (bad, good))), "c.jsonl")
    assert entries[1::2] == [GOOD] * 100
    assert all(("document_id", "chunk_id")[number % 2] in keys(each) for number, each in enumerate(entries[::2]))


def spelled(key: str, value: bytes) -> bytes:
    """The good citation with this in the place of a key's value, written by hand."""
    marked = put(form(GOOD), tuple(key.split(".")), "HERE")
    return json.dumps(marked).encode().replace(b'"HERE"', value)


@pytest.mark.parametrize(
    "key, value, flaw",
    [
        ("start", b"9" * 5000, Flaw.VALUE),
        ("start", b"-" + b"9" * 5000, Flaw.VALUE),
        ("start", b"9" * (MOST_DIGITS + 1), Flaw.VALUE),
        ("start", b"9" * MOST_DIGITS, Flaw.VALUE),
        ("start", b"NaN", Flaw.VALUE),
        ("start", b"-Infinity", Flaw.VALUE),
        ("start", b"1e999", Flaw.TYPE),
        ("start", b"8e1", Flaw.TYPE),
        ("start", b"80.0", Flaw.TYPE),
        ("start", b"0." + b"1" * 100_000, Flaw.TYPE),
        ("text", b"Infinity", Flaw.VALUE),
        ("locator.heading_path", b"[1" + b"0" * 99 + b"]", Flaw.VALUE),
        ("locator", b'{"line": 1, "line": 2}', Flaw.TWICE),
        ("locator.pages", b'{"first": 1, "last": 2, "first": 1}', Flaw.TWICE),
    ],
)  # fmt: skip
def test_what_json_can_spell_and_no_citation_can_hold_is_named(key: str, value: bytes, flaw: Flaw) -> None:
    bad, good = spelled(key, value), json.dumps(form(GOOD)).encode()
    for data in (b"[" + bad + b"," + good + b"]", bad + b"\n" + good + b"\n"):
        first, second = found(data)
        assert second == GOOD
        assert [flaw for name, flaw in keys(first).items() if name.startswith(key)] == [flaw]


def test_a_key_that_is_given_twice_is_named() -> None:
    twice = json.dumps(form(GOOD)).encode()[:-1] + b', "text": "another"}'
    good = json.dumps(form(GOOD)).encode()
    assert [keys(each) for each in found(twice)] == [{"text": Flaw.TWICE}]
    first, second = found(twice + b"\n" + good, "c.jsonl")
    assert (keys(first), second) == ({"text": Flaw.TWICE}, GOOD)
    hits = found(b'{"hits": [{"score": NaN, "citation": ' + twice + b'}, {"score": NaN, "citation": ' + good + b"}]}")
    assert (keys(hits[0]), hits[1]) == ({"text": Flaw.TWICE}, GOOD)


@pytest.mark.parametrize(
    "bad",
    [
        b"{", b"}", b"not json", b"\xff\xfe", b"\xed\xa0\x80", b'{"text": "\x00"}', b"\x00", b"[" * 100_000, b'{"a":' * 100_000,
        b'{"schema": 1,', b"{'schema': 1}", b"[1, 2", b"5 6", b'"', b"\xef\xbb\xbf{}", b"9" * 5000, b"NaN", b"null", b"[]", b"{}",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["c.jsonl", "c.txt"])
def test_a_line_that_cannot_be_read_refuses_itself_alone(bad: bytes, name: str) -> None:
    good = json.dumps(form(GOOD)).encode()
    entries = found(b"\n".join((good, bad, good)), name)
    assert [entries[0], entries[2]] == [GOOD, GOOD]
    assert keys(entries[1])


def test_a_citation_is_wrapped_once_at_most() -> None:
    deep: object = form(GOOD)
    for _ in range(300):
        deep = {"citation": deep}
    first, second = found(array(deep, {"citation": form(GOOD)}))
    assert keys(first)["citation"] is Flaw.UNKNOWN
    assert second == GOOD


def test_a_deep_entry_is_followed_no_further_than_it_can_be() -> None:
    deep: object = []
    for _ in range(400):
        deep = [deep]
    first, second = found(array(form(GOOD) | {"text": deep}, form(GOOD)))
    assert (keys(first), second) == ({"text": Flaw.TYPE}, GOOD)


def test_letters_that_look_like_line_breaks_break_no_line() -> None:
    odd = example("a\u2028b\u0085c.md")
    data = json.dumps(form(odd), ensure_ascii=False).encode()
    assert found(data + b"\n" + data, "c.jsonl") == [odd, odd]


def test_half_characters_are_taken_where_a_text_may_have_them() -> None:
    data = form(GOOD) | {"after": "\ud800", "source": "\udc80"}
    assert keys(found(array(data))[0]) == {"source": Flaw.VALUE}


@given(
    st.binary(max_size=60) | st.text('{}[]":,0truefalsn citation', max_size=60).map(str.encode),
    st.sampled_from(("a", "a.jsonl")),
)
def test_any_bytes_are_an_answer_and_no_accident(data: bytes, name: str) -> None:
    answer = read_citations(data, name)
    assert str(answer.failure()) if isinstance(answer, Failure) else all(entry.where for entry in answer.unwrap())


@given(st.lists(portables(), min_size=1, max_size=3), st.data())
def test_a_file_with_any_byte_changed_is_an_answer(citations: list[PortableCitation], data: st.DataObject) -> None:
    whole = bytearray(data.draw(st.sampled_from((array, lines)))(*(citation_data(each) for each in citations)))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    answer = read_citations(bytes(whole), "c.json")
    assert str(answer.failure()) if isinstance(answer, Failure) else all(entry.where for entry in answer.unwrap())


def test_a_schema_of_tomorrow_is_told_from_a_file_that_is_no_citations() -> None:
    assert keys(found(b'{"schema": 2, "passage": {}}')[0]) == {"schema": Flaw.VERSION}
    good = form(evolve(GOOD, collection="other"))
    newer, read_now = found(array(good | {"schema": 2, "more": 1}, good))
    assert keys(newer) == {"schema": Flaw.VERSION}
    assert isinstance(read_now, PortableCitation)
