"""`Files` and its twin keep the contract, agree with each other, and with git about ignore files."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundkit.adapters.files import Files
from groundkit.core.kinds import Dispatch
from groundkit.core.ports import SourceReader
from groundkit.core.walking import Found, FoundFile, WalkRequest
from groundkit.testing.memory_files import Folder, Link, MemoryFiles, Special, Tree
from groundkit.testing.reader_contract import SourceReaderContract, asked, trees


def plant(base: Path, tree: Tree) -> None:
    for source, node in tree.items():
        path = base / source
        path.parent.mkdir(parents=True, exist_ok=True)
        match node:
            case bytes():
                path.write_bytes(node)
            case Folder():
                path.mkdir(exist_ok=True)
            case Link(target):
                path.symlink_to(target)
            case Special():
                os.mkfifo(path)
            case _:
                raise NotImplementedError(node)


@contextmanager
def real(tree: Tree) -> Iterator[SourceReader]:
    with tempfile.TemporaryDirectory() as folder:
        plant(Path(folder), tree)
        with closing(Files(Path(folder))) as files:
            yield files


@contextmanager
def twin(tree: Tree) -> Iterator[SourceReader]:
    yield MemoryFiles(dict(tree))


class TestFiles(SourceReaderContract):
    def make(self, tree: Tree) -> AbstractContextManager[SourceReader]:
        return real(tree)


class TestMemoryFiles(SourceReaderContract):
    def make(self, tree: Tree) -> AbstractContextManager[SourceReader]:
        return twin(tree)


def walked(reader: SourceReader, request: WalkRequest) -> list[Found]:
    return list(reader.walk(request))


@given(st.data())
@settings(max_examples=60)
def test_files_and_their_twin_find_the_same(data: st.DataObject) -> None:
    tree = data.draw(trees())
    request = WalkRequest(data.draw(asked(tree)), Dispatch(data.draw(st.booleans())))
    paths = sorted({*tree, *request.paths, "a/gone.md", "b/b/b.txt"})
    with real(tree) as files, twin(tree) as memory:
        found, expected = walked(files, request), walked(memory, request)
        assert [(type(each), each) for each in found if isinstance(each, FoundFile)] == [
            (type(each), each) for each in expected if isinstance(each, FoundFile)
        ]
        assert list(map(repr_without_detail, found)) == list(map(repr_without_detail, expected))
        assert [files.explain(path).decision for path in paths] == [memory.explain(path).decision for path in paths]


def repr_without_detail(found: Found) -> object:
    """Two systems need not fail in the same words."""
    failure = getattr(found, "failure", None)
    return found if failure is None else (failure.source, failure.problem, found.directory)


# Brackets: pathspec knows no `[:alpha:]`, and lets `[!a]` stand for a slash.
_words = st.sampled_from(["a", "b", "ab", "*", "?", "**", "a*", "*b", "[ab]", "*a*b", "a.md", "*.md"])
_lines = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["", "", "!"]),
        st.sampled_from(["", "", "/"]),
        st.lists(_words, min_size=1, max_size=3).map("/".join),
        st.sampled_from(["", "", "/"]),
    ),
).filter(lambda line: not line.endswith("**/"))
_plain_names = st.sampled_from(["a", "b", "ab", "aab", "a.md", "b.md"])


@st.composite
def trees_with_gitignores(draw: st.DrawFn) -> Tree:
    paths = draw(st.lists(st.lists(_plain_names, min_size=1, max_size=4).map("/".join), min_size=3, max_size=12))
    tree: dict[str, bytes] = {path: b"" for path in paths if not any(other.startswith(path + "/") for other in paths)}
    folders = sorted({"", *(path.rpartition("/")[0] for path in tree)})
    for folder in draw(st.lists(st.sampled_from(folders), min_size=1, max_size=3, unique=True)):
        rules = "\n".join(draw(st.lists(_lines, min_size=1, max_size=4))).encode()
        tree[f"{folder}/.gitignore" if folder else ".gitignore"] = rules
    return tree


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@given(trees_with_gitignores())
@settings(max_examples=40)
def test_gitignore_files_hide_what_git_hides(tree: Tree) -> None:
    with tempfile.TemporaryDirectory() as folder:
        base, elsewhere = Path(folder, "base"), {"HOME": folder, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
        base.mkdir()
        plant(base, tree)
        subprocess.run(["git", "init", "-q"], cwd=base, env=elsewhere, check=True)
        listing = ["git", "ls-files", "-z", "--others", "--exclude-standard"]
        listed = subprocess.run(listing, cwd=base, env=elsewhere, check=True, capture_output=True).stdout.decode()
        with closing(Files(base)) as files:
            found = {
                each.source
                for each in files.walk(WalkRequest(("",), Dispatch(as_text=True)))
                if isinstance(each, FoundFile)
            }
    assert found == {name for name in listed.split("\0") if name and not name.endswith(".gitignore")}


def test_an_ignore_file_cannot_stall_a_walk() -> None:
    rules = b"\n".join([b"*a" * 30 + b"b", b"**/a/" * 30 + b"b", b"**/" + b"*a" * 30 + b"b/**/" + b"*a" * 30 + b"b"])
    tree: Tree = {".gitignore": rules, "a" * 250 + ".md": b"", "a/" * 500 + "x.md": b""}
    with real(tree) as files:
        assert sum(isinstance(each, FoundFile) for each in walked(files, WalkRequest(("",)))) == 2
