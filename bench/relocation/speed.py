"""How long 1,000 citations of one text of 3.2 MB take to be looked for after an edit, and what the worst texts cost.

`python bench/relocation/speed.py [--seed 1] [--repeat 3] [--only part|part]`. Each edit is measured in a process of its own: seconds of
processor time, and the most memory the process ever held. The time to read both texts is in it.
"""

import argparse
import hashlib
import re
import resource
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))

import record
from clock import Stopwatch
from sources import text_of, war_and_peace

from groundkit.core.model import Span
from groundkit.core.relocation import aligned, relocate

CITATIONS = 1000
LENGTHS = (40, 120, 400)
_SIZE = 3_000_000
_LINE = "The same line stands here again and again, as in a log.\n"


def _inserted(_: Random, text: str) -> str:
    return f"A paragraph that was not there before stands at the beginning now.\n\n{text}"


def _reworded(chance: Random, text: str) -> str:
    words = [match.span() for match in re.finditer(r"[A-Za-z]+", text)]
    for start, end in sorted(chance.sample(words, 300), reverse=True):
        text = f"{text[:start]}changed{text[end:]}"
    return text


def _rewrapped(_: Random, text: str) -> str:
    return "\n\n".join(textwrap.fill(each, 72) for each in text.split("\n\n"))


def _moved(chance: Random, text: str) -> str:
    parts = text.split("\n\n")
    rest = [part for at, part in enumerate(parts) if at % 10]
    for part in parts[::10]:
        rest.insert(chance.randrange(len(rest) + 1), part)
    return "\n\n".join(rest)


def _replaced(_: Random, text: str) -> str:
    """Every tenth paragraph is gone, and another one stands in its place."""
    parts = text.split("\n\n")
    parts[::10] = [" ".join(part.split()[::-1]) for part in parts[::10]]
    return "\n\n".join(parts)


def _upper(_: Random, text: str) -> str:
    return text.upper()


def _reworded_and_rewrapped(chance: Random, text: str) -> str:
    return _rewrapped(chance, _reworded(chance, text))


EDITS: dict[str, Callable[[Random, str], str]] = {
    "a paragraph before all": _inserted,
    "300 words changed": _reworded,
    "wrapped anew": _rewrapped,
    "wrapped anew, 300 words changed": _reworded_and_rewrapped,
    "every tenth paragraph moved": _moved,
    "every tenth paragraph replaced": _replaced,
    "upper case": _upper,
}


def _ideographs(chance: Random) -> str:
    parts: list[str] = []
    while sum(map(len, parts)) < _SIZE // 3:
        parts.append(text_of(chance, "Chinese"))
    return "\n\n".join(parts)


def _random(chance: Random) -> str:
    return " ".join("".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=6)) for _ in range(_SIZE // 7))


#: Texts of 3 MB (in UTF-8) for which a diff is hardest, old and new.
WORST: dict[str, Callable[[Random], tuple[str, str]]] = {
    "nothing in common": lambda chance: (_random(chance), _random(chance)),
    "two halves of one book": lambda _: (war_and_peace()[:1_600_000] * 2, war_and_peace()[1_600_000:] * 2),
    "one line over and over": lambda _: (_LINE * (_SIZE // len(_LINE)), "x" + _LINE * (_SIZE // len(_LINE) - 9) + "x"),
    "Chinese, nothing in common": lambda chance: (_ideographs(chance), _ideographs(chance)),
    "Chinese, all on one line": lambda chance: _on_one_line(_ideographs(chance)),
}


def _on_one_line(text: str) -> tuple[str, str]:
    return text, " ".join(text.split())


def measured(name: str, seed: int, folder: Path) -> None:
    """Prints seconds of alignment and of relocation, MB, and the answers; for a process of its own."""
    chance = Random(f"{seed}/{name}")
    with Stopwatch() as reading:
        old, new = (_read(folder / side) for side in ("old", "new"))
    starts = [chance.randrange(len(old) - max(LENGTHS)) for _ in range(CITATIONS)]
    spans = [Span(start, start + chance.choice(LENGTHS)) for start in starts]
    with Stopwatch() as aligning:
        alignment = aligned(old, new)
    with Stopwatch() as relocating:
        found = Counter(type(relocate(alignment, span)).__name__ for span in spans)
    seconds = (each.spent.cpu for each in (reading, aligning, relocating))
    said = ", ".join(f"{count} {answer}" for answer, count in sorted(found.items()))
    print(*(f"{each:.4f}" for each in seconds), f"{_memory():.0f}", alignment.complete, said, sep="\t")


def _memory() -> float:
    """The most MB this process held. What `getrusage` says includes the process it was forked from, on Linux."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.findall(r"VmHWM:\s+(\d+)", status.read_text())[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)


def _read(path: Path) -> str:
    data = path.read_bytes()
    hashlib.sha256(data).hexdigest()
    return data.decode("utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="", help="parts of names, with | between them")
    parser.add_argument("--one", nargs=2, metavar=("NAME", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        measured(options.one[0], options.seed, Path(options.one[1]))
        return
    print("| after | reading | aligned | 1,000 relocated | in all | memory | whole | answers |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- | --- |")
    written = {}
    for name in [*EDITS, *WORST]:
        if not options.only or any(each in name for each in options.only.split("|")):
            written[name] = _row(name, options)
    record.write(
        "relocation-speed",
        options.repeat,
        {"3 MB": {key: each for row in written.values() for key, each in row.items()}},
    )


def _row(name: str, options: argparse.Namespace) -> dict[tuple[str, str, str], list[float]]:
    """The fastest of the runs, printed; all of them, returned."""
    chance = Random(f"{options.seed}/{name}/texts")
    old, new = (war_and_peace(), None) if name in EDITS else WORST[name](chance)
    new = new if new is not None else EDITS[name](chance, old)
    runs = []
    with TemporaryDirectory() as folder:
        for side, text in (("old", old), ("new", new)):
            (Path(folder) / side).write_text(text, encoding="utf-8", newline="")
        command = [sys.executable, __file__, "--seed", str(options.seed), "--one", name, folder]
        for _ in range(options.repeat):
            runs.append(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip().split("\t"))
    sums = [sum(map(float, run[:3])) for run in runs]
    best = runs[sums.index(min(sums))]
    cells = [f"{float(each):.2f} s" for each in best[:3]]
    print("|", " | ".join([name, *cells, f"{min(sums):.2f} s", f"{best[3]} MB", *best[4:]]), "|", flush=True)
    return {(name, "cpu", "groundkit"): sums, (name, "memory", "groundkit"): [float(run[3]) for run in runs]}


if __name__ == "__main__":
    main()
