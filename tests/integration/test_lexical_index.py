"""The lexical index and its twin under one contract, and what only the real one can suffer: kills, damage, a full disk."""

import os
import shutil
import signal
import struct
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp

import pytest
import tantivy
from hypothesis import given
from hypothesis import strategies as st

from groundkit.adapters.tantivy_index import TantivyIndex
from groundkit.adapters.tantivy_index.terms import tokenizer_for
from groundkit.core.changes import LexicalDocument, LexicalRow
from groundkit.core.folding import search_view
from groundkit.core.ports import LexicalIndex
from groundkit.core.query import LexicalQuery
from groundkit.core.result import Failure, Success
from groundkit.core.settings import LANGUAGES
from groundkit.core.storage import LexicalProblem, Mark
from groundkit.testing.index_contract import LexicalIndexContract, Writer, found, name_of, query_for
from groundkit.testing.memory_index import MemoryIndex


class TestMemoryIndex(LexicalIndexContract):
    def make(self) -> LexicalIndex:
        return MemoryIndex()


class TestTantivyIndex(LexicalIndexContract):
    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _place(cls, tmp_path_factory: pytest.TempPathFactory) -> None:
        cls.place = tmp_path_factory.mktemp("contract")

    def make(self) -> LexicalIndex:
        return TantivyIndex(Path(mkdtemp(dir=self.place)) / "c.lexical", "english")


def index_at(path: Path, language: str = "english") -> TantivyIndex:
    return TantivyIndex(path / "c.lexical", language)


words = st.text(
    st.sampled_from("abcdeéghijlnoprstuyzßışñالةتинаяகள்ัก東あ0_'’ "), max_size=40
)  # endings that stemmers cut off, and their scripts


@given(st.sampled_from(LANGUAGES), words)
def test_no_stemmer_swallows_a_token(language: str, text: str) -> None:
    view, tokens = search_view(text)
    index = TantivyIndex(Path(), language)
    assert len(index.terms(view)) == tokens
    assert index.terms(view) == tokenizer_for(language).analyze(view)


def test_the_analyzer_tells_languages_apart() -> None:
    assert len({TantivyIndex(Path(), language).analyzer for language in LANGUAGES}) == len(LANGUAGES)


def test_a_token_of_any_length_is_found(tmp_path: Path) -> None:
    writer = Writer(index_at(tmp_path))
    long = "k" * 20_000
    writer.write({1: [f"before {long} after"]})
    assert found(writer.searcher(), query_for(writer.index, long)) == {1}
    assert found(writer.searcher(), query_for(writer.index, f'"before {long} after"')) == {1}
    assert found(writer.searcher(), query_for(writer.index, "k" * 1023)) == set()


def test_what_it_writes_is_private_to_its_owner(tmp_path: Path) -> None:
    Writer(index_at(tmp_path)).write({1: ["ferry"]})
    assert {path.stat().st_mode & 0o077 for path in (tmp_path / "c.lexical").rglob("*")} == {0}
    assert (tmp_path / "c.lexical").stat().st_mode & 0o777 == 0o700


def test_another_process_s_commits_and_a_replaced_directory_are_seen(tmp_path: Path) -> None:
    reading, writer = index_at(tmp_path), Writer(index_at(tmp_path))
    marks = [writer.write({1: ["ferry"]})]
    seen = [reading.searcher(1).unwrap().mark]
    marks.append(writer.write({1: ["tide"]}))
    seen.append(reading.searcher(1).unwrap().mark)
    again = Writer(writer.index)
    marks.append(again.write({2: ["tide"], 3: ["harbour"]}))
    seen.append(reading.searcher(1).unwrap().mark)
    assert seen == marks
    assert set(reading.live(1).unwrap().values()) == {name_of(2), name_of(3)}


# What a killed writer leaves

