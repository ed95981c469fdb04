"""What became of a passage: every reason of a drift as `gk verify --format json` tells it, for files, extracted files and pages."""

import json
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from commands import Ran, gk
from extracted_support import opened as opened_with
from extracted_support import world
from integration.support import INDEX, opened, put
from pdf_builder import pdf
from web_support import page, web_collection

import groundkit
from groundkit import Citation, Reason
from groundkit.core.model import Span
from groundkit.core.portable import PortableCitation
from groundkit.portable_json import citation_data
from groundkit.testing.sample_extractors import Lines

Paragraphs = list[str]
NEW = "Something new stands here."
SMALL = {"chunk_size": 130, "chunk_overlap": 0}
#: The paragraph that is cited.
CITED = 5


def paragraph(name: str, n: int) -> str:
    return f"Of {name} it is said in part {n} that tower {n * 17} burns for {n + 3} hours and na\u00efve keeper {n * 31} looks on."


def paragraphs(name: str) -> Paragraphs:
    return [paragraph(name, n) for n in range(12)]


def _other(change: Callable[[str], str]) -> Callable[[Paragraphs], Paragraphs]:
    return lambda given: [change(each) if at == CITED else each for at, each in enumerate(given)]


def _marked(text: str, mark: str) -> str:
    return text.replace("burns", mark)


def _down(given: Paragraphs, to: int) -> Paragraphs:
    return [*given[:CITED], *given[CITED + 1 : to], given[CITED], *given[to:]]


def _twice(given: Paragraphs) -> Paragraphs:
    """The passage is gone, and there are two that are as like it as each other."""
    without, cited = given[:CITED] + given[CITED + 1 :], given[CITED]
    return [*without[:2], _marked(cited, "glows"), *without[2:9], _marked(cited, "gleams"), *without[9:]]


#: What is done to a document, by the reason that its citation drifts for.
EDITS: Mapping[str, tuple[Reason, Callable[[Paragraphs], Paragraphs]]] = {
    "text before": (Reason.MOVED, lambda given: [NEW, *given]),
    "further down": (Reason.MOVED, lambda given: _down(given, len(given) - 1)),
    # There, one line break is not behind it any more.
    "to the very end": (Reason.REFORMATTED, lambda given: _down(given, len(given))),
    "capitals": (Reason.REFORMATTED, _other(str.upper)),
    "letter forms": (Reason.REFORMATTED, _other(lambda each: unicodedata.normalize("NFD", each))),
    "other words": (Reason.EDITED, _other(lambda each: _marked(each, "glows"))),
    "moved, too": (Reason.EDITED, lambda given: [NEW, *_other(lambda each: _marked(each, "glows"))(given)]),
    "two alike": (Reason.AMBIGUOUS, _twice),
    "deleted": (Reason.REMOVED, lambda given: given[:CITED] + given[CITED + 1 :]),
    "cut off": (Reason.REMOVED, lambda given: given[:CITED]),
}  # fmt: skip
#: Those that only a text has, whose line breaks are its own.
BREAKS: Mapping[str, tuple[Reason, Callable[[Paragraphs], Paragraphs]]] = {
    "wrapped": (Reason.REFORMATTED, _other(lambda each: each.replace(" burns", "\nburns").replace(" and", "\n  and"))),
    "emptied": (Reason.REMOVED, lambda _: [""]),
}
ALL = {**EDITS, **BREAKS}
#: What a PDF says has another text for every line, so a few are enough.
OF_PDF = ("text before", "other words", "deleted")


def as_text(given: Paragraphs) -> str:
    return "\n\n".join(given) + "\n"


def as_html(given: Paragraphs) -> str:
    return f"<!doctype html><title>Towers</title>{''.join(f'<p>{each}</p>' for each in given)}"


def as_pdf(given: Paragraphs) -> bytes:
    return pdf(["\n".join(given)])


def name_of(edit: str) -> str:
    return edit.replace(" ", "-").replace(",", "")


