"""What every `SourceReader` promises. Subclass, say how a tree is made, and run it with pytest."""

import hashlib
from contextlib import AbstractContextManager

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundkit.core.kinds import Dispatch, kind_of
from groundkit.core.ports import SourceReader
from groundkit.core.result import Failure, Success
from groundkit.core.sources import ReadProblem, shown
from groundkit.core.walking import (
    Decision,
    Found,
    FoundFailed,
    FoundFile,
    FoundSkipped,
    SkipReason,
    WalkRequest,
    source_of,
)
from groundkit.testing.memory_files import Folder, Link, Special, Tree

ALL = WalkRequest(("",))
LIMIT = 1000

#: One suite is run on several readers.
_shared = settings(suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow], max_examples=25)

# Lower case only: some systems hold `a` and `A` for one name.
_names = st.sampled_from(
    [
        "a",
        "b",
        "a-b",
        "a.md",
        "b.txt",
        "b.md",
        "c.log",
        ".h",
        ".h.md",
        "ab",
        "a.b.md",
        "x\\y.md",
        "\u00e9.md",
        "n\nl.md",
    ]
)
_rules = st.lists(
    st.sampled_from(
        ["*.md", "!a.md", "a/", "/b", "b/*", "!b/a.md", "# no", "", "*.txt", "!*.txt", "a/**", "**/b.md", "ab"]
    ),
    max_size=4,
).map(lambda lines: "\n".join(lines).encode())
_ignore_names = st.sampled_from([".gitignore", ".ignore", ".gkignore"])
_leaves = st.one_of(
    st.binary(max_size=4), st.just(Folder()), st.just(Special()), st.sampled_from(["a", "..", "/", "no"]).map(Link)
)


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Small trees with odd names, links, special files and ignore files. No name is a file and a directory at once."""
    paths = draw(st.lists(st.lists(_names, min_size=1, max_size=4).map("/".join), max_size=12, unique=True))
    tree = {path: draw(_leaves) for path in paths if not any(other.startswith(path + "/") for other in paths)}
    folders = sorted({"", *(path.rpartition("/")[0] for path in tree)})
    for folder in draw(st.lists(st.sampled_from(folders), max_size=3, unique=True)):
        name = draw(_ignore_names)
        tree[f"{folder}/{name}" if folder else name] = draw(_rules)
    return tree


def asked(tree: Tree) -> st.SearchStrategy[tuple[str, ...]]:
    """Paths one may ask a walk of a tree for: there or not, nested or not, and some that are none."""
    every = {*tree, *(path.rpartition("/")[0] for path in tree), "", "a", "a/b", "..", "/", "gone.md"}
    return st.lists(st.sampled_from(sorted(every)), min_size=1, max_size=4).map(tuple)


class SourceReaderContract:
    """Implementations say in `make` how a reader over such a tree is opened; leaving the context removes it."""

    def make(self, tree: Tree) -> AbstractContextManager[SourceReader]:
        raise NotImplementedError

    def found(self, tree: Tree, request: WalkRequest = ALL) -> dict[str, Found]:
        with self.make(tree) as reader:
            return {source_of(each): each for each in reader.walk(request)}

    @_shared
    @given(trees())
    def test_a_walk_tells_of_each_thing_once_and_in_order(self, tree: Tree) -> None:
        with self.make(tree) as reader:
            sources = [source_of(each) for each in reader.walk(ALL)]
        assert sources == sorted(set(sources))

    @_shared
    @given(trees())
    def test_whatever_is_there_is_told_of_or_lies_below_what_is(self, tree: Tree) -> None:
        told = self.found(tree)
        for path, node in tree.items():
            directories = [above for above, each in told.items() if path.startswith(above + "/")]
            answers = [path] if path in told else directories
            assert answers or isinstance(node, Folder)
            assert all(isinstance(told[answer], FoundSkipped | FoundFailed) for answer in directories)

    @_shared
    @given(trees())
    def test_every_file_found_is_read_whole_with_its_digest(self, tree: Tree) -> None:
        with self.make(tree) as reader:
            for each in reader.walk(ALL):
                if isinstance(each, FoundFile):
                    read = reader.read(each.source, LIMIT).unwrap()
                    assert (read.source, read.data) == (each.source, tree[each.source])
                    assert read.digest == hashlib.sha256(read.data).hexdigest()
                    assert each.kind == kind_of(each.source)

    @_shared
    @given(trees())
    def test_explanations_say_what_a_walk_does(self, tree: Tree) -> None:
        decisions = {FoundFile: Decision.TAKEN, FoundSkipped: Decision.SKIPPED, FoundFailed: Decision.FAILED}
        with self.make(tree) as reader:
            for each in reader.walk(ALL):
                explained = reader.explain(source_of(each))
                assert explained.source == shown(source_of(each))
                assert explained.decision is decisions[type(each)]
                if isinstance(each, FoundSkipped):
                    assert explained.rule == f"{each.reason.value}: {each.rule}"

    @_shared
    @given(st.data())
    def test_a_path_that_is_not_there_is_explained_by_the_rules_alone(self, data: st.DataObject) -> None:
        tree = data.draw(trees())
        path = data.draw(st.lists(_names, min_size=1, max_size=3).map("/".join))
        with self.make(tree) as reader:
            before = reader.explain(path)
        if path in tree or any(known.startswith(path + "/") or path.startswith(known + "/") for known in tree):
            return
        after = self.found({**tree, path: b""}).get(path)
        assert (before.decision is Decision.SKIPPED) == (not isinstance(after, FoundFile))

    @_shared
    @given(st.data())
    def test_what_is_asked_for_twice_is_told_of_once(self, data: st.DataObject) -> None:
        tree = data.draw(trees())
        paths = data.draw(asked(tree))
        with self.make(tree) as reader:
            sources = [source_of(each) for each in reader.walk(WalkRequest((*paths, *paths)))]
            assert sources == sorted(set(sources))
            assert sources == [source_of(each) for each in reader.walk(WalkRequest(paths))]

    @_shared
    @given(st.data())
    def test_a_walk_of_several_paths_is_made_of_the_walks_of_each(self, data: st.DataObject) -> None:
        tree = data.draw(trees())
        paths = data.draw(asked(tree))
        together = self.found(tree, WalkRequest(paths))
        each_alone = [self.found(tree, WalkRequest((path,))) for path in paths]
        files = {source for alone in each_alone for source, found in alone.items() if isinstance(found, FoundFile)}
        assert {source for source, found in together.items() if isinstance(found, FoundFile)} == files

    def test_a_directory_comes_where_its_files_belong(self) -> None:
        tree = {"a/x.md": b"", "a.md": b"", "a-b.md": b"", "ab.md": b"", "a/b/y.md": b"", "a/b.md": b""}
        assert list(self.found(tree)) == ["a-b.md", "a.md", "a/b.md", "a/b/y.md", "a/x.md", "ab.md"]

    def test_suffixes_decide_unless_all_is_text(self) -> None:
        tree: Tree = {"a.md": b"", "b.TXT": b"", "c.markdown": b"", "d.rst": b"", "e": b"", "f.md.": b""}
        told = self.found(tree)
        assert [source for source, each in told.items() if isinstance(each, FoundFile)] == [
            "a.md",
            "b.TXT",
            "c.markdown",
        ]
        assert told["d.rst"] == FoundSkipped("d.rst", SkipReason.UNKNOWN_SUFFIX, ".rst")
        assert all(
            isinstance(each, FoundFile)
            for each in self.found(tree, WalkRequest(("",), Dispatch(as_text=True))).values()
        )

    def test_hidden_files_and_the_index_are_passed_over(self) -> None:
        tree: Tree = {".a.md": b"", ".b/c.md": b"", ".groundkit/d.md": b"", "e/.groundkit/f.md": b""}
        assert self.found(tree) == {
            ".a.md": FoundSkipped(".a.md", SkipReason.HIDDEN, ".a.md"),
            ".b": FoundSkipped(".b", SkipReason.HIDDEN, ".b"),
            ".groundkit": FoundSkipped(".groundkit", SkipReason.INDEX_DIRECTORY, ".groundkit"),
            "e/.groundkit": FoundSkipped("e/.groundkit", SkipReason.INDEX_DIRECTORY, ".groundkit"),
        }

    def test_what_is_named_is_taken_though_hidden_or_ignored(self) -> None:
        tree: Tree = {
            ".a.md": b"",
            ".b/c.md": b"",
            "d/e.md": b"",
            "d/f.md": b"",
            "g.md": b"",
            ".gitignore": b"d/\ng.md\n",
        }
        for path, files in {".a.md": [".a.md"], ".b": [".b/c.md"], "d": ["d/e.md", "d/f.md"], "g.md": ["g.md"]}.items():
            assert list(self.found(tree, WalkRequest((path,)))) == files
        told = self.found(tree, WalkRequest(("", ".b", "d/e.md")))
        assert [source for source, each in told.items() if isinstance(each, FoundFile)] == [".b/c.md", "d/e.md"]
        assert told["d"] == FoundSkipped("d", SkipReason.IGNORED, ".gitignore:1: d/")

    def test_the_index_directory_is_not_even_taken_by_name(self) -> None:
        tree: Tree = {".groundkit/a.md": b"", "b.md": b""}
        for path in (".groundkit", ".groundkit/a.md"):
            assert [type(each) for each in self.found(tree, WalkRequest((path,))).values()] == [FoundSkipped]

    @pytest.mark.parametrize(
        ("path", "problem"),
        [
            ("gone.md", ReadProblem.MISSING),
            ("a.md/b.md", ReadProblem.MISSING),
            ("a.md/b/c.md", ReadProblem.MISSING),
            ("x.rst", ReadProblem.UNKNOWN_SUFFIX),
            ("special.md", ReadProblem.NOT_REGULAR),
            ("link.md", ReadProblem.OUTSIDE_BASE),
            ("link/a.md", ReadProblem.OUTSIDE_BASE),
            ("../a.md", ReadProblem.OUTSIDE_BASE),
            ("/a.md", ReadProblem.OUTSIDE_BASE),
            ("a\0.md", ReadProblem.OUTSIDE_BASE),
            ("a\udcff.md", ReadProblem.NAME_NOT_UTF8),
        ],
    )
    def test_a_named_path_that_cannot_be_taken_fails(self, path: str, problem: ReadProblem) -> None:
        tree: Tree = {
            "a.md": b"",
            "x.rst": b"",
            "special.md": Special(),
            "link.md": Link("a.md"),
            "link": Link("d"),
            "d/a.md": b"",
        }
        told = self.found(tree, WalkRequest((path, "a.md")))
        failed = told.pop(shown(path))
        assert isinstance(failed, FoundFailed)
        assert failed.failure.problem is problem
        assert told == self.found(tree, WalkRequest(("a.md",)))

    def test_links_are_told_of_and_never_followed(self) -> None:
        tree: Tree = {
            "a/one.md": b"",
            "a/up": Link(".."),
            "a/two.md": Link("one.md"),
            "root": Link("/"),
            "no": Link("no"),
        }
        told = self.found(tree)
        assert [source for source, each in told.items() if isinstance(each, FoundFile)] == ["a/one.md"]
        assert told["a/two.md"] == FoundSkipped("a/two.md", SkipReason.SYMLINK, "one.md")
        with self.make(tree) as reader:
            for source, link in {"a/two.md": "a/two.md", "a/up/a/one.md": "a/up", "root/etc/hosts": "root"}.items():
                refused = reader.read(source, LIMIT).failure()
                assert refused.problem is ReadProblem.OUTSIDE_BASE
                assert refused.detail.startswith(f"{link} is a symbolic link to ")

    def test_what_is_no_file_is_not_read(self) -> None:
        tree: Tree = {"special.md": Special(), "special.bin": Special(), "d.md": Folder(), "a.md": b"12345"}
        told = self.found(tree)
        assert isinstance(told["special.md"], FoundFailed)
        assert isinstance(told["special.bin"], FoundSkipped)
        problems = {
            "special.md": ReadProblem.NOT_REGULAR,
            "d.md": ReadProblem.NOT_REGULAR,
            "gone.md": ReadProblem.MISSING,
            "a.md/b.md": ReadProblem.MISSING,
            "": ReadProblem.OUTSIDE_BASE,
            "../a.md": ReadProblem.OUTSIDE_BASE,
            "./a.md": ReadProblem.OUTSIDE_BASE,
            "/a.md": ReadProblem.OUTSIDE_BASE,
            "a\0.md": ReadProblem.OUTSIDE_BASE,
            "a\udcff.md": ReadProblem.NAME_NOT_UTF8,
        }
        with self.make(tree) as reader:
            for source, problem in problems.items():
                assert reader.read(source, LIMIT).failure().problem is problem, source

    def test_a_file_is_read_up_to_the_limit_and_not_beyond(self) -> None:
        with self.make({"a.md": b"12345", "empty.md": b""}) as reader:
            assert isinstance(reader.read("a.md", 5), Success)
            refused = reader.read("a.md", 4)
            assert isinstance(refused, Failure)
            assert refused.failure().problem is ReadProblem.TOO_LARGE
            assert reader.read("empty.md", 1).unwrap().data == b""

    def test_the_nearest_and_strongest_ignore_file_decides(self) -> None:
        tree: Tree = {
            ".gitignore": b"*.txt\nd/\n",
            ".ignore": b"!keep.txt\n",
            ".gkignore": b"keep.txt\n\n!d/\n",
            "keep.txt": b"",
            "d/a.txt": b"",
            "d/b.txt": b"",
            "d/.gitignore": b"# closest\n!a.txt\n",
        }
        told = self.found(tree)
        assert told["keep.txt"] == FoundSkipped("keep.txt", SkipReason.IGNORED, ".gkignore:1: keep.txt")
        assert isinstance(told["d/a.txt"], FoundFile)
        assert told["d/b.txt"] == FoundSkipped("d/b.txt", SkipReason.IGNORED, ".gitignore:1: *.txt")

    @pytest.mark.parametrize(
        "node", [Link("elsewhere"), Special(), b"#" * (1024 * 1024 + 1)], ids=["link", "special", "huge"]
    )
    def test_a_directory_whose_ignore_file_cannot_be_read_is_not_walked(self, node: Special | Link | bytes) -> None:
        told = self.found({"d/.ignore": node, "d/a.md": b"", "e.md": b""})
        failed = told["d"]
        assert isinstance(failed, FoundFailed)
        assert failed.directory
        assert failed.failure.detail.startswith(".ignore")
        assert list(told) == ["d", "e.md"]

    def test_an_ignore_file_with_odd_lines_still_counts(self) -> None:
        rules = b"\xef\xbb\xbf*.log.md\r\n\xff\xfe.md\n[z-a].md\n\\\n  \n!\n/\nlast.md"
        told = self.found({".gitignore": rules, "x.log.md": b"", "last.md": b"", "kept.md": b""})
        assert [source for source, each in told.items() if isinstance(each, FoundFile)] == ["kept.md"]

    def test_an_empty_tree_and_an_empty_request_are_answered_with_nothing(self) -> None:
        assert self.found({}) == {}
        assert self.found({"a.md": b""}, WalkRequest(())) == {}

    def test_explanations_name_the_directory_that_decided(self) -> None:
        tree: Tree = {".gitignore": b"\n\n*.log\nd/\n", "d/a.md": b"", ".h/b.md": b"", "l": Link("d"), "k/c.md": b""}
        rules = {
            "d/a.md": "ignored: .gitignore:4: d/ (at d)",
            "d/gone.md": "ignored: .gitignore:4: d/ (at d)",
            ".h/x/b.md": "hidden: .h (at .h)",
            "l/a.md": "symlink: d (at l)",
            "gone.log": "ignored: .gitignore:3: *.log",
            "gone.png": "unknown_suffix: .png",
            "gone.md": "source_missing: there is no such file",
            "k/c.md": "text/markdown",
            "k": "a directory",
            "": "a directory",
        }
        with self.make(tree) as reader:
            assert {source: reader.explain(source).rule for source in rules} == rules