#: Commits eight segments, the last commit with a delete in one of them, and dies before it could merge them.
_KILLED = """
import os, signal, sys
from pathlib import Path
from groundkit.adapters.tantivy_index import TantivyIndex
from groundkit.adapters.tantivy_index.terms import tokenizer_for
from tantivy import Document, Index
index = TantivyIndex(Path(sys.argv[1]), "none")
index.start(1).unwrap()
engine = Index.open(str(Path(sys.argv[1]) / "1"))
engine.register_tokenizer("view", index._tokenizer)
writer = engine.writer(15_000_000, 1)
for commit in range(8):
    if commit == 7:
        writer.delete_documents_by_term("doc", "d62")
    for row in range(20 * commit, 20 * commit + 20):
        writer.add_document(Document(row=row, doc=f"d{row}", body="ferry"))
    writer.commit()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("killed") / "c.lexical"
    ended = subprocess.run([sys.executable, "-c", _KILLED, str(path)], check=False, timeout=60)
    assert ended.returncode == -signal.SIGKILL
    return path


def _delete_without_precaution(path: Path) -> None:
    """A write as anybody would do it: the delete is the new writer's first operation."""
    engine = tantivy.Index.open(str(path / "1"))
    engine.register_tokenizer("view", TantivyIndex(path, "none")._tokenizer)
    writer = engine.writer(15_000_000, 1)
    writer.garbage_collect_files()
    writer.delete_documents_by_term("doc", "d63")
    writer.add_document(tantivy.Document(row=1000, doc="new", body="ferry"))
    writer.commit()
    writer.wait_merging_threads()


def _delete_with_the_adapter(path: Path) -> None:
    told = [LexicalDocument("d63", ()), LexicalDocument("new", (LexicalRow(1000, "ferry"),))]
    TantivyIndex(path, "none").apply(1, Mark(1, "t"), told).unwrap()


@pytest.mark.slow
def test_the_first_delete_after_a_kill_is_not_lost(killed: Path, tmp_path: Path) -> None:
    lost = {_delete_without_precaution: 0, _delete_with_the_adapter: 0}
    for trial in range(12):
        for number, delete in enumerate(lost):
            copy = tmp_path / f"{trial}-{number}.lexical"
            shutil.copytree(killed, copy)
            delete(copy)
            lost[delete] += 63 in TantivyIndex(copy, "none").live(1).unwrap()
    assert lost[_delete_with_the_adapter] == 0
    assert lost[_delete_without_precaution] > 0, "the engine no longer loses it: the sacrificial delete can go"


def test_lock_files_that_a_kill_left_mean_nothing(killed: Path, tmp_path: Path) -> None:
    copy = tmp_path / "c.lexical"
    shutil.copytree(killed, copy)
    assert {".tantivy-writer.lock", ".tantivy-meta.lock"} <= set(os.listdir(copy / "1"))
    _delete_with_the_adapter(copy)
    assert TantivyIndex(copy, "none").searcher(1).unwrap().mark == Mark(1, "t")


