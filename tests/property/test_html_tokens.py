"""The tokenizer makes of every case of html5lib-tests what the case says, never raises, and reads nothing twice."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared import shared

from groundkit.adapters.html.tokens import (
    Comment,
    Content,
    Doctype,
    End,
    Start,
    Text,
    Token,
    Unclosed,
    normalised,
    tokens,
)

STATES = {
    "Data state": Content.DATA,
    "PLAINTEXT state": Content.PLAINTEXT,
    "RCDATA state": Content.RCDATA,
    "RAWTEXT state": Content.RAWTEXT,
    "Script data state": Content.SCRIPT,
    "CDATA section state": Content.CDATA,
}
# xmlViolation.test is for tokenizers that serve XML tools and replace what XML does not take; ours does not.
FILES = [
    "contentModelFlags",
    "domjs",
    "entities",
    "escapeFlag",
    "namedEntities",
    "numericEntities",
    "pendingSpecChanges",
    "test1",
    "test2",
    "test3",
    "test4",
    "unicodeChars",
    "unicodeCharsProblematic",
]


def unescaped_twice(value: Any) -> Any:
    """`doubleEscaped` of the format: one more round of \\uHHHH, in every string."""
    if isinstance(value, str):
        return re.sub(r"\\u([0-9A-Fa-f]{4})", lambda found: chr(int(found[1], 16)), value)
    if isinstance(value, list):
        return [unescaped_twice(each) for each in value]
    if isinstance(value, dict):
        return {unescaped_twice(name): unescaped_twice(each) for name, each in value.items()}
    return value


def as_output(made: Iterator[Token]) -> list[list[Any]]:
    """Tokens as the format of html5lib-tests writes them; of a DOCTYPE its name only, which is all that we read of it."""
    output: list[list[Any]] = []
    for each in made:
        token = each.made if isinstance(each, Unclosed) else each
        match token:
            case Text(data) if output and output[-1][0] == "Character":
                output[-1][1] += data
            case Text(data):
                output.append(["Character", data])
            case Start(name, attributes, closed):
                output.append(["StartTag", name, attributes, *[True] * closed])
            case End(name):
                output.append(["EndTag", name])
            case Comment(data):
                output.append(["Comment", data])
            case Doctype(name):
                output.append(["DOCTYPE", name])
            case None:
                pass
    return output


def expected(output: list[list[Any]]) -> list[list[Any]]:
    return [each[:2] if each[0] == "DOCTYPE" else each for each in output]


@pytest.mark.parametrize("name", FILES)
def test_every_case_of_html5lib_gives_its_tokens(name: str) -> None:
    path: Path = shared(f"data/html/html5lib-tests/tokenizer/{name}.test")
    wrong = []
    count = 0
    for case in json.loads(path.read_text("utf-8"))["tests"]:
        case = unescaped_twice(case) if case.get("doubleEscaped") else case
        for state in case.get("initialStates", ["Data state"]):
            if state == "Script data state" and case.get("lastStartTag", "script") != "script":
                continue  # no element but script holds script data, so its end tag is known
            count += 1
            made = as_output(tokens(normalised(case["input"]), STATES[state], case.get("lastStartTag", "")))
            if made != expected(case["output"]):
                wrong.append((case["description"], state, case["input"], case["output"], made))
    assert count > 0
    assert wrong == []
