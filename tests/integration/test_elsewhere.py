"""Where else a lost passage stands, and under which name a missing file lies now."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import evolve, frozen
from commands import gk
from extracted_support import opened, ports_at, with_ports, world
from integration.support import INDEX, put
from pdf_builder import pdf
from web_support import page, web_collection

import groundkit
from groundkit import Citation, Collection, Reason, Verdict
from groundkit.core.model import FoundIn, Span
from groundkit.core.ports import Ports, SourceReader
from groundkit.core.result import Result, Success
from groundkit.core.sources import ReadFailure, ReadSource
from groundkit.core.walking import Found, WalkRequest
from groundkit.portable_json import citation_data

SMALL = {"chunk_size": 120, "chunk_overlap": 0}
LOST = "The lamp of the northern tower was carried down to the harbour in the winter of that year."


def filler(name: str, count: int = 8) -> list[str]:
    return [
        f"Of {name} it is told in part {n} that rule {n * 37} holds where nothing else is written."
        for n in range(count)
    ]


def text(name: str, *more: str, count: int = 8) -> str:
    """Paragraphs about a name, with more of them in the middle."""
    given = filler(name, count)
    return "\n\n".join([*given[:3], *more, *given[3:]]) + "\n"


def html(name: str, *more: str) -> str:
    return f"<!doctype html><title>{name}</title>{''.join(f'<p>{each}</p>' for each in [*filler(name), *more])}"


def of_the_lost(kb: Collection, source: str = "a.md") -> Citation:
    (found,) = (each for each in kb.citations(source) if LOST in kb.resolve_citation(each))
    return found


def lose(base: Path) -> None:
    put(base, {"a.md": text("a")})


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return tmp_path / "docs"


@pytest.fixture
def kb(base: Path) -> Iterator[Collection]:
    """A file with the passage, and one without."""
    with world(base, {"a.md": text("a", LOST), "b.md": text("b")}, **SMALL) as made:
        yield made


@pytest.fixture
def cited(kb: Collection) -> Citation:
    return of_the_lost(kb)


# A passage in another document


def named(kb: Collection, citation: Citation) -> tuple[str, FoundIn | None]:
    told = kb.verify(citation)
    assert told.verdict is Verdict.DRIFTED
    assert (told.found_in is None) == ("stands letter for letter" not in told.detail)
    assert told.found_in is None or told.found_in.source in told.detail
    return told.reason.value, told.found_in


def place_in(kb: Collection, source: str, now: str) -> FoundIn:
    (record,) = kb.get_document_records(source)
    return FoundIn(source, record.document_id, Span(now.index(LOST), now.index(LOST) + len(LOST)))


def test_a_passage_that_was_cut_from_one_file_and_pasted_into_another(
    kb: Collection, base: Path, cited: Citation
) -> None:
    lose(base)
    assert named(kb, cited) == ("removed", None)
    pasted = text("b", "It has more before it now.", LOST)
    put(base, {"b.md": pasted})
    assert named(kb, cited) == ("removed", place_in(kb, "b.md", pasted))
    kb.ingest("b.md")
    assert named(kb, cited) == ("removed", place_in(kb, "b.md", pasted))
    kb.ingest("")
    # The version that was cited is gone, and with it what it said.
    assert named(kb, cited) == ("changed", None)


def test_a_citation_that_brings_its_text_along_finds_it_when_the_version_is_gone(
    kb: Collection, base: Path, cited: Citation
) -> None:
    travelled = kb.portable(cited)
    lose(base)
    pasted = text("b", LOST)
    put(base, {"b.md": pasted})
    kb.ingest("")
    told = kb.verify(travelled)
    assert (told.reason, told.found_in) == (Reason.CHANGED, place_in(kb, "b.md", pasted))


def test_as_json_and_for_a_person(kb: Collection, base: Path, cited: Citation) -> None:
    lose(base)
    pasted = text("b", LOST)
    put(base, {"b.md": pasted})
    ran = gk(base, "verify", cited.chunk_id, "--format", "json")
    (row,) = json.loads(ran.out)["checked"]
    place = place_in(kb, "b.md", pasted)
    assert ran.code == 1
    assert row["verification"]["found_in"] == {
        "source": "b.md",
        "document_id": place.document_id,
        "start": place.span.start,
        "end": place.span.end,
    }
    said = gk(base, "verify", cited.chunk_id).out
    assert f"it stands letter for letter in b.md at {place.span.start}–{place.span.end}" in said


@pytest.mark.parametrize(
    ("source", "content"),
    [("z.html", html("z", LOST)), ("z.pdf", pdf(["\n".join([*filler("z"), LOST])])), ("z.md", text("z", LOST))],
)
def test_in_a_document_of_another_kind_as_long_as_its_file_has_it(
    base: Path, source: str, content: bytes | str
) -> None:
    with world(base, {"a.md": text("a", LOST), source: content}, **SMALL) as kb:
        cited = of_the_lost(kb)
        lose(base)
        reason, found = named(kb, cited)
        assert reason == "removed"
        assert found is not None
        assert found.source == source
        assert found.span.length == len(LOST)
        other = kb.document_text(found.document_id)
        assert other is not None
        assert other[found.span.start : found.span.end] == LOST
        put(base, {source: html("z") if source == "z.html" else pdf(filler("z")) if source == "z.pdf" else text("z")})
        assert named(kb, cited) == ("removed", None)
        (base / source).unlink()
        assert named(kb, cited) == ("removed", None)


def test_in_the_snapshot_of_a_page(base: Path) -> None:
    url = "http://towers.example/"
    put(base, {"a.md": text("a", LOST)})
    with web_collection(base / INDEX, {url: page("\n".join([*filler("page"), LOST]))}, base=base) as kb:
        assert kb.ingest(["", url], **SMALL).failed == ()  # type: ignore[arg-type]  # settings by name
        cited = of_the_lost(kb)
        lose(base)
        reason, found = named(kb, cited)
        assert (reason, found and found.source) == ("removed", url)


def test_the_first_of_several_by_name(base: Path) -> None:
    files: dict[str, bytes | str] = {name: text(name, LOST) for name in ("a.md", "m.md", "c.md", "sub/c.md")}
    with world(base, files, **SMALL) as kb:
        cited = of_the_lost(kb)
        lose(base)
        _, found = named(kb, cited)
        assert found is not None
        assert found.source == "c.md"


def test_what_is_trivially_short_is_sought_nowhere(base: Path) -> None:
    short = "The lamp is lit."
    parts = [*filler("a", 3), short, *filler("aa", 3)]
    put(base, {"a.md": "\n\n".join(parts), "b.md": text("b", short)})
    with world(base, {"a.md": "\n\n".join(parts), "b.md": text("b", short)}, chunk_size=90, chunk_overlap=0) as kb:
        (cited,) = (each for each in kb.citations("a.md") if kb.resolve_citation(each).strip() == short)
        put(base, {"a.md": "\n\n".join([*filler("a", 3), *filler("aa", 3)])})
        assert named(kb, cited) == ("removed", None)


def test_never_the_same_source(base: Path) -> None:
    """A twin that stood in the file before is no other document."""
    given = [*filler("a", 3), LOST, *filler("aa", 3), LOST, *filler("aaa", 3)]
    with world(base, {"a.md": "\n\n".join(given) + "\n", "b.md": text("b")}, **SMALL) as kb:
        first = min(
            (each for each in kb.citations("a.md") if LOST in kb.resolve_citation(each)), key=lambda each: each.span
        )
        del given[3]
        put(base, {"a.md": "\n\n".join(given) + "\n"})
        assert named(kb, first) == ("removed", None)


def test_nothing_is_sought_for_what_stands_where_it_was_or_near(kb: Collection, base: Path, cited: Citation) -> None:
    put(base, {"b.md": text("b", LOST), "a.md": text("a", LOST.replace("carried", "brought"))})
    told = kb.verify(cited)
    assert (told.reason, told.found_in) == (Reason.EDITED, None)
    put(base, {"a.md": text("a", LOST)})
    assert kb.verify(cited).found_in is None


# The same bytes under another name


def same_bytes(kb: Collection, citation: Citation) -> str | None:
    told = kb.verify(citation)
    assert (told.verdict, told.reason) == (Verdict.UNRESOLVABLE, Reason.SOURCE_MISSING)
    assert (told.same_bytes_at is None) == ("the same bytes are at" not in told.detail)
    return told.same_bytes_at


@pytest.mark.parametrize("name", ["c.md", "sub/deep/a.md", "A.MD", "a.txt", "a.bak", "a", "\u00e4 b\u0301.md"])
def test_renamed(kb: Collection, base: Path, cited: Citation, name: str) -> None:
    travelled = kb.portable(cited)
    (base / name).parent.mkdir(parents=True, exist_ok=True)
    (base / "a.md").rename(base / name)
    assert same_bytes(kb, cited) == name
    for told in (
        groundkit.verify_citation(cited, base=base),
        groundkit.verify(travelled, base=base),
        groundkit.verify(travelled, base=str(base)),
    ):
        assert (told.reason, told.same_bytes_at) == (Reason.SOURCE_MISSING, name)
    kb.ingest("")
    assert same_bytes(kb, cited) == name


def test_as_json_and_for_a_person_with_and_without_an_index(
    kb: Collection, base: Path, tmp_path: Path, cited: Citation
) -> None:
    put(tmp_path, {"c.json": json.dumps(citation_data(kb.portable(cited)))})
    (base / "a.md").rename(base / "moved.md")
    with_index = gk(base, "verify", cited.chunk_id, "--format", "json")
    alone = gk(tmp_path, "verify", "--file", "c.json", "--base-dir", "docs", "--format", "json")
    for ran in (with_index, alone):
        (row,) = json.loads(ran.out)["checked"]
        assert ran.code == 1
        assert row["verification"]["same_bytes_at"] == "moved.md"
    assert "the same bytes are at moved.md" in gk(base, "verify", cited.chunk_id).out


def test_two_copies_are_told_by_the_first_name(kb: Collection, base: Path, cited: Citation) -> None:
    data = (base / "a.md").read_bytes()
    (base / "a.md").unlink()
    put(base, {"z.md": data, "m/a.md": data, "c.md": data})
    assert same_bytes(kb, cited) == "c.md"


def test_a_citation_that_lends_the_id_of_another_source_is_told_of_no_file(
    kb: Collection, base: Path, cited: Citation
) -> None:
    forged = evolve(cited, source="nothing.md")
    assert same_bytes(kb, forged) is None
    assert groundkit.verify_citation(forged, base=base).same_bytes_at is None


def test_one_other_byte_is_not_the_same(kb: Collection, base: Path, cited: Citation) -> None:
    put(base, {"c.md": (base / "a.md").read_bytes() + b" "})
    (base / "a.md").unlink()
    assert same_bytes(kb, cited) is None


@pytest.mark.parametrize("hidden", [".hidden.md", ".git/a.md", "ignored/a.md"])
def test_what_an_ingest_would_not_see_is_not_looked_at(
    kb: Collection, base: Path, cited: Citation, hidden: str
) -> None:
    put(base, {".gitignore": "ignored/\n"})
    (base / hidden).parent.mkdir(parents=True, exist_ok=True)
    (base / "a.md").rename(base / hidden)
    assert same_bytes(kb, cited) is None


@pytest.mark.parametrize(("source", "content"), [("t.html", html("t")), ("t.pdf", pdf([*filler("t")]))])
def test_an_extracted_file(base: Path, source: str, content: bytes | str) -> None:
    with world(base, {source: content, "b.md": text("b")}, **SMALL) as kb:
        cited = next(kb.citations(source))
        (base / "sub").mkdir()
        (base / source).rename(base / "sub" / source)
        assert same_bytes(kb, cited) == f"sub/{source}"
        # Who has the citation alone does not know the bytes, only the text that was made of them.
        assert groundkit.verify_citation(cited, base=base).same_bytes_at is None
        put(base, {f"sub/{source}": content if isinstance(content, bytes) else content + " "})
        (base / "sub" / source).write_bytes((base / "sub" / source).read_bytes() + b"\n")
        assert same_bytes(kb, cited) is None


@pytest.mark.parametrize(("source", "content"), [("t.html", html("t")), ("t.pdf", pdf([*filler("t")]))])
def test_an_extracted_file_that_was_renamed_and_ingested_is_told_by_its_text(
    base: Path, source: str, content: bytes | str
) -> None:
    with world(base, {source: content, "b.md": text("b")}, **SMALL) as kb:
        cited = next(kb.citations(source))
        (base / source).rename(base / f"z-{source}")
        kb.ingest([""])
        told = kb.verify(cited)
        assert (told.reason, told.same_bytes_at) == (Reason.SOURCE_MISSING, None)
        assert told.found_in is not None
        assert (told.found_in.source, told.found_in.span) == (f"z-{source}", cited.span)
        assert f"z-{source} has the same text" in told.detail


def test_without_a_base_nothing_is_looked_for(kb: Collection, base: Path, cited: Citation) -> None:
    (base / "a.md").rename(base / "c.md")
    told = groundkit.verify_citation(cited)
    assert (told.reason, told.same_bytes_at) == (Reason.NO_BASE, None)
    told = groundkit.verify_citation(cited, base=base / "nowhere")
    assert (told.verdict, told.same_bytes_at) == (Verdict.UNRESOLVABLE, None)


def test_what_lies_outside_of_the_base_is_not_sought_inside(kb: Collection, base: Path, cited: Citation) -> None:
    told = kb.verify(evolve(cited, source="../a.md"))
    assert (told.reason, told.same_bytes_at) == (Reason.OUTSIDE_BASE, None)


# How much is read


@frozen
class CountingReader:
    """A reader that notes what is read of it and how often it is walked."""

    reader: SourceReader
    reads: Counter[str]

    def walk(self, request: WalkRequest) -> Iterator[Found]:
        self.reads["walks"] += 1
        return self.reader.walk(request)

    def read(self, source: str, limit: int) -> Result[ReadSource, ReadFailure]:
        self.reads[source] += 1
        return self.reader.read(source, limit)

    def close(self) -> None:
        self.reader.close()

    def __getattr__(self, name: str) -> object:
        return getattr(self.reader, name)


def counting(base: Path, reads: Counter[str]) -> Collection:
    ports: Ports = ports_at(base)

    def sources(directory: str) -> Result[SourceReader, ReadFailure]:
        found = ports.sources(directory)
        return Success(CountingReader(found.unwrap(), reads)) if isinstance(found, Success) else found

    return with_ports(base, evolve(ports, sources=sources))


MANY = 120


def test_lost_passages_are_sought_in_files_that_are_read_once(base: Path) -> None:
    files: dict[str, bytes | str] = {f"f{n}.md": text(f"file {n}", count=2) for n in range(MANY)}
    put(base, files)
    with world(base, {**files, "a.md": text("a", count=60)}, **SMALL) as kb:
        citations = list(kb.citations("a.md"))
    put(base, {"a.md": "Nothing of it is left.\n"})
    reads: Counter[str] = Counter()
    with counting(base, reads) as kb:
        told = [each.verification for each in kb.verify_each(citations)]
    assert len(told) > 50
    assert {each.reason for each in told} == {Reason.REMOVED}
    assert {each.found_in for each in told} == {None}
    assert set(files) <= set(reads)
    assert max(reads.values()) <= 2
    assert reads["walks"] == 0


@pytest.mark.parametrize("ingested", [False, True])
def test_a_chapter_that_went_into_another_file_does_not_read_that_for_each_passage(base: Path, ingested: bool) -> None:
    chapter = text("a", count=60)
    with world(base, {"a.md": chapter, "b.md": text("b"), "c.md": text("c")}, **SMALL) as kb:
        citations = list(kb.citations("a.md"))
        put(base, {"a.md": "Nothing of it is left.\n", "b.md": text("b") + "\n" + chapter})
        if ingested:
            kb.ingest("b.md")
    reads: Counter[str] = Counter()
    with counting(base, reads) as kb:
        told = [each.verification for each in kb.verify_each(citations)]
    assert len(told) > 50
    assert {each.found_in.source for each in told if each.found_in} == {"b.md"}
    assert all(each.found_in for each in told)
    assert max(reads.values()) <= 3


def test_missing_files_are_sought_among_files_that_are_read_once(base: Path) -> None:
    files: dict[str, bytes | str] = {f"f{n}.md": text(f"file {n}", count=2) for n in range(MANY)}
    with world(base, files, **SMALL) as kb:
        citations = list(kb.citations())
    (base / "new").mkdir()
    for source in files:
        (base / source).rename(base / "new" / source)
    reads: Counter[str] = Counter()
    with counting(base, reads) as kb:
        told = list(kb.verify_each(citations))
    assert {each.verification.same_bytes_at for each in told} == {f"new/{source}" for source in files}
    assert all(each.verification.same_bytes_at == f"new/{each.citation.source}" for each in told)
    assert max(reads.values()) == 1
    assert reads["walks"] == 1


def test_a_portable_citation_is_made_of_what_the_collection_has_alone(kb: Collection, cited: Citation) -> None:
    assert kb.portable(cited).citation == cited
    for forged in (evolve(cited, source="b.md"), evolve(cited, digest="0" * 64), evolve(cited, span=Span(0, 5))):
        with pytest.raises(groundkit.RetrievalError):
            kb.portable(forged)


def test_a_search_seeks_nothing_elsewhere(base: Path) -> None:
    with world(base, {"a.md": text("a", LOST), "b.md": text("b"), "c.md": text("c")}, **SMALL):
        pass
    lose(base)
    reads: Counter[str] = Counter()
    with counting(base, reads) as kb:
        (hit, *_) = kb.search("northern lamp carried", verify=True, limit=1)
    assert hit.verification is not None
    assert hit.verification.reason is Reason.REMOVED
    assert reads == Counter({"a.md": 1})


def test_a_collection_that_cannot_be_read_has_nothing_to_say(kb: Collection, base: Path, cited: Citation) -> None:
    (base / "a.md").rename(base / "c.md")
    with opened(base, collection="other") as other:
        told = other.verify(cited)
        assert (told.reason, told.same_bytes_at) == (Reason.SOURCE_MISSING, "c.md")
