"""Verification of extracted sources: never falsely verified, never an exception, and no more extractions than needed."""

import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from attrs import evolve
from commands import environment
from extracted_support import (
    HTML,
    MIXED,
    held,
    lines,
    opened,
    ports_at,
    verdicts,
    with_ports,
    world,
)
from integration.support import INDEX, put
from own_extractors import Counting

import groundkit
from groundkit import Citation, FromExtractor, Reason, Verdict, Verification
from groundkit.core.ports import Extractor
from groundkit.core.result import Success
from groundkit.core.settings import Settings
from groundkit.extracting import Extracting, Memo
from groundkit.extractors import Registry
from groundkit.testing.memory_extraction import InlineExtractions
from groundkit.testing.sample_extractors import (
    Bare,
    Crashing,
    Eating,
    Exiting,
    Extracted,
    Hanging,
    Lines,
    Misplacing,
    Nothing,
    Raising,
    Random,
    Recursing,
    Refusing,
    job,
)

SMALL = {"chunk_size": 120}


@pytest.fixture
def cited(tmp_path: Path) -> Citation:
    """A citation of `in/a.x`, read by `Lines`."""
    with world(tmp_path / "in", {"a.x": lines("a"), "b.x": lines("b")}, Lines(), **SMALL) as collection:
        return list(collection.citations())[3]


def checked(base: Path, citation: Citation, *extractors: Extractor, **limits: int) -> Verification:
    return groundkit.verify_citation(citation, base=base, extractors=extractors, settings=Settings(**limits))  # type: ignore[arg-type]


# Never falsely verified


def test_an_extractor_that_gives_another_text_each_time_is_never_verified(tmp_path: Path) -> None:
    with world(tmp_path, {"a.x": lines("a"), "b.md": MIXED["guide.md"]}, Random(), chunk_size=100_000) as collection:
        assert verdicts(collection)["b.md"] == {"verified: same"}
        assert all(said.startswith("drifted") for said in verdicts(collection)["a.x"])
        (hit,) = [hit for hit in collection.search("rule", verify=True) if hit.source == "a.x"]
        assert hit.verification is not None
        assert not hit.verification


def test_one_code_point_edited_drifts_exactly_what_holds_it(tmp_path: Path) -> None:
    text = lines("a")
    with world(tmp_path, {"a.x": text}, Lines(), **SMALL) as collection:
        citations = list(collection.citations())
        for at in (0, text.index("rule 205"), len(text) - 2):
            edited = text[:at] + ("y" if text[at] != "y" else "z") + text[at + 1 :]
            put(tmp_path, {"a.x": edited})
            for each in citations:
                verification = collection.verify(each)
                holds = each.start_offset <= at < each.end_offset
                assert verification.verdict is (Verdict.DRIFTED if holds else Verdict.VERIFIED)
                beside = each.start_offset - 64 <= at < each.end_offset + 64
                assert verification.context_changed == (beside and not holds)
        put(tmp_path, {"a.x": text})
        assert all(map(bool, map(collection.verify, citations)))


def test_text_before_a_passage_and_a_twin_elsewhere_verify_nothing(tmp_path: Path) -> None:
    text = lines("a")
    with world(tmp_path, {"a.x": text}, Lines(), **SMALL) as collection:
        citations = list(collection.citations())
        put(tmp_path, {"a.x": f"more\n{text}{text}"})
        assert {collection.verify(each).verdict for each in citations} == {Verdict.DRIFTED}
        put(tmp_path, {"a.x": lines("b")})
        assert {collection.verify(each).verdict for each in citations} == {Verdict.DRIFTED}


def test_another_text_under_the_same_identity_drifts(tmp_path: Path, cited: Citation) -> None:
    with opened(tmp_path / "in", Lines(loud=True)) as collection:
        assert Lines(loud=True).identity == cited.extractor
        assert all(said.startswith("drifted") for told in verdicts(collection).values() for said in told)
        assert "says" in cited_text(collection, cited)
    with opened(tmp_path / "in", Lines()) as collection:
        assert verdicts(collection) == {"a.x": {"verified: same"}, "b.x": {"verified: same"}}


