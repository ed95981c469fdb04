"""What a name means, and what is done with what a walk meets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.kinds import BY_SUFFIX, KINDS, PLAIN_TEXT, Dispatch, Kind, Loader, kind_of, suffix_of
from groundkit.core.sources import EntryKind, ReadProblem, is_utf8, shown
from groundkit.core.walking import (
    Entry,
    FoundFailed,
    FoundFile,
    FoundSkipped,
    SkipReason,
    in_scope,
    judge,
    judge_named,
    source_of,
)

names = st.text(st.sampled_from("aB.mdTX \\-é"), min_size=1, max_size=10).filter(lambda name: name not in (".", ".."))
sources = st.lists(names, min_size=1, max_size=3).map("/".join)
entries = st.builds(Entry, sources, st.sampled_from(EntryKind), st.just("target"), st.booleans())
hiding = st.none() | st.just(".gitignore:1: rule")


@pytest.mark.parametrize(
    ("source", "suffix"),
    [
        ("a.md", ".md"),
        ("UP.MD", ".md"),
        ("a.md.txt", ".txt"),
        ("a.md/b", ""),
        (".md", ""),
        ("a/.md", ""),
        ("...md", ".md"),
        ("x.md.", "."),
        ("trailing.md ", ".md "),
        ("no_ext", ""),
        ("İ.MD", ".md"),
    ],
)
def test_only_the_last_suffix_of_the_name_counts(source: str, suffix: str) -> None:
    assert suffix_of(source) == suffix


@given(sources, names)
def test_the_directories_above_do_not_change_what_a_file_is(above: str, name: str) -> None:
    assert kind_of(f"{above}/{name}") == kind_of(name)


@given(sources, st.sampled_from(sorted(KINDS)))
def test_every_known_suffix_has_its_kind_in_any_case(source: str, suffix: str) -> None:
    assert kind_of(source + suffix) == kind_of(source + suffix.upper()) == KINDS[suffix]
    assert kind_of(source + suffix, as_text=True) == PLAIN_TEXT


@given(sources)
def test_as_text_takes_every_name_as_plain_text(source: str) -> None:
    assert kind_of(source, as_text=True) == Kind(Loader.TEXT, "text/plain")


@given(entries, hiding, st.booleans())
def test_only_visible_regular_files_of_a_known_kind_are_taken(entry: Entry, rule: str | None, as_text: bool) -> None:
    judged = judge(entry, rule, Dispatch(as_text))
    visible = not entry.is_index and not entry.name.startswith(".") and rule is None
    kind = kind_of(entry.source, as_text)
    taken = visible and entry.kind is EntryKind.FILE and kind is not None
    assert isinstance(judged, FoundFile) == taken
    assert (judged is None) == (visible and entry.kind is EntryKind.DIRECTORY)
    assert isinstance(judged, FoundFailed) == (visible and entry.kind is EntryKind.OTHER and kind is not None)


@given(entries, st.booleans())
def test_what_is_named_is_never_hidden_and_never_passed_over_in_silence(entry: Entry, as_text: bool) -> None:
    judged = judge_named(entry, Dispatch(as_text))
    if entry.is_index:
        assert isinstance(judged, FoundSkipped)
    elif entry.kind is EntryKind.FILE and kind_of(entry.source, as_text) is not None:
        assert isinstance(judged, FoundFile)
    elif entry.kind is EntryKind.DIRECTORY:
        assert judged is None
    else:
        assert isinstance(judged, FoundFailed)


@given(entries, hiding)
def test_a_finding_speaks_of_the_entry_and_names_its_rule(entry: Entry, rule: str | None) -> None:
    judged = judge(entry, rule, BY_SUFFIX)
    if judged is not None:
        assert source_of(judged) == entry.source
    if isinstance(judged, FoundSkipped):
        rules = {
            SkipReason.HIDDEN: entry.name,
            SkipReason.IGNORED: rule,
            SkipReason.SYMLINK: "target",
            SkipReason.UNKNOWN_SUFFIX: suffix_of(entry.source),
            SkipReason.INDEX_DIRECTORY: entry.name,
        }
        assert judged.rule == rules[judged.reason]


def test_an_unknown_suffix_that_was_named_says_what_is_known() -> None:
    judged = judge_named(Entry("a.rst", EntryKind.FILE), BY_SUFFIX)
    assert isinstance(judged, FoundFailed)
    assert judged.failure.problem is ReadProblem.UNKNOWN_SUFFIX
    assert all(known in judged.failure.detail for known in (".rst", ".markdown", ".md", ".txt", "--as text"))


@given(st.binary(min_size=1, max_size=12).filter(lambda data: b"\0" not in data))
def test_every_name_can_be_shown_and_only_odd_ones_change(data: bytes) -> None:
    name = data.decode("utf-8", "surrogateescape")
    assert shown(name).encode("utf-8")
    assert (shown(name) == name) == is_utf8(name) == (data.decode("utf-8", "replace").encode() == data)
    if not is_utf8(name):
        judged = judge(Entry(name, EntryKind.FILE), None, Dispatch(as_text=True))
        assert isinstance(judged, FoundSkipped)
        assert judged.reason is SkipReason.NAME_NOT_UTF8


@given(st.lists(sources, max_size=3), sources)
def test_a_source_is_in_scope_when_it_or_a_directory_above_was_asked_for(paths: list[str], source: str) -> None:
    expected = any(source == path or source.startswith(f"{path}/") for path in paths)
    assert in_scope(paths, source) == expected
    assert in_scope([*paths, ""], source)
