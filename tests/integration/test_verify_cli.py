"""`gk verify` over files of citations and whole collections: with an index and without, in every format."""

import html
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from attrs import frozen
from commands import Ran, environment, gk
from extracted_support import HTML, PDF, world
from integration.support import INDEX, ended, put
from web_support import page, web_collection

import groundkit
from groundkit.portable_json import citation_data

SMALL = {"chunk_size": 120, "chunk_overlap": 0}


def text(name: str, count: int = 6) -> str:
    return (
        "\n\n".join(f"Of {name} it is told in part {n} that rule {n * 37} holds for every tower." for n in range(count))
        + "\n"
    )


FILES: Mapping[str, bytes | str] = {
    "a.md": text("a"),
    "b.md": text("b"),
    "report.pdf": PDF,
    "tides.html": HTML,
}


@frozen
class Shelf:
    """A collection below `docs`, the same files below `copy` without one, and every citation in its portable form."""

    root: Path
    entries: list[dict[str, Any]]

    def of(self, source: str) -> list[dict[str, Any]]:
        return [each for each in self.entries if each["source"] == source]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    root = tmp_path_factory.mktemp("shelf")
    put(root / "copy", FILES)
    with world(root / "docs", FILES, **SMALL) as kb:
        entries = [citation_data(each) for each in kb.portable_each(kb.citations())]
    yield Shelf(root, json.loads(json.dumps(entries)))


def as_lines(entries: list[Any]) -> str:
    return "".join(f"{json.dumps(each)}\n" for each in entries)


