"""Measures inside a process that uses groundkit: `ours.py MEASURE ARGUMENT...`, printed as JSON."""

import sys
from pathlib import Path

from clock import Measures, spent
from corpus import queries

import groundkit


def opening(told: Measures, index: str, repeat: str) -> None:
    """Open and answer the first search, in a process that has imported everything."""
    _searched(index)
    for _ in range(int(repeat)):
        told.note("open", spent(lambda: _searched(index)))


def _searched(index: str) -> None:
    with groundkit.open(index) as collection:
        collection.search("lous rous")


def warm(told: Measures, index: str, count: str) -> None:
    """Searches without a look at the sources, and of eight words also with it."""
    with groundkit.open(index) as collection:
        for words in (1, 3, 8):
            asked = list(queries(words, int(count)))
            collection.search(asked[0])
            told.quantiles(f"warm {words}", [spent(lambda q=q: collection.search(q)) for q in asked])
        told.quantiles("warm 8 verified", [spent(lambda q=q: collection.search(q, verify=True)) for q in asked])


def changing(told: Measures, index: str, base: str, source: str, repeat: str) -> None:
    """One file gets another word: the time until it is found, told of the file and told of the whole folder."""
    path = Path(base) / source
    before = path.read_bytes()
    with groundkit.open(index, base=base) as collection:
        collection.ingest(".")
        for number in range(int(repeat)):
            for name, asked in (("change open", source), ("change open, whole folder", ".")):
                word = f"zq{'fm'[asked == '.']}{number}xq"
                path.write_bytes(before + f"\n\n{word}\n".encode())
                told.note(name, spent(lambda asked=asked, word=word: _found(collection, asked, word)))
        path.write_bytes(before)
        collection.ingest(".")


def _found(collection: groundkit.Collection, asked: str, word: str) -> None:
    collection.ingest(asked)
    (hit,) = collection.search(word)
    assert word in hit.text


def verifying(told: Measures, index: str, base: str, source: str, repeat: str) -> None:
    """A thousand citations of one file, in one go and one by one."""
    with groundkit.open(index, base=base) as collection:
        collection.ingest(source)
        cited = list(collection.citations())
        cited = [cited[number % len(cited)] for number in range(1000)]
        for _ in range(int(repeat)):
            told.note("verify", spent(lambda: _all([each.verification for each in collection.verify_each(cited)])))
            told.note("verify one by one", spent(lambda: _all(list(map(collection.verify, cited)))))


def _all(checks: list[groundkit.Verification]) -> None:
    assert len(checks) == 1000 and all(checks)


if __name__ == "__main__":
    measures = Measures()
    {each.__name__: each for each in (opening, warm, changing, verifying)}[sys.argv[1]](measures, *sys.argv[2:])
    measures.tell()
