"""Hostile and real PDF files: each ends in a text or in a reason, within its limits."""

import ast
import json
import os
import subprocess
import sys
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

import pytest
from pdf_builder import objects_pdf, pdf, prose, shown, stream, streams_pdf
from shared import shared

from groundkit.adapters.pdf import PdfExtractor
from groundkit.adapters.pdf.messages import MEANINGS
from groundkit.core.extraction import Extraction, ExtractionFailed, ExtractionProblem, Hint, extraction_digest
from groundkit.core.result import Result, Success

WHOLE, INCOMPLETE = "whole", "incomplete"
DAMAGED, NO_TEXT, ENCRYPTED = ExtractionProblem.DAMAGED, ExtractionProblem.NO_TEXT, ExtractionProblem.ENCRYPTED

#: Extracts each file it is told of within 512 MB and so many seconds of processor time; what exceeds them ends it.
BOX = """
import json, math, resource, sys, time
from pathlib import Path
from groundkit.adapters.pdf import PdfExtractor
from groundkit.core.extraction import Hint, extraction_digest
from groundkit.core.result import Success

resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))
for path, seconds in json.load(sys.stdin):
    end = math.ceil(time.process_time()) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (end, resource.RLIM_INFINITY))
    result = PdfExtractor().extract(Path(path).read_bytes(), Hint("application/pdf"))
    if isinstance(result, Success):
        read = result.unwrap()
        outcome = "incomplete" if read.incomplete else "whole"
        told = [outcome, read.text[:200], list(read.losses), extraction_digest(read)]
    else:
        told = [result.failure().problem.value, result.failure().detail, [], ""]
    print(json.dumps(told), flush=True)
"""