def test_a_live_writer_makes_another_one_busy_and_loses_nothing(tmp_path: Path) -> None:
    writer = Writer(index_at(tmp_path))
    writer.write({1: ["ferry"]})
    engine = tantivy.Index.open(str(tmp_path / "c.lexical" / "1"))
    engine.register_tokenizer("view", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
    holder = engine.writer(15_000_000, 1)
    refused = writer.index.apply(1, Mark(9, "t"), [LexicalDocument(name_of(1), ())])
    assert refused.failure().problem is LexicalProblem.BUSY
    del holder
    assert writer.searcher().mark == Mark(1, "t1")
    assert writer.index.live(1).unwrap() == {1: name_of(1)}


def _leave_delete_files(build: Path) -> None:
    """Delete files under every name the next commits could reach, as a kill between their writing and meta.json leaves."""
    for segment in {path.stem for path in build.glob("*.term")}:
        for opstamp in range(200):
            (build / f"{segment}.{opstamp}.del").touch(exist_ok=True)


def _delete_at_once(path: Path) -> None:
    engine = tantivy.Index.open(str(path / "1"))
    engine.register_tokenizer("view", TantivyIndex(path, "english")._tokenizer)
    writer = engine.writer(15_000_000, 1)
    writer.delete_documents_by_term("doc", name_of(1))
    writer.commit()
    writer.wait_merging_threads()


def test_delete_files_of_a_killed_commit_do_not_wedge_the_writer(tmp_path: Path) -> None:
    writer = Writer(index_at(tmp_path))
    writer.write({1: ["ferry"], 2: ["ferry"]})
    build = tmp_path / "c.lexical" / "1"
    _leave_delete_files(build)
    with pytest.raises(ValueError, match="FileAlreadyExists"):
        _delete_at_once(tmp_path / "c.lexical")
    writer.write({1: []})
    assert writer.index.live(1).unwrap() == {2: name_of(2)}
    assert len(list(build.glob("*.del"))) == 1


def test_files_that_no_commit_names_are_swept_and_named_ones_kept(tmp_path: Path) -> None:
    writer = Writer(index_at(tmp_path))
    writer.write({1: ["ferry"], 2: ["tide"]})
    build = tmp_path / "c.lexical" / "1"
    orphans = {f"{'0' * 32}.term", f"{'0' * 32}.17.del", f"{'f' * 32}.fast", ".tmpAb3dE"}
    for name in orphans:
        (build / name).write_bytes(b"left")
    writer.write({1: ["harbour"]})
    assert not orphans & set(os.listdir(build))
    assert found(writer.searcher(), query_for(writer.index, "tide")) == {2}


# Damage

_PARTS = ("idx", "pos", "term", "store", "fieldnorm", "fast", "del")


def _a_file(build: Path, part: str) -> Path:
    return next(iter(sorted(build.glob(f"*.{part}"))))


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x41
    path.write_bytes(data)


def _halve(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _flip_body(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[2] ^= 0x01
    path.write_bytes(data)


DAMAGES = {
    **{f"{part} gone": lambda build, part=part: _a_file(build, part).unlink() for part in _PARTS},
    **{f"{part} half": lambda build, part=part: _halve(_a_file(build, part)) for part in _PARTS},
    **{f"{part} empty": lambda build, part=part: os.truncate(_a_file(build, part), 0) for part in _PARTS},
    **{f"{part} flipped": lambda build, part=part: _flip(_a_file(build, part)) for part in _PARTS},
    **{f"{part} flipped early": lambda build, part=part: _flip_body(_a_file(build, part)) for part in _PARTS},
    "meta.json gone": lambda build: (build / "meta.json").unlink(),
    "meta.json empty": lambda build: os.truncate(build / "meta.json", 0),
    "meta.json half": lambda build: _halve(build / "meta.json"),
    "meta.json is a list": lambda build: (build / "meta.json").write_text("[]"),
    "all files gone": lambda build: [path.unlink() for path in build.iterdir()],
    "directory gone": lambda build: shutil.rmtree(build),
    "directory is a file": lambda build: (shutil.rmtree(build), build.write_text("")),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound")
    writer = Writer(index_at(path))
    writer.write({number: [f"ferry {number} tide", "harbour ferry"] for number in range(200)})
    writer.write({number: [] for number in range(0, 40, 2)})
    return path / "c.lexical"


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_said_and_ends_no_process(damage: str, sound: Path, tmp_path: Path) -> None:
    copy = tmp_path / "c.lexical"
    shutil.copytree(sound, copy)
    DAMAGES[damage](copy / "1")
    checked = TantivyIndex(copy, "english").check(1)
    assert isinstance(checked, Failure) or checked.unwrap()


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_answers_or_fails_and_can_be_started_again(damage: str, sound: Path, tmp_path: Path) -> None:
    copy = tmp_path / "c.lexical"
    shutil.copytree(sound, copy)
    DAMAGES[damage](copy / "1")
    index = TantivyIndex(copy, "english")
    searcher = index.searcher(1)
    if not isinstance(searcher, Failure):
        searcher.unwrap().facts("ferri")
        searcher.unwrap().candidates(LexicalQuery(("ferri", "tide"), (), (("ferri", "1"),)), 500)
    index.live(1)
    index.apply(1, Mark(3, "t"), [LexicalDocument(name_of(1), (LexicalRow(5000, "ferri"),))])
    again = Writer(index)
    again.write({1: ["ferry"]})
    assert index.check(1).unwrap() == ()
    assert index.live(1).unwrap() == {1: name_of(1)}


@pytest.mark.parametrize("part", _PARTS)
def test_nothing_is_added_to_a_damaged_build(part: str, sound: Path, tmp_path: Path) -> None:
    copy = tmp_path / "c.lexical"
    shutil.copytree(sound, copy)
    _flip_body(_a_file(copy / "1", part))
    refused = TantivyIndex(copy, "english").apply(1, Mark(3, "t"), [LexicalDocument(name_of(1), ())])
    assert refused.failure().problem is LexicalProblem.DAMAGED


def test_a_damaged_dictionary_is_never_opened(sound: Path, tmp_path: Path) -> None:
    copy = tmp_path / "c.lexical"
    shutil.copytree(sound, copy)
    _flip_body(_a_file(copy / "1", "term"))
    index = TantivyIndex(copy, "english")
    assert [index.searcher(1).failure().problem, index.live(1).failure().problem] == [LexicalProblem.DAMAGED] * 2


def test_every_single_flip_in_a_segment_file_is_found(sound: Path, tmp_path: Path) -> None:
    copy = tmp_path / "c.lexical"
    shutil.copytree(sound, copy)
    index = TantivyIndex(copy, "english")
    for part in _PARTS:
        path = _a_file(copy / "1", part)
        whole = path.read_bytes()
        body = len(whole) - 8 - struct.unpack("<I", whole[-8:-4])[0]
        for at in range(0, body, max(1, body // 40)):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            assert index.check(1).unwrap() == (f"{path.name} does not have the checksum it was written with",)
        path.write_bytes(whole)
    assert index.check(1).unwrap() == ()


def test_a_row_that_stands_twice_is_damage(tmp_path: Path) -> None:
    index = index_at(tmp_path)
    index.start(1).unwrap()
    twice = [LexicalDocument(name, (LexicalRow(7, "ferry"),)) for name in ("a", "b")]
    index.apply(1, Mark(1, "t"), twice).unwrap()
    assert index.live(1).failure().problem is LexicalProblem.DAMAGED


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_may_not_be_written_is_denied(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    denied = index_at(tmp_path).start(1)
    tmp_path.chmod(0o700)
    assert denied.failure().problem is LexicalProblem.DENIED


def _copy(sound: Path, place: Path) -> Path:
    """Never one that was opened before: a file that changes under an engine's memory map can end the process."""
    shutil.copytree(sound, place)
    return place


@pytest.mark.parametrize("part", _PARTS)
def test_a_changed_file_is_noticed_when_it_is_opened_whatever_part_it_is(
    part: str, sound: Path, tmp_path: Path
) -> None:
    assert isinstance(TantivyIndex(_copy(sound, tmp_path / "whole"), "english").searcher(1), Success)
    changed = _copy(sound, tmp_path / "changed")
    _flip_body(_a_file(changed / "1", part))
    opened = TantivyIndex(changed, "english").searcher(1)
    assert isinstance(opened, Failure)
    assert opened.failure().problem is LexicalProblem.DAMAGED


@pytest.mark.parametrize("left", ["", "{", "[]", '{"a": 1}', "null"])
def test_what_is_remembered_of_files_may_be_lost_and_is_never_believed_over_them(
    left: str, sound: Path, tmp_path: Path
) -> None:
    whole, changed = _copy(sound, tmp_path / "whole"), _copy(sound, tmp_path / "changed")
    for copy in (whole, changed):
        (copy / "1" / ".stamps.json").write_text(left)
        for each in (copy / "1").iterdir():
            os.utime(each)
    _flip_body(_a_file(changed / "1", "idx"))
    assert isinstance(TantivyIndex(whole, "english").searcher(1), Success)
    assert isinstance(TantivyIndex(changed, "english").searcher(1), Failure)
