"""Web pages on the command line: what is said of them, and of those that are not fetched. Nothing here needs a network."""

import json
from pathlib import Path

import pytest
from commands import gk
from web_support import at_rest, page, snapshots, web_collection

from groundkit.testing.memory_web import ScriptedPage

URL = "https://a.example/ferry"
SECRET = "hunter2-s3cr3t"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a collection of two pages in it. Live looks are refused by their port, so that nobody is asked."""
    pages = {
        URL: page("The ferry leaves at noon. " * 20, etag='"v1"', last_modified="Sat, 28 Feb 2026 10:00:00 GMT"),
        "https://b.example/lost": ScriptedPage(b"<title>Page not found</title><h1>404</h1>"),
    }
    with web_collection(tmp_path / ".groundkit", pages) as kb:
        kb.ingest(list(pages), keep_bodies=True)
        kb.ingest([f"{URL}/missing"], fetch_ports=[8443])
    return tmp_path


def test_a_page_is_listed_with_how_it_was_fetched(folder: Path) -> None:
    listed = gk(folder, "files", URL)
    assert listed.code == 0
    for said in (
        URL,
        "snapshot",
        "status 200",
        "text/html; charset=utf-8",
        "utf-8 (by transport)",
        '"v1"',
        "28 Feb 2026",
    ):
        assert said in listed.out, said
    (document,) = json.loads(gk(folder, "files", URL, "--format", "json").out)["documents"]
    assert document["source_class"] == "snapshot"
    assert document["extractor"] is None
    assert document["fetch"]["status"] == 200
    assert document["fetch"]["extractor"].startswith("beautifulsoup4/")
    assert len(gk(folder, "files", "--format", "paths").out.splitlines()) == 2
    assert gk(folder, "files", "https://a.example/other").code == 1


def test_the_status_names_suspicious_and_failed_pages(folder: Path) -> None:
    status = gk(folder, "status").out
    assert "2 of them web pages" in status
    assert "https://b.example/lost" in status.partition("suspicious")[2]
    assert f"{URL}/missing" not in gk(folder, "status").out  # refused by its port: not a page that failed


def test_a_page_is_shown_verified_and_removed(folder: Path) -> None:
    found = json.loads(gk(folder, "search", "ferry", "--format", "json").out)["hits"]
    chunk = found[0]["citation"]["chunk_id"]
    shown = gk(folder, "show", chunk)
    assert (shown.code, "fetched" in shown.out, "verified" in shown.out) == (0, True, True)
    assert gk(folder, "verify", URL).code == 0
    (path,) = (each for each in snapshots(folder / ".groundkit") if each == found[0]["citation"]["document_id"])
    (folder / ".groundkit" / "default.snapshots" / path).write_text("altered")
    drifted = gk(folder, "verify", chunk)
    assert (drifted.code, "local snapshot altered" in drifted.out) == (1, True)
    assert gk(folder, "doctor").code == 1
    assert gk(folder, "doctor", "--repair").code == 0
    assert gk(folder, "verify", "--all").code == 0
    removed = gk(folder, "rm", URL)
    assert (removed.code, removed.out) == (0, "removed 1\n")
    assert at_rest(folder / ".groundkit")
    assert gk(folder, "rm", URL).code == 1


def test_what_is_live_is_told_beside_the_verdict_and_changes_no_exit_code(folder: Path) -> None:
    live = gk(folder, "verify", "--live", URL)
    assert live.code == 0
    assert "live: unreachable: port 443 is not one of 8443" in live.out
    assert live.out.splitlines()[-1].startswith("live: same 0, moved 0, edited 0, removed 0, unreachable ")
    data = json.loads(gk(folder, "verify", "--live", URL, "--format", "json").out)
    assert data["live_totals"]["unreachable"] == len(data["checked"])
    assert {each["live"]["state"] for each in data["checked"]} == {"unreachable"}
    assert "live" not in json.loads(gk(folder, "verify", URL, "--format", "json").out)["checked"][0]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://127.0.0.1/", "loopback"),
        ("http://0x7f.1/", "loopback"),
        ("http://[::ffff:10.0.0.1]/", "IPv4"),
        ("https://a.example:8080/", "port"),
        ("ftp://a.example/", "http"),
        ("file:///etc/passwd", "http"),
        ("https://a.example/#part", "fragment"),
        (f"https://me:{SECRET}@a.example/", "***"),
        (f"https://a.example/?api_key={SECRET}", "***"),
    ],
)
def test_a_url_that_is_refused_is_a_failed_source_and_makes_nothing(tmp_path: Path, url: str, said: str) -> None:
    refused = gk(tmp_path, "ingest", url)
    assert refused.code == 1
    assert refused.err.startswith("failed: ")
    assert said in refused.err
    assert SECRET not in refused.err + refused.out
    assert not (tmp_path / ".groundkit").exists()
    told = json.loads(gk(tmp_path, "ingest", url, "--format", "json").out)
    assert len(told["failed"]) == 1
    assert SECRET not in json.dumps(told)


def test_urls_come_from_a_file_too(tmp_path: Path) -> None:
    listed = "﻿# pages\r\n\r\nhttp://127.0.0.1/a\r\n  http://127.0.0.1/b  \r\n"
    (tmp_path / "urls.txt").write_bytes(listed.encode())
    told = json.loads(gk(tmp_path, "ingest", "--from", "urls.txt", "--format", "json").out)
    assert [each["source"] for each in told["failed"]] == ["http://127.0.0.1/a", "http://127.0.0.1/b"]
    (tmp_path / "urls.txt").write_text(f"http://127.0.0.1/\nnotes/{SECRET}.md\n")
    wrong = gk(tmp_path, "ingest", "--from", "urls.txt")
    assert (wrong.code, "line 2" in wrong.err, SECRET in wrong.err) == (2, True, False)
    (tmp_path / "urls.txt").write_bytes(b"http://127.0.0.1/\xff\n")
    assert gk(tmp_path, "ingest", "--from", "urls.txt").code == 2
    assert gk(tmp_path, "ingest").code == 2
    assert gk(tmp_path, "ingest", "--from", "missing.txt").code == 2


def test_files_and_pages_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "data:notes.md").write_text("Some tide.")
    (tmp_path / "a.md").write_text("Some rock.")
    mixed = gk(tmp_path, "ingest", "./data:notes.md", "a.md", "http://127.0.0.1/")
    assert (mixed.code, "added 2" in mixed.out, "failed 1" in mixed.out) == (1, True, True)
    assert gk(tmp_path, "files", "--why", "https://a.example/").code == 2


def test_a_page_that_failed_says_why_where_it_is_asked_for(tmp_path: Path) -> None:
    with web_collection(tmp_path / ".groundkit", {URL: page("Some tide.")}) as kb:
        kb.ingest([URL, f"{URL}/missing"])
    missing = gk(tmp_path, "files", f"{URL}/missing")
    assert (missing.code, "404 Not Found" in missing.err) == (1, True)
    assert gk(tmp_path, "files", URL).err == ""
    assert "from port 80, 443" in gk(tmp_path, "status").out


def test_several_lists_of_urls_are_taken_together(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_text(f"http://127.0.0.1/{name}\n")
    told = json.loads(gk(tmp_path, "ingest", "--from", "a", "--from", "b", "--format", "json").out)
    assert [each["source"] for each in told["failed"]] == ["http://127.0.0.1/a", "http://127.0.0.1/b"]


def test_a_url_without_its_scheme_is_told_from_a_missing_file(tmp_path: Path) -> None:
    assert "begins with https://" in gk(tmp_path, "ingest", "example.org/guide").err
    assert "https" not in gk(tmp_path, "ingest", "docs/guide.md").err
    assert "https" not in gk(tmp_path, "ingest", "guide.md").err
    (tmp_path / "a.md").write_text("Some tide.")
    assert "begins with https://" in gk(tmp_path, "ingest", "a.md", "example.org/guide").err
