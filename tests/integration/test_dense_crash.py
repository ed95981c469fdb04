"""Law 12 for vectors: whoever is killed while vectors are made or removed leaves no document half embedded, and goes on."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from dense_support import ScriptedEmbedder, opened_with
from hypothesis import settings
from integration.support import INDEX, Launcher, put

from groundkit.collection import Collection

pytestmark = pytest.mark.slow

KILLS = 8 if settings().max_examples < 1000 else 200
TESTS = str(Path(__file__).parents[1])
MODES = ("bm25", "dense", "hybrid")

_BEGIN = """
import sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
import groundkit.ingest, groundkit.ingest_embedding
from groundkit.ingest_batch import Batching
from dense_support import ScriptedEmbedder, opened_with
groundkit.ingest.SERVED_BATCH = Batching(4, 1_000_000)
groundkit.ingest_embedding.BACK_FILLED = 5
with opened_with(Path(sys.argv[1]), ScriptedEmbedder()) as kb:
"""
WORK = {
    "a dense ingest": _BEGIN + '    kb.ingest([""], embedder="scripted")\n',
    "a back-fill": _BEGIN + '    kb.ingest([""], embedder="scripted")\n',
    "a change": _BEGIN + '    kb.ingest([""], dense=True)\n',
    "forgetting": _BEGIN + '    kb.ingest([""], dense=False)\n',
}


def texts(word: str) -> dict[str, str]:
    return {f"{n}.md": f"# {word} {n}\n\nthe tide {word} turns {n}\n\n## More\n\nferry {n}\n" for n in range(24)}


def found(kb: Collection) -> dict[str, list[tuple[float, str, str]]]:
    return {
        mode: [
            (hit.score, hit.source, hit.text) for hit in kb.search("tide ferry old", mode=mode, limit=99, abstain=False)
        ]
        for mode in MODES
    }


@pytest.fixture(scope="module")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launcher]:
    launched = Launcher(tmp_path_factory.mktemp("launcher"))
    yield launched
    launched.close()


def prepared(place: Path, what: str) -> Path:
    put(place, texts("old"))
    if what != "a dense ingest":
        with opened_with(place, ScriptedEmbedder()) as kb:
            kb.ingest([""], embedder=None if what == "a back-fill" else "scripted")
    if what == "a change":
        put(place, texts("new"))
    return place


@pytest.mark.parametrize("what", WORK)
def test_killed_at_any_moment_it_opens_and_goes_on(tmp_path: Path, launcher: Launcher, what: str) -> None:
    whole = prepared(tmp_path / "whole", what)
    length = launcher.run(WORK[what], whole, TESTS).seconds
    fresh = tmp_path / "fresh"
    put(fresh, {name: (whole / name).read_text() for name in texts("")})
    with opened_with(fresh, ScriptedEmbedder()) as kb:
        kb.ingest([""], embedder="scripted")
        expected = found(kb)
    chance = random.Random(what)
    for number in range(KILLS):
        base = prepared(tmp_path / "base", what)
        launcher.run(WORK[what], base, TESTS, after=length * (number + chance.random()) / KILLS)
        with opened_with(base, ScriptedEmbedder()) as kb:
            if kb.exists:
                status = kb.status()
                counts = status.vectors
                if status.manifest is not None:
                    assert counts.embedded + counts.empty + counts.lacking == status.chunks
                    assert not counts.lacking or what == "a back-fill"
            kb.ingest([""], embedder="scripted")
            assert kb.status().vectors.lacking == 0
            assert kb.doctor().healthy
            assert found(kb) == expected
        assert (base / INDEX).is_dir()
        shutil.rmtree(base)
