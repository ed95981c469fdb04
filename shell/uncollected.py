"""Citations checked with nothing but the sources, without a collection."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve

from groundkit import verifying
from groundkit.compose import extractions, snapshots_in, sources_below
from groundkit.config import collection_name
from groundkit.core import snapshots
from groundkit.core.fingerprint import text_digest
from groundkit.core.model import Citation, Verification
from groundkit.core.paths import Style
from groundkit.core.ports import Extractor
from groundkit.core.result import Failure
from groundkit.core.settings import Settings
from groundkit.errors import RetrievalError, error_of
from groundkit.extracting import Extracting, process_memo
from groundkit.extractors import Registry
from groundkit.verifying import Checked, Extractors, Lookup, OpenSources, resolve

if TYPE_CHECKING:
    from groundkit.elsewhere import Elsewhere
    from groundkit.verifying import Citable

PathLike = str | os.PathLike[str]

STYLE = Style.WINDOWS if os.name == "nt" else Style.POSIX


def verify(
    citation: Citable,
    *,
    base: PathLike | None = None,
    snapshot_dir: PathLike | None = None,
    extractors: Sequence[Extractor] = (),
    settings: Settings | None = None,
) -> Verification:
    """Check a citation, or one that travelled, with nothing but the base directory, or for that of a page the snapshot
    directory. Never raises.

    Without the document as it was ingested a passage that is not at its place is `moved` where its text stands once more
    between the neighbours that were recorded, and else `changed`. `extractors` are asked before the built-in ones; `settings`
    have the limits, where they are not the usual ones.
    """
    with _lookup(base, snapshot_dir, extractors, settings) as lookup:
        return verifying.verify(lookup, citation)


def verify_each(
    citations: Iterable[Citable],
    *,
    base: PathLike | None = None,
    snapshot_dir: PathLike | None = None,
    extractors: Sequence[Extractor] = (),
    settings: Settings | None = None,
) -> Iterator[Checked]:
    """The same for many, in order; citations of one source in a row share one reading of it."""
    with _lookup(base, snapshot_dir, extractors, settings) as lookup:
        yield from verifying.verify_all(lookup, citations)


def verify_citation(
    citation: Citation,
    expected_text: str | None = None,
    *,
    base: PathLike | None = None,
    snapshot_dir: PathLike | None = None,
    extractors: Sequence[Extractor] = (),
    settings: Settings | None = None,
) -> Verification:
    """Check a citation with nothing but the base directory, or for that of a page the snapshot directory. Never raises.

    With `expected_text`, that is what the source has to say at the span, whatever digest the citation carries.
    `extractors` are asked before the built-in ones; `settings` have the limits, where they are not the usual ones.
    """
    expected = citation if expected_text is None else evolve(citation, digest=text_digest(expected_text))
    with _lookup(base, snapshot_dir, extractors, settings) as lookup:
        return verifying.verify(lookup, expected)


def resolve_citation(
    citation: Citation,
    *,
    base: PathLike | None = None,
    snapshot_dir: PathLike | None = None,
    extractors: Sequence[Extractor] = (),
    settings: Settings | None = None,
) -> str:
    """The text a citation stands for, as its source has it now; `RetrievalError` with the verdict where it does not."""
    with _lookup(base, snapshot_dir, extractors, settings) as lookup:
        resolved = resolve(lookup, citation)
    if isinstance(resolved, Failure):
        raise RetrievalError(resolved.failure())
    return resolved.unwrap()


@contextmanager
def _lookup(
    base: PathLike | None, snapshot_dir: PathLike | None, extractors: Sequence[Extractor], settings: Settings | None
) -> Iterator[Lookup]:
    kept = None if snapshot_dir is None else snapshots_in(Path(os.path.abspath(snapshot_dir)))
    opener, limits = _opener_of(base), settings or Settings()
    with closing(Extracting(extractions, process_memo())) as extracting:
        how = Extractors(Registry(tuple(extractors)), extracting)

        def elsewhere() -> Elsewhere:
            from groundkit.elsewhere import Elsewhere

            return Elsewhere(opener, limits.max_bytes, how.registry.kinds)

        yield Lookup(opener, how, limits, snapshots=kept, elsewhere=elsewhere)


def _opener_of(base: PathLike | None) -> OpenSources | None:
    if base is None:
        return None
    directory = Path(os.path.abspath(base))
    return lambda: sources_below(directory, None)


def snapshot_dir_for(index_dir: PathLike, collection: str) -> Path:
    """The directory of a collection's snapshots: what `verify_citation` takes as `snapshot_dir`.

    `ConfigurationError` for a name that no collection can have: it might lead out of the index directory.
    """
    named = collection_name(collection)
    if isinstance(named, Failure):
        raise error_of(named.failure())
    return Path(snapshots.snapshot_dir_for(os.fspath(index_dir), collection, STYLE))


def snapshot_path_for(snapshot_dir: PathLike, document_id: str) -> Path:
    """Where the snapshot of a document lies. ValueError for an id that is not one part of a path.

    Arithmetic only: whoever opens it must follow no link, as `verify_citation` does not.
    """
    path = snapshots.snapshot_path_for(os.fspath(snapshot_dir), document_id, STYLE)
    if isinstance(path, Failure):
        raise ValueError(f"{document_id!r} names no snapshot: {path.failure().why}")  # noqa: TRY004 - of the value
    return Path(path.unwrap())
