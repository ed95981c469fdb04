"""Names of sources and directories, compared by their parts."""

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.paths import (
    PathProblem,
    Style,
    absolute_parts,
    choose_base,
    common_parent,
    is_asked_path,
    is_within_base,
    lies_below,
    parents_of,
    relative_source,
)
from groundkit.core.result import Failure, Success

parts = st.sampled_from(["a", "b", "ab", "a.md", "..", ".", "", "a\\b", "c:", " ", "é", "-", "..."])
plain = st.sampled_from(["a", "b", "ab", "a.md", "a\\b", "c:", " ", "é", "..."])
messy = st.lists(parts, max_size=6).map("/".join)
sources = st.lists(plain, min_size=1, max_size=5).map("/".join)
directories = st.lists(plain, max_size=5).map(lambda names: "/" + "/".join(names))


@given(messy)
def test_a_source_is_within_the_base_exactly_when_no_part_of_it_is_a_step(source: str) -> None:
    steps = source == "" or source.startswith("/") or posixpath.normpath("/base/" + source) != "/base/" + source
    assert is_within_base(source) == (not steps)


@given(directories, messy)
def test_what_is_within_the_base_stays_there_when_joined(base: str, source: str) -> None:
    if is_within_base(source):
        assert relative_source(base, f"{base}/{source}") == Success(source)


@given(directories, messy)
def test_relative_sources_are_those_below_the_resolved_base(base: str, path: str) -> None:
    absolute = f"/{path}"
    base_now, path_now = posixpath.normpath("/" + base), posixpath.normpath("/" + absolute)
    relative = posixpath.relpath(path_now, base_now)
    answer = relative_source(base, absolute)
    if relative == ".." or relative.startswith("../"):
        assert answer.failure().problem is PathProblem.OUTSIDE_BASE
    else:
        assert answer == Success("" if relative == "." else relative)


@given(directories, messy)
def test_a_relative_source_is_one_that_may_be_asked_for(base: str, path: str) -> None:
    answer = relative_source(base, f"{base}/{path}")
    if isinstance(answer, Success):
        assert is_asked_path(answer.unwrap())


@given(sources, sources)
def test_a_source_lies_below_itself_its_parents_and_the_base_and_nothing_else(source: str, path: str) -> None:
    assert lies_below(source, path) == (path in [*parents_of(source), source])
    assert lies_below(source, "")
    assert lies_below("", path) is False


@given(st.lists(directories, min_size=1, max_size=4))
def test_the_common_parent_holds_all_and_no_deeper_one_does(paths: list[str]) -> None:
    answer = common_parent(paths)
    expected = posixpath.commonpath([posixpath.normpath("/" + path.lstrip("/")) for path in paths])
    assert answer == (Success(expected) if expected != "/" else Failure(answer.failure()))
    if isinstance(answer, Failure):
        assert answer.failure().problem is PathProblem.ONLY_ROOT


@given(directories, st.lists(directories, min_size=1, max_size=3))
def test_the_home_of_the_index_is_the_base_exactly_when_all_lie_in_it(home: str, paths: list[str]) -> None:
    inside = all(isinstance(relative_source(home, path), Success) for path in paths)
    assert choose_base(home, paths) == (Success(home) if inside else common_parent(paths))


@pytest.mark.parametrize("path", ["", "a", "./a", "../a", "a/b", "\\a", "c:\\a"])
def test_relative_paths_are_refused(path: str) -> None:
    assert absolute_parts(path).failure().problem is PathProblem.NOT_ABSOLUTE
    assert relative_source("/a", path).failure().problem is PathProblem.NOT_ABSOLUTE
    assert relative_source(path, "/a").failure().problem is PathProblem.NOT_ABSOLUTE
    assert common_parent(["/a", path]).failure().problem is PathProblem.NOT_ABSOLUTE


@given(messy)
def test_a_nul_is_refused_everywhere(path: str) -> None:
    assert not is_within_base(path + "\0")
    assert relative_source("/a", f"/a/{path}\0").failure().problem is PathProblem.HOLDS_NUL


def test_a_backslash_is_an_ordinary_character_except_on_windows() -> None:
    assert is_within_base("..\\a")
    assert not is_within_base("..\\a", Style.WINDOWS)
    assert not is_within_base("c:a", Style.WINDOWS)
    assert is_within_base("a/b", Style.WINDOWS)


@pytest.mark.parametrize(
    ("base", "path", "source"),
    [
        ("C:\\docs", "c:\\docs\\a\\b.md", "a/b.md"),
        ("C:/docs/", "C:\\docs\\x\\..\\a.md", "a.md"),
        ("\\\\Server\\Share\\docs", "//server/share/docs/a.md", "a.md"),
        ("//server/share", "\\\\server\\share", ""),
        ("c:\\docs", "d:\\docs\\a.md", None),
        ("c:\\docs", "c:\\docs2\\a.md", None),
        ("c:\\docs", "c:\\..\\..\\a.md", None),
        ("\\\\one\\share\\docs", "\\\\two\\share\\docs\\a.md", None),
    ],
)
def test_windows_paths_have_drives_shares_and_two_separators(base: str, path: str, source: str | None) -> None:
    answer = relative_source(base, path, Style.WINDOWS)
    assert answer == (Success(source) if source is not None else Failure(answer.failure()))


def test_the_common_parent_on_windows_has_the_drive_and_is_never_one() -> None:
    assert common_parent(["c:\\a\\b", "C:\\a\\c"], Style.WINDOWS) == Success("c:/a")
    assert common_parent(["c:\\a", "c:\\b"], Style.WINDOWS).failure().problem is PathProblem.ONLY_ROOT
