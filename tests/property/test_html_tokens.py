"""The tokenizer makes of every case of html5lib-tests what the case says, never raises, and reads nothing twice."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared import shared

from groundkit.adapters.html.tokens import (
    CONTENTS,
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


# Pieces that begin, end or break off every construct there is.
PIECES = st.sampled_from(
    """< > / = ! - -- --! ? & &amp &amp; &#0; &#x110000; &notit; ' " a b p A svg math title script style textarea xmp
    plaintext </ <! <!-- --> <!doctype <![CDATA[ ]]> <? <p> </p> <a <script> </script </script> <style> </style> <title>
    </title> <svg> </svg> <mi> <foreignObject> href=x id='y' hidden <br/> \0 \u00e9 \U0001f600""".split()  # noqa: SIM905
)
MARKUP = st.lists(PIECES | st.sampled_from(" \n\t\f") | st.text(max_size=3), max_size=40).map("".join)
NAMES = st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True).filter(lambda name: name not in CONTENTS)
PLAIN = st.text(st.characters(exclude_characters="<>&\"'\r\0", exclude_categories=("Cs",)), min_size=1, max_size=20)


def well_formed(draw: st.DrawFn) -> Token:
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return Start(draw(NAMES), draw(st.dictionaries(NAMES, PLAIN, max_size=3)), False, 0)
    if kind == 1:
        return End(draw(NAMES), 0)
    return Text(draw(PLAIN)) if kind == 2 else Comment(draw(PLAIN.filter(lambda data: "-" not in data)))


def written(token: Token) -> str:
    match token:
        case Start(name, attributes):
            values = [f' {each}="{value}"' for each, value in attributes.items()]
            return f"<{name}{''.join(values)}>"
        case End(name):
            return f"</{name}>"
        case Comment(data):
            return f"<!--{data}-->"
        case Text(data):
            return data
    raise AssertionError(token)


@given(st.lists(st.composite(well_formed)(), max_size=20))
def test_tokens_that_are_written_are_read_back(made: list[Token]) -> None:
    assert as_output(tokens("".join(map(written, made)))) == as_output(iter(made))


@given(MARKUP, st.booleans())
def test_any_text_has_tokens_and_places_ascend_in_it(text: str, xml: bool) -> None:
    source = normalised(text)
    made = list(tokens(source, xml=xml))
    places = [each.at for each in made if isinstance(each, Start | End)]
    assert places == sorted(set(places))
    assert all(source[at] == "<" for at in places)
    assert sum(isinstance(each, Unclosed) for each in made) <= 1


@given(MARKUP)
def test_no_more_text_comes_out_than_goes_in(text: str) -> None:
    # A reference never stands for more characters than it is written with.
    made = list(tokens(normalised(text)))
    assert sum(len(each.data) for each in made if isinstance(each, Text | Comment)) <= len(text)


@given(st.text(st.characters(exclude_characters="<&\r"), min_size=1))
def test_text_without_markup_is_one_token(text: str) -> None:
    assert list(tokens(text)) == [Text(text)]


@given(MARKUP, st.sampled_from(["style", "xmp", "iframe", "noembed", "noframes", "script"]))
def test_raw_text_is_what_stands_before_its_end_tag(text: str, name: str) -> None:
    inner = normalised(text).replace("\0", "").replace("<", "(")
    made = list(tokens(f"<{name}>{inner}</{name} x>after"))
    assert [each.data for each in made if isinstance(each, Text)] == [*[inner] * bool(inner), "after"]


@pytest.mark.parametrize(("name", "lookalike"), [("script", "\u017fcript"), ("style", "\u017ftyle")])
def test_only_ascii_letters_fold_in_names(name: str, lookalike: str) -> None:
    made = list(tokens(f"<{name}>a</{lookalike}>b</{name}>"))
    assert [each.data for each in made if isinstance(each, Text)] == [f"a</{lookalike}>b"]
    assert as_output(tokens("<p\u212a \u212a=x>")) == [["StartTag", "p\u212a", {"\u212a": "x"}]]


def calls_for(source: str) -> int:
    """How many calls of functions, Python's own included, it takes to read a text: the same in every run."""
    count = 0

    def counted(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        for _ in tokens(source):
            pass
    finally:
        sys.setprofile(None)
    return count


UNCLOSED = [
    '<a x="1" ',
    "<a href=",
    "<![CDATA[ ",
    "<!-- ",
    "<!D ",
    "<?pi ",
    "</b ",
    "<script>",
    "<title>",
    "<p a='",
    "</",
]
REPEATED = ["<", "&", "&a", "a=", "<svg>", "<svg><foreignObject><p>", "</x>", "<br>", "<b></i>", "<svg></math>"]


@pytest.mark.parametrize("piece", [*UNCLOSED, *REPEATED, "<style></style>"])
def test_steps_grow_with_the_text_and_no_faster(piece: str) -> None:
    assert calls_for("<p>" + piece * 800) <= 4 * calls_for("<p>" + piece * 200) + 100
