"""All answers of a collection speak of one state, also when its writer died between the index and the declaration."""

from pathlib import Path

import pytest
from attrs import evolve
from integration.support import opened, put

import groundkit
from groundkit.collection import Collection
from groundkit.compose import ports_for


class Dead(Exception):
    """The process is gone."""


def die(*_: object) -> None:
    raise Dead


@pytest.fixture
def undeclared(tmp_path: Path) -> Path:
    """`a.md` was replaced: rows and postings of the new version are durable, the store has not said so."""
    base = tmp_path / "docs"
    put(base, {"a.md": "# one\n\nold ferry", "b.md": "kept ferry"})
    with opened(base) as made:
        made.ingest("")
    put(base, {"a.md": "# two\n\nnew ferry tide"})

    ports = ports_for(base / ".groundkit", "default")
    dying = evolve(ports, documents=_Undeclaring(ports.documents))
    with Collection(dying, base / ".groundkit", "default", base) as made, pytest.raises(Dead):
        made.ingest("")
    return base


class _Undeclaring:
    """A store whose process dies where it would declare."""

    def __init__(self, store: object) -> None:
        self._store = store

    def __getattr__(self, name: str) -> object:
        return die if name == "declare" else getattr(self._store, name)


def test_search_show_verify_list_and_status_agree(undeclared: Path) -> None:
    with opened(undeclared) as kb:
        hits = kb.search("ferry", verify=True)
        assert {hit.source: "new" in hit.text for hit in hits} == {"a.md": True, "b.md": False}
        assert all(hit.verification for hit in hits)
        for hit in hits:
            fetched = kb.fetch_chunk(hit.chunk_id)
            assert fetched.chunk is not None
            assert fetched.verification
            assert fetched.citation == hit.citation
        assert [bool(each.verification) for each in kb.verify_all()] == [True, True]
        assert {each.chunk_id for each in kb.citations()} == {hit.chunk_id for hit in hits}
        titles = {each.source: each.title for each in kb.get_document_records()}
        assert titles["a.md"] == "two"
        status = kb.status()
        assert (status.documents, status.unfinished) == (2, True)


def test_without_a_readable_index_the_finished_state_is_still_told(undeclared: Path) -> None:
    for path in (undeclared / ".groundkit" / "default.lexical").rglob("meta.json"):
        path.write_text("{")
    with opened(undeclared) as kb:
        assert {each.source: each.title for each in kb.get_document_records()}["a.md"] == "one"
        assert kb.status().documents == 2
        with pytest.raises(groundkit.StorageError):
            kb.search("ferry")