def files(edits: bool) -> dict[str, bytes | str]:
    """A file for every edit and kind, before or after it."""
    made: dict[str, bytes | str] = {}
    for edit, (_, change) in ALL.items():
        kinds: dict[str, Callable[[Paragraphs], bytes | str]] = {"md": as_text}
        kinds |= {"html": as_html} if edit in EDITS else {}
        kinds |= {"pdf": as_pdf} if edit in OF_PDF else {}
        for kind, render in kinds.items():
            source = f"{name_of(edit)}.{kind}"
            given = paragraphs(source.replace(".", "-"))
            made[source] = render(change(given) if edits else given)
    return made


@frozen
class Seen:
    """What one run of `gk verify --all` said of the cited passages, by source."""

    ran: Ran
    data: dict[str, Any]
    rows: dict[str, dict[str, Any]]

    def verification(self, source: str) -> dict[str, Any]:
        found: dict[str, Any] = self.rows[source]["verification"]
        return found


def seen(base: Path, cited: Mapping[str, str]) -> Seen:
    ran = gk(base, "verify", "--all", "--format", "json")
    data = json.loads(ran.out)
    sources = {chunk: source for source, chunk in cited.items()}
    rows = {sources[row["chunk_id"]]: row for row in data["checked"] if row["chunk_id"] in sources}
    assert set(rows) == set(cited)
    return Seen(ran, data, rows)


def cited_chunks(kb: groundkit.Collection) -> dict[str, str]:
    """The chunk with the cited paragraph of every source."""
    found = {}
    for each in kb.citations():
        chunk = kb.fetch_chunk(each.chunk_id).chunk
        if chunk is not None and f"in part {CITED} " in " ".join(chunk.text.split()):
            found.setdefault(each.source, each.chunk_id)
    return found


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Seen]]:
    """A collection of files of every kind, all edited since."""
    base = tmp_path_factory.mktemp("local")
    with world(base, files(edits=False), **SMALL) as kb:
        cited = cited_chunks(kb)
    put(base, files(edits=True))
    yield base, seen(base, cited)


@pytest.mark.parametrize("edit", ALL)
def test_the_reason_of_a_text(local: tuple[Path, Seen], edit: str) -> None:
    told, source = local[1].verification(f"{name_of(edit)}.md"), f"{name_of(edit)}.md"
    reason = ALL[edit][0]
    assert (told["verdict"], told["reason"]) == ("drifted", reason.value)
    now = (local[0] / source).read_bytes().decode()
    fits(told, reason, now)
    line = told.get("locator")
    if line is not None:
        start = told["span"]["start"]
        assert line == {"line": now.count("\n", 0, start) + 1, "column": start - now.rfind("\n", 0, start)}


#: What a verification has beside verdict, reason and detail.
MORE: Mapping[Reason, set[str]] = {
    Reason.MOVED: {"span", "locator", "cited", "found"},
    Reason.REFORMATTED: {"span", "locator", "cited", "found", "diff"},
    Reason.EDITED: {"span", "locator", "cited", "found", "diff", "similarity"},
    Reason.AMBIGUOUS: {"candidates", "cited"},
    Reason.REMOVED: {"cited"},
    Reason.CHANGED: {"cited"},
}


def fits(told: dict[str, Any], reason: Reason, now: str | None) -> None:
    """The keys that the reason has, with values that agree with each other and with today's text, where that is known."""
    assert told.keys() == {"verdict", "reason", "detail", "context_changed"} | MORE[reason]
    assert told["context_changed"] is False
    assert f"in part {CITED} " in " ".join(told["cited"].split())
    if "span" in told:
        assert told["span"].keys() == {"start", "end"}
        assert len(told["found"]) == told["span"]["end"] - told["span"]["start"]
        assert now is None or now[told["span"]["start"] : told["span"]["end"]] == told["found"]
        assert (told["found"] == told["cited"]) == (reason is Reason.MOVED)
    if "diff" in told:
        parts = [(part["change"], part["text"]) for part in told["diff"]]
        assert "".join(text for change, text in parts if change != "added") == told["cited"]
        assert "".join(text for change, text in parts if change != "removed") == told["found"]
    if "similarity" in told:
        assert 0.4 <= told["similarity"] < 1
    if "candidates" in told:
        places = [(each["start"], each["end"]) for each in told["candidates"]]
        assert places == sorted(places)
        assert len(places) > 1
        if now is not None:
            assert all(f"in part {CITED} " in now[start:end] for start, end in places)