def run(script: str, told: object, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=json.dumps(told),
        capture_output=True,
        text=True,
        env=os.environ | environment,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, (done.stdout[-500:], done.stderr[-1000:])
    assert done.stderr == ""
    return done.stdout


def boxed(paths: list[Path], seconds: int, **environment: str) -> dict[str, list[object]]:
    lines = run(BOX, [(str(each), seconds) for each in paths], **environment).splitlines()
    return {path.name: json.loads(line) for path, line in zip(paths, lines, strict=True)}


def extract(data: bytes) -> Result[Extraction, ExtractionFailed]:
    return PdfExtractor().extract(data, Hint("application/pdf"))


def outcome(result: Result[Extraction, ExtractionFailed]) -> str:
    if isinstance(result, Success):
        return INCOMPLETE if result.unwrap().incomplete else WHOLE
    assert result.failure().detail.isprintable()
    return result.failure().problem


def case(number: str) -> list[Path]:
    return sorted(next(shared("cases").glob(f"{number}-*")).glob("*.pdf"))


#: What each of the files of the cases comes to, and a part of its text or reason.
CASES = {
    "doubling-2pow28-pages.pdf": (DAMAGED, "100001 > 100000"),
    "huge-count.pdf": (DAMAGED, "declares 2,000,000,000 pages, and 1 could be found"),
    "parent-self.pdf": (DAMAGED, "page 1: LimitReachedError"),
    "self-kid.pdf": (DAMAGED, "cyclic page references"),
    "three-hop.pdf": (DAMAGED, "cyclic page references"),
    "ffi-to-u0000.pdf": (WHOLE, "o\ufffdce co\ufffdee room"),
    "ffi-to-fb03.pdf": (WHOLE, "o\ufb03ce co\ufb03ee room"),
    "ffi-to-letters.pdf": (WHOLE, "office"),
    "ffi-to-lone-surrogate.pdf": (WHOLE, "o\ufffdce"),
    "ffi-to-pua.pdf": (WHOLE, "o\ue000ce"),
    "indirect-chain.pdf": (DAMAGED, "AttributeError"),
    "length-self-ref.pdf": (NO_TEXT, "its only page"),
    "outline-loop.pdf": (NO_TEXT, "its only page"),
    "prev-self.pdf": (WHOLE, "prev loop alpha"),
    "prev-two-cycle.pdf": (WHOLE, "prev loop alpha"),
    "77-bytes.pdf": (DAMAGED, "Cannot find Root object"),
    "crlf-mangled.pdf": (WHOLE, ""),
    "empty.pdf": (DAMAGED, "the file is empty"),
    "eof-only.pdf": (DAMAGED, "not a PDF file"),
    "garbage-before-header.pdf": (WHOLE, ""),
    "header-only.pdf": (DAMAGED, "PdfStreamError"),
    "html-named.pdf": (DAMAGED, "not a PDF file: it begins with b'<!doctype"),
    "nested-array-100k.pdf": (DAMAGED, "PdfReadError"),
    "tounicode-huge-range.pdf": (DAMAGED, "page 1: LimitReachedError"),
    "tounicode-range-16M.pdf": (DAMAGED, "page 1: LimitReachedError"),
    "truncated.pdf": (DAMAGED, "PdfStreamError"),
}


def test_each_file_of_the_cases_comes_to_its_end_in_seconds() -> None:
    paths = [path for number in ("04", "07", "08", "10", "11") for path in case(number)]
    found = boxed(paths, 2)
    for path in paths:
        wanted, part = CASES[path.name]
        outcome, said = found[path.name][:2]
        assert (outcome, part in str(said)) == (wanted, True), (path.name, outcome, said)
        assert outcome != WHOLE or str(said).strip()
    assert "2 characters have no Unicode meaning" in str(found["ffi-to-u0000.pdf"][2])
    assert "2 characters have no Unicode meaning" in str(found["ffi-to-lone-surrogate.pdf"][2])
    assert "2 characters have a private meaning" in str(found["ffi-to-pua.pdf"][2])


def test_bombs_are_refused_within_the_limits(tmp_path: Path) -> None:
    blanks = zlib.compressobj(1)
    spaces = b"".join(blanks.compress(b" " * (1 << 20)) for _ in range(400)) + blanks.flush()
    made = {
        "runlength-128x.pdf": stream(b"\x81 " * 400_000 + b"\x80", b"/Filter /RunLengthDecode"),
        "spaces-400MB.pdf": stream(spaces, b"/Filter /FlateDecode"),
    }
    for name, body in made.items():
        (tmp_path / name).write_bytes(streams_pdf([body]))
    found = boxed([*case("06"), *(tmp_path / name for name in made)], 10)
    assert found.pop("runlength-128x.pdf")[0] == NO_TEXT
    for name, (ended, said, *_) in found.items():
        assert ended == DAMAGED, (name, ended)
        assert "page 1: LimitReachedError" in str(said), (name, said)


#: Contents of a page beside a good one, and whether something of the document is missing then.
BROKEN = {
    "hex-unterminated": stream(b"BT /F1 9 Tf (a) Tj <" + b"41" * 100_000),
    "string-unterminated": stream(b"BT /F1 9 Tf (a) Tj (" + b"a" * 100_000),
    "number-long": stream(b"BT /F1 9 Tf (a) Tj " + b"1" * 1_000_000 + b" Tz ET"),
    "inline-image-unterminated": stream(b"BT (a) Tj ET BI /W 9 /H 9 /BPC 8 /CS /G ID " + b"x" * 100_000),
    "nested-dict-content": stream(b"(a) Tj " + b"<< /a " * 50_000),
    "nested-array-content": stream(b"(a) Tj " + b"[" * 50_000),
    "not-deflated": stream(b"no deflate at all, Tj", b"/Filter /FlateDecode"),
    "lzw-garbage": stream(bytes(range(256)) * 40, b"/Filter /LZWDecode"),
    "filter-unknown": stream(b"(a) Tj", b"/Filter /Nothing"),
}
EMPTY = {
    "newlines-1MB": stream(b"\n" * 1_000_000),
    "percent-1MB": stream(b"%" * 1_000_000),
}


def test_a_broken_page_costs_no_other_page_and_is_named(tmp_path: Path) -> None:
    for name, body in (BROKEN | EMPTY).items():
        (tmp_path / name).write_bytes(streams_pdf([stream(shown("good page")), body]))
    found = boxed(sorted(tmp_path.iterdir()), 3)
    for name, (ended, text, losses, _) in found.items():
        assert str(text).startswith("good page"), name
        assert (ended, bool(losses)) == ((WHOLE, False) if name in EMPTY else (INCOMPLETE, True)), (name, losses)
        assert name in EMPTY or str(losses).startswith("['page 2: "), (name, losses)


def test_objects_without_a_table_are_searched_for() -> None:
    whole = pdf(["text of a file without a table"])
    many = objects_pdf({number: b"<< /Number %d >>" % number for number in range(1, 5_000)})
    end = whole.index(b"xref\n")
    found = extract(whole[:end] + whole[whole.index(b"trailer") :])
    assert "without a table" in found.unwrap().text
    assert found.unwrap().losses[0].startswith("the file's table of objects is damaged")
    assert extract(many[: many.index(b"xref\n")]).failure().problem is DAMAGED


#: What the real files come to that are not read as a whole.
REAL = {
    "corrupted.pdf": DAMAGED,
    "encrypted.pdf": ENCRYPTED,
    "libreoffice-writer-password.pdf": ENCRYPTED,
    "PDF 2.0 UTF-8 string and annotation.pdf": NO_TEXT,
    "imagemagick-ASCII85Decode.pdf": NO_TEXT,
    "imagemagick-CCITTFaxDecode.pdf": NO_TEXT,
    "imagemagick-lzw.pdf": NO_TEXT,
    "grayscale-image.pdf": NO_TEXT,
    "cmyk-image.pdf": NO_TEXT,
    "bad-data-out.pdf": DAMAGED,
    "bad-direct-root.pdf": DAMAGED,
    "bad-xref.pdf": DAMAGED,
    "bad2.pdf": DAMAGED,
    "bad4.pdf": DAMAGED,
    "bad7.pdf": DAMAGED,
    "bad23.pdf": DAMAGED,
    "bad25.pdf": DAMAGED,
    "bad14.pdf": INCOMPLETE,
    "bad16.pdf": INCOMPLETE,
    "bad18.pdf": INCOMPLETE,
    "bad36.pdf": INCOMPLETE,
}


def test_every_real_file_is_read_or_says_why_not() -> None:
    paths = sorted(shared("data/pdf").rglob("*.pdf"))
    found = {path.name: extract(path.read_bytes()) for path in paths}
    assert {name: outcome(each) for name, each in found.items() if outcome(each) != WHOLE} == REAL
    for result in found.values():
        if isinstance(result, Success):
            assert result.unwrap().text.strip()
            assert not result.unwrap().incomplete or result.unwrap().losses
    thesis = found["GeoTopo-komprimiert.pdf"].unwrap()
    assert len(thesis.pages) == 117
    assert [each.label for each in thesis.pages[:5]] == ["i", "ii", "iii", "1", "2"]
    assert thesis.title == "Geometrie und Topologie"
    assert thesis.text.count("\ufffd") == 527
    assert "حَبيبي" in found["habibi.pdf"].unwrap().text
    assert "Two-Column Document" in found["multicolumn.pdf"].unwrap().text


def some_real_files() -> list[Path]:
    names = ("pdflatex-4-pages", "habibi", "multicolumn", "bad34", "pdf20-utf8-test", "google-doc-document", "bad14")
    known = {path.stem: path for path in shared("data/pdf").rglob("*.pdf")}
    return [known[name] for name in names]


def digests(results: Iterator[Result[Extraction, ExtractionFailed]]) -> list[str]:
    return [extraction_digest(each.unwrap()) for each in results]


def test_the_extraction_is_the_same_whatever_the_seed_of_hashes() -> None:
    paths = some_real_files()
    here = digests(extract(path.read_bytes()) for path in paths)
    for seed in ("0", "random"):
        assert [each[3] for each in boxed(paths, 10, PYTHONHASHSEED=seed).values()] == here


def test_threads_get_each_what_one_gets_alone() -> None:
    data = [path.read_bytes() for path in some_real_files()]
    alone = digests(extract(each) for each in data)
    with ThreadPoolExecutor(8) as pool:
        together = digests(pool.map(extract, data * 2))
    assert together == alone * 2


def encrypted(password: str, algorithm: str) -> bytes:
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf(["secret text"]))))
    writer.encrypt(user_password=password, owner_password="owner", algorithm=algorithm)
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-128", "AES-256"])
def test_the_empty_password_opens_and_any_other_does_not(algorithm: str) -> None:
    assert extract(encrypted("", algorithm)).unwrap().text.strip() == "secret text"
    failed = extract(encrypted("other", algorithm)).failure()
    assert failed.problem is ENCRYPTED
    assert "it needs a password" in failed.detail


