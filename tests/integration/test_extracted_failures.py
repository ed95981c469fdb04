"""Extractors that fail, hang, are not installed or are broken, and files that are not what they say: each by itself."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import evolve
from commands import environment, gk
from extracted_support import (
    HTML,
    MIXED,
    PDF,
    error_of,
    failures,
    found,
    held,
    lines,
    opened,
    ports_at,
    verdicts,
    with_ports,
    world,
)
from integration.support import INDEX, put
from own_extractors import Nameless, Suffixless, Under

import groundkit
from groundkit import ConfigurationError, IngestionError, SourceClass
from groundkit.adapters.html import HtmlExtractor
from groundkit.adapters.pdf import PdfExtractor
from groundkit.core.extraction import ExtractorMissing, NotExtracted
from groundkit.core.ports import Extractor
from groundkit.extractors import Registry
from groundkit.offers import BUILT_IN, Offer
from groundkit.render import exit_code_of
from groundkit.testing.sample_extractors import (
    MEDIA_TYPE,
    Bare,
    Crashing,
    Eating,
    Exiting,
    Hanging,
    Lines,
    Misplacing,
    Mistyping,
    Nothing,
    Raising,
    Recursing,
    Refusing,
)

# Isolation

BROKEN: dict[str, tuple[Extractor, str]] = {
    "raises": (Raising(), "raised: ValueError: a bug of two lines"),
    "recurses": (Recursing(), "raised: RecursionError"),
    "crashes": (Crashing(), "died: "),
    "exits": (Exiting(), "died: "),
    "hangs": (Hanging(), "time: took longer than 4 s; --time-limit raises it"),
    "eats": (Eating(), "memory: needed more than 192 MiB of memory; --memory-limit raises it"),
    "nothing": (Nothing(), "broken_result: gave a NoneType instead of an extraction"),
    "misplaces": (Misplacing(), "broken_result: pages lie outside the text"),
    "mistypes": (Mistyping(), "broken_result: "),
    "refuses": (Refusing(), "no_text: there is no text in it"),
}
LIMITS = {"time_limit": 4, "memory_limit": 192 * 1024 * 1024}


def broken_files() -> dict[str, str]:
    return {f"bad/one.{name}": lines(name, 1, 3) for name in BROKEN}


def broken_extractors() -> list[Extractor]:
    return [Under(f".{name}", extractor) for name, (extractor, _) in BROKEN.items()]


def test_bad_sources_fail_by_themselves_with_their_reasons_and_all_others_are_taken(tmp_path: Path) -> None:
    put(tmp_path, {**MIXED, **broken_files()})
    with opened(tmp_path, *broken_extractors(), Lines()) as collection:
        report = collection.ingest("", jobs=2, **LIMITS)
        assert report.added == len(MIXED)
        told = failures(report)
        assert set(told) == set(broken_files())
        for name, (_, reason) in BROKEN.items():
            assert told[f"bad/one.{name}"].startswith(reason), told[f"bad/one.{name}"]
        noted = {each.source: f"{each.reason}: {each.detail}" for each in collection.status().failures}
        assert noted == told
        assert verdicts(collection) == {source: {"verified: same"} for source in MIXED}
        assert not report.complete
        assert isinstance(error_of(collection, "bad/one.raises"), IngestionError)


def test_a_failed_re_ingest_keeps_the_last_good_version(tmp_path: Path) -> None:
    with world(tmp_path, MIXED, Lines()) as collection:
        before, hits = held(tmp_path), found(collection, "old rule")
    put(tmp_path, {"old.x": lines("new"), "new.md": "# New\n"})
    with opened(tmp_path, Raising()) as collection:
        report = collection.ingest("")
        assert failures(report) == {"old.x": "raised: ValueError: a bug of two lines"}
        assert report.added == 1
        assert [each[3].source for each in found(collection, "old rule")] == [each[3].source for each in hits]
    assert held(tmp_path)["old.x"] == before["old.x"]
    with opened(tmp_path, Lines()) as collection:
        assert (collection.ingest("").updated, collection.status().failures) == (1, ())


def test_a_file_whose_extractor_is_not_given_any_more_keeps_its_document(tmp_path: Path) -> None:
    with world(tmp_path, MIXED, Lines()) as collection:
        before = held(tmp_path)
    with opened(tmp_path) as collection:
        report = collection.ingest("")
        assert report.removed == 0
        assert list(failures(report)) == ["old.x"]
        assert failures(report)["old.x"].startswith(f"extractor_missing: no extractor that reads {MEDIA_TYPE} ")
        assert held(tmp_path) == before
        (tmp_path / "old.x").unlink()
        assert collection.ingest("").gone == ("old.x",)


def test_one_at_a_time_or_several_the_collection_is_the_same(tmp_path: Path) -> None:
    files = MIXED | {f"more/{n}.x": lines(f"more{n}", 1 + n % 3, 4) for n in range(9)}
    files |= {f"more/{n}.html": HTML.replace("Tides", f"Tides {n}") for n in range(4)} | broken_files()
    told = []
    for jobs in (1, 3):
        base = tmp_path / str(jobs)
        put(base, files)
        with opened(base, *broken_extractors(), Lines()) as collection:
            report = collection.ingest("", jobs=jobs, **LIMITS)
            told.append((failures(report), report.formats, held(base), found(collection, "tide", "rule", "harbour")))
    assert told[0] == told[1]


def test_extractors_that_only_this_process_can_load_work_and_fail_by_themselves_all_the_same(tmp_path: Path) -> None:
    class Local(Lines):
        pass

    class LocalRaising(Raising):
        pass

    class LocalExiting(Exiting):
        pass

    class LocalHanging(Hanging):
        pass

    bad = {"raises": LocalRaising(), "exits": LocalExiting(), "hangs": LocalHanging()}
    put(tmp_path, {**MIXED, **{f"bad.{name}": "a" for name in bad}})
    with opened(tmp_path, Local(), *(Under(f".{name}", each) for name, each in bad.items())) as collection:
        report = collection.ingest("", jobs=2, **LIMITS)
        assert report.added == len(MIXED)
        assert set(failures(report)) == {"bad.raises", "bad.exits", "bad.hangs"}
        assert failures(report)["bad.raises"] == "raised: ValueError: a bug of two lines"
        assert failures(report)["bad.hangs"] == "time: took longer than 4 s; --time-limit raises it"
        assert verdicts(collection) == {source: {"verified: same"} for source in MIXED}


# What is not installed


def without(*offers: Offer, added: tuple[Extractor, ...] = ()) -> Registry:
    kept = tuple(each for each in BUILT_IN if not any(each.media_types == other.media_types for other in offers))
    return Registry(added, (*offers, *kept))


NO_PDF = Offer(frozenset({"application/pdf"}), "no-such-distribution-xyz", (1,), "pdf", PdfExtractor)
OLD_PDF = Offer(frozenset({"application/pdf"}), "attrs", (9999, 1), "pdf", PdfExtractor)


@pytest.mark.parametrize(
    ("offer", "why"),
    [
        (NO_PDF, "needs no-such-distribution-xyz, which is not installed"),
        (
            OLD_PDF,
            f"needs attrs 9999.1 or later, {__import__('importlib.metadata').metadata.version('attrs')} is installed",
        ),
    ],
)
def test_a_missing_extra_concerns_its_own_format_and_says_what_installs_it(
    tmp_path: Path, offer: Offer, why: str
) -> None:
    command = "pip install 'groundkit[pdf]'"
    with world(tmp_path, MIXED, Lines()) as collection:
        citations = list(collection.citations())
        before = held(tmp_path)
    ports = evolve(ports_at(tmp_path), extractors=without(offer, added=(Lines(),)))
    put(tmp_path, {"report.pdf": PDF + b"\n", "other.pdf": PDF, "new.html": HTML})
    with with_ports(tmp_path, ports) as collection:
        report = collection.ingest("")
        assert report.added == 1
        assert set(failures(report)) == {"report.pdf", "other.pdf"}
        for each in report.failed:
            assert isinstance(each.error, NotExtracted)
            assert each.error.why == ExtractorMissing("application/pdf", why, command)
        error = error_of(collection)
        assert isinstance(error, ConfigurationError)
        assert str(error).endswith(f": {why}; {command}")
        assert exit_code_of(error.failure) == 1
        assert held(tmp_path)["report.pdf"] == before["report.pdf"]
        assert {each.reason for each in collection.status().failures} == {"extractor_missing"}
        for each in citations:
            verification = collection.verify(each)
            if each.source == "report.pdf":
                assert verification.reason.value == "extractor_mismatch"
                identity = PdfExtractor().identity
                assert verification.detail == f"recorded extractor {identity}, active here: none ({why}; {command})"
            else:
                assert verification


def test_a_broken_extractor_that_was_added_is_not_replaced_by_the_built_in_one(tmp_path: Path) -> None:
    put(tmp_path, MIXED)
    with opened(tmp_path, Nameless("application/pdf"), Lines()) as collection:
        report = collection.ingest("")
        said = "Nameless: its identity cannot be told: LookupError: the library has no version"
        assert failures(report) == {"report.pdf": f"extractor_missing: {said}"}
        assert report.added == len(MIXED) - 1
        assert isinstance(error_of(collection), ConfigurationError)


def test_a_broken_extractor_is_in_the_way_of_none_that_is_asked_before_it(tmp_path: Path) -> None:
    put(tmp_path, MIXED)
    with opened(tmp_path, PdfExtractor(), Nameless("application/pdf"), Lines()) as collection:
        assert failures(collection.ingest("")) == {}
        assert verdicts(collection) == {source: {"verified: same"} for source in MIXED}


def test_files_of_a_broken_extractor_say_what_it_raised_instead_of_being_passed_over(tmp_path: Path) -> None:
    put(tmp_path, MIXED)
    with opened(tmp_path, Nameless()) as collection:
        report = collection.ingest("")
        assert set(failures(report)) == {"old.x"}
        assert failures(report)["old.x"].endswith("LookupError: the library has no version")
        assert report.unknown_suffixes == ()


def test_a_file_whose_extractor_is_not_given_any_more_fails_and_is_not_passed_over(tmp_path: Path) -> None:
    put(tmp_path, MIXED)
    with opened(tmp_path, Lines()) as collection:
        collection.ingest("")
    with opened(tmp_path) as collection:
        report = collection.ingest("")
        assert set(failures(report)) == {"old.x"}
        assert (report.unknown_suffixes, report.removed) == ((), 0)


def test_an_extractor_whose_suffixes_cannot_be_told_disturbs_no_other(tmp_path: Path) -> None:
    put(tmp_path, MIXED)
    with opened(tmp_path, Suffixless(), Lines()) as collection:
        assert failures(collection.ingest("")) == {}
        assert verdicts(collection) == {source: {"verified: same"} for source in MIXED}


# Entry points


def installed(folder: Path, *points: str) -> str:
    """A distribution that offers extractors; its folder, for PYTHONPATH."""
    about = folder / "offering-1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: offering\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[groundkit.extractors]\n" + "".join(f"{each}\n" for each in points))
    return str(folder)


def beside(folder: str) -> str:
    """PYTHONPATH with one folder more, and the tests' own."""
    return os.pathsep.join([folder, str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])


