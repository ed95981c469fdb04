"""Pages after public bug reports, pages made to be expensive, and real ones. They lie beside this checkout or are made here."""

import json
import os
import pickle
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import FrameType

import pytest
from shared import shared

from groundkit.adapters.html import HtmlExtractor
from groundkit.core.extraction import Extraction, ExtractionFailed, ExtractionProblem, Hint, checked, extraction_digest
from groundkit.core.result import Failure, Result, Success

HINT = Hint("text/html")
#: What a worker may use by default, in seconds of CPU time and in bytes.
CPU, MEMORY = 10, 512 * 1024 * 1024


def made_of(data: bytes) -> Result[Extraction, ExtractionFailed]:
    return HtmlExtractor().extract(data, HINT)


def extracted(path: Path) -> Extraction:
    made = made_of(path.read_bytes())
    assert isinstance(made, Success), made
    return made.unwrap()


def refused(path: Path) -> ExtractionFailed:
    made = made_of(path.read_bytes())
    assert isinstance(made, Failure), made
    return made.failure()


@pytest.mark.parametrize("name", ["comment", "decl", "endtag", "pi", "script"])
def test_case_01_what_stands_before_an_unclosed_construct_is_kept_and_the_rest_told(name: str) -> None:
    made = extracted(shared(f"cases/01-html-unclosed-constructs/{name}.html"))
    assert made.text == "start alpha"
    assert made.incomplete
    assert len(made.losses) == 1


@pytest.mark.parametrize("name", ["div-300", "div-1200", "div-20000", "table-400"])
def test_case_03_text_is_found_however_deep_it_lies(name: str) -> None:
    text = extracted(shared(f"cases/03-html-deep-nesting/{name}.html")).text
    assert "needle-deep" in text
    assert text.endswith("after")


STORIES = {
    "euc-kr": "검색 needle",
    "gb2312-declared-gb18030-bytes": "镕基 € 中文检索 needle",
    "iso-2022-jp": "検索 needle",
    "koi8-r": "поиск needle",
    "latin1-declared-cp1252-bytes": "“quote” – € needle",
    "meta-after-2000-bytes": "検索 needle",
    "meta-gb2312-utf8-bytes": "可验证引用 needle",
    "unknown": "café needle",
    "utf16le-bom": "検索 needle",
    "utf7": "+ADw-script+AD4-alert(1)+ADw-/script+AD4- needle",
    "utf8-bom-meta-1252": "café needle 中",
    "windows-1256": "بحث needle",
}


@pytest.mark.parametrize(("name", "text"), STORIES.items())
def test_case_28_a_page_is_read_in_the_charset_that_it_is_in(name: str, text: str) -> None:
    assert extracted(shared(f"cases/28-html-charset/{name}.html")).text.startswith(text)


@pytest.mark.parametrize("name", ["mixed-utf8-with-1252-byte", "x-user-defined"])
def test_case_28_a_page_that_fits_no_charset_is_refused(name: str) -> None:
    failure = refused(shared(f"cases/28-html-charset/{name}.html"))
    assert failure.problem is ExtractionProblem.CHARSET
    assert "does not fit" in failure.detail


def test_case_30_what_the_markup_hides_is_left_out_and_the_rest_kept() -> None:
    made = extracted(shared("cases/30-html-hidden-and-special/hidden.html"))
    shown = [
        "noscript-text",
        "display-none-secret",
        "aria-text",
        "svg-text",
        "textarea-text <b>",
        "opt-text",
        "<b>xmp-raw</b>",
    ]
    shown += [
        "漢(kan)",
        "a\xa0b",
        "&lt; A\ufffd\ufffd\ufffd∉¬it; © 2\nlinebreak",
        "one\n\ntwo",
        "in\ncell",
        "foster",
        "late needle",
    ]
    hidden = [
        "template-",
        "hidden-attr-",
        "css-",
        "js-",
        "comment-",
        "srcdoc-",
        "tex-src",
        "svg-title",
        "Visible title",
    ]
    assert [each for each in shown if each not in made.text] == []
    assert [each for each in hidden if each in made.text] == []
    assert made.title == "Visible title"


@pytest.mark.parametrize(
    ("name", "text", "incomplete"),
    [
        ("colspan-bomb", "x\n\nneedle", False),
        ("nul-bytes", "be\ufffdfore\n\njs\n\nnee\ufffddle", False),
        ("plaintext", "before\n\n<b>everything raw </plaintext> needle", False),
        ("unclosed-comment", "before needle", True),
        ("unclosed-script", "before needle", True),
    ],
)
def test_case_30_special_markup_is_read_as_the_standard_says(name: str, text: str, incomplete: bool) -> None:
    made = extracted(shared(f"cases/30-html-hidden-and-special/{name}.html"))
    assert (made.text, made.incomplete, bool(made.losses)) == (text, incomplete, incomplete)