def piped(cwd: Path, given: bytes, *arguments: str) -> Ran:
    command = [sys.executable, "-m", "groundkit", *arguments]
    done = subprocess.run(
        command, cwd=cwd, env=environment(), input=given, capture_output=True, timeout=120, check=False
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def rows(ran: Ran) -> list[dict[str, Any]]:
    """Of JSON the list, of JSON lines every line."""
    if ran.out.startswith("{\n"):
        found: list[dict[str, Any]] = json.loads(ran.out)["checked"]
        return found
    return [json.loads(line) for line in ran.out.splitlines()]


def reasons(ran: Ran) -> list[str]:
    return [row["verification"]["reason"] for row in rows(ran)]


# What a file of citations may look like


def test_json_json_lines_and_standard_input_are_checked_in_their_order(shelf: Shelf, tmp_path: Path) -> None:
    backwards = shelf.entries[::-1]
    put(tmp_path, {"c.json": json.dumps(backwards), "c.jsonl": as_lines(backwards)})
    asked = ("verify", "--base-dir", str(shelf.root / "copy"), "--format", "json", "--file")
    wanted = [each["chunk_id"] for each in backwards]
    for ran, name in (
        (gk(tmp_path, *asked, "c.json"), "c.json[{}]"),
        (gk(tmp_path, *asked, "c.jsonl"), "c.jsonl line {}"),
        (piped(tmp_path, as_lines(backwards).encode(), *asked, "-"), "standard input line {}"),
    ):
        assert ran.code == 0
        assert [row["chunk_id"] for row in rows(ran)] == wanted
        assert set(reasons(ran)) == {"same"}
        first = 1 if "line" in name else 0
        assert [row["entry"] for row in rows(ran)] == [name.format(n) for n in range(first, first + len(wanted))]
        assert all(row.keys() == {"entry", "chunk_id", "citation", "verification"} for row in rows(ran))


def test_one_citation_is_a_file_too(shelf: Shelf, tmp_path: Path) -> None:
    put(tmp_path, {"c.json": json.dumps(shelf.entries[0])})
    ran = gk(tmp_path, "verify", "--file", "c.json", "--base-dir", str(shelf.root / "copy"))
    assert (ran.code, ran.out) == (0, "verified 1, drifted 0, unresolvable 0\n")


def test_an_empty_list_has_nothing_that_is_wrong(tmp_path: Path) -> None:
    put(tmp_path, {"c.json": "[]"})
    ran = gk(tmp_path, "verify", "--file", "c.json")
    assert (ran.code, ran.out) == (0, "verified 0, drifted 0, unresolvable 0\n")
    assert "is empty" in ran.err


@pytest.mark.parametrize("name", ["c.jsonl", "c.json"])
@pytest.mark.parametrize("content", ["", "\n", " \n\t\n"])
def test_a_file_that_lost_all_that_was_in_it_does_not_pass(tmp_path: Path, name: str, content: str) -> None:
    put(tmp_path, {name: content})
    ran = gk(tmp_path, "verify", "--file", name)
    assert (ran.code, ran.out) == (2, "")
    assert "it is empty" in ran.err


def test_what_is_no_citation_is_refused_by_name_and_the_others_are_checked(shelf: Shelf, tmp_path: Path) -> None:
    good = shelf.of("a.md")
    forged = [{**good[0], "chunk_id": f"{n:032x}"} for n in range(100)]
    bad: list[Any] = [
        {**good[0], "start": "0"},
        {**good[0], "start": -1},
        {**good[0], "schema": 99},
        {**good[0], "end": 10**30},
        {**good[0], "text": good[0]["text"] + "!"},
        {key: value for key, value in good[0].items() if key != "digest"},
        {**good[0], "more": 1},
        "nothing",
        None,
        *forged,
    ]
    put(tmp_path, {"c.json": json.dumps([good[0], *bad, good[1]])})
    ran = gk(tmp_path, "verify", "--file", "c.json", "--base-dir", str(shelf.root / "copy"), "--format", "json")
    assert ran.code == 1
    told = rows(ran)
    assert reasons(ran) == ["same", *["citation_refused"] * len(bad), "same"]
    assert [row["entry"] for row in told] == [f"c.json[{n}]" for n in range(len(bad) + 2)]
    for row in told[1:-1]:
        assert (row["chunk_id"], row["citation"]) == (None, None)
        assert row["verification"]["verdict"] == "unresolvable"
        assert row["verification"]["detail"]
    details = [row["verification"]["detail"] for row in told]
    for at, key in enumerate(("start", "start", "schema", "end", "end", "digest", "more"), 1):
        assert key in details[at]
    assert all("chunk_id" in each for each in details[-101:-1])


def test_a_line_that_is_torn_stops_no_other(shelf: Shelf, tmp_path: Path) -> None:
    good = shelf.of("a.md")[:2]
    first, second = as_lines(good).splitlines()
    put(tmp_path, {"c.jsonl": f"{first}\n{second[:99]}\n\nno json\n{second}"})
    ran = gk(tmp_path, "verify", "--file", "c.jsonl", "--base-dir", str(shelf.root / "copy"), "--format", "jsonl")
    assert ran.code == 1
    assert reasons(ran) == ["same", "citation_refused", "citation_refused", "same"]
    assert [row["entry"] for row in rows(ran)] == [f"c.jsonl line {n}" for n in (1, 2, 4, 5)]


def test_a_refused_entry_is_named_for_a_person(shelf: Shelf, tmp_path: Path) -> None:
    put(tmp_path, {"c.json": json.dumps([{**shelf.entries[0], "\x1b[31mevil": 1}])})
    ran = gk(tmp_path, "verify", "--file", "c.json", "--base-dir", str(shelf.root / "copy"))
    assert ran.code == 1
    assert "✗ unresolvable (citation_refused)  c.json[0]" in ran.out
    assert "\x1b" not in ran.out
    assert ran.out.endswith("verified 0, drifted 0, unresolvable 1\n")


# Where the sources are


def test_without_an_index_it_is_the_working_directory_or_the_one_that_is_given(shelf: Shelf, tmp_path: Path) -> None:
    put(tmp_path, {"c.jsonl": as_lines(shelf.entries)})
    given = str(tmp_path / "c.jsonl")
    here = gk(shelf.root / "copy", "verify", "--file", given, "--format", "jsonl")
    assert (here.code, set(reasons(here))) == (0, {"same"})
    assert here.err.count("no collection is used") == 1
    assert str(shelf.root / "copy") in here.err
    there = gk(tmp_path, "verify", "--file", given, "--base-dir", str(shelf.root / "copy"), "--format", "jsonl")
    assert (there.code, there.out) == (0, here.out)
    nowhere = gk(tmp_path, "verify", "--file", given, "--format", "jsonl")
    assert (nowhere.code, set(reasons(nowhere))) == (1, {"source_missing"})


def test_two_collections_that_are_not_there_are_told_of_once(shelf: Shelf, tmp_path: Path) -> None:
    entries = [{**each, "collection": f"c{n % 3}"} for n, each in enumerate(shelf.of("a.md"))]
    put(tmp_path, {"c.json": json.dumps(entries)})
    ran = gk(shelf.root / "copy", "verify", "--file", str(tmp_path / "c.json"), "--format", "json")
    assert (ran.code, set(reasons(ran))) == (0, {"same"})
    assert ran.err.count("no collection is used") == 1


def edited(root: Path) -> dict[str, Any]:
    """A citation whose file was edited since, with the collection that knows what it said."""
    with world(root / "docs", {"a.md": text("a")}, **SMALL) as kb:
        portable = kb.portable(list(kb.citations())[2])
    put(root, {"docs/a.md": text("a").replace("rule 74 holds", "rule 75 holds")})
    found: dict[str, Any] = citation_data(portable)
    put(root, {"c.json": json.dumps([found])})
    return found


def test_with_an_index_it_is_the_collection_that_the_citation_names(tmp_path: Path) -> None:
    edited(tmp_path)
    asked = ("verify", "--format", "json", "--file", str(tmp_path / "c.json"))
    found = gk(tmp_path / "docs", *asked)  # on the way up
    assert (reasons(found), found.err) == (["edited"], "")
    by_option = gk(tmp_path, *asked, "--index-dir", f"docs/{INDEX}")
    assert (reasons(by_option), by_option.err) == (["edited"], "")
    by_variable = subprocess.run(
        [sys.executable, "-m", "groundkit", *asked],
        cwd=tmp_path,
        env=environment(GK_INDEX_DIR=f"docs/{INDEX}"),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert by_variable.stdout == by_option.stdout
    # Without it nobody knows what the passage was among.
    assert reasons(gk(tmp_path, *asked, "--base-dir", "docs")) == ["changed"]


def test_a_collection_that_is_given_is_taken_whatever_the_citation_names(tmp_path: Path) -> None:
    found = edited(tmp_path)
    put(tmp_path, {"c.json": json.dumps([{**found, "collection": "of-somebody-else"}])})
    asked = ("verify", "--format", "json", "--file", str(tmp_path / "c.json"))
    assert reasons(gk(tmp_path / "docs", *asked, "-c", "default")) == ["edited"]
    alone = gk(tmp_path / "docs", *asked)
    assert reasons(alone) == ["changed"]
    assert "no collection is used" in alone.err


def test_an_index_that_has_not_the_collection_leaves_the_sources(tmp_path: Path) -> None:
    found = edited(tmp_path)
    put(tmp_path, {"c.json": json.dumps([{**found, "collection": "of-somebody-else"}])})
    asked = ("verify", "--format", "json", "--file", str(tmp_path / "c.json"), "--index-dir", f"docs/{INDEX}")
    ran = gk(tmp_path, *asked, "--base-dir", "docs")
    assert reasons(ran) == ["changed"]
    ran = gk(tmp_path / "docs", *asked[:-1], INDEX)
    assert reasons(ran) == ["changed"]


def test_a_collection_that_was_asked_for_and_is_not_there_is_a_wrong_request(shelf: Shelf, tmp_path: Path) -> None:
    put(tmp_path, {"c.json": json.dumps(shelf.of("a.md"))})
    ran = gk(shelf.root / "docs", "verify", "--file", str(tmp_path / "c.json"), "-c", "nosuch")
    assert (ran.code, ran.out) == (2, "")
    assert "nosuch" in ran.err
    assert "default" in ran.err


def test_a_variable_asks_for_no_collection(shelf: Shelf, tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text(as_lines(shelf.of("a.md")))
    ran = gk(tmp_path, "verify", "--file", "c.jsonl", "--base-dir", str(shelf.root / "copy"), GK_COLLECTION="nosuch")
    assert ran.code == 0, ran.err


def test_a_working_directory_that_is_gone_is_no_hindrance(shelf: Shelf, tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text(as_lines(shelf.of("a.md")))
    command = f"cd gone && rmdir ../gone && exec {sys.executable} -m groundkit verify --file {tmp_path}/c.jsonl --base-dir {shelf.root}/copy"
    (tmp_path / "gone").mkdir()
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_citation_of_a_hit_is_refused_with_the_way_to_a_whole_one(shelf: Shelf, tmp_path: Path) -> None:
    hits = gk(shelf.root / "docs", "search", "rule", "--format", "json").out
    (tmp_path / "hits.json").write_text(hits)
    ran = gk(tmp_path, "verify", "--file", "hits.json")
    assert ran.code == 1
    assert "`gk cite --chunk` writes it whole" in ran.out


def test_a_folder_stands_for_the_sources_below_it(tmp_path: Path) -> None:
    world(tmp_path, {"sub/a.md": text("a"), "sub/b.md": text("b"), "other.md": text("c")}, **SMALL).close()
    for name in ("sub", "sub/", "./sub"):
        ran = gk(tmp_path, "verify", name, "--format", "jsonl")
        assert {json.loads(line)["citation"]["source"] for line in ran.out.splitlines()} == {"sub/a.md", "sub/b.md"}


def test_what_moved_alike_is_told_once_unless_all_is_asked_for(tmp_path: Path) -> None:
    kb = world(tmp_path, {"a.md": text("a", 30), "b.md": text("b")}, **SMALL)
    count = sum(1 for _ in kb.citations("a.md"))
    kb.close()
    put(tmp_path, {"a.md": "New.\n\n" + text("a", 30)})
    (tmp_path / "b.md").unlink()
    ran = gk(tmp_path, "verify", "--all")
    assert f"{count} citations\n   each cited text stands 6 code points further on now; -v lists them" in ran.out
    assert ran.out.count("drifted (moved)") == 1
    assert ran.out.count("(source_missing)") == 1
    assert f"reasons: moved {count}, source_missing" in ran.out
    assert gk(tmp_path, "verify", "--all", "-v").out.count("drifted (moved)") == count


def test_an_index_directory_that_is_given_has_to_be_one(shelf: Shelf, tmp_path: Path) -> None:
    put(tmp_path, {"c.json": json.dumps(shelf.of("a.md")), "empty/nothing": ""})
    for directory in ("nowhere", "empty", "c.json"):
        ran = gk(tmp_path, "verify", "--file", "c.json", "--index-dir", directory)
        assert (ran.code, ran.out) == (2, "")
        assert directory in ran.err


def test_a_base_that_is_not_there_is_told_with_the_source(shelf: Shelf, tmp_path: Path) -> None:
    put(tmp_path, {"c.json": json.dumps(shelf.of("a.md")[:1])})
    ran = gk(tmp_path, "verify", "--file", "c.json", "--base-dir", "nowhere", "--format", "json")
    (row,) = rows(ran)
    assert (ran.code, row["verification"]["verdict"]) == (1, "unresolvable")
    assert row["verification"]["detail"].startswith("a.md: the base directory nowhere cannot be opened")


def test_another_base_for_a_collection(tmp_path: Path) -> None:
    edited(tmp_path)
    put(tmp_path, {"old/a.md": text("a")})
    asked = ("verify", "--format", "json", "--file", str(tmp_path / "c.json"), "--index-dir", f"docs/{INDEX}")
    assert reasons(gk(tmp_path, *asked, "--base-dir", "old")) == ["same"]


def test_snapshots_are_where_it_is_said(tmp_path: Path) -> None:
    url = "http://towers.example/a"
    with web_collection(tmp_path / "in" / INDEX, {url: page(text("page"))}) as kb:
        kb.ingest([url], **SMALL)  # type: ignore[arg-type]  # settings by name
        entries = [citation_data(each) for each in kb.portable_each(kb.citations())]
        (record,) = kb.get_document_records()
    snapshots = groundkit.snapshot_dir_for(tmp_path / "in" / INDEX, "default")
    put(tmp_path, {"c.json": json.dumps(entries), "other/nothing": ""})
    asked = ("verify", "--format", "json", "--file", "c.json")
    assert set(reasons(gk(tmp_path, *asked))) == {"no_snapshot_dir"}
    ran = gk(tmp_path, *asked, "--snapshot-dir", str(snapshots))
    assert (ran.code, set(reasons(ran))) == (0, {"same"})
    assert set(reasons(gk(tmp_path, *asked, "--snapshot-dir", "other"))) == {"snapshot_missing"}
    path = groundkit.snapshot_path_for(snapshots, record.document_id)
    path.write_bytes(path.read_bytes().replace(b"rule 37 holds", b"rule 38 holds"))
    ran = gk(tmp_path, *asked, "--snapshot-dir", str(snapshots))
    assert ran.code == 1
    assert sorted(set(reasons(ran))) == ["changed", "same"]


# How much is read

_OPENS = """
import atexit, runpy, sys
opened = []
sys.addaudithook(lambda event, values: opened.append(values[0]) if event == "open" else None)
atexit.register(lambda: print([opened.count(each) + opened.count(each.encode()) for each in ("a.md", "b.md")], file=sys.stderr))
sys.argv[0] = "gk"
runpy.run_module("groundkit", run_name="__main__")
"""


def opens(cwd: Path, *arguments: str) -> tuple[Ran, str]:
    """A run of `gk`, and how often it opened each of two files."""
    done = subprocess.run(
        [sys.executable, "-c", _OPENS, *arguments],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr), done.stderr.decode().splitlines()[-1]


@pytest.mark.parametrize("with_index", [True, False])
def test_a_thousand_citations_of_one_file_in_any_order_read_it_once(tmp_path: Path, with_index: bool) -> None:
    files = {"a.md": text("a", 500), "b.md": text("b", 500)}
    with world(tmp_path / "docs", files, **SMALL) as kb:
        entries = [citation_data(each) for each in kb.portable_each(kb.citations())]
    assert len(entries) >= 1000
    half = len(entries) // 2
    mixed = [each for pair in zip(entries[:half], entries[half:], strict=False) for each in pair]
    put(tmp_path, {"c.jsonl": as_lines(mixed), **{f"copy/{source}": each for source, each in files.items()}})
    where = "docs" if with_index else "copy"
    ran, counted = opens(tmp_path / where, "verify", "--file", str(tmp_path / "c.jsonl"), "--format", "jsonl")
    assert (ran.code, set(reasons(ran))) == (0, {"same"})
    assert [row["chunk_id"] for row in rows(ran)] == [each["chunk_id"] for each in mixed]
    assert counted == "[1, 1]"


def test_a_whole_collection_is_told_while_it_is_checked(tmp_path: Path) -> None:
    """What is written before anybody reads on is bounded, so a file that is edited meanwhile is still to be checked."""
    files: dict[str, bytes | str] = {f"f{n:02}.md": text(f"file {n}", 40) for n in range(20)}
    with world(tmp_path, files, **SMALL):
        pass
    process = subprocess.Popen(
        [sys.executable, "-m", "groundkit", "verify", "--all", "--format", "jsonl"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    with ended(process):
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        put(tmp_path, {"f19.md": "Nothing of it is left.\n"})
        rest = [json.loads(line) for line in process.stdout]
        assert process.wait(timeout=60) == 1
    assert first["citation"]["source"] == "f00.md"
    verdicts = {(row["citation"]["source"], row["verification"]["verdict"]) for row in rest}
    assert ("f19.md", "drifted") in verdicts
    assert ("f00.md", "verified") in verdicts


# Formats and exit codes


@pytest.fixture(scope="module")
def drifting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection in which something has drifted, something is gone, and the rest stands."""
    base = tmp_path_factory.mktemp("drifting")
    evil = text("c").replace("part 2", "part <b>2</b> & \x1b[31m ]]> | `x`")
    with world(base, {"a.md": text("a"), "b.md": text("b"), "c.md": evil}, **SMALL):
        pass
    put(
        base,
        {"a.md": text("a").replace("rule 74 holds", "rule 75 holds"), "c.md": evil.replace("rule 74", "rule <i>75")},
    )
    (base / "b.md").unlink()
    return base


VOID = frozenset(("meta", "br", "hr", "input", "link", "img", "wbr"))


class Balanced(HTMLParser):
    """Every element that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_is_one_page(drifting: Path) -> None:
    ran = gk(drifting, "verify", "--all", "--format", "html")
    assert (ran.code, ran.err) == (1, "")
    parser = Balanced()
    parser.feed(ran.out)
    parser.close()
    assert parser.open == []
    assert {"html", "title", "body"} <= parser.seen
    assert "<b>2" not in ran.out
    assert "<i>75" not in ran.out
    assert "\x1b" not in ran.out
    assert ran.out.lower().startswith("<!doctype html>")


def test_the_page_says_what_it_is_about(drifting: Path, tmp_path: Path) -> None:
    ran = gk(drifting, "verify", "--all", "--format", "html", "-c", "default")
    assert "<h1><bdi>Citations of default</bdi></h1>" in ran.out
    file = tmp_path / "cited <b>.jsonl"
    file.write_text("{}\n", "utf-8")
    ran = gk(drifting, "verify", "--file", str(file), "--format", "html")
    assert f"<h1><bdi>Citations in {html.escape(str(file))}</bdi></h1>" in ran.out


def test_junit_is_xml_with_a_case_for_every_citation(drifting: Path) -> None:
    ran = gk(drifting, "verify", "--all", "--format", "junit")
    assert (ran.code, ran.err) == (1, "")
    root = ElementTree.fromstring(ran.stdout)
    checked = rows(gk(drifting, "verify", "--all", "--format", "jsonl"))
    cases = list(root.iter("testcase"))
    assert len(cases) == len(checked)
    bad = [each for each in cases if each.find("failure") is not None or each.find("error") is not None]
    assert len(bad) == sum(row["verification"]["verdict"] != "verified" for row in checked)


def test_markdown_names_what_is_wrong(drifting: Path) -> None:
    ran = gk(drifting, "verify", "--all", "--format", "markdown")
    assert (ran.code, ran.err) == (1, "")
    for word in ("a.md", "b.md", "drifted", "unresolvable", "edited"):
        assert word in ran.out
    assert "\x1b" not in ran.out
    blocks = re.sub(r"(?ms)^ *(```+).*?^ *\1", "", ran.out)
    outside = re.sub(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", "", blocks)
    assert "drifted" in outside
    assert "<b>" not in outside
    assert "<i>" not in outside


def test_a_person_sees_what_is_wrong_and_how_much_is_right(drifting: Path) -> None:
    ran = gk(drifting, "verify", "--all")
    told = rows(gk(drifting, "verify", "--all", "--format", "jsonl"))
    counts = {
        verdict: sum(row["verification"]["verdict"] == verdict for row in told)
        for verdict in ("verified", "drifted", "unresolvable")
    }
    assert min(counts.values()) > 0
    assert ran.out.endswith(", ".join(f"{name} {count}" for name, count in counts.items()) + "\n")
    assert "✓" not in ran.out
    assert gk(drifting, "verify", "--all", "-v").out.count("✓ verified") == counts["verified"]
    assert ran.out.count("[-74-]{+75+}") == 1


def test_reports_of_a_file_of_citations(drifting: Path, tmp_path: Path, shelf: Shelf) -> None:
    put(tmp_path, {"c.json": json.dumps([*shelf.of("a.md"), {**shelf.entries[0], "start": "<b>"}, 7])})
    for form in ("html", "junit", "markdown"):
        ran = gk(tmp_path, "verify", "--file", "c.json", "--base-dir", str(shelf.root / "copy"), "--format", form)
        assert ran.code == 1
        assert "citation_refused" in ran.out or "refused" in ran.out
        if form == "junit":
            assert len(list(ElementTree.fromstring(ran.stdout).iter("testcase"))) == len(shelf.of("a.md")) + 2
        if form == "html":
            parser = Balanced()
            parser.feed(ran.out)
            assert parser.open == []


def test_sources_and_chunks_are_named_beside_each_other(drifting: Path) -> None:
    told = rows(gk(drifting, "verify", "--all", "--format", "jsonl"))
    chunk = next(row["chunk_id"] for row in told if row["citation"]["source"] == "c.md")
    ran = gk(drifting, "verify", "b.md", chunk, "f" * 32, "--format", "json")
    assert ran.code == 1
    assert {row["citation"]["source"] for row in rows(ran)[:-2]} == {"b.md"}
    assert rows(ran)[-2]["chunk_id"] == chunk
    assert reasons(ran)[-1] == "unknown_chunk"


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--all", "a.md"),
        ("--all", "--file", "c.json"),
        ("--file", "c.json", "a.md"),
        ("--all", "--snapshot-dir", "."),
        ("--file", "c.json", "--live"),
        ("--file", "nosuch.json"),
        ("--file", "bad.json"),
        ("--file", "binary.json"),
        ("--file", "empty.json"),
        ("--file", "c.json", "--format", "pdf"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_meant_is_a_wrong_request(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    put(
        tmp_path,
        {"c.json": "[]", "bad.json": "no json", "binary.json": b"\xff\xfe\0", "empty.json": "", "a.md": "A word.\n"},
    )
    ran = gk(tmp_path, "verify", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err
    assert "Traceback" not in ran.err
    assert not (tmp_path / INDEX).exists()
