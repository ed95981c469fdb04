"""Citations checked with nothing but a base directory, without a collection."""

import os
from pathlib import Path

from attrs import evolve

from groundkit.compose import sources_below
from groundkit.core.fingerprint import text_digest
from groundkit.core.model import Citation, Verification
from groundkit.core.result import Failure
from groundkit.core.settings import Settings
from groundkit.errors import RetrievalError
from groundkit.verify import Lookup, OpenSources, resolve, verify

PathLike = str | os.PathLike[str]


def verify_citation(citation: Citation, expected_text: str | None = None, *, base: PathLike | None) -> Verification:
    """Check a citation with nothing but the base directory. Never raises.

    With `expected_text`, that is what the source has to say at the span, whatever digest the citation carries.
    """
    expected = citation if expected_text is None else evolve(citation, digest=text_digest(expected_text))
    return verify(Lookup(_opener_of(base), Settings().max_bytes), expected)


def resolve_citation(citation: Citation, *, base: PathLike | None) -> str:
    """The text a citation stands for, as its source has it now; `RetrievalError` with the verdict where it does not."""
    resolved = resolve(Lookup(_opener_of(base), Settings().max_bytes), citation)
    if isinstance(resolved, Failure):
        raise RetrievalError(resolved.failure())
    return resolved.unwrap()


def _opener_of(base: PathLike | None) -> OpenSources | None:
    if base is None:
        return None
    directory = Path(os.path.abspath(base))
    return lambda: sources_below(directory, None)