@pytest.mark.parametrize("edit", EDITS)
def test_the_reason_of_an_html_file(local: tuple[Path, Seen], edit: str) -> None:
    told = local[1].verification(f"{name_of(edit)}.html")
    assert (told["verdict"], told["reason"]) == ("drifted", EDITS[edit][0].value)
    fits(told, EDITS[edit][0], None)


@pytest.mark.parametrize("edit", OF_PDF)
def test_the_reason_of_a_pdf(local: tuple[Path, Seen], edit: str) -> None:
    told = local[1].verification(f"{name_of(edit)}.pdf")
    assert (told["verdict"], told["reason"]) == ("drifted", EDITS[edit][0].value)
    fits(told, EDITS[edit][0], None)


def test_what_is_counted_is_what_was_checked_and_one_drift_is_exit_code_1(local: tuple[Path, Seen]) -> None:
    ran, data = local[1].ran, local[1].data
    assert (ran.code, ran.err) == (1, "")
    assert data.keys() == {"schema", "totals", "checked"}
    verdicts = [row["verification"]["verdict"] for row in data["checked"]]
    assert data["totals"] == {each: verdicts.count(each) for each in ("verified", "drifted", "unresolvable")}
    assert all(row.keys() == {"chunk_id", "citation", "verification"} for row in data["checked"])
    order = [(row["citation"]["source"], row["citation"]["start"]) for row in data["checked"]]
    assert order == sorted(order)


def test_a_person_reads_the_reason_the_new_place_and_the_words(local: tuple[Path, Seen]) -> None:
    base, found = local
    chunk = found.rows["moved-too.md"]["chunk_id"]
    ran = gk(base, "verify", chunk)
    now = found.verification("moved-too.md")["locator"]
    was = found.rows["moved-too.md"]["citation"]["locator"]
    first, words, reasons, totals = ran.out.splitlines()
    assert ran.code == 1
    assert first.startswith("≠ drifted (edited)")
    assert f"moved-too.md:{was['line']}:{was['column']} → {now['line']}:{now['column']} {chunk}" in first
    assert "% alike, at " in words
    assert "[-burns-]{+glows+}" in words
    assert reasons == "reasons: edited 1"
    assert totals == "verified 0, drifted 1, unresolvable 0"


def test_html_that_is_only_wrapped_otherwise_says_the_same(tmp_path: Path) -> None:
    given = as_html(paragraphs("x"))
    with world(tmp_path, {"a.html": given}, **SMALL) as kb:
        put(tmp_path, {"a.html": given.replace(" burns", "\n\n   burns").replace("<p>", "\n<p >\n")})
        assert {each.verification.reason for each in kb.verify_all()} == {Reason.SAME}


def one_by_one(base: Path, kind: str) -> tuple[dict[str, tuple[Reason, str]], list[Citation], list[PortableCitation]]:
    """A file for every edit, each edited; by source the reason and today's text, and what was cited before."""
    sources = {f"{name_of(edit)}.{kind}": change for edit, change in ALL.items()}
    made: dict[str, bytes | str] = {source: as_text(paragraphs(source)) for source in sources}
    with world(base, made, Lines(), **SMALL) as kb:
        chunks = (kb.fetch_chunk(chunk).citation for chunk in cited_chunks(kb).values())
        citations = [each for each in chunks if each is not None]
        travelled = list(kb.portable_each(citations))
    now = {source: (reason, as_text(change(paragraphs(source)))) for source, (reason, change) in sources.items()}
    put(base, {source: text for source, (_, text) in now.items()})
    return now, citations, travelled


