"""Run as a process of its own, to be killed: an ingest of pages from a server that lies on the loopback interface.

`web_driver.py INDEX PORT STEP…`: a step is `ingest:FIRST:LAST[:keep]` (of `URLS`), `remove:FIRST:LAST` or `drop`. What was
printed was acknowledged.
"""

import sys
from pathlib import Path

from attrs import evolve
from web_server import ADDRESS, Detour

import groundkit.ingest
from groundkit.adapters.web.fetcher import WebFetcher
from groundkit.collection import Collection
from groundkit.compose import ports_for
from groundkit.core.ports import Fetcher
from groundkit.testing import InlineExtractions
from groundkit.testing.memory_web import ScriptedResolver

HOSTS = tuple(f"{name}.example" for name in ("a", "b", "c", "d", "e"))
#: Which page is of what kind is told by its number.
URLS = tuple(f"http://{HOSTS[number % len(HOSTS)]}/{number}" for number in range(24))


def fetching(port: int) -> Fetcher:
    """The real fetcher. Its names have public addresses, and its dialer leads to the loopback interface instead."""
    resolver = ScriptedResolver({host: [(ADDRESS,)] for host in HOSTS})
    return WebFetcher(resolver, Detour({80: port}), user_agent="web-driver", pause=0.0)


def driven(index: Path, port: int) -> Collection:
    """Everything is real but the addresses, and that no worker is started for each process that is killed."""
    ports = evolve(
        ports_for(index, "default"), fetcher=lambda: fetching(port), extractions=lambda _: InlineExtractions()
    )
    return Collection(ports, index, "default", None)


def main(index: str, port: str, *steps: str) -> None:
    """Small batches, so that there is much to be killed between."""
    groundkit.ingest.BATCH_DOCUMENTS = 4
    with driven(Path(index), int(port)) as collection:
        for step in steps:
            name, *which = step.split(":")
            if name == "drop":
                collection.drop()
            elif name == "remove":
                collection.remove(URLS[int(which[0]) : int(which[1])])
            else:
                report = collection.ingest(URLS[int(which[0]) : int(which[1])], keep_bodies="keep" in which)
                assert report.pending is None
                assert not report.unswept
            print(step, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