def cited_text(collection: groundkit.Collection, citation: Citation) -> str:
    chunk = collection.fetch_chunk(citation.chunk_id).chunk
    assert chunk is not None
    return chunk.text


# What outranks what


def told(verification: Verification) -> tuple[str, str]:
    return verification.verdict.value, verification.reason.value


OUTSIDE = ("unresolvable", "outside_base")


@pytest.fixture(params=["known", "unknown", "none"])
def registry(request: pytest.FixtureRequest) -> tuple[Extractor, ...]:
    """Extractors among which the recorded one is, or is not."""
    given: dict[str, tuple[Extractor, ...]] = {"known": (Lines(),), "unknown": (Lines("9"),), "none": ()}
    return given[request.param]


@pytest.mark.parametrize("source", ["../out.x", "sub/../../out.x", "/etc/passwd", "sub/../a.x", "./a.x", "a\0.x", ""])
def test_a_path_out_of_the_base_is_told_before_any_extractor_is_looked_for(
    tmp_path: Path, cited: Citation, registry: tuple[Extractor, ...], source: str
) -> None:
    put(tmp_path, {"out.x": lines("a")})
    assert told(checked(tmp_path / "in", evolve(cited, source=source), *registry)) == OUTSIDE


def test_a_link_at_the_place_or_on_the_way_is_told_before_any_extractor_is_looked_for(
    tmp_path: Path, cited: Citation, registry: tuple[Extractor, ...]
) -> None:
    base = tmp_path / "in"
    put(tmp_path, {"elsewhere/a.x": lines("a")})
    (base / "way").symlink_to(tmp_path / "elsewhere")
    (base / "dangling.x").symlink_to(tmp_path / "nowhere")
    assert told(checked(base, evolve(cited, source="way/a.x"), *registry)) == OUTSIDE
    assert told(checked(base, evolve(cited, source="dangling.x"), *registry)) == OUTSIDE
    (base / "a.x").rename(base / "real.x")
    (base / "a.x").symlink_to("real.x")
    assert told(checked(base, cited, *registry)) == OUTSIDE
    with opened(base, *registry) as collection:
        assert told(collection.verify(cited)) == OUTSIDE


def test_containment_is_told_where_no_extractor_is_installed_at_all(tmp_path: Path, cited: Citation) -> None:
    ports = evolve(ports_at(tmp_path / "in"), extractors=Registry((), ()))
    with with_ports(tmp_path / "in", ports) as collection:
        assert told(collection.verify(evolve(cited, source="../a.x"))) == OUTSIDE
        assert told(collection.verify(cited)) == ("unresolvable", "extractor_mismatch")


def test_a_mismatch_outranks_a_file_that_is_missing_and_that_is_told_to_who_could_read_it(
    tmp_path: Path, cited: Citation
) -> None:
    base = tmp_path / "in"
    (base / "a.x").unlink()
    mismatch = checked(base, cited, Lines("2"))
    assert told(mismatch) == ("unresolvable", "extractor_mismatch")
    assert mismatch.detail == "recorded extractor x@1, active here: x@2"
    assert checked(base, cited).reason is Reason.EXTRACTOR_MISMATCH
    assert told(checked(base, cited, Lines())) == ("unresolvable", "source_missing")
    (base / "a.x").mkdir()
    assert told(checked(base, cited, Lines())) == ("unresolvable", "source_unreadable")
    (base / "a.x").rmdir()
    put(base, {"a.x": lines("a")})
    assert told(checked(base, cited, Lines(), max_bytes=10)) == ("unresolvable", "too_large")
    assert told(groundkit.verify_citation(cited, base=None, extractors=[Lines()])) == ("unresolvable", "no_base")


