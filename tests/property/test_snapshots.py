"""Names of snapshots: one part of a path below one directory, on every system, whatever the id."""

import ntpath
import posixpath
from pathlib import PurePath, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.paths import Style
from groundkit.core.result import Failure, Success
from groundkit.core.snapshots import (
    BODIES,
    SNAPSHOTS,
    BadName,
    SnapshotNameRefused,
    body_name,
    is_body_name,
    is_snapshot_name,
    name_refused,
    snapshot_dir_for,
    snapshot_path_for,
)

PATHS = {Style.POSIX: (PurePosixPath, posixpath), Style.WINDOWS: (PureWindowsPath, ntpath)}
DIRECTORIES = {
    Style.POSIX: ("/", "/a", "/a/", "a b/é", "..", ".", "", "/a\\b", "c:"),
    Style.WINDOWS: ("C:\\", "C:\\a", "C:/a/", "a\\b", "..", ".", "", "\\\\server\\share", "\\\\server\\share\\a"),
}
styles = st.sampled_from(Style)
names = (
    st.text()
    | st.sampled_from((".", "..", "...", "", "c:", "ab:c"))
    | st.text(st.sampled_from("aZ09.:/\\\0 é~"), max_size=6)
    | st.text(st.characters(), max_size=6)
    | st.text("0123456789abcdef", min_size=31, max_size=33)
)


def joined(directory: str, name: str, style: Style) -> PurePath:
    return PATHS[style][0](directory) / name


def is_one_part(name: str, style: Style) -> bool:
    """As the paths of the standard library have it, for which `..` is one until somebody walks it."""
    base = PATHS[style][0]("a")
    path = joined("a", name, style)
    return path != base and path.parent == base and path.name == name and "\0" not in name and name != ".."


@given(names, styles, st.data())
def test_an_accepted_path_is_exactly_one_part_below_the_directory(name: str, style: Style, data: st.DataObject) -> None:
    directory = data.draw(st.sampled_from(DIRECTORIES[style]))
    answer = snapshot_path_for(directory, name, style)
    if isinstance(answer, Success):
        assert is_one_part(name, style)
        flavour, module = PATHS[style]
        assert flavour(answer.unwrap()) == joined(directory, name, style)
        assert module.basename(answer.unwrap()) == name


@given(names, styles)
def test_a_name_is_refused_exactly_when_it_is_not_one_part_or_begins_like_a_drive(name: str, style: Style) -> None:
    """A drive is refused everywhere, so that an index may be carried from one system to another."""
    good = is_one_part(name, style) and name[1:2] != ":"
    assert isinstance(snapshot_path_for("a", name, style), Success) == (name_refused(name, style) is None) == good


@given(names, styles)
def test_the_answer_depends_on_nothing_else(name: str, style: Style) -> None:
    assert snapshot_path_for("a", name, style) == snapshot_path_for("a", name, style)
    refused = name_refused(name, style)
    for directory in DIRECTORIES[style]:
        answer = snapshot_path_for(directory, name, style)
        assert answer == (Failure(refused) if refused else Success(answer.unwrap()))


EVERYWHERE = {
    "": BadName.EMPTY,
    ".": BadName.SPECIAL,
    "..": BadName.SPECIAL,
    "\0": BadName.NUL,
    "a\0": BadName.NUL,
    "/": BadName.SEPARATOR,
    "a/b": BadName.SEPARATOR,
    "a/": BadName.SEPARATOR,
    "/etc/passwd": BadName.SEPARATOR,
    "../a": BadName.SEPARATOR,
    "./a": BadName.SEPARATOR,
    "c:": BadName.DRIVE,
    "C:a": BadName.DRIVE,
    "é:a": BadName.DRIVE,
    "\n:a": BadName.DRIVE,
}
ON_WINDOWS = dict.fromkeys(("\\", "a\\b", "..\\a", "\\\\server\\share", "C:\\a", "\\\\?\\C:\\a"), BadName.SEPARATOR)


@pytest.mark.parametrize(
    ("name", "why", "style"),
    [(name, why, style) for name, why in EVERYWHERE.items() for style in Style]
    + [(name, why, Style.WINDOWS) for name, why in ON_WINDOWS.items()],
)
def test_what_leads_elsewhere_is_refused_and_says_why(name: str, why: BadName, style: Style) -> None:
    assert snapshot_path_for("a", name, style) == Failure(SnapshotNameRefused(name, why))


@given(st.text("0123456789abcdef", min_size=32, max_size=32), styles)
def test_every_document_id_names_a_snapshot(document_id: str, style: Style) -> None:
    assert is_snapshot_name(document_id)
    assert snapshot_path_for("a", document_id, style) == Success(f"a{PATHS[style][1].sep}{document_id}")
    digest = document_id * 2
    assert is_body_name(body_name(digest))
    assert name_refused(body_name(digest), style) is None


@given(names)
def test_names_that_we_give_are_good_ones_and_no_two_kinds_share_one(name: str) -> None:
    if is_snapshot_name(name) or is_body_name(name):
        assert name_refused(name, Style.WINDOWS) is None
    assert not (is_snapshot_name(name) and is_body_name(name))
    for wrong in (
        f"{'0' * 31}G",
        "0" * 32 + "\n",
        "0" * 31 + "٣",
        "A" * 32,
        body_name("0" * 63),
        body_name("0" * 64) + "\n",
    ):
        assert not is_snapshot_name(wrong) and not is_body_name(wrong)


collections = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", fullmatch=True)


@given(collections, styles, st.data())
def test_a_collections_directory_lies_in_the_index_directory_and_is_its_own(
    collection: str, style: Style, data: st.DataObject
) -> None:
    directory = data.draw(st.sampled_from(DIRECTORIES[style]))
    flavour = PATHS[style][0]
    assert flavour(snapshot_dir_for(directory, collection, style)) == joined(directory, collection + SNAPSHOTS, style)
    assert snapshot_dir_for(directory, collection, style).removesuffix(SNAPSHOTS).endswith(collection)
    assert not (collection + SNAPSHOTS).endswith(BODIES)
