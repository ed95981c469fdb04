"""Web pages in a collection: snapshots that live as long as their documents, and what is recorded of each page."""

import json
import logging
import os
from pathlib import Path

import pytest
from attrs import evolve
from web_support import NOW, at_rest, bodies, page, snapshots, web_collection, web_ports

import groundkit
from groundkit.collection import Collection
from groundkit.core.fetching import FetchFailed, FetchProblem
from groundkit.core.model import Reason, SourceClass, Verdict
from groundkit.testing.memory_web import ScriptedFetcher, ScriptedPage

URL = "https://a.example/page"
OTHER = "https://b.example/other"


def test_a_page_is_cited_by_its_url_and_verified_by_its_snapshot_alone(tmp_path: Path) -> None:
    fetchers: list[ScriptedFetcher] = []
    index = tmp_path / "index"
    with web_collection(index, {URL: page("The ferry leaves at noon.")}, fetchers) as kb:
        report = kb.ingest(URL)
        assert (report.added, report.failed) == (1, ())
        (hit,) = kb.search("ferry", verify=True)
        assert hit.source == URL
        assert hit.source_class is SourceClass.SNAPSHOT
        assert hit.extractor is None
        assert hit.verification is not None
        assert hit.verification.verdict is Verdict.VERIFIED
        (record,) = kb.get_document_records()
    text = (index / "default.snapshots" / record.document_id).read_text()
    assert text[hit.citation.span.start : hit.citation.span.end] == hit.text
    assert at_rest(index)
    # Nothing but the directory of snapshots: no network, no extractor, no base, no store.
    directory = groundkit.snapshot_dir_for(index, "default")
    assert groundkit.verify_citation(hit.citation, snapshot_dir=directory)
    assert groundkit.resolve_citation(hit.citation, snapshot_dir=directory) == hit.text
    assert groundkit.verify_citation(hit.citation).reason is Reason.NO_SNAPSHOT_DIR
    assert sum(each.fetches(URL) for each in fetchers) == 1


def test_the_record_says_how_the_page_was_fetched(tmp_path: Path) -> None:
    body = '<meta charset="utf-8"><p>Grüße'.encode()
    pages = {
        URL: ScriptedPage(
            body, 'text/html; charset="UTF-8"', etag='"v1"', last_modified="Sat, 28 Feb 2026 10:00:00 GMT"
        )
    }
    with web_collection(tmp_path / "index", pages) as kb:
        kb.ingest(URL)
        (record,) = kb.get_document_records(URL)
    fetch = record.fetch
    assert fetch is not None
    assert (fetch.status, fetch.content_type) == (200, 'text/html; charset="UTF-8"')
    assert (fetch.charset, fetch.charset_by) == ("utf-8", "transport")
    assert (fetch.etag, fetch.last_modified) == ('"v1"', "Sat, 28 Feb 2026 10:00:00 GMT")
    assert (fetch.fetched_at, fetch.length, fetch.kept_body) == (NOW, len(body), "")
    assert fetch.extractor is not None
    assert fetch.extractor.startswith("beautifulsoup4/")
    assert record.extraction is not None
    assert len(record.extraction.source_digest) == 64
    assert record.extractor is None


@pytest.mark.parametrize(
    ("content_type", "body", "text"),
    [
        ("text/plain", "﻿one\r\ntwo ä".encode(), "﻿one\r\ntwo ä"),
        ("text/plain; charset=iso-8859-1", "Straße".encode("cp1252"), "Straße"),
        ("text/markdown", b"# Head\n\ntext", "# Head\n\ntext"),
        ("", b"<!DOCTYPE html><p>needle", "needle"),
        ("", b"just words", "just words"),
    ],
)
def test_the_snapshot_is_letter_for_letter_the_indexed_text(
    tmp_path: Path, content_type: str, body: bytes, text: str
) -> None:
    index = tmp_path / "index"
    with web_collection(index, {URL: ScriptedPage(body, content_type)}) as kb:
        assert kb.ingest(URL).failed == ()
        (record,) = kb.get_document_records()
        assert all(each.verification for each in kb.verify_all())
    assert (index / "default.snapshots" / record.document_id).read_bytes() == text.encode()