def test_a_file_that_became_another_format_is_no_drift(tmp_path: Path) -> None:
    with world(tmp_path, MIXED, Lines(), **SMALL) as collection:
        image = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
        put(tmp_path, {"report.pdf": image, "site/tides.html": image, "old.x": b"\xff\xfe\0"})
        outcome = verdicts(collection)
        for source in ("report.pdf", "site/tides.html", "old.x"):
            assert outcome[source] == {"unresolvable: extraction_failed"}
        hits = {hit.source: hit.verification for hit in collection.search("harbour tide rule", limit=99, verify=True)}
        assert hits["report.pdf"] is not None
        assert hits["report.pdf"].detail == "report.pdf: is a PNG image, by its first bytes"
        assert hits["old.x"] is not None
        assert hits["old.x"].detail == "old.x: byte 0 is no UTF-8"


FAILING: dict[Extractor, str] = {
    Raising(): "ValueError: a bug of two lines",
    Recursing(): "RecursionError",
    Crashing(): "",
    Exiting(): "",
    Hanging(): "took longer than 1 s; --time-limit raises it",
    Eating(): "needed more than 192 MiB of memory; --memory-limit raises it",
    Nothing(): "gave a NoneType instead of an extraction",
    Misplacing(): "pages lie outside the text",
    Refusing(): "there is no text in it",
}


@pytest.mark.parametrize("extractor", FAILING, ids=lambda each: type(each).__name__)
def test_an_extraction_that_fails_is_unresolvable_with_the_reason_and_no_drift(
    tmp_path: Path, cited: Citation, extractor: Extractor
) -> None:
    base = tmp_path / "in"
    bound = evolve(cited, provenance=FromExtractor(extractor.identity))
    limits = {"time_limit": 1, "memory_limit": 192 * 1024 * 1024}
    verification = checked(base, bound, extractor, **limits)
    assert told(verification) == ("unresolvable", "extraction_failed")
    assert verification.detail.startswith("a.x: ")
    assert FAILING[extractor] in verification.detail
    with pytest.raises(groundkit.RetrievalError) as raised:
        groundkit.resolve_citation(bound, base=base, extractors=[extractor], settings=Settings(**limits))  # type: ignore[arg-type]
    assert raised.value.verdict is Verdict.UNRESOLVABLE


def test_one_that_fails_spoils_no_other_citation(tmp_path: Path) -> None:
    files = {"a.x": lines("a"), "b.html": HTML, "c.md": "# C\n"}
    with world(tmp_path, files, Bare(), **SMALL) as collection:
        citations = list(collection.citations())
    spoiled = [evolve(each, provenance=FromExtractor("hanging@1")) for each in citations if each.source == "a.x"]
    with opened(tmp_path, Hanging()) as collection:
        collection.ingest("c.md", time_limit=1)
        assert verdicts(collection, [*citations[-3:], *spoiled, *citations]) == {
            "a.x": {"unresolvable: extraction_failed", "unresolvable: extractor_mismatch"},
            "b.html": {"verified: same"},
            "c.md": {"verified: same"},
        }


# One extraction for the same bytes and the same identity