def test_the_reasons_of_files_that_an_extractor_of_ones_own_reads(tmp_path: Path) -> None:
    now, citations, _ = one_by_one(tmp_path, "x")
    with opened_with(tmp_path, Lines()) as kb:
        for each in kb.verify_each(citations):
            (reason, text), told = now[each.citation.source], each.verification
            assert told.reason is reason, each.citation.source
            assert told.span is None or text[told.span.start : told.span.end] == told.found


URL = "http://towers.example/{}"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    """A collection of pages, whose snapshots were all changed by hand."""
    base = tmp_path_factory.mktemp("pages")
    served = {URL.format(name_of(edit)): page("\n".join(paragraphs(name_of(edit)))) for edit in ALL}
    with web_collection(base / INDEX, served) as kb:  # type: ignore[arg-type]  # the pages of a twin
        assert kb.ingest(list(served), **SMALL).failed == ()  # type: ignore[arg-type]  # settings by name
        cited = cited_chunks(kb)
        where = groundkit.snapshot_dir_for(base / INDEX, "default")
        for edit, (_, change) in ALL.items():
            (record,) = kb.get_document_records(URL.format(name_of(edit)))
            path = groundkit.snapshot_path_for(where, record.document_id)
            text = path.read_bytes().decode()
            begin = text.index("Of ")
            changed = as_text(change(text[begin:].rstrip("\n").split("\n\n")))
            path.chmod(0o600)
            path.write_bytes((text[:begin] + changed if edit != "emptied" else "").encode())
    yield seen(base, cited)


@pytest.mark.parametrize("edit", ALL)
def test_the_reason_of_a_page_is_that_its_snapshot_was_altered(pages: Seen, edit: str) -> None:
    told = pages.verification(URL.format(name_of(edit)))
    assert (told["verdict"], told["reason"]) == ("drifted", ALL[edit][0].value)
    assert told["detail"].startswith("local snapshot altered: ")
    fits(told, ALL[edit][0], None)


# Without the text that was ingested


def test_without_the_ingested_text_it_is_moved_where_its_neighbours_are_and_else_changed(tmp_path: Path) -> None:
    now, citations, travelled = one_by_one(tmp_path, "md")
    alone = groundkit.verify_each(citations, base=tmp_path)
    for kept, brought in zip(alone, groundkit.verify_each(travelled, base=tmp_path), strict=True):
        source = kept.citation.source
        for told in (kept.verification, brought.verification):
            # Further down its neighbours are others.
            moved = now[source][0] is Reason.MOVED and not source.startswith("further")
            assert told.reason is (Reason.MOVED if moved else Reason.CHANGED)
            assert told.span == (moved_by(kept.citation.span, f"{NEW}\n\n") if moved else None)


def moved_by(span: Span, before: str) -> Span:
    return Span(span.start + len(before), span.end + len(before))


def test_a_version_that_was_replaced_is_changed_for_its_text_went(tmp_path: Path) -> None:
    with world(tmp_path, {"a.md": as_text(paragraphs("x"))}, **SMALL) as kb:
        (chunk,) = cited_chunks(kb).values()
        citation = kb.fetch_chunk(chunk).citation
        assert citation is not None
        put(tmp_path, {"a.md": as_text(EDITS["other words"][1](paragraphs("x")))})
        assert kb.verify(citation).reason is Reason.EDITED
        kb.ingest("")
        told = kb.verify(citation)
        assert (told.reason, told.cited, told.found_in) == (Reason.CHANGED, None, None)


def test_a_file_of_citations_without_a_collection_says_changed(tmp_path: Path) -> None:
    with world(tmp_path / "in", {"a.md": as_text(paragraphs("x"))}, **SMALL) as kb:
        (chunk,) = cited_chunks(kb).values()
        citation = kb.fetch_chunk(chunk).citation
        assert citation is not None
        put(tmp_path, {"c.json": json.dumps(citation_data(kb.portable(citation)))})
    put(tmp_path, {"out/a.md": as_text(EDITS["other words"][1](paragraphs("x")))})
    ran = gk(tmp_path, "verify", "--file", "c.json", "--base-dir", "out", "--format", "json")
    assert ran.code == 1
    (row,) = json.loads(ran.out)["checked"]
    assert row["verification"]["reason"] == "changed"
    fits(row["verification"], Reason.CHANGED, None)
    assert "burns" in row["verification"]["detail"]
    assert "glows" in row["verification"]["detail"]


