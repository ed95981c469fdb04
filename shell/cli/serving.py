"""What `gk serve` and `gk mcp` share: the packages they need, and the runtime they answer from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from groundkit.collection import Collection
    from groundkit.requests import ModelEndpoint
    from groundkit.service.runtime import Room, Runtime

_PACKAGES = ("mcp", "starlette", "uvicorn", "h11", "pydantic", "prometheus_client")
#: Seconds that work has which is under way when a service ends.
_GRACE = 10.0


def needs_serve() -> None:
    """A `click.UsageError` that names the extra, where its packages are missing."""
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        raise click.ClickException(
            f"serving needs packages that are not installed ({', '.join(missing)}): install groundkit where you have it from "
            "with the extra serve, as in uv tool install '.[serve,pdf,html]' in its checkout"
        )


@contextmanager
def running(runtime: Runtime, seconds: float = _GRACE) -> Iterator[Runtime]:
    """The runtime, until the service is told to end. What is at work then has so many seconds; nobody waits for its answer."""
    from groundkit.service.runtime import closed_within

    try:
        yield runtime
    finally:
        if not closed_within(runtime, seconds):
            # Python waits for its threads, and a process that does not end is killed by whoever told it to.
            os._exit(0)


def served_directory(given: str | None) -> Path:
    """The index directory that is meant. `ServingRefused` where there is none: a service would have nothing to say, for ever."""
    from groundkit.cli.common import index_directory
    from groundkit.config import INDEX_NAME, collections_in
    from groundkit.errors import error_of
    from groundkit.requests import ServingRefused

    directory = index_directory(given)
    if not directory.is_dir():
        raise error_of(ServingRefused(f"there is no index directory {directory}; `gk ingest` makes one"))
    if (directory / INDEX_NAME).is_dir() and not collections_in(directory):
        raise error_of(
            ServingRefused(f"{directory} is no index directory; it holds one: --index-dir {directory / INDEX_NAME}")
        )
    return directory


def runtime_of(directory: Path, base: str | None, endpoint: ModelEndpoint | None, room: Room | None = None) -> Runtime:
    """The runtime of an index directory. Nothing is opened yet."""
    from groundkit.service.runtime import Runtime

    def opened(name: str) -> Collection:
        from groundkit.opening import open as open_collection

        return open_collection(directory, base=base, collection=name, endpoint=endpoint)

    return Runtime(directory, room=room, opened=opened)
