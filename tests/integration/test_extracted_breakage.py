"""Extractions that were found to be silently short, to be no text, or to disturb one another."""

import base64
import os
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from attrs import frozen
from commands import environment, gk
from extracted_support import failures, opened, verdicts
from integration.support import put
from pdf_builder import first_more, pdf, shown, stream, streams_pdf

from groundkit.adapters.extraction.forked import Forked
from groundkit.adapters.html import HtmlExtractor
from groundkit.adapters.pdf import PdfExtractor
from groundkit.core.extraction import Extraction, ExtractionProblem, Hint
from groundkit.core.ports import ExtractionJob
from groundkit.core.result import Success
from groundkit.core.settings import ExtractionLimits
from groundkit.testing.sample_extractors import Lines

LONG = shown("\n".join(f"Line {number} of the tide table" for number in range(60)))


def of_pdf(data: bytes) -> Extraction:
    return PdfExtractor().extract(data, Hint("application/pdf")).unwrap()


# PDF: what is silently short


def cut(data: bytes) -> bytes:
    """Deflated data without its end, cut where an operator ends: what is left of it reads as if it were all."""
    deflating = zlib.compressobj()
    half = data.rindex(b"\n", 0, len(data) // 2)
    return deflating.compress(data[:half]) + deflating.flush(zlib.Z_SYNC_FLUSH)


FORM = b"/Type /XObject /Subtype /Form /BBox [0 0 999 999]"


def drawing(*forms: bytes) -> bytes:
    """A page with text of its own that draws the first form; each form may draw the next one."""
    first = first_more(1)
    objects = {}
    for number, data in enumerate(forms):
        inner = b"/Font << /F1 3 0 R >> /XObject << /X %d 0 R >>" % (first + number + 1)
        last = number == len(forms) - 1
        resources = b"/Resources << %b >>" % (b"/Font << /F1 3 0 R >>" if last else inner)
        objects[number] = stream(data, b"%b %b /Filter /FlateDecode" % (FORM, resources))
    page = stream(shown("Text of the page itself") + b" /X Do")
    return streams_pdf([page], resources=b"/XObject << /X %d 0 R >>" % first, more=objects)


def test_a_form_whose_compressed_data_has_no_end_makes_the_text_incomplete() -> None:
    whole, short = of_pdf(drawing(zlib.compress(LONG))), of_pdf(drawing(cut(LONG)))
    assert not whole.incomplete
    assert len(short.text) < len(whole.text)
    assert short.losses == ("page 1: a form on it breaks off: what came after is missing",)
    assert short.incomplete


def test_a_form_within_a_form_counts_too() -> None:
    inner = zlib.compress(shown("Outer form") + b" /X Do")
    assert not of_pdf(drawing(inner, zlib.compress(LONG))).incomplete
    assert of_pdf(drawing(inner, cut(LONG))).incomplete


def test_a_missing_picture_that_no_page_draws_is_no_loss() -> None:
    data = streams_pdf([stream(shown("All of the text"))], resources=b"/XObject << /X 99 0 R >>")
    assert of_pdf(data).losses == ()


@pytest.mark.parametrize(
    ("filters", "letters"),
    [
        ("/ASCII85Decode /FlateDecode", lambda data: base64.a85encode(data) + b"~>"),
        ("/ASCIIHexDecode /FlateDecode", lambda data: data.hex().encode() + b">"),
    ],
)
def test_compressed_contents_written_as_letters_are_looked_at_for_their_end(filters: str, letters: object) -> None:
    assert callable(letters)
    entries = b"/Filter [%b]" % filters.encode()
    whole, short = (of_pdf(streams_pdf([stream(letters(each), entries)])) for each in (zlib.compress(LONG), cut(LONG)))
    assert not whole.incomplete
    assert short.losses == ("page 1: its contents break off: what came after is missing",)


def test_a_file_cut_off_within_its_last_revision_is_incomplete_and_one_with_a_few_bytes_more_is_not() -> None:
    whole = pdf(["The first version of the page"])
    revision = b"\n5 0 obj\n%b\nendobj\nxref\n5 1\n00000" % stream(shown("The second version of the page"))
    assert not of_pdf(whole + b"\r\n\0\0 not an object: 5 of them\n").incomplete
    short = of_pdf(whole + revision)
    assert "first version" in short.text
    assert short.losses == (
        "it goes on after its last end mark, and was cut off there: what comes after that mark is missing",
    )
    assert short.incomplete


# HTML: what is no text


PAGE = "<title>Tides</title>" + "<p>The tide turns twice a day.</p>" * 9


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_page_that_does_not_say_that_its_letters_are_wide_is_refused_not_taken_with_nuls_in_between(
    codec: str,
) -> None:
    refused = HtmlExtractor().extract(PAGE.encode(codec), Hint("text/html")).failure()
    assert refused.problem is ExtractionProblem.CHARSET
    assert "UTF-16 without a byte order mark" in refused.detail


@pytest.mark.parametrize(("codec", "label"), [("utf-16-le", "utf-16le"), ("utf-16-be", "utf-16be")])
def test_where_the_server_says_it_they_are_read(codec: str, label: str) -> None:
    page = HtmlExtractor().extract(PAGE.encode(codec), Hint("text/html", label)).unwrap()
    assert page.text.startswith("The tide turns twice a day.")


@pytest.mark.parametrize("text", ["\0" * 1000, "<p>" + "\0" * 9 + "</p>", "<p>\x1c \u2003&#x20;", "<p>&nbsp;<br>"])
def test_a_page_of_nuls_or_blanks_has_no_text(text: str, tmp_path: Path) -> None:
    put(tmp_path, {"page.html": text.encode(), "good.html": b"<p>The tide turns.</p>"})
    with opened(tmp_path) as collection:
        report = collection.ingest("")
        assert report.added == 1
        assert set(failures(report)) == {"page.html"}


def test_a_few_nuls_in_a_page_stand_where_they_stood() -> None:
    page = HtmlExtractor().extract(b"<p>The ti\0de turns</p>", Hint("text/html")).unwrap()
    assert page.text == "The ti\ufffdde turns"


@pytest.mark.parametrize("mode", ["open", "CLOSED"])
def test_a_template_that_is_the_inside_of_its_element_is_text_and_another_one_is_not(mode: str) -> None:
    inside = f"<p>Tides<tide-table><template shadowrootmode={mode}><p>High at <b>noon</b></template></tide-table>"
    for markup, text in ((inside, "Tides\n\nHigh at noon"), (inside.replace(mode, "no"), "Tides")):
        page = HtmlExtractor().extract(markup.encode(), Hint("text/html")).unwrap()
        assert (page.text, page.incomplete) == (text, False)


# Forks


def test_a_fork_that_ended_closes_no_pipe_that_got_its_number_since() -> None:
    extractor = Lines()
    job = ExtractionJob(
        extractor, extractor.identity, b"text", Hint("text/plain"), ExtractionLimits(20.0, 10, 512 * 1024 * 1024)
    )
    ended = Forked(job)
    ended.run()
    one, other = os.pipe()  # the numbers of the pipe that was closed
    try:
        ended.abandon()
        assert os.write(other, b"still there") == 11
        assert os.read(one, 11) == b"still there"
    finally:
        os.close(one)
        os.close(other)


# Workers

#: An interpreter that is killed before it is ready, so many times.
DYING = """\
#!/bin/sh
echo started >> {log}
[ "$(wc -l < {log})" -gt {times} ] || kill -9 $$
exec {python} "$@"
"""
RUN = """\
import multiprocessing, sys, groundkit
multiprocessing.set_executable(sys.argv[1])
with groundkit.open(sys.argv[2] + "/index", base=sys.argv[2]) as collection:
    for failed in collection.ingest("tides.html", jobs=1).failed:
        print(failed.error.detail)
"""


@pytest.mark.parametrize(("times", "said"), [(1, ""), (2, "was killed by SIGKILL, and said nothing, twice")])
def test_a_worker_that_is_killed_while_it_starts_is_replaced_once(times: int, said: str, tmp_path: Path) -> None:
    put(tmp_path, {"tides.html": b"<p>The tide turns"})
    python, log = tmp_path / "python", tmp_path / "log"
    python.write_text(DYING.format(log=log, times=times, python=sys.executable))
    python.chmod(0o700)
    command = [sys.executable, "-c", RUN, str(python), str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
    assert ran.stdout.strip().endswith(said)
    assert bool(ran.stdout) == bool(said)
    assert len(log.read_text().split()) == 2


# Identities


@frozen
class Saying:
    """An extractor whose identity others have too."""

    word: str

    @property
    def identity(self) -> str:
        return "saying/1"

    @property
    def media_types(self) -> frozenset[str]:
        return frozenset({f"application/x-{self.word}"})

    @property
    def suffixes(self) -> dict[str, str]:
        return {f".{self.word}": f"application/x-{self.word}"}

    def extract(self, data: bytes, hint: Hint) -> Success[Extraction]:
        return Success(Extraction(f"{self.word} says {data.decode()}"))


def test_of_two_extractors_with_one_identity_each_verifies_what_it_extracted(tmp_path: Path) -> None:
    put(tmp_path, {"one.ebb": b"low water", "two.flow": b"high water"})
    with opened(tmp_path, Saying("ebb"), Saying("flow")) as collection:
        assert collection.ingest("").added == 2
        assert verdicts(collection) == {"one.ebb": {"verified: same"}, "two.flow": {"verified: same"}}


def test_the_extractor_of_pdf_for_another_media_type_leaves_pdf_alone(tmp_path: Path) -> None:
    put(tmp_path, {"tides.pdf": pdf(["The tide turns"])})
    drawings = PdfExtractor(media_types=frozenset({"application/illustrator"}))
    with opened(tmp_path, drawings) as collection:
        assert collection.ingest("").added == 1
        assert verdicts(collection) == {"tides.pdf": {"verified: same"}}


def test_a_library_that_is_installed_and_broken_is_not_a_damaged_file(tmp_path: Path) -> None:
    """The file is good, and the package is there: what it raises is the reason, and other formats do not notice."""
    broken = tmp_path / "site" / "pypdf"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ValueError('broken install')")
    docs = tmp_path / "docs"
    put(docs, {"a.pdf": pdf(["good text"]), "b.html": b"<p>good text"})
    ran = gk(docs, "ingest", ".", PYTHONPATH=os.pathsep.join([str(tmp_path / "site"), *sys.path]))
    assert ran.code == 1
    assert "a.pdf: pypdf is installed and cannot be used (ValueError: broken install)" in ran.err
    assert "added 1" in ran.out