def test_extractors_of_entry_points_are_at_work_and_broken_ones_say_so(tmp_path: Path) -> None:
    put(tmp_path / "in", {"a.x": lines("sample"), "b.md": "# B\n", "c.html": HTML, "d.pdf": PDF})
    path = installed(
        tmp_path / "site",
        f"{MEDIA_TYPE} = groundkit.testing.sample_extractors:Lines",
        "text/x-gone = no_such_module_xyz:Extractor",
        "text/x-odd = math:pi",
    )
    ran = gk(tmp_path / "in", "ingest", ".", "--format", "json", PYTHONPATH=beside(path))
    told = json.loads(ran.stdout)
    assert (ran.code, told["added"], told["failed"]) == (0, 4, [])
    status = json.loads(gk(tmp_path / "in", "status", "--format", "json", PYTHONPATH=beside(path)).stdout)
    assert ("x@1", 1, True) in [(each["identity"], each["documents"], each["active"]) for each in status["extractors"]]
    verified = gk(tmp_path / "in", "verify", "--all", PYTHONPATH=beside(path))
    assert (verified.code, verified.err) == (0, "")


def test_an_entry_point_that_cannot_be_loaded_is_told_of_where_it_is_needed(tmp_path: Path) -> None:
    path = installed(
        tmp_path / "site",
        "text/x-gone = no_such_module_xyz:Extractor",
        "text/x-odd = math:pi",
        "text/x-big = math:sqrt",
    )
    code = (
        "from groundkit.extractors import Registry; r = Registry()\n"
        "for each in ('gone', 'odd', 'big'): print(r.reader_of(f'text/x-{each}').failure().said)\n"
        "print(r.reader_of('text/html').unwrap().identity)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(PYTHONPATH=beside(path)),
        capture_output=True,
        text=True,
        check=True,
    )
    gone, odd, big, html = done.stdout.splitlines()
    assert gone.startswith("the extractor no_such_module_xyz:Extractor cannot be loaded: ModuleNotFoundError")
    assert odd == "the extractor math:pi names no media types"
    assert big.startswith("the extractor math:sqrt cannot be loaded: TypeError")
    assert html == HtmlExtractor().identity