def test_what_only_a_package_can_decrypt_names_its_command(tmp_path: Path) -> None:
    path = tmp_path / "aes.pdf"
    path.write_bytes(encrypted("", "AES-256"))
    told = json.loads(run("import sys\nsys.modules['cryptography'] = None" + BOX, [(str(path), 5)]))
    assert told[0] == ExtractionProblem.NEEDS_PACKAGE
    assert "pip install 'groundkit[pdf]'" in told[1]


def test_the_identity_is_that_of_what_is_installed() -> None:
    import pypdf

    parts = PdfExtractor().identity.split("+")
    assert parts[0] == f"pypdf/{pypdf.__version__}"
    assert parts[-1] == "recipe/1"
    assert any(each.startswith("fonttools/") for each in parts) is bool(find_spec("fontTools"))


def test_importing_the_extractor_and_asking_its_identity_loads_no_pypdf() -> None:
    script = "import sys\nfrom groundkit.adapters.pdf import PdfExtractor\nPdfExtractor().identity\nprint('pypdf' in sys.modules)"
    assert run(script, None).strip() == "False"


#: Where pypdf reads text. The rest writes, shows pictures, or follows outlines, forms and labels.
READING = ("_reader", "_cmap", "filters", "_page", "generic/_font", "generic/_base", "generic/_data_structures")
#: Functions in there that no extraction of plain text comes to.
ELSEWHERE = {
    "_get_ids_image",
    "_translate_value_inline_image",
    "_merge_page_writer",
    "_layout_mode_fonts",
    "_get_fonts_walk",
    "_initialize_stream",
    "_load_fonttools_table",
    "_get_typographic_maps",
    "add_form_topname",
    "annotations",
    "children",
    "decode_as_image",
    "extract_text",
}


def warnings_in(source: str) -> Iterator[str]:
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef) and function.name not in ELSEWHERE:
            for call in ast.walk(function):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.args:
                    first = call.args[0]
                    if call.func.id in ("logger_warning", "logger_error") and isinstance(first, ast.Constant):
                        yield str(first.value)


def test_every_warning_of_pypdf_on_the_way_to_text_has_a_meaning_and_none_is_invented() -> None:
    import pypdf

    root = Path(str(pypdf.__file__)).parent
    said = {each for name in READING for each in warnings_in((root / f"{name}.py").read_text())}
    assert said - MEANINGS.keys() == set()
    constants = {
        node.value
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert MEANINGS.keys() - constants == set()


def test_pages_of_a_long_document_are_found_where_they_begin() -> None:
    pages = prose(120, lines=8)
    extraction = extract(pdf(pages, compressed=True)).unwrap()
    assert [extraction.text[each.start :].split(" line")[0] for each in extraction.pages] == [
        f"page {number}" for number in range(1, 121)
    ]
