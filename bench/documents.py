"""Documents to extract: PDF files made from a seed, the real ones and the HTML pages of the shared data."""

import json
import random
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

from corpus import SEED, Words
from process import HERE, Runner

#: Of one PDF file. A page holds about as much as one of a report.
PAGES, LINES, WORDS = 120, 46, 13
_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"


def make_pdfs(directory: Path, files: int, pages: int = PAGES) -> Path:
    """So many files of so many pages of words, each another; those that stand there are left."""
    words = Words()
    directory.mkdir(parents=True, exist_ok=True)
    for number in range(files):
        path = directory / f"report{number:02}.pdf"
        if not path.exists():
            path.write_bytes(pdf(words, random.Random(SEED + number), pages))
    return directory


def pdf(words: Words, chance: random.Random, pages: int) -> bytes:
    """One file: compressed pages of lines in Helvetica, as `/Tj` shows them one below the other."""
    kids = b" ".join(b"%d 0 R" % (4 + 2 * page) for page in range(pages))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%b] /Count %d >>" % (kids, pages),
        _FONT,
    ]
    for page in range(pages):
        shown = zlib.compress(_page(words, chance))
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>" % (5 + 2 * page),
            b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(shown), shown),
        ]
    return _file(objects)


def _page(words: Words, chance: random.Random) -> bytes:
    lines = (" ".join(words.draw(chance, WORDS)).capitalize().encode() for _ in range(LINES))
    return b"BT /F1 10 Tf 15 TL 50 790 Td\n%b\nET" % b"\n".join(b"(%b.) Tj T*" % each for each in lines)


def _file(objects: list[bytes]) -> bytes:
    made, offsets = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(objects, 1):
        offsets.append(len(made))
        made += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    begin = len(made)
    made += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    made += b"".join(b"%010d 00000 n \n" % each for each in offsets)
    made += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, begin)
    return bytes(made)


def real_pdfs(shared: Path, directory: Path, runner: Runner) -> Path | str:
    """Copies of the real files whose text can be had whole, or why there are none."""
    if not shared.is_dir():
        return "data/pdf is not beside this checkout (--shared)"
    shutil.rmtree(directory, ignore_errors=True)
    command = [sys.executable, str(HERE / "ours_extracted.py"), "readable", str(shared), str(directory / "index")]
    done = subprocess.run(command, check=True, env=runner.environment(ours=True), stdout=subprocess.PIPE, text=True)
    for number, source in enumerate(json.loads(done.stdout)):
        to = directory / "files" / f"{number:02}.pdf"
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(shared / source, to)
    return directory / "files"


def html_pages(shared: Path, directory: Path, copies: int) -> Path | str:
    """The pages so many times, each copy with other bytes, or why there are none."""
    found = sorted(shared.rglob("*.html"))
    if not found:
        return "data/html/python-docs is not beside this checkout (--shared)"
    shutil.rmtree(directory, ignore_errors=True)
    for copy in range(copies):
        for path in found:
            to = directory / f"copy{copy}" / path.relative_to(shared)
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(path.read_bytes() + b"<!-- %d -->\n" % copy)
    return directory
