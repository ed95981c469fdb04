"""The guided tour behind `gk demo`: a few documents in a temporary folder, one question, three edits, three verdicts."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import click

from groundkit.collection import Collection
from groundkit.core.model import Citation, RetrievalResult, Verdict, Verification
from groundkit.opening import open as open_collection

QUESTION = "how does the water rise with the tide"
SOURCE = "tides.md"
BEFORE, AFTER = "Water does not rise evenly.", "Water rises evenly, hour by hour."

_TINT = {Verdict.VERIFIED: "green", Verdict.DRIFTED: "yellow", Verdict.UNRESOLVABLE: "red"}


class _Teller:
    """Prints the tour. Commands are shown as a reader would type them."""

    def __init__(self, color: bool) -> None:
        self._color = color

    def _styled(self, text: str, **how: object) -> str:
        return click.style(text, **how) if self._color else text  # type: ignore[arg-type]

    def say(self, text: str) -> None:
        click.echo(text)

    def step(self, number: int, title: str, command: str) -> None:
        click.echo(f"\n{self._styled(f'{number}. {title}', bold=True)}\n   {self._styled(f'$ {command}', dim=True)}")

    def show(self, text: str) -> None:
        for line in text.rstrip().split("\n"):
            click.echo(f"   {line}".rstrip())

    def verdict(self, verification: Verification) -> None:
        word = self._styled(verification.verdict.value, fg=_TINT[verification.verdict], bold=True)
        click.echo(f"   {word} ({verification.reason.value}): {verification.detail}")


@contextmanager
def _documents() -> Iterator[Path]:
    """The shipped documents, in a temporary folder of their own."""
    with tempfile.TemporaryDirectory(prefix="gk-demo-") as name:
        folder = Path(name) / "documents"
        folder.mkdir()
        for each in files("groundkit").joinpath("demo_documents").iterdir():
            (folder / each.name).write_bytes(each.read_bytes())
        yield folder


def tour(color: bool) -> int:
    """Walk through it; 0 when every verdict is the one the tour promises, else 1."""
    teller = _Teller(color)
    with _documents() as folder, open_collection(folder / ".groundkit", base=folder) as kb:
        names = sorted(path.name for path in folder.iterdir())
        teller.say(f"{len(names)} short documents in a temporary folder: {', '.join(names)}.")
        _ingest(kb, teller)
        hit = _search(kb, teller)
        if hit is None:
            teller.say("The passage this tour is about was not found.")
            return 1
        kept = _verify_all(kb, teller)
        told = [_edit(kb, teller, folder / SOURCE, hit.citation, *each) for each in _EDITS]
        _again(kb, teller)
    teller.say("\nThe folder is gone again. Now yours: `gk ingest PATH`, then `gk search WORDS`.")
    return 0 if kept and told == [verdict for _, _, _, verdict in _EDITS] else 1


def _ingest(kb: Collection, teller: _Teller) -> None:
    teller.step(1, "Ingest: cut the files into chunks and index them. Not a character offset is lost.", "gk ingest .")
    report = kb.ingest("")
    teller.show(f"added {report.added}, failed {len(report.failed)}, chunks {report.chunks}")


def _search(kb: Collection, teller: _Teller) -> RetrievalResult | None:
    teller.step(
        2, "Search: each hit is a citation, a place in a file with a digest of its text.", f'gk search "{QUESTION}"'
    )
    hits = kb.search(QUESTION, limit=5, verify=True)
    hit = next((hit for hit in hits if hit.source == SOURCE and BEFORE in hit.text), None)
    if hit is not None:
        where = f"{hit.source}:{hit.locator.line}:{hit.locator.column}"
        teller.show(f"{where}  {' › '.join(hit.locator.heading_path)}  (score {hit.score:.3f})")
        teller.show("".join(f"  {line}\n" for line in hit.text.strip().split("\n")[:5]))
        citation = hit.citation
        teller.show(
            f"cited: code points {citation.start_offset} to {citation.end_offset} of {citation.source},"
            f"\n       SHA-256 {citation.digest[:16]}…, chunk {citation.chunk_id}"
        )
    return hit


def _verify_all(kb: Collection, teller: _Teller) -> bool:
    teller.step(3, "Verify: look at every source again and compare.", "gk verify --all")
    checks = [each.verification for each in kb.verify_all()]
    teller.show(", ".join(f"{verdict} {sum(each.verdict is verdict for each in checks)}" for verdict in Verdict))
    return all(checks)


def _append(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\nA line that nobody cited.\n")


def _reword(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(BEFORE.encode(), AFTER.encode()))


def _delete(path: Path) -> None:
    path.unlink()


_Edit = tuple[str, str, Callable[[Path], None], Verdict]
_EDITS: tuple[_Edit, ...] = (
    (
        "Somebody adds a line at the end of the file. The passage stands where it stood.",
        f'echo "A line that nobody cited." >> {SOURCE}',
        _append,
        Verdict.VERIFIED,
    ),
    (
        "Somebody rewrites the cited sentence. The citation no longer says what the file says.",
        f"sed -i 's/{BEFORE}/{AFTER}/' {SOURCE}",
        _reword,
        Verdict.DRIFTED,
    ),
    (
        "Somebody deletes the file. Nothing can be said about the passage, and nothing is guessed.",
        f"rm {SOURCE}",
        _delete,
        Verdict.UNRESOLVABLE,
    ),
)


def _edit(
    kb: Collection,
    teller: _Teller,
    path: Path,
    citation: Citation,
    title: str,
    command: str,
    change: Callable[[Path], None],
    _: Verdict,
) -> Verdict:
    number = 4 + [each[0] for each in _EDITS].index(title)
    teller.step(number, title, f"{command} && gk verify {citation.chunk_id[:8]}")
    change(path)
    verification = kb.verify(citation)
    teller.verdict(verification)
    return verification.verdict


def _again(kb: Collection, teller: _Teller) -> None:
    teller.step(7, "Ingest again: what did not change is kept, what is gone is removed.", "gk ingest .")
    report = kb.ingest("")
    teller.show(f"added {report.added}, unchanged {report.unchanged}, removed {report.removed}")
