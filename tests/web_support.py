"""Collections whose pages come from a dictionary, and what their files must be at rest."""

import sqlite3
from collections.abc import MutableMapping
from contextlib import closing
from pathlib import Path

from attrs import evolve

from groundkit.collection import Collection
from groundkit.compose import ports_for
from groundkit.core.fetching import FetchFailed
from groundkit.core.ports import Ports
from groundkit.testing import FrozenClock
from groundkit.testing.memory_web import ScriptedFetcher, ScriptedPage

Pages = MutableMapping[str, ScriptedPage | FetchFailed]

NOW = "2026-03-01T12:00:00Z"


def page(text: str, **how: object) -> ScriptedPage:
    """An HTML page with a title, a heading and paragraphs."""
    paragraphs = "".join(f"<p>{each}</p>" for each in text.split("\n"))
    body = f"<!doctype html><title>A page</title><h1>Head</h1>{paragraphs}"
    return ScriptedPage(body.encode(), **how)  # type: ignore[arg-type] # as the class says


def web_ports(index: Path, pages: Pages, fetchers: list[ScriptedFetcher] | None = None, name: str = "default") -> Ports:
    """The real adapters with a scripted fetcher; those that were begun are noted."""

    def fetcher() -> ScriptedFetcher:
        begun = ScriptedFetcher(pages)
        if fetchers is not None:
            fetchers.append(begun)
        return begun

    return evolve(ports_for(index, name), fetcher=fetcher, clock=FrozenClock(NOW))


def web_collection(
    index: Path, pages: Pages, fetchers: list[ScriptedFetcher] | None = None, base: Path | None = None
) -> Collection:
    return Collection(web_ports(index, pages, fetchers), index, "default", base)


def snapshots(index: Path, name: str = "default") -> set[str]:
    """The names of everything in the directory of snapshots."""
    directory = index / f"{name}.snapshots"
    return {each.name for each in directory.iterdir()} if directory.exists() else set()


def bodies(index: Path, name: str = "default") -> set[str]:
    directory = index / f"{name}.bodies"
    return {each.name for each in directory.iterdir()} if directory.exists() else set()


def named(index: Path, name: str = "default") -> tuple[set[str], set[str]]:
    """The snapshots and bodies that live rows name, read from the file beside the program."""
    with closing(sqlite3.connect(f"file:{index / name}.sqlite3?mode=ro", uri=True)) as store:
        rows = store.execute("SELECT hex(id), hex(body) FROM documents WHERE source_class = 'snapshot'").fetchall()
    return {each.lower() for each, _ in rows}, {f"{each.lower()}.warc.gz" for _, each in rows if each}


def at_rest(index: Path, name: str = "default") -> bool:
    """Law 9: files are rows, and rows files."""
    return (snapshots(index, name), bodies(index, name)) == named(index, name)
