"""`gk cite`: checking a text, and making citations of quotations and chunks."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from commands import Ran, environment, gk
from integration.support import fresh
from integration.test_cite import FILES

import groundkit
from groundkit.cite_hits import hits_from
from groundkit.core.model import SourceClass
from groundkit.core.result import Failure


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For questions only: nobody changes what it holds."""
    folder = tmp_path_factory.mktemp("asked")
    fresh(folder, FILES).close()
    return folder


def piped(cwd: Path, text: str | bytes, *arguments: str) -> Ran:
    done = subprocess.run(
        [sys.executable, "-m", "groundkit", "cite", *arguments],
        cwd=cwd,
        env=environment(),
        input=text if isinstance(text, bytes) else text.encode(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def test_the_exit_code_says_whether_everything_holds(base: Path, tmp_path: Path) -> None:
    good, bad = "“The tide rises twice a day” (tides.md:3:1)", "“The tide rises three times a day” [1]"
    (tmp_path / "good.txt").write_text(good, "utf-8")
    quiet = gk(base, "cite", str(tmp_path / "good.txt"))
    assert (quiet.code, quiet.out) == (0, "quotations: exact 1, near 0, nowhere 0; marks 1, unknown 0\n")
    told = piped(base, bad)
    assert told.code == 1
    assert "1:2  ≠ near (edited" in told.out
    assert "[-twice-]{+three times+}" in told.out
    assert "1:36  ✗ unknown  [1]: " in told.out
    assert "quotations: exact 0, near 1, nowhere 0; marks 1, unknown 1" in told.out
    assert piped(base, bad, "-").out == told.out
    assert "1:2  ✓ exact  tides.md:3:1  ✓ verified (tides.md:3:1)" in piped(base, good, "-v").out
    assert "\x1b[" in piped(base, bad, "--color", "always").out


@pytest.mark.parametrize(
    "arguments",
    [
        ("--quote", "..."), ("--quote", "a b", "--all"), ("--source", "a.md"), ("--hits", "tides.md", "tides.md"),
        ("--format", "annotations", "tides.md"),
    ],
)  # fmt: skip
def test_wrong_requests_are_refused(base: Path, arguments: tuple[str, ...]) -> None:
    refused = gk(base, "cite", *arguments)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err


def test_what_is_no_text_is_refused(base: Path) -> None:
    for data in (b"\xff\xfe\x00", b"a\x00b"):
        assert piped(base, data).code == 2


def test_an_answer_as_json_has_everything(base: Path) -> None:
    text = "“The tide rises twice a day” [1] “The moon pushes at it. The” [7]\n\n[1] tides.md\n"
    data = json.loads(piped(base, text, "--format", "json").out)
    first, second = data["quotations"]
    assert (first["state"], first["holds"], first["citation"]["source"], first["places"]) == (
        "exact",
        True,
        "tides.md",
        1,
    )
    assert first["markers"] == ["[1]"]
    assert (second["state"], second["kind"]) == ("near", "edited")
    assert {part["change"] for part in second["diff"]} == {"same", "removed", "added"}
    assert [mark["state"] for mark in data["markers"]] == ["ok", "unknown"]
    assert data["totals"] == {
        "exact": 1, "near": 1, "nowhere": 0, "markers": 2, "unknown_markers": 1, "passed_over": 0,
    }  # fmt: skip
    lines = [json.loads(line) for line in piped(base, text, "--format", "jsonl").out.splitlines()]
    assert [line["type"] for line in lines] == ["quotation", "marker", "quotation", "marker"]


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_marks_count_the_hits_of_a_search_that_was_kept(base: Path, tmp_path: Path, form: str) -> None:
    kept = tmp_path / "hits.json"
    kept.write_bytes(gk(base, "search", "lamp window", "--format", form).stdout)
    assert piped(base, "“A lamp burned in every window” [1]", "--hits", str(kept)).code == 0
    outside = piped(base, "“A lamp burned in every window” [9]", "--hits", str(kept))
    assert outside.code == 1
    assert "9 is outside the given hits" in outside.out


@pytest.mark.parametrize(
    "hits",
    [
        "nothing", "{}", "[1]", '{"hits": [{}]}', "[" * 100_000, '[{"start": ' + "9" * 5000 + "}]", '{"hits": [null]}', "\n{",
        '[{"source":"a","source_class":"text","document_id":"","chunk_id":"","text":"ab","start":-1,"end":1,"line":1,"column":1}]',
        '[{"source":"a","source_class":"text","document_id":"","chunk_id":"","text":"\\ud800b","start":0,"end":2,"line":1,"column":1}]',
        '[{"source":"a","source_class":"other","document_id":"","chunk_id":"","text":"ab","start":0,"end":2,"line":1,"column":1}]',
        '[{"source":"a","source_class":"text","document_id":"","chunk_id":"","text":"ab","start":true,"end":2,"line":1,"column":1}]',
    ],
)  # fmt: skip
def test_what_are_no_hits_is_refused(hits: str) -> None:
    refused = hits_from(hits.encode())
    assert isinstance(refused, Failure)
    assert str(refused.failure())


def test_no_control_character_reaches_a_terminal(base: Path) -> None:
    text = "“The tide rises \x1b[31m three times a day” (a\x1b[2J.md:1:1) “nobody \x1b]8;;x\x07 wrote this at all” [z\x1b.md:3]"
    told = piped(base, text)
    assert told.code == 1
    assert "\x1b" not in told.out + told.err
    assert "\x07" not in told.out + told.err


def test_one_quotation_is_printed_with_its_place_or_as_a_portable_citation(base: Path) -> None:
    human = gk(base, "cite", "--quote", "The tide rises twice a day")
    assert human.code == 0
    assert human.out.startswith("d/lamps.md:5:23  ✓ verified\n   The tide rises twice a day\n")
    assert human.err == "gk: the first of 2 places; --source narrows it\n"
    data = gk(base, "cite", "--quote", "The tide rises twice a day", "--source", "tides.md", "--format", "json")
    assert groundkit.load_citation(json.loads(data.out)).text == "The tide rises twice a day"
    assert data.err == ""
    near = gk(base, "cite", "--quote", "A lamp burned in each window of the little town")
    assert near.code == 1
    assert "[-every-]{+each+}" in near.out
    assert "something near it does" in near.err


def test_the_citations_of_chunks_can_be_checked_anywhere(base: Path, tmp_path: Path) -> None:
    everything = gk(base, "cite", "--all")
    assert everything.code == 0
    citations = groundkit.load_citations(everything.stdout)
    assert len(citations) == 3
    (tmp_path / "citations.jsonl").write_bytes(everything.stdout)
    assert gk(base, "verify", "--file", str(tmp_path / "citations.jsonl")).code == 0
    chosen = gk(base, "cite", "--chunk", "tides.md", "--chunk", json.loads(everything.out.splitlines()[0])["chunk_id"])
    assert len(chosen.out.splitlines()) == 2
    annotations = gk(base, "cite", "--all", "--format", "annotations")
    assert [groundkit.from_web_annotation(json.loads(line)) for line in annotations.out.splitlines()] == citations
    assert all(not isinstance(each, str) and each.citation.source_class is SourceClass.TEXT for each in citations)


def test_a_quotation_that_stands_nowhere_is_valid_json_too(base: Path) -> None:
    near = gk(base, "cite", "--quote", "A lamp burned in each window of the little town", "--format", "json")
    data = json.loads(near.out)
    assert near.code == 1
    assert list(data) == ["schema", "quote", "citation", "places", "near"]
    assert (data["schema"], data["citation"], data["places"]) == (1, None, 0)
    assert (data["near"]["state"], data["near"]["citation"]["source"]) == ("near", "d/lamps.md")
    nowhere = gk(base, "cite", "--quote", "nobody ever said a thing like that", "--format", "json")
    assert (nowhere.code, json.loads(nowhere.out)["near"]) == (1, None)
    assert gk(base, "cite", "--quote", "nobody ever said so", "--format", "jsonl").out == ""


def test_sources_and_folders_are_named_as_paths_from_here_or_as_they_are_listed(base: Path) -> None:
    for folder, name in (
        (base, "./d/lamps.md"),
        (base / "d", "lamps.md"),
        (base / "d", "d/lamps.md"),
    ):
        quoted = gk(folder, "cite", "--quote", "The tide rises twice a day", "--source", name, "--format", "jsonl")
        assert (quoted.code, json.loads(quoted.out)["source"]) == (0, "d/lamps.md"), name
    for folder, name, sources in (
        (base, "d/", ["d/lamps.md"]), (base / "d", "lamps.md", ["d/lamps.md"]), (base / "d", "..", ["d/lamps.md", "tides.md", "港.md"]),
    ):  # fmt: skip
        written = gk(folder, "cite", "--chunk", name)
        assert [json.loads(line)["source"] for line in written.out.splitlines()] == sources, name


@pytest.mark.parametrize(
    "arguments", [("--chunk", "nothing"), ("--chunk", "/"), ("--quote", "the moon pulls", "--source", "nothing.md")]
)
def test_what_names_nothing_in_the_collection_is_a_negative_answer(base: Path, arguments: tuple[str, ...]) -> None:
    refused = gk(base, "cite", *arguments)
    assert (refused.code, refused.out) == (1, "")
    assert f"has no source {'and no chunk ' if arguments[0] == '--chunk' else ''}{arguments[-1]}" in refused.err


def test_a_misquotation_shows_what_its_source_says_and_no_tick(base: Path) -> None:
    told = piped(
        base, "“A lamp\nburned in every […] of the small\ntown”\n\n“The tide   falls twice a day” [1]\n\n[1] tides.md\n"
    )
    assert "✓" not in told.out
    assert "source → quotation: A lamp burned in every … of the [-little-]{+small+} town" in told.out
    assert "source → quotation: The tide [-rises-]{+falls+} twice a day" in told.out


def test_nothing_that_differs_is_wholly_alike(tmp_path: Path) -> None:
    words = " ".join(f"word{number} of many" for number in range(120))
    with fresh(tmp_path, {"a.md": f"{words}\n"}):
        pass
    told = piped(tmp_path, f"“{words.replace('word60 ', 'ward60 ')}”")
    assert "≠ near (edited, 99% alike)" in told.out


def test_a_text_without_quotation_and_mark_is_told(base: Path) -> None:
    nothing = piped(base, "He likes “tides”.")
    assert (nothing.code, nothing.err) == (0, "gk: no quotation and no mark found; 1 too short to be told\n")
    assert nothing.out == "quotations: exact 0, near 0, nowhere 0; 1 too short to be told\n"


def test_places_are_hyperlinks_where_the_terminal_takes_them(base: Path) -> None:
    links = {"FORCE_HYPERLINK": "1"}
    assert "\x1b]8;" in gk(base, "cite", "--quote", "A lamp burned", **links).out
    assert "\x1b]8;" in gk(base, "cite", "--quote", "A lamp burned in each window", **links).out
    assert "\x1b]8;" not in gk(base, "cite", "--quote", "A lamp burned").out