class Log:
    """What a counting extractor noted."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen = 0

    def new(self) -> int:
        """Extractions since the last call."""
        noted = len(self.path.read_text().splitlines()) if self.path.exists() else 0
        new, self._seen = noted - self._seen, noted
        return new


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path / "log")


THREE = {f"{name}.x": lines(name, 6, 24) for name in ("one", "two", "three")}


def test_each_file_is_extracted_once_in_a_process_however_many_citations_it_has(tmp_path: Path, log: Log) -> None:
    base, extractor = tmp_path / "in", Counting(str(log.path))
    with world(base, THREE, extractor, chunk_size=64) as collection:
        assert log.new() == 3
        assert len(list(collection.citations())) > 200
        assert verdicts(collection) == {source: {"verified: same"} for source in THREE}
        assert log.new() == 3
        citations = list(collection.citations())
        for each in citations[::9]:
            assert collection.verify(each)
        assert all(hit.verification for hit in collection.search("rule", limit=50, verify=True))
        assert collection.resolve_citation(citations[0])
        assert log.new() == 0
    with opened(base, extractor) as again:
        assert verdicts(again) == {source: {"verified: same"} for source in THREE}
    assert groundkit.verify_citation(citations[0], base=base, extractors=[extractor])
    assert log.new() == 0
    put(base, {"one.x": THREE["one.x"] + "more"})
    with opened(base, extractor) as again:
        assert verdicts(again)["two.x"] == {"verified: same"}
        assert log.new() == 1


def test_single_verifications_of_one_file_extract_it_once(tmp_path: Path, log: Log) -> None:
    with world(
        tmp_path / "in", {"single.x": lines("single", 6, 24)}, Counting(str(log.path)), chunk_size=64
    ) as collection:
        log.new()
        citations = list(collection.citations())
        for each in citations[:50]:
            assert collection.verify(each)
        assert log.new() == 1


def test_what_failed_by_chance_is_tried_again_and_what_failed_for_good_is_not(tmp_path: Path, log: Log) -> None:
    base, extractor = tmp_path / "in", Counting(str(log.path))
    with world(base, {"lasting.x": lines("lasting")}, extractor, **SMALL) as collection:
        log.new()
        put(base, {"lasting.x": b"lasting \xff"})
        for _ in range(3):
            assert verdicts(collection) == {"lasting.x": {"unresolvable: extraction_failed"}}
        assert log.new() == 1


class GivenUp(InlineExtractions):
    """Whose caller is interrupted while it waits, once."""

    interrupted = False

    def finished(self, wait: bool) -> list[tuple[int, Extracted]]:
        if not self.interrupted:
            self.interrupted = True
            raise KeyboardInterrupt
        return super().finished(wait)


def test_what_was_interrupted_is_no_answer_to_what_is_asked_next() -> None:
    begun = [InlineExtractions(), GivenUp()]
    with closing(Extracting(lambda _: begun.pop(), Memo())) as extracting:
        with pytest.raises(KeyboardInterrupt):
            extracting.text(job(Lines(), b"this"), "digest of this")
        assert extracting.text(job(Lines(), b"that"), "digest of that") == Success("that")


def test_verification_never_takes_the_text_of_an_ingest_for_the_sources(tmp_path: Path, log: Log) -> None:
    with world(tmp_path / "in", {"own.x": lines("own")}, Counting(str(log.path)), **SMALL) as collection:
        assert log.new() == 1
        assert verdicts(collection) == {"own.x": {"verified: same"}}
        assert log.new() == 1


# On disk

VERIFY = """
import sys
import groundkit
from own_extractors import Counting
base, log = sys.argv[1:]
with groundkit.open(base + "/.groundkit", base=base, extractors=[Counting(log)]) as collection:
    told = {}
    for each in collection.verify_all():
        told.setdefault(each.citation.source, set()).add(each.verification.reason.value)