def test_an_unchanged_page_writes_nothing(tmp_path: Path) -> None:
    index, pages = tmp_path / "index", {URL: page("Some tide.", etag='"1"'), OTHER: page("Some rock.")}
    with web_collection(index, pages) as kb:
        kb.ingest([URL, OTHER])
        generation = kb.status().generation
    before = _files(index)
    fetchers: list[ScriptedFetcher] = []
    with web_collection(index, pages, fetchers) as kb:
        assert kb.ingest([URL, OTHER]).unchanged == 2
        assert kb.status().generation == generation
    assert _files(index) == before
    validators = {each.url.source: each.validators for begun in fetchers for each in begun.requests}
    assert validators[URL] is not None
    assert validators[URL].etag == '"1"'
    assert validators[OTHER] is None


def _files(index: Path) -> dict[str, tuple[int, int]]:
    return {
        str(each.relative_to(index)): (each.stat().st_mtime_ns, each.stat().st_size)
        for each in index.rglob("*")
        if each.is_file() and not each.name.endswith(("-wal", "-shm", ".lock"))
    }


def test_a_changed_page_replaces_its_snapshot_and_old_citations_miss_theirs(tmp_path: Path) -> None:
    index, pages = tmp_path / "index", {URL: page("The ferry leaves at noon.")}
    with web_collection(index, pages) as kb:
        kb.ingest(URL)
        (old,) = kb.search("ferry")
        before = snapshots(index)
        pages[URL] = page("The ferry leaves at one.")
        assert kb.ingest(URL).updated == 1
        assert at_rest(index)
        assert not snapshots(index) & before
        assert kb.verify(old.citation).reason is Reason.SNAPSHOT_MISSING
        (new,) = kb.search("ferry", verify=True)
        assert new.verification


def test_a_new_header_with_the_same_text_is_rebound_without_a_chunk(tmp_path: Path) -> None:
    index, pages = tmp_path / "index", {URL: ScriptedPage(b"<p>Same <!-- 1 -->words", etag='"1"')}
    with web_collection(index, pages) as kb:
        kb.ingest(URL)
        pages[URL] = ScriptedPage(b"<p>Same <!-- 2 -->words", etag='"2"')
        report = kb.ingest(URL)
        assert (report.rebound, report.chunks) == (1, 0)
        (record,) = kb.get_document_records()
        assert record.fetch is not None
        assert record.fetch.etag == '"2"'
    assert at_rest(index)


@pytest.mark.parametrize("damage", ["missing", "altered", "link"])
def test_a_snapshot_that_is_not_whole_is_not_kept_by_a_304(tmp_path: Path, damage: str) -> None:
    index, pages = tmp_path / "index", {URL: page("The ferry leaves at noon.", etag='"1"')}
    fetchers: list[ScriptedFetcher] = []
    with web_collection(index, pages, fetchers) as kb:
        kb.ingest(URL)
        (name,) = snapshots(index)
        path = index / "default.snapshots" / name
        path.unlink()
        if damage == "altered":
            path.write_text("something else")
        if damage == "link":
            (tmp_path / "elsewhere").write_text("outside")
            path.symlink_to(tmp_path / "elsewhere")
        assert not all(each.verification for each in kb.verify_all())
        assert kb.ingest(URL).rebound == 1
        assert fetchers[-1].requests[0].validators is None
        assert all(each.verification for each in kb.verify_all())
        assert kb.doctor().healthy
    assert at_rest(index)
    if damage == "link":
        assert (tmp_path / "elsewhere").read_text() == "outside"


def test_what_is_wrong_with_a_snapshot_is_said(tmp_path: Path) -> None:
    index = tmp_path / "index"
    with web_collection(index, {URL: page("The ferry leaves at noon. " * 40)}) as kb:
        kb.ingest(URL)
        (name,) = snapshots(index)
        path, citation = index / "default.snapshots" / name, next(kb.citations())
        whole = path.read_text()
        path.write_text(whole.replace("noon", "nine", 1))
        altered = kb.verify(citation)
        assert (altered.verdict, altered.reason) == (Verdict.DRIFTED, Reason.EDITED)
        assert altered.detail.startswith("local snapshot altered")
        path.write_text("")
        assert kb.verify(citation).verdict is Verdict.DRIFTED
        path.write_bytes(b"\xff\xfe")
        assert kb.verify(citation).reason is Reason.SNAPSHOT_CORRUPT
        path.unlink()
        assert kb.verify(citation).reason is Reason.SNAPSHOT_MISSING
        path.mkdir()
        assert kb.verify(citation).reason is Reason.SNAPSHOT_CORRUPT
        path.rmdir()
        os.mkfifo(path)
        assert kb.verify(citation).reason is Reason.SNAPSHOT_CORRUPT
        path.unlink()
        (tmp_path / "copy").write_text(whole)
        path.symlink_to(tmp_path / "copy")
        assert kb.verify(citation).reason is Reason.SNAPSHOT_CORRUPT
        path.unlink()
        (index / "default.snapshots").rename(tmp_path / "moved")
        (index / "default.snapshots").symlink_to(tmp_path / "moved")
        assert kb.verify(citation).verdict is Verdict.UNRESOLVABLE


