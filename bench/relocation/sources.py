"""The texts that trials are made of: those of the shared data, and Chinese and Korean made from its pages."""

import os
import re
import sys
from collections import defaultdict
from functools import cache
from html import unescape
from itertools import pairwise
from pathlib import Path
from random import Random

SHARED = Path(os.environ.get("GK_SHARED") or Path(__file__).resolve().parents[3] / "shared")
#: Code points of one text, before and after the last file is added; and of one that is made.
SIZE, MORE = 60_000, 20_000
_LEAST = 3000
_PAGES = {"Chinese": (("GB2312", "gb18030"), ("Big5", "cp950")), "Korean": (("EUC-KR", "cp949"), ("CP949", "cp949"))}
_DROPPED = re.compile(r"<(script|style)\b.*?</\1\s*>|<[^>]*>", re.DOTALL | re.IGNORECASE)

LANGUAGES = ("Japanese", "Chinese", "Korean")


def folder(name: str) -> Path:
    """A folder of the shared data; the process ends with a sentence where it is absent."""
    path = SHARED / "data" / name
    if not path.is_dir():
        sys.exit(f"data/{name} is not in a directory `shared` beside this checkout; GK_SHARED names another one.")
    return path


@cache
def _texts(below: str) -> tuple[str, ...]:
    paths = sorted(path for path in folder(below).rglob("*") if path.is_file() and path.stat().st_size > _LEAST)
    return tuple(path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n") for path in paths)


def war_and_peace() -> str:
    return (folder("text/war-and-peace") / "War and Peace.md").read_text(encoding="utf-8")


def text_of(chance: Random, language: str = "") -> str:
    """A text of some 60,000 code points: pieces of the shared texts, or what is made in a language."""
    if language in _PAGES:
        return _made(chance, language)
    texts = _texts("text/react-docs-ja" if language else "text")
    parts: list[str] = []
    while sum(map(len, parts)) < SIZE:
        text = chance.choice(texts)
        start = chance.randrange(len(text) - SIZE + 1) if len(text) > SIZE else 0
        parts.append(text[start : start + SIZE])
    return "\n\n".join(parts)[: SIZE + MORE]


@cache
def _chain(language: str) -> dict[str, str]:
    """Which letters follow a letter in the pages of a language, as often as they do."""
    after: dict[str, list[str]] = defaultdict(list)
    for name, encoding in _PAGES[language]:
        for path in sorted(folder(f"html/encodings/{name}").iterdir()):
            page = path.read_bytes().decode(encoding, "ignore")
            plain = re.sub(r"\s+", " ", _DROPPED.sub(" ", unescape(_DROPPED.sub(" ", page))))
            plain = re.sub(r" (?=[\u3400-\u9fff])|(?<=[\u3400-\u9fff]) |[!-~]", "", plain)
            for one, other in pairwise(plain):
                after[one].append(other)
    return {one: "".join(others) for one, others in after.items()}


def _made(chance: Random, language: str) -> str:
    """Paragraphs of sentences whose letters follow each other as in the pages of the language."""
    chain = _chain(language)
    letters = sorted(sign for sign in chain if sign.isalpha())
    parts = []
    size = 0
    while size < SIZE:
        signs: list[str] = []
        for _ in range(chance.randrange(2, 8)):
            sign = chance.choice(letters)
            for _ in range(chance.randrange(8, 50)):
                signs.append(sign)
                sign = chance.choice(chain.get(sign, "")) if sign in chain else chance.choice(letters)
            signs.append("。" if language == "Chinese" else ". ")
        parts.append("".join(signs).strip())
        size += len(parts[-1])
    return "\n\n".join(parts)
