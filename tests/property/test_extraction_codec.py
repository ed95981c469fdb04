"""What a worker sends back arrives as it was, and nothing else is ever taken for it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundkit.adapters.extraction.codec import Coded, decode, encode
from groundkit.core.extraction import Anchor, Extraction, ExtractionFailed, ExtractionProblem, Page
from groundkit.core.outline import Heading
from groundkit.testing.strategies import texts

#: Also lone surrogates, in pairs too: an extractor may say anything before it is checked.
ANYTHING = texts() | st.text(st.characters(), max_size=30) | st.just("\ud83d\ude00\0")
NUMBERS = st.integers(-(2**70), 2**70)
EXTRACTIONS = st.builds(
    Extraction,
    ANYTHING,
    ANYTHING,
    st.lists(st.builds(Page, NUMBERS, ANYTHING), max_size=4).map(tuple),
    st.lists(st.builds(Heading, NUMBERS, ANYTHING, NUMBERS, NUMBERS), max_size=4).map(tuple),
    st.lists(st.builds(Anchor, NUMBERS, ANYTHING), max_size=4).map(tuple),
    st.lists(ANYTHING, max_size=4).map(tuple),
    st.booleans(),
)
FAILURES = st.builds(ExtractionFailed, st.sampled_from(ExtractionProblem), ANYTHING)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["extraction", "failed", "time", "x"]),
    lambda inner: st.lists(inner, max_size=9) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=30,
)


@given(EXTRACTIONS | FAILURES)
def test_what_is_decoded_is_what_was_encoded(value: Coded) -> None:
    assert decode(encode(value)) == value


@given(st.binary(max_size=200))
def test_any_bytes_are_decoded_to_a_value_or_to_none(payload: bytes) -> None:
    assert decode(payload) is None or encode_again(payload)


@given(JSON)
def test_any_json_is_decoded_to_a_value_or_to_none(plain: object) -> None:
    payload = json.dumps(plain).encode()
    assert decode(payload) is None or encode_again(payload)


def encode_again(payload: bytes) -> bool:
    value = decode(payload)
    return value is not None and decode(encode(value)) == value


@given(EXTRACTIONS | FAILURES, st.data())
def test_a_payload_cut_short_is_none(value: Coded, data: st.DataObject) -> None:
    payload = encode(value)
    assert decode(payload[: data.draw(st.integers(0, len(payload) - 1))]) is None


@given(EXTRACTIONS, st.data())
def test_a_field_of_another_type_is_none(value: Extraction, data: st.DataObject) -> None:
    plain = json.loads(encode(value).decode("utf-8", "surrogatepass"))
    position = data.draw(st.integers(1, len(plain) - 1))
    wrong = data.draw(st.sampled_from([None, 1, 1.5, {"a": 1}, [[None, None]], [[True, ""]], [["", 0]], [1], [[]]]))
    plain[position] = wrong
    assert decode(json.dumps(plain).encode()) is None


@pytest.mark.parametrize(
    "payload",
    [
        b"[" * 200_000,
        b"\x80\x04K\x01.",
        b'["failed","no such problem",""]',
        b'["failed","time"]',
        b'["failed","time","",""]',
        b'{"failed":1}',
        b"1" * 5_000,
        b"NaN",
    ],
)
def test_what_is_close_to_a_payload_is_none(payload: bytes) -> None:
    assert decode(payload) is None