# Look-alikes


@pytest.mark.parametrize(
    "twin",
    [lambda each: each, lambda each: each.replace("tower", "turret"), lambda each: each.replace("hours", "nights")],
    ids=["exact", "a word", "another word"],
)
@pytest.mark.parametrize("at", [0, 4, 10])
def test_a_deleted_passage_whose_look_alike_stood_there_before_is_removed(
    tmp_path: Path, twin: Callable[[str], str], at: int
) -> None:
    given = paragraphs("x")
    copies = [*given[: at + 1], twin(given[CITED]), *given[at + 1 :]]
    with world(tmp_path, {"a.md": as_text(copies)}, **SMALL) as kb:
        place = CITED + (at < CITED)
        start = as_text(copies[:place]).__len__() + 1
        (citation,) = (each for each in kb.citations() if each.start_offset == start)
        put(tmp_path, {"a.md": as_text(copies[:place] + copies[place + 1 :])})
        told = kb.verify(citation)
        assert (told.reason, told.span, told.found, told.candidates) == (Reason.REMOVED, None, None, ())


# Other scripts

SENTENCES: Mapping[str, tuple[str, str, str]] = {
    "Chinese": ("第{a}段说明灯塔{b}号每晚亮灯{c}小时,守塔人的编号为{d}。", "每晚亮灯", "整夜发光"),
    "Japanese": ("第{a}段によると、灯台{b}号は毎晩{c}時間点灯し、灯台守の番号は{d}である。", "毎晩", "雨の夜に"),
    "Korean": ("제{a}문단에 따르면 등대 {b}호는 매일 밤 {c}시간 동안 불을 밝히고 등대지기의 번호는 {d}이다.", "매일 밤", "비 오는 날"),
}  # fmt: skip


@pytest.mark.parametrize("language", SENTENCES)
def test_passages_of_other_scripts(tmp_path: Path, language: str) -> None:
    sentence, old, new = SENTENCES[language]
    given = [sentence.format(a=n, b=n * 17, c=n + 3, d=n * 31) for n in range(12)]
    with world(tmp_path, {"a.md": as_text(given)}, chunk_size=max(map(len, given)) + 4, chunk_overlap=0) as kb:
        start = len(as_text(given[:CITED])) + 1
        (citation,) = (each for each in kb.citations() if each.start_offset == start)
        moved = _down(given, len(given) - 1)
        edited = _other(lambda each: each.replace(old, new))(given)
        assert edited != given
        for now, reason in (
            (moved, Reason.MOVED),
            (edited, Reason.EDITED),
            ([given[0], *edited], Reason.EDITED),
            (given[:CITED] + given[CITED + 1 :], Reason.REMOVED),
        ):
            text = as_text(now)
            put(tmp_path, {"a.md": text})
            told = kb.verify(citation)
            assert told.reason is reason
            if told.span is not None:
                assert text[told.span.start : told.span.end] == told.found
                assert f"{CITED * 31}" in (told.found or "")
            if reason is Reason.EDITED:
                assert {part.text for part in told.diff if part.change.value == "added"} != set()


def test_a_passage_of_another_file_is_not_taken_for_the_edited_one(tmp_path: Path) -> None:
    """Files that are exchanged for each other drift, each of them by what stands in it now."""
    with world(tmp_path, {"a.md": as_text(paragraphs("one")), "b.md": as_text(paragraphs("two"))}, **SMALL) as kb:
        put(tmp_path, {"a.md": as_text(paragraphs("two")), "b.md": as_text(paragraphs("one"))})
        told = [each.verification for each in kb.verify_all()]
        assert {each.verdict.value for each in told} == {"drifted"}
        assert not {each.reason for each in told} & {Reason.SAME, Reason.MOVED, Reason.REFORMATTED}
        with opened(tmp_path) as again:
            assert [each.verification for each in again.verify_all()] == told