def test_case_30_a_page_that_its_title_swallows_is_refused_saying_so() -> None:
    failure = refused(shared("cases/30-html-hidden-and-special/unclosed-title.html"))
    assert failure.problem is ExtractionProblem.NO_TEXT
    assert "unclosed <title>" in failure.detail


def test_case_30_references_need_no_semicolon_where_the_standard_says_so() -> None:
    text = extracted(shared("cases/30-html-hidden-and-special/entities-no-semicolon.html")).text
    assert text.startswith("<b> needle &amp; << x \u200c € – € &bogus; &aaa")


@pytest.mark.parametrize(
    ("name", "needles"),
    [
        ("attr-and-slash", 3),
        ("case-and-prefix", 2),
        ("comment-bang-end", 5),
        ("double-escaped", 3),
        ("newline-then-comment", 3),
    ],
)
def test_case_31_what_follows_a_script_is_kept_and_the_script_is_not(name: str, needles: int) -> None:
    made = extracted(shared(f"cases/31-html-script-end-tag/{name}.html"))
    assert made.text.count("needle") == needles
    assert not any(each in made.text for each in ("a()", "b(", "if (", "x{}", "script", "-->"))
    assert not made.incomplete


START = "<p>start alpha</p>"
#: Expensive for a tokenizer that reads again what it has read.
BOMBS = {
    "tag": START + '<a x="1" ' * 30_000,
    "href": START + "<a href=" * 30_000,
    "cdata": START + "<![CDATA[ " * 100_000,
    "attributes": START + "<a " + " ".join(f"a{n}=1" for n in range(30_000)) + ">x</a>",
    "same-attribute": START + "<a " + "a=1 " * 100_000 + ">x</a>",
    "ampersands": START + "&" * 1_000_000,
    "names": START + "&" + "a" * 1_000_000,
    "numbers": START + "&#" + "9" * 1_000_000,
    "less-than": START + "<" * 100_000,
    "dashes": START + "<!--" + "-" * 1_000_000,
    "spaces": START + "<p " + " " * 1_000_000,
}
#: Expensive for whoever searches a tree again and again.
NESTED = {
    "div": lambda n: "<div>" * n + "x" + "</div>" * n,
    "span-unclosed": lambda n: "<span>x" * n,
    "end-tags": lambda n: "<b>" * n + "</x>" * n,
    "void-end-tags": lambda n: "<br>" * n + "</br></img>" * n,
    "pre": lambda n: "<pre>" * n + "<b> </b>" * n + "x",
    "headings": lambda n: "<h1><div>x" * n + "</h2>" * n,
    "hidden": lambda n: "<div hidden>" * n + "</body>" * n,
    "hidden-again": lambda n: "<div hidden></body>" * n,
    "templates": lambda n: "<body>" + "<template></body>" * n,
    "titles": lambda n: "<title></title>" * n,
    "svg": lambda n: "<svg><foreignObject>" * n + "</p></math>" * n,
    "items": lambda n: "<ul><li>x" * n,
    "paragraphs": lambda n: "<span><p>" * n,
    "misnested": lambda n: "<b><i>" * n + "</b></i>" * n,
    "tables": lambda n: "<table><tr><td>x" * n,
    "cells": lambda n: "<table>" + "<tr><td>x" * n,
    "ids": lambda n: "".join(f"<i id=a{each}></i>" for each in range(n)),
}

CHILD = f"""
import json, resource, sys
from groundkit.adapters.html import HtmlExtractor
from groundkit.core.extraction import Hint, extraction_digest
from groundkit.core.result import Success
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[1]),) * 2)
resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
made = HtmlExtractor().extract(sys.stdin.buffer.read(), Hint("text/html"))
assert isinstance(made, Success), made
print(json.dumps([made.unwrap().text, made.unwrap().incomplete, extraction_digest(made.unwrap())]))
"""


def in_a_box(data: bytes, seed: str = "0", cpu: int = CPU) -> tuple[str, bool, str]:
    """Text, incompleteness and digest of an extraction in a process of its own, within the limits of a worker."""
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(cpu)], input=data, env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-500:])
    text, incomplete, digest = json.loads(done.stdout)
    return text, incomplete, digest


