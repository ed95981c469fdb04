"""What `--format` promises: valid, stable, exact, and free of everything that differs between equal collections."""

import json
import re
import shutil
from pathlib import Path

import pytest
from commands import gk, write

from groundkit import __all__ as public_names
from groundkit import open as open_collection

PAGES = {
    f"page{n}_md": f"# Page {n}\n\n## Part\n\nThe needle of page {n} " + "and more hay " * n + f"\n\nStraw {n % 3}.\n"
    for n in range(9)
}
#: A time of day, or a date and time.
TIMES = re.compile(r"\d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write(tmp_path_factory.mktemp("kept"), **PAGES)
    assert gk(folder, "ingest", ".").code == 0
    return folder


def searched(folder: Path, *more: str, **environment: str) -> bytes:
    return gk(folder, "search", "needle hay straw", "-n", "20", "--format", "json", *more, **environment).stdout


@pytest.mark.parametrize(
    ("command", "code", "key"),
    [
        (("search", "zeppelin"), 1, "hits"),
        (("files", "nothing.md"), 1, "documents"),
        (("files", "--skipped", "page1.md"), 0, "skipped"),
        (("verify", "zzzz"), 1, "checked"),
        (("show", "zzzz"), 1, "chunk_id"),
        (("rm", "nothing.md"), 1, "removed"),
        (("list",), 0, "collections"),
        (("status",), 0, "failures"),
        (("doctor",), 0, "findings"),
        (("ingest", "."), 0, "failed"),
    ],
)
def test_json_is_one_document_with_a_schema_number(kept: Path, command: tuple[str, ...], code: int, key: str) -> None:
    ran = gk(kept, *command, "--format", "json")
    assert (ran.code, ran.err) == (code, "")
    told = json.loads(ran.out)
    assert told["schema"] == 1
    assert key in told
    assert ran.stdout.endswith(b"}\n")


def test_empty_results_are_valid_in_every_format(kept: Path) -> None:
    assert json.loads(gk(kept, "search", "zeppelin", "--format", "json").out)["hits"] == []
    for form in ("jsonl", "md", "paths", "human"):
        assert gk(kept, "search", "zeppelin", "--format", form).stdout == b""


def test_jsonl_has_one_value_in_each_line(kept: Path) -> None:
    lines = gk(kept, "search", "needle", "-n", "20", "--format", "jsonl").out.splitlines()
    whole = json.loads(gk(kept, "search", "needle", "-n", "20", "--format", "json").out)["hits"]
    assert [json.loads(line) for line in lines] == [{"schema": 1, **hit} for hit in whole]


def test_paths_are_places_an_editor_takes(kept: Path) -> None:
    places = gk(kept, "search", "needle", "-n", "20", "--format", "paths").out.splitlines()
    assert sorted(places) == sorted(f"page{n}.md:1:1" for n in range(9))


def test_markdown_quotes_and_cites(kept: Path) -> None:
    lines = gk(kept, "search", "needle", "-n", "1", "--format", "md").out.splitlines()
    assert all(line.startswith(">") or not line for line in lines)
    assert re.fullmatch(r"> — `page\d\.md:1:1` \(0–\d+, verified, `[0-9a-f]{32}`\)", lines[-2] or lines[-1])


def test_scores_are_exactly_the_computed_ones(kept: Path) -> None:
    told = [hit["score"] for hit in json.loads(searched(kept))["hits"]]
    with open_collection(kept / ".groundkit") as kb:
        computed = [hit.score for hit in kb.search("needle hay straw", limit=20)]
    assert told == computed
    assert all(score == round(score, 9) for score in told)
    assert "open" in public_names


def test_the_span_of_a_hit_is_its_text(kept: Path) -> None:
    for hit in json.loads(searched(kept))["hits"]:
        text = (kept / hit["source"]).read_text("utf-8")
        assert text[hit["start"] : hit["end"]] == hit["text"]
        assert (hit["citation"]["start"], hit["citation"]["end"]) == (hit["start"], hit["end"])


@pytest.mark.parametrize("form", ["human", "json", "jsonl", "md", "paths"])
def test_search_output_holds_nothing_that_differs_between_equal_collections(kept: Path, form: str) -> None:
    said = gk(kept, "search", "needle hay straw", "--format", form).out
    assert str(kept) not in said
    assert str(kept.parent) not in said
    assert not TIMES.search(said)
    assert not re.search(r"generation|version|ingested", said)


def test_bytes_are_the_same_in_every_process_and_under_every_hash_seed(kept: Path) -> None:
    assert len({searched(kept, PYTHONHASHSEED=seed) for seed in ("0", "1", "4711")} | {searched(kept)}) == 1


def test_bytes_are_the_same_for_a_copy_in_another_place(kept: Path, tmp_path: Path) -> None:
    shutil.copytree(kept, tmp_path / "far" / "copy")
    assert searched(tmp_path / "far" / "copy") == searched(kept)


def test_bytes_are_the_same_whatever_the_history(kept: Path, tmp_path: Path) -> None:
    for name, text in PAGES.items():
        write(tmp_path, **{name: "An older needle.\n"}, other_md="Hay that goes again.")
        assert gk(tmp_path, "ingest", ".").code == 0
        write(tmp_path, **{name: text})
    (tmp_path / "other.md").unlink()
    assert gk(tmp_path, "ingest", ".").code == 0
    assert searched(tmp_path) == searched(kept)


def test_bytes_are_the_same_for_an_index_elsewhere(kept: Path, tmp_path: Path) -> None:
    assert gk(kept, "ingest", ".", "--index-dir", str(tmp_path / "idx")).code == 0
    assert searched(kept, "--index-dir", str(tmp_path / "idx")) == searched(kept)


def test_output_is_utf8_whatever_the_locale(kept: Path, tmp_path: Path) -> None:
    write(tmp_path, a_md="needle naïve 日本 🫢")
    assert gk(tmp_path, "ingest", ".", LC_ALL="C").code == 0
    ran = gk(tmp_path, "search", "naïve", LC_ALL="C", PYTHONIOENCODING="ascii")
    assert (ran.code, "日本 🫢" in ran.out) == (0, True)


def test_help_of_every_command_says_what_it_is_for(kept: Path) -> None:
    listed = re.findall(r"^  ([a-z]+)  +\S", gk(kept, "--help").out.partition("Commands:")[2], re.MULTILINE)
    assert {"ingest", "search", "show", "verify", "list", "files", "status", "rm", "drop", "doctor"} <= set(listed)
    for command in listed:
        ran = gk(kept, command, "--help")
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.startswith(f"Usage: gk {command} ")


def test_markdown_tells_the_verdict_of_a_hit_that_drifted(tmp_path: Path) -> None:
    write(tmp_path, a_md="The needle is here.")
    gk(tmp_path, "ingest", ".")
    (tmp_path / "a.md").write_text("No nadle at all here")
    assert ", drifted, " in gk(tmp_path, "search", "needle", "--format", "md").out
    (tmp_path / "a.md").unlink()
    assert ", unresolvable, " in gk(tmp_path, "search", "needle", "--format", "md").out
    assert ", unchecked, " in gk(tmp_path, "search", "needle", "--format", "md", "--no-verify").out