print(sorted((source, sorted(reasons)) for source, reasons in told.items()))
"""


def elsewhere(base: Path, log: Log) -> str:
    """`verify_all` in another process: the reasons of each source."""
    path = f"{Path(__file__).parents[1]}:{environment().get('PYTHONPATH', '')}"
    command = [sys.executable, "-W", "error", "-c", VERIFY, str(base), str(log.path)]
    done = subprocess.run(command, env=environment(PYTHONPATH=path), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return re.sub("'(moved|edited|removed)'", "'changed'", done.stdout.strip())


def cached(base: Path) -> list[Path]:
    folder = base / INDEX / "default.cache"
    return sorted(folder.iterdir()) if folder.is_dir() else []


def test_kept_on_disk_an_extraction_serves_other_processes(tmp_path: Path, log: Log) -> None:
    base = tmp_path / "in"
    files = {f"kept-{name}": data for name, data in THREE.items()}
    same = str([(source, ["same"]) for source in sorted(files)])
    world(base, files, Counting(str(log.path)), cache_bytes=10_000_000, **SMALL).close()
    assert (log.new(), cached(base)) == (3, [])
    assert elsewhere(base, log) == same
    assert (log.new(), len(cached(base))) == (3, 3)
    assert elsewhere(base, log) == same
    assert log.new() == 0
    put(base, {"kept-one.x": "# Edited\n"})
    assert elsewhere(base, log) == same.replace("[('kept-one.x', ['same'])", "[('kept-one.x', ['changed'])")
    assert log.new() == 1


def test_what_is_kept_goes_with_its_document(tmp_path: Path, log: Log) -> None:
    base = tmp_path / "in"
    files = {f"gone-{name}": data for name, data in THREE.items()}
    with world(base, files, Counting(str(log.path)), cache_bytes=10_000_000, **SMALL) as collection:
        verdicts(collection)
        digests = {
            each.source: each.extraction.source_digest for each in collection.get_document_records() if each.extraction
        }
        assert {each.name[:64] for each in cached(base)} == set(digests.values())
        put(base, {"gone-one.x": "# Edited\n"})
        assert collection.ingest("").updated == 1
        assert {each.name[:64] for each in cached(base)} == {digests["gone-two.x"], digests["gone-three.x"]}
        collection.remove("gone-two.x")
        assert {each.name[:64] for each in cached(base)} == {digests["gone-three.x"]}
        verdicts(collection)
        (base / "gone-one.x").unlink()
        assert collection.ingest("").removed == 1
        assert {each.name[:64] for each in cached(base)} <= {digests["gone-two.x"], digests["gone-three.x"]}
        assert collection.ingest("", as_text=True).updated == 2
        assert cached(base) == []
        collection.drop()
    assert not (base / INDEX / "default.cache").exists()


def test_without_room_on_disk_nothing_is_kept(tmp_path: Path, log: Log) -> None:
    base = tmp_path / "in"
    files = {f"room-{name}": data for name, data in THREE.items()}
    with world(base, files, Counting(str(log.path)), cache_bytes=10_000_000, **SMALL) as collection:
        verdicts(collection)
        assert len(cached(base)) == 3
        collection.ingest("", cache_bytes=0)
        assert not (base / INDEX / "default.cache").exists()
        assert verdicts(collection) == {source: {"verified: same"} for source in files}
        assert not (base / INDEX / "default.cache").exists()


def test_a_damaged_file_of_the_cache_verifies_nothing_and_breaks_nothing(tmp_path: Path, log: Log) -> None:
    base = tmp_path / "in"
    text = lines("flipped", 2, 6)
    world(base, {"flipped.x": text}, Counting(str(log.path)), cache_bytes=10_000_000, **SMALL).close()
    same, changed = "[('flipped.x', ['same'])]", "[('flipped.x', ['changed'])]"
    assert elsewhere(base, log) == same
    (file,) = cached(base)
    whole = file.read_bytes()
    for at in (0, 31, 32, len(whole) // 2, len(whole) - 1):
        log.new()
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])
        assert elsewhere(base, log) == same
        assert log.new() == 1  # not from the cache, which is whole again
        assert cached(base)[0].read_bytes() == whole
    put(base, {"flipped.x": text.replace("rule 100", "rule 999")})
    assert elsewhere(base, log).startswith(changed[:16])
    other = next(each for each in cached(base) if each != file)
    other.write_bytes(whole)  # the old text under the new bytes' name
    assert "'changed'" in elsewhere(base, log)
    file.unlink()
    file.mkdir()
    assert "'changed'" in elsewhere(base, log)
    assert held(base)