def test_a_library_of_which_no_version_can_be_told_hides_no_other_format(tmp_path: Path) -> None:
    about = tmp_path / "site" / "unversioned.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: unversioned\n")
    code = (
        "from groundkit.extractors import Registry; from groundkit.offers import Offer, BUILT_IN; pdf, html = BUILT_IN\n"
        "r = Registry((), (Offer(pdf.media_types, 'unversioned', (1,), 'pdf', pdf.make), html))\n"
        "print(r.reader_of('application/pdf').failure().said); print(r.reader_of('text/html').unwrap().identity)"
    )
    command = [sys.executable, "-c", code]
    path = beside(str(tmp_path / "site"))
    done = subprocess.run(command, env=environment(PYTHONPATH=path), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said, html = done.stdout.splitlines()
    assert said == "needs unversioned 1 or later, an unknown version is installed; pip install 'groundkit[pdf]'"
    assert html == HtmlExtractor().identity


def test_a_format_without_its_extra_fails_with_exit_code_1_in_the_command(tmp_path: Path) -> None:
    """`own_extractors:Nameless`, as an entry point for PDF, is an extractor that there is not."""
    put(tmp_path / "in", {"b.md": "# B\n", "d.pdf": PDF})
    path = installed(tmp_path / "site", "application/pdf = own_extractors:NAMELESS_PDF")
    ran = gk(tmp_path / "in", "ingest", ".", PYTHONPATH=beside(path))
    assert ran.code == 1
    assert "failed: d.pdf: Nameless: its identity cannot be told: LookupError" in ran.err
    assert "added 1" in ran.out


# Dispatch

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4


def test_a_file_is_refused_that_is_something_else_than_its_name_says(tmp_path: Path) -> None:
    put(
        tmp_path,
        {
            "image.pdf": PNG, "page.pdf": HTML, "paper.html": PDF, "paper.txt": PDF, "image.html": PNG, "paper.md": PDF,
            "late.pdf": b"garbage " * 100 + PDF, "said.txt": "%PDF is a format.\n", "quoted.md": HTML,
        },
    )  # fmt: skip
    with opened(tmp_path) as collection:
        report = collection.ingest("")
        assert failures(report) == {
            "image.html": "mislabelled: is a PNG image, by its first bytes",
            "image.pdf": "mislabelled: is a PNG image, by its first bytes",
            "page.pdf": "mislabelled: is an HTML page, by its first bytes",
            "paper.html": "mislabelled: is a PDF, by its first bytes",
            "paper.md": "mislabelled: is a PDF, by its first bytes",
            "paper.txt": "mislabelled: is a PDF, by its first bytes",
        }
        assert [each.source for each in collection.get_document_records()] == ["late.pdf", "quoted.md", "said.txt"]
        assert verdicts(collection).keys() == {"late.pdf", "quoted.md", "said.txt"}
        assert all(map(bool, (each.verification for each in collection.verify_all())))


def test_a_format_that_is_a_pdf_inside_may_have_its_own_extractor(tmp_path: Path) -> None:
    put(tmp_path, {"drawing.ai": PDF})
    with opened(tmp_path, Under(".ai", PdfExtractor())) as collection:
        assert failures(collection.ingest("")) == {}
        assert verdicts(collection) == {"drawing.ai": {"verified: same"}}


def test_as_text_takes_every_file_as_text(tmp_path: Path) -> None:
    files = {"page.html": HTML, "old.x": lines("old"), "a.log": "plain"}
    put(tmp_path, files)
    with opened(tmp_path, Lines()) as collection:
        collection.ingest(list(files), as_text=True)
        records = collection.get_document_records()
        assert {(each.source, each.source_class, each.extractor) for each in records} == {
            (source, SourceClass.TEXT, None) for source in files
        }
        assert verdicts(collection) == {source: {"verified: same"} for source in files}
    assert gk(tmp_path, "ingest", "page.html", "--as", "text").out.endswith(
        "unchanged 1, removed 0, failed 0, chunks 0\n"
    )
    assert not (tmp_path / INDEX / "default.cache").exists()


def test_a_text_that_is_extracted_now_is_another_document(tmp_path: Path) -> None:
    put(tmp_path, {"page.html": HTML})
    with opened(tmp_path) as collection:
        collection.ingest("page.html", as_text=True)
        as_text = next(collection.citations())
        report = collection.ingest("page.html")
        assert (report.updated, report.rebound) == (1, 0)
        assert collection.get_document_records()[0].source_class is SourceClass.EXTRACTED
        assert collection.verify(as_text)
        assert verdicts(collection) == {"page.html": {"verified: same"}}


def test_an_extractor_of_bare_extractions_works(tmp_path: Path) -> None:
    with world(tmp_path, {"a.x": lines("a")}, Bare()) as collection:
        assert verdicts(collection) == {"a.x": {"verified: same"}}


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        (Lines, "it is a class; give an instance: Lines()"),
        (object(), "a object has no identity"),
        ("x@1", "a str has no identity"),
    ],
)
def test_what_cannot_be_an_extractor_is_refused_when_it_is_given(tmp_path: Path, given: object, wrong: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(wrong)):
        groundkit.open(tmp_path / ".groundkit", base=tmp_path, extractors=[Lines(), given])  # type: ignore[list-item]
