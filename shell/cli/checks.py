"""What `gk verify` looks at: citations of a collection, or those of a file; each becomes a row."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import tee
from typing import TYPE_CHECKING, TypeAlias

import click
from attrs import evolve, frozen

from groundkit import config
from groundkit.cli.common import here, index_directory, unsecret
from groundkit.core.model import Citation, Reason, Verdict, Verification
from groundkit.core.result import Failure
from groundkit.core.url_kinds import is_url
from groundkit.errors import error_of
from groundkit.opening import open as open_collection

if TYPE_CHECKING:
    from groundkit.citation_files import Entry
    from groundkit.collection import Collection
    from groundkit.core.live import Live
    from groundkit.verifying import Checked, Citable

    Check: TypeAlias = Callable[[Iterable[Citable]], Iterator[Checked]]


@frozen
class Row:
    """One answer. `name` is the chunk id, or what was asked for; `entry` where it stands in a file of citations, if it does;
    `asked`: somebody asked for this very one.
    """

    name: str
    citation: Citation | None
    verification: Verification
    live: Live | None = None
    entry: str = ""
    asked: bool = False


def all_rows(found: Collection) -> Iterator[Row]:
    for each in found.verify_all():
        yield Row(each.citation.chunk_id, each.citation, each.verification)


def named_rows(found: Collection, names: Sequence[str]) -> Iterator[Row]:
    """Of a source, or of all below a folder, every citation; of anything else the chunk it is the id of, or why there is none."""
    for name in names:
        sources = sources_named(found, name)
        if sources:
            for source in sources:
                for each in found.verify_all(source):
                    yield Row(each.citation.chunk_id, each.citation, each.verification)
        elif is_url(name):
            unknown = f"the collection has no page {unsecret(name)}; `gk files` lists those it has"
            yield Row(unsecret(name), None, Verification(Verdict.UNRESOLVABLE, Reason.UNKNOWN_DOCUMENT, unknown))
        else:
            fetched = found.fetch_chunk(name)
            verification = fetched.verification
            if fetched.citation is None:
                verification = evolve(verification, detail=f"{verification.detail}{_hint(name)}")
            yield Row(fetched.chunk_id, fetched.citation, verification, asked=True)


def sources_named(found: Collection, name: str) -> list[str]:
    """The sources that a name means: one, as `gk files` lists it, or those below a folder."""
    if found.get_document_records(name):
        return [name]
    folder = f"{name.removeprefix('./').rstrip('/')}/"
    if is_url(name) or folder == "/":
        return []
    return [each.source for each in found.get_document_records() if each.source.startswith(folder)]


def _hint(name: str) -> str:
    if os.path.isfile(name) and name.lower().endswith((".json", ".jsonl", ".ndjson")):
        return ", nor a source; a file of citations goes to --file"
    return ", nor a source of this name"


def with_live(found: Collection, rows: Iterator[Row]) -> Iterator[Row]:
    """Each row with what its page says now, where it is one of a page."""
    these, those = tee(rows)
    lives = found.live_each(row.citation for row in those if row.citation is not None)
    for row in these:
        yield row if row.citation is None else evolve(row, live=next(lives))


@frozen
class Where:
    """Where the sources of a file's citations are looked for, as far as somebody said so."""

    index_dir: str | None
    collection: str | None
    base_dir: str | None
    snapshot_dir: str | None


def file_rows(entries: Sequence[Entry], where: Where) -> Iterator[Row]:
    """The citations of a file, in its order; what is none of them is refused by name and stops no other."""
    from groundkit.core.portable import CitationRefused

    sound = {at: entry.found for at, entry in enumerate(entries) if not isinstance(entry.found, CitationRefused)}
    by_collection: dict[str, list[int]] = defaultdict(list)
    for at, portable in sound.items():
        by_collection[where.collection or portable.collection].append(at)
    found: dict[int, Verification] = {}
    with ExitStack() as stack:
        for check, places in _checks(by_collection, where, stack):
            # Those of one source one after the other, so that it is read once.
            places.sort(key=lambda at: (sound[at].citation.source, sound[at].citation.document_id))
            for at, checked in zip(places, check(sound[at] for at in places), strict=True):
                found[at] = checked.verification
    for at, entry in enumerate(entries):
        if at in sound:
            citation = sound[at].citation
            yield Row(citation.chunk_id, citation, found[at], entry=entry.where)
        else:
            refused = Verification(Verdict.UNRESOLVABLE, Reason.CITATION_REFUSED, str(entry.found))
            yield Row(entry.where, None, refused, entry=entry.where)


def _checks(
    by_collection: Mapping[str, list[int]], where: Where, stack: ExitStack
) -> Iterator[tuple[Check, list[int]]]:
    """In the collection that is meant, where there is one, for it knows what was ingested; else with the sources alone."""
    left: list[int] = []
    for name, places in by_collection.items():
        kept = _collection(name, where)
        if kept is None:
            left += places
        else:
            yield stack.enter_context(kept).verify_each, places
    if left:
        yield _alone(where.base_dir or os.curdir, where.snapshot_dir), left


def _collection(name: str, where: Where) -> Collection | None:
    """None where the index has no such collection, or other snapshots than its own are given. A collection that is asked for
    by its name has to be there, and so has an index that is."""
    if where.snapshot_dir is not None:
        return None
    asked_for = bool(where.index_dir or where.collection)
    if not asked_for and isinstance(config.find_index(None, os.environ, here()), Failure):
        return None
    directory = index_directory(where.index_dir)
    found = open_collection(directory, base=where.base_dir, collection=name)
    if found.exists:
        return found
    found.close()
    others = config.collections_in(directory)
    if where.collection or (where.index_dir and not others):
        raise error_of(config.UnknownCollection(name, str(directory), others))
    return None


def _alone(base: str, snapshot_dir: str | None) -> Check:
    from groundkit.uncollected import verify_each

    click.echo(f"gk: no collection is used; sources are looked for below {os.path.abspath(base)}", err=True)
    return lambda citations: verify_each(citations, base=base, snapshot_dir=snapshot_dir)
