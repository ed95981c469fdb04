"""Pages after public bug reports, pages made to be expensive, and real ones. They lie beside this checkout or are made here."""

import json
import os
import pickle
import subprocess
import sys
from functools import partial
from pathlib import Path

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
BOMBS = {
    "tag": START + '<a x="1" ' * 30_000,
    "href": START + "<a href=" * 8_000,
    "cdata": START + "<![CDATA[ " * 100_000,
    "attributes": START + "<a " + " ".join(f"a{n}=1" for n in range(100_000)) + ">x</a>",
    "same-attribute": START + "<a " + "a=1 " * 300_000 + ">x</a>",
    "ampersands": START + "&" * 1_000_000,
    "names": START + "&" + "a" * 1_000_000,
    "numbers": START + "&#" + "9" * 1_000_000,
    "less-than": START + "<" * 200_000,
    "div-200000": START + "<div>" * 200_000 + "needle-deep" + "</div>" * 200_000 + "after",
    "span-unclosed-50000": START + "<span>x" * 50_000,
    "end-tags": START + "<b>" * 20_000 + "</x>" * 100_000,
    "void-end-tags": START + "<br>" * 50_000 + "</br></img>" * 25_000,
    "pre": START + "<pre>" * 50_000 + "<b> </b>" * 20_000,
    "headings": START + "<h1><div>x" * 20_000 + "</h2>" * 20_000,
    "hidden": START + "<div hidden>" * 30_000 + "</body>" * 30_000,
    "templates": START + "<div hidden></body>" * 30_000,
    "svg": START + "<svg><foreignObject>" * 20_000 + "</p></math>" * 20_000,
    "items": START + "<ul><li>x" * 30_000,
    "tables": START + "<table><tr><td>x" * 20_000,
    "huge-table-200k-cells": START + "<table>" + ("<tr>" + "<td>cell</td>" * 10 + "</tr>") * 20_000 + "</table>",
}

CHILD = f"""
import json, resource, sys
from groundkit.adapters.html import HtmlExtractor
from groundkit.core.extraction import Hint, extraction_digest
from groundkit.core.result import Success
resource.setrlimit(resource.RLIMIT_CPU, ({CPU}, {CPU}))
resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
made = HtmlExtractor().extract(sys.stdin.buffer.read(), Hint("text/html"))
assert isinstance(made, Success), made
print(json.dumps([made.unwrap().text, made.unwrap().incomplete, extraction_digest(made.unwrap())]))
"""


def in_a_box(data: bytes, seed: str = "0") -> tuple[str, bool, str]:
    """Text, incompleteness and digest of an extraction in a process of its own, within the limits of a worker."""
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", CHILD], input=data, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr[-500:])
    text, incomplete, digest = json.loads(done.stdout)
    return text, incomplete, digest


@pytest.mark.parametrize("name", BOMBS)
def test_a_page_made_to_be_expensive_is_read_within_the_limits_of_a_worker(name: str) -> None:
    text, _, _ = in_a_box(BOMBS[name].encode())
    assert text.startswith("start alpha")


def test_text_is_found_200000_levels_down_and_after() -> None:
    assert in_a_box(BOMBS["div-200000"].encode())[0] == "start alpha\n\nneedle-deep\n\nafter"


def test_every_one_of_200000_cells_is_in_the_text() -> None:
    assert in_a_box(BOMBS["huge-table-200k-cells"].encode())[0] == "start alpha\n\n" + "\n".join(["cell"] * 200_000)


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
    for path in pages("data/html/python-docs")[::16]:
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
