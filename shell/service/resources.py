"""Every chunk as a resource of the MCP server, and the pages of their list."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote

from attrs import frozen

from groundkit.core.cursors import Cursor, digest
from groundkit.core.fitting import brief, plain
from groundkit.errors import GroundkitError
from groundkit.service.answered import begun, marked
from groundkit.service.answers import address_of
from groundkit.service.problems import ProblemError

if TYPE_CHECKING:
    from groundkit.collection import Collection
    from groundkit.core.model import Citation, DocumentRecord
    from groundkit.service.runtime import Runtime

TEMPLATE = "groundkit://{collection}/{chunk_id}"
_ADDRESS = re.compile(r"groundkit://([^/?#]{1,200})/([0-9a-f]{1,32})", re.ASCII)
#: Resources on one page of the list; code points of a name.
_PAGE, _NAME = 100, 200


@frozen
class Listed:
    """A chunk in the list: its address, and its place for a person."""

    address: str
    place: str


def meant(address: str) -> tuple[str, str] | None:
    """The collection and the chunk of an address; None where it is none of ours."""
    found = _ADDRESS.fullmatch(address)
    return None if found is None else (unquote(found.group(1)), found.group(2))


def page_of_resources(runtime: Runtime, cursor: str | None) -> tuple[list[Listed], str | None]:
    """A page of all chunks by collection, source and position, and the cursor of the next one."""
    asked = digest(("resources",))
    taken = begun(cursor, asked)
    start = 0 if taken is None else taken.item
    found: list[Listed] = []
    for name, citation in _from(runtime, start):
        if len(found) == _PAGE:
            return found, str(Cursor(asked, marked(""), start + _PAGE))
        place = brief(plain(citation.place), _NAME)
        found.append(Listed(address_of(name, citation.chunk_id), place))
    return found, None


def _from(runtime: Runtime, start: int) -> Iterator[tuple[str, Citation]]:
    """All citations behind the first `start`. Documents that are passed over are counted, not read."""
    left = start
    for name in runtime.names():
        for collection, record in _documents(runtime, name):
            if left >= record.chunks:
                left -= record.chunks
                continue
            for citation in list(collection.citations(record.source))[left:]:
                yield name, citation
            left = 0


def _documents(runtime: Runtime, name: str) -> list[tuple[Collection, DocumentRecord]]:
    """The documents of a collection. One that cannot be read hides no other."""
    try:
        collection = runtime.collection(name)
        return [(collection, record) for record in collection.get_document_records()]
    except (ProblemError, GroundkitError):
        return []
