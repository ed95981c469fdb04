"""pypdf and BeautifulSoup called directly: `directly.py pypdf|beautifulsoup DIRECTORY REPEAT`, printed as JSON.

Nothing else is done with the text: no limits, no other process, no pages, no headings, no chunks.
"""

import logging
import sys
from io import BytesIO
from pathlib import Path

from clock import Measures, spent


def pypdf(data: bytes) -> str:
    from pypdf import PdfReader

    return "\n\n".join(page.extract_text() for page in PdfReader(BytesIO(data)).pages)


def beautifulsoup(data: bytes) -> str:
    from bs4 import BeautifulSoup

    return BeautifulSoup(data.decode(), "html.parser").get_text()


HOW = {"pypdf": pypdf, "beautifulsoup": beautifulsoup}
SUFFIXES = {"pypdf": "*.pdf", "beautifulsoup": "*.html"}


def files(who: str, directory: str) -> list[Path]:
    return sorted(Path(directory).rglob(SUFFIXES[who]))


def every(who: str, paths: list[Path]) -> int:
    """Code points of text in these files."""
    return sum(len(HOW[who](path.read_bytes())) for path in paths)


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    who, directory, repeat = sys.argv[1:]
    paths, measures = files(who, directory), Measures()
    if int(repeat) > 1:
        every(who, paths[:1])
    for _ in range(int(repeat)):
        measures.note("in process", spent(lambda: every(who, paths)))
    measures.tell()