@pytest.mark.parametrize("document_id", ["", ".", "..", "../default.sqlite3", "a/b", "a\0b", "/etc/passwd", "x" * 300])
def test_a_citation_cannot_lead_out_of_the_snapshots(tmp_path: Path, document_id: str) -> None:
    index = tmp_path / "index"
    with web_collection(index, {URL: page("The ferry leaves at noon.")}) as kb:
        kb.ingest(URL)
        forged = evolve(next(kb.citations()), document_id=document_id)
        assert kb.verify(forged).verdict is Verdict.UNRESOLVABLE
        assert groundkit.verify_citation(forged, snapshot_dir=index / "default.snapshots").reason is (
            Reason.SNAPSHOT_MISSING
        )


def test_a_failed_fetch_keeps_the_last_good_version_and_stops_nothing(tmp_path: Path) -> None:
    index = tmp_path / "index"
    pages = {URL: page("The ferry leaves at noon."), OTHER: page("Some rock.")}
    with web_collection(index, pages) as kb:
        kb.ingest([URL, OTHER])
        pages[URL] = FetchFailed(FetchProblem.TIME, "it took longer than 30 s")
        pages[OTHER] = page("Some lamp.")
        report = kb.ingest([URL, OTHER, "https://c.example/missing"])
        assert [(each.source, each.reason) for each in report.failed] == [
            (URL, "time"),
            ("https://c.example/missing", "status"),
        ]
        assert report.updated == 1
        assert kb.search("ferry")
        assert [each.source for each in kb.status().failures] == [URL, "https://c.example/missing"]
        pages[URL] = page("The ferry leaves at noon.")
        assert kb.ingest(URL).failed == ()
        assert [each.source for each in kb.status().failures] == ["https://c.example/missing"]
    assert at_rest(index)