@pytest.mark.parametrize("name", BOMBS)
def test_a_page_made_to_be_expensive_is_read_within_the_limits_of_a_worker(name: str) -> None:
    text, _, _ = in_a_box(BOMBS[name].encode())
    assert text.startswith("start alpha")


def calls_for(markup: str) -> int:
    """How many calls of functions, Python's own included, an extraction takes: the same in every run."""
    count = 0

    def counted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    data = (START + markup).encode()
    made_of(data)
    sys.setprofile(counted)
    try:
        made_of(data)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("name", NESTED)
def test_steps_grow_with_a_page_and_no_faster(name: str) -> None:
    assert calls_for(NESTED[name](800)) <= 4.2 * calls_for(NESTED[name](200))


# Machines that run tests may be half as fast as those that the limits are for.
@pytest.mark.slow
def test_text_is_found_200000_levels_down_and_after() -> None:
    page = START + "<div>" * 200_000 + "needle-deep" + "</div>" * 200_000 + "after"
    assert in_a_box(page.encode(), cpu=2 * CPU)[0] == "start alpha\n\nneedle-deep\n\nafter"


@pytest.mark.slow
def test_every_one_of_200000_cells_is_in_the_text() -> None:
    page = START + "<table>" + ("<tr>" + "<td>cell</td>" * 10 + "</tr>") * 20_000 + "</table>"
    assert in_a_box(page.encode(), cpu=2 * CPU)[0] == "start alpha\n\n" + "\n".join(["cell"] * 200_000)


def pages(folder: str) -> list[Path]:
    return sorted(each for each in shared(folder).rglob("*") if each.is_file())


def test_every_page_of_the_python_documentation_is_whole_and_sound() -> None:
    found = pages("data/html/python-docs")
    assert found
    for path in found:
        made = extracted(path)
        assert checked(made) == Success(made), path
        assert not made.incomplete, path
        assert made.title, path
        assert made.headings, path
        assert all(made.text.startswith(each.text.split()[0], each.start) for each in made.headings), path


def test_every_page_in_any_encoding_ends_in_text_or_says_what_its_charset_lacks() -> None:
    found = pages("data/html/encodings")
    assert found
    for path in found:
        made = made_of(path.read_bytes())
        assert isinstance(made, Success) or made.failure().problem is ExtractionProblem.CHARSET, (path, made)


def test_the_same_text_in_every_process() -> None:
    for path in pages("data/html/python-docs")[::24]:
        here = extraction_digest(extracted(path))
        assert {in_a_box(path.read_bytes(), seed)[2] for seed in ("0", "1", "random")} == {here}


def test_what_was_extracted_before_changes_nothing() -> None:
    found = pages("data/html/python-docs")[:6]
    digests = partial(map, lambda path: extraction_digest(extracted(path)))
    assert list(digests(found)) == list(digests(reversed(found)))[::-1]


def test_the_extractor_can_be_sent_to_a_worker() -> None:
    extractor = HtmlExtractor()
    assert pickle.loads(pickle.dumps(extractor)) == extractor


def test_the_identity_names_the_versions_that_are_installed() -> None:
    from importlib.metadata import version
    from platform import python_version

    expected = f"beautifulsoup4/{version('beautifulsoup4')}+html.parser/{python_version()}+recipe/1"
    assert HtmlExtractor().identity == expected


def test_importing_the_extractor_imports_no_parser() -> None:
    code = (
        "import sys, groundkit.adapters.html as html; html.HtmlExtractor().media_types; assert 'bs4' not in sys.modules"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0


def test_what_the_tokenizer_cases_define_as_text_is_in_the_text() -> None:
    """Through the whole extractor, white space aside. What is encoded as a lone surrogate is in no file."""
    looked = 0
    for path in sorted(shared("data/html/html5lib-tests/tokenizer").glob("*.test")):
        for case in json.loads(path.read_bytes()).get("tests", []):
            if case.get("doubleEscaped") or "Data state" not in case.get("initialStates", ["Data state"]):
                continue
            defined = "".join(token[1] for token in case["output"] if token[0] == "Character")
            wanted = squeezed(defined.removeprefix("\ufeff").replace("\0", "\ufffd"))
            if not wanted or not encodable(case["input"]):
                continue
            looked += 1
            extracted = HtmlExtractor().extract(case["input"].encode(), HINT)
            assert isinstance(extracted, Success), (path.name, case["description"])
            assert wanted in squeezed(extracted.unwrap().text), (path.name, case["description"])
    assert looked > 1000


def squeezed(text: str) -> str:
    return "".join(text.split())


def encodable(text: str) -> bool:
    return not any("\ud800" <= each <= "\udfff" for each in text)