def test_local_ingests_leave_pages_and_their_failures_alone(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Some lamp.")
    index, pages = tmp_path / "index", {URL: page("Some tide.")}
    with web_collection(index, pages, base=tmp_path) as kb:
        kb.ingest([URL, OTHER])
        kb.ingest("")
        assert {each.source for each in kb.get_document_records()} == {"a.md", URL}
        assert [each.source for each in kb.status().failures] == [OTHER]
        kb.remove("a.md")
        assert {each.source for each in kb.get_document_records()} == {URL}
    assert at_rest(index)


def test_pages_alone_set_no_base(tmp_path: Path) -> None:
    with web_collection(tmp_path / "index", {URL: page("Some tide.")}, base=tmp_path) as kb:
        kb.ingest(URL)
        assert kb.status().base is None


def test_removing_and_dropping_take_the_files_along(tmp_path: Path) -> None:
    index = tmp_path / "index"
    with web_collection(index, {URL: page("Some tide."), OTHER: page("Some rock.")}) as kb:
        kb.ingest([URL, OTHER], keep_bodies=True)
        assert len(snapshots(index)) == len(bodies(index)) == 2
        assert kb.remove("https://a.example").unknown == ("https://a.example",)
        assert kb.remove(URL).removed == (URL,)
        assert at_rest(index)
        assert len(snapshots(index)) == len(bodies(index)) == 1
        kb.drop()
    assert {each.name for each in index.iterdir()} == {"default.lock"}


def test_a_kept_body_lives_as_long_as_its_row_names_it(tmp_path: Path) -> None:
    index, pages = tmp_path / "index", {URL: page("Some tide.", etag='"1"')}
    with web_collection(index, pages) as kb:
        kb.ingest(URL)
        assert bodies(index) == set()
        assert kb.ingest(URL, keep_bodies=True).rebound == 1
        assert at_rest(index)
        first = bodies(index)
        assert len(first) == 1
        assert kb.ingest(URL, keep_bodies=True).unchanged == 1
        assert kb.ingest(URL).unchanged == 1
        assert bodies(index) == first
        pages[URL] = page("Some other tide.", etag='"2"')
        kb.ingest(URL, keep_bodies=True)
        assert len(bodies(index)) == 1
        assert bodies(index) != first
        assert kb.doctor().healthy
        pages[URL] = page("A third tide.", etag='"3"')
        kb.ingest(URL)
        assert bodies(index) == set()
    assert at_rest(index)


def test_other_chunk_sizes_fetch_every_page_anew(tmp_path: Path) -> None:
    text = "\n".join(f"The ferry number {number} leaves at noon." for number in range(40))
    index, pages = tmp_path / "index", {URL: page(text, etag='"1"'), OTHER: page("Some rock.")}
    with web_collection(index, pages) as kb:
        kb.ingest([URL, OTHER])
        assert kb.ingest(OTHER, chunk_size=200).failed == ()
        cut = [each.span for each in kb.citations(URL)]
        assert at_rest(index)
        kb.ingest([URL, OTHER])
        assert [each.span for each in kb.citations(URL)] == cut
    with web_collection(tmp_path / "fresh", pages) as fresh:
        fresh.ingest([URL, OTHER], chunk_size=200)
        assert [each.span for each in fresh.citations(URL)] == cut


def test_the_doctor_finds_and_mends_what_is_wrong_with_the_files(tmp_path: Path) -> None:
    index = tmp_path / "index"
    with web_collection(index, {URL: page("Some tide."), OTHER: page("Some rock.")}) as kb:
        kb.ingest([URL, OTHER], keep_bodies=True)
        one, other = sorted(snapshots(index))
        directory = index / "default.snapshots"
        (directory / one).unlink()
        (directory / other).write_text("altered")
        (directory / ("0" * 32)).write_text("litter")
        (directory / ".new-0123456789abcdef").write_text("unfinished")
        (directory / "notes.txt").write_text("somebody's")
        found = kb.doctor()
        assert len([each for each in found.findings if each.repairable]) == 4
        assert len([each for each in found.findings if not each.repairable]) == 1
        # Litter is swept at once; a snapshot is written again only by a repair.
        assert snapshots(index) == {other, "notes.txt"}
        assert len(kb.doctor().findings) == 3
        mended = kb.doctor(repair_index=True)
        assert [each.subject for each in mended.findings] == ["notes.txt"]
        assert all(each.verification for each in kb.verify_all())
        (directory / "notes.txt").unlink()
        (body, _) = sorted(bodies(index))
        (index / "default.bodies" / body).write_bytes(b"altered")
        assert [each.area.value for each in kb.doctor().findings] == ["snapshot"]


def test_a_page_that_is_incomplete_or_suspicious_says_so(tmp_path: Path) -> None:
    with web_collection(
        tmp_path / "index", {URL: ScriptedPage(b"<title>Page not found</title><p>404 Not found")}
    ) as kb:
        report = kb.ingest(URL)
        assert [each.source for each in report.suspicious] == [URL]
        assert [each.source for each in kb.status().suspicious] == [URL]


SECRETS = ("hunter2", "s3cr3t-value", "ghp_" + "a1B2" * 9)
REFUSED = [
    f"https://user:{SECRETS[0]}@a.example/page",
    f"https://a.example/page?x=1&access_token={SECRETS[1]}",
    f"https://a.example/page?next=%2Fcb%3Ftoken%3D{SECRETS[1]}",
    f"https://a.example/{SECRETS[2]}/page",
    f"https://a.example/page#token={SECRETS[1]}",
]


@pytest.mark.parametrize("url", REFUSED)
def test_no_secret_of_a_url_comes_to_light(tmp_path: Path, url: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    index = tmp_path / "index"
    with web_collection(index, {OTHER: page("Some rock.")}) as kb:
        report = kb.ingest([url, OTHER])
        (failed,) = report.failed
        told = [str(failed), repr(failed), failed.source, failed.detail, repr(kb.status()), caplog.text]
        removed = kb.remove(url)
        assert removed.removed == ()
        with pytest.raises(groundkit.IngestionError) as raised:
            kb.ingest(url, strict=True)
        told += [str(raised.value), repr(raised.value), repr(raised.value.failure)]
        told.append(json.dumps([repr(each) for each in kb.get_document_records()]))
    told += [each.read_bytes().decode("latin-1") for each in index.rglob("*") if each.is_file()]
    assert not [secret for secret in SECRETS for text in told if secret in text]


def test_refused_urls_alone_make_no_collection(tmp_path: Path) -> None:
    with web_collection(tmp_path / "index", {}) as kb:
        assert len(kb.ingest(REFUSED).failed) == len(REFUSED)
    assert not (tmp_path / "index").exists()


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://a.example/x", "http:/a.example", "data:text/html,<p>x"])
def test_a_url_never_reaches_a_path(tmp_path: Path, url: str) -> None:
    with web_collection(tmp_path / "index", {}, base=tmp_path) as kb:
        (failed,) = kb.ingest(url).failed
        assert isinstance(failed.error, groundkit.UrlRefused)
        for asked in (kb.walk, lambda each: kb.explain(each[0])):
            with pytest.raises(groundkit.ConfigurationError):
                asked([url])


def test_a_check_says_what_would_be_and_writes_nothing(tmp_path: Path) -> None:
    index, pages = tmp_path / "index", {URL: page("Some tide.")}
    with web_collection(index, pages) as kb:
        assert kb.ingest(URL, check=True).added == 1
        assert not index.exists()
        kb.ingest(URL)
        before = _files(index)
        pages[URL] = page("Some other tide.")
        assert kb.ingest(URL, check=True).updated == 1
        assert snapshots(index) == {name.rpartition("/")[2] for name in before if "snapshots" in name}


def test_a_url_is_ingested_once_however_often_it_is_given(tmp_path: Path) -> None:
    fetchers: list[ScriptedFetcher] = []
    with web_collection(tmp_path / "index", {URL: page("Some tide.")}, fetchers) as kb:
        assert kb.ingest([URL, URL]).added == 1
    assert sum(each.fetches(URL) for each in fetchers) == 1


def test_what_the_live_page_says_is_told_beside_the_verdict(tmp_path: Path) -> None:
    first = "The ferry to the northern islands leaves at noon on every day but Sunday."
    pages = {URL: page(first)}
    with web_collection(tmp_path / "index", pages) as kb:
        kb.ingest(URL)
        cited = list(kb.citations())
        told = []
        for now in (
            page(first),
            page(f"New at the top of this page.\n{first}"),
            page("Nothing of the kind at all."),
            None,
        ):
            if now is None:
                del pages[URL]
            else:
                pages[URL] = now
            (live,) = kb.live_each(cited)
            assert live is not None
            told.append(live.state.value)
            assert kb.verify(cited[0])
        assert told[0] == "same"
        assert told[2:] == ["removed", "unreachable"]
        assert told[1] in ("moved", "edited")


def test_a_passage_is_followed_to_where_today_s_page_has_it(tmp_path: Path) -> None:
    topics = ("tide", "moon", "rock", "lamp", "harbour", "granite", "keeper", "mercury")
    parts = [" ".join(f"{topic}{number}" for number in range(50)) for topic in topics]
    pages = {URL: page("\n".join(parts))}
    with web_collection(tmp_path / "index", pages) as kb:
        kb.ingest(URL, chunk_size=500)
        cited = {topic: kb.search(f"{topic}30")[0].citation for topic in topics}
        now = [
            parts[0],
            "Quite a new paragraph stands here.",
            *parts[1:5],
            parts[5].replace("granite7", "marble"),
            parts[7],
        ]
        pages[URL] = page("\n".join(now))
        lives = dict(zip(cited, kb.live_each(cited.values()), strict=True))
        told = {topic: live.state.value for topic, live in lives.items() if live is not None}
        assert {topic: told[topic] for topic in topics[1:]} == {
            **dict.fromkeys(("moon", "rock", "lamp", "harbour", "mercury"), "moved"),
            "granite": "edited",
            "keeper": "removed",
        }
        assert lives["granite"] is not None
        assert "marble" in lives["granite"].detail
        assert lives["granite"].text.strip() == now[6]
        assert lives["moon"] is not None
        assert lives["moon"].text.strip() == parts[1]
        assert all(each.verification for each in kb.verify_all())


def test_pages_and_files_of_one_collection_answer_together(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Some lamp by the sea.")
    with web_collection(tmp_path / "index", {URL: page("Some tide in the sea.")}, base=tmp_path) as kb:
        report = kb.ingest(["a.md", URL])
        assert report.added == 2
        hits = kb.search("sea", verify=True)
        assert {each.source for each in hits} == {"a.md", URL}
        assert all(each.verification for each in hits)


def test_without_what_makes_warc_files_keeping_bodies_is_refused(tmp_path: Path) -> None:
    from groundkit.core.ports import NoArchive
    from groundkit.core.result import Failure

    index = tmp_path / "index"
    ports = evolve(
        web_ports(index, {URL: page("x")}), archive=lambda: Failure(NoArchive("pip install 'groundkit[warc]'"))
    )
    with Collection(ports, index, "default", None) as kb, pytest.raises(groundkit.ConfigurationError, match="warc"):
        kb.ingest(URL, keep_bodies=True)


def test_removing_a_page_that_never_came_forgets_that_it_failed(tmp_path: Path) -> None:
    with web_collection(tmp_path / "index", {URL: page("Some tide.")}) as kb:
        kb.ingest([URL, OTHER])
        removed = kb.remove(OTHER)
        assert (removed.removed, removed.unknown, removed.forgotten) == ((), (), (OTHER,))
        assert kb.status().failures == ()
        assert kb.remove(OTHER).unknown == (OTHER,)


def test_hosts_take_turns() -> None:
    from groundkit.core.fetching import FetchLimits, FetchRequest
    from groundkit.core.urls import web_url
    from groundkit.fetches import by_turns

    urls = [
        "https://a.example/1",
        "https://a.example/2",
        "https://a.example/3",
        "https://b.example/1",
        "https://c.example/",
    ]
    turns = by_turns([FetchRequest(web_url(each).unwrap(), FetchLimits(1, 1)) for each in urls])
    assert [each.url.source for each in turns] == [urls[0], urls[3], urls[4], urls[1], urls[2]]


def test_a_new_entity_tag_of_the_same_body_is_noted_so_that_it_can_be_asked_for(tmp_path: Path) -> None:
    pages = {URL: page("Some tide.", etag='"1"')}
    fetchers: list[ScriptedFetcher] = []
    with web_collection(tmp_path / "index", pages, fetchers) as kb:
        kb.ingest(URL)
        pages[URL] = page("Some tide.", etag='"2"')
        assert kb.ingest(URL).rebound == 1
        assert kb.ingest(URL).unchanged == 1
    validators = fetchers[-1].requests[0].validators
    assert validators is not None
    assert validators.etag == '"2"'


def test_a_redirect_is_judged_by_the_ports_of_the_collection(tmp_path: Path) -> None:
    moved = ScriptedPage(status=301, location="https://a.example:8443/new")
    with web_collection(tmp_path / "index", {"http://a.example/": moved}) as kb:
        (failed,) = kb.ingest("http://a.example/").failed
        assert "would be refused" in failed.detail
        (failed,) = kb.ingest("http://a.example/", fetch_ports=[80, 8443]).failed
        assert "ingest that URL itself" in failed.detail


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<!doctype html><title>App</title><div id=root></div><script src=/app.js></script>", "a script may make"),
        (b"<!doctype html><meta http-equiv=refresh content='0;url=/login?next=/'>", "on to a login page"),
        (b"", ""),
    ],
)
def test_a_page_without_text_fails_with_what_may_be_the_reason(tmp_path: Path, body: bytes, said: str) -> None:
    pages = {URL: page("Some tide."), OTHER: ScriptedPage(body)}
    with web_collection(tmp_path / "index", pages) as kb:
        kb.ingest(URL)
        pages[URL] = ScriptedPage(body)
        report = kb.ingest([URL, OTHER])
        assert [(each.source, each.reason) for each in report.failed] == [(URL, "no_text"), (OTHER, "no_text")]
        assert all(said in each.detail for each in report.failed)
        assert all(said in each.detail for each in kb.status().failures)
        # The last good version stays.
        assert [each.source for each in kb.search("tide", verify=True) if each.verification] == [URL]
