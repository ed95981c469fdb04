"""Laws of conditions: the glob against a plain statement of it, any and all, dates that sort."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.briefs import DocumentBrief
from groundkit.core.filters import Field, FieldCondition, filters, source_matches, wrong_value
from groundkit.core.folding import search_view

paths = st.lists(st.text("ab.", min_size=1, max_size=3), min_size=1, max_size=4).map("/".join)
patterns = st.lists(
    st.sampled_from(["a", "b", ".", "/", "*", "**", "**/", "?", "[ab]", "[!a]"]), min_size=1, max_size=7
).map("".join)


def terms_of(text: str) -> list[str]:
    return search_view(text)[0].split()


def as_expression(pattern: str) -> str:
    """The same pattern as a regular expression, sign by sign."""
    made = ""
    for part in re.findall(r"\*\*/|\*{2,}|\*|\?|\[!?[^\]]*\]|.", pattern, re.DOTALL):
        if part == "**/":
            made += "(?:[^/]*/)*" if made in ("",) or made.endswith("/") else "(?:.*/)"
        elif part.startswith("**"):
            made += ".*"
        elif part == "*":
            made += "[^/]*"
        elif part == "?":
            made += "[^/]"
        elif part.startswith("[!"):
            made += f"[^/{part[2:]}"
        else:
            made += part if part.startswith("[") else re.escape(part)
    return made


@given(
    patterns.filter(
        lambda each: "/" in each and re.search(r"[*?\[]", each) and not re.search(r"[^/]\*\*/|\*\*\*", each)
    ),
    paths,
)
def test_a_glob_means_what_its_signs_say(pattern: str, source: str) -> None:
    pattern = pattern.removeprefix("./")
    if "/" in pattern:
        assert source_matches(pattern, source) == bool(re.fullmatch(as_expression(pattern), source, re.DOTALL)), (
            as_expression(pattern)
        )


@pytest.mark.parametrize(
    ("pattern", "meant", "not_meant"),
    [
        ("guide.md", ["guide.md", "docs/guide.md", "guide.md/inside.md"], ["my-guide.md", "guide.md.txt"]),
        ("docs", ["docs/a.md", "docs/b/c.md", "docs"], ["my/docs2", "docs2/a.md"]),
        ("docs/", ["docs/a.md"], ["docs2/a.md"]),
        ("docs/b", ["docs/b", "docs/b/c.md"], ["docs/bc.md", "x/docs/b"]),
        ("*.md", ["a.md", "docs/a.md"], ["a.txt"]),
        ("docs/*.md", ["docs/a.md"], ["docs/b/a.md", "a.md"]),
        ("docs/**", ["docs/a.md", "docs/b/c.md"], ["x/docs/a.md"]),
        ("**/ch?.md", ["ch1.md", "a/b/ch2.md"], ["ch10.md", "xch1.md"]),
        ("docs/**/x.md", ["docs/x.md", "docs/a/b/x.md"], ["docs/ax.md"]),
        (
            "https://example.org/guide",
            ["https://example.org/guide", "https://example.org/guide/2"],
            ["https://example.org/g"],
        ),
        ("https://example.org/*", ["https://example.org/a"], ["https://example.org/a/b", "https://example.com/a"]),
        ("[ab]1.md", ["a1.md", "x/b1.md"], ["c1.md"]),
        ("[!ab]1.md", ["c1.md"], ["a1.md"]),
        ("[", ["["], ["a"]),
    ],
)
def test_a_source_is_meant_as_people_mean_it(pattern: str, meant: list[str], not_meant: list[str]) -> None:
    assert [each for each in meant if not source_matches(pattern, each)] == []
    assert [each for each in not_meant if source_matches(pattern, each)] == []


def test_no_pattern_takes_long() -> None:
    assert not source_matches("/" + "*a" * 300 + "b", "/" + "a" * 1000)
    assert not source_matches("**/" * 20_000 + "b", "a/" * 500)
    assert source_matches("**/" * 20_000 + "b", "a/" * 500 + "b")
    assert not source_matches("[" * 65_000, "a/" * 500)


KINDS = ("text", "extracted", "snapshot")
TYPES = {"markdown": "text/markdown", "pdf": "application/pdf", "html": "text/html"}
briefs = st.builds(
    DocumentBrief,
    st.just("0" * 32),
    paths,
    st.sampled_from(KINDS),
    st.sampled_from(sorted(TYPES.values())),
    st.sampled_from(["2023-12-31T23:59:59Z", "2024-01-01T00:00:00Z", "2024-02-29T12:00:00Z", "2025-07-01T08:30:00Z"]),
    st.just(1),
    st.just(1),
)
conditions = st.one_of(
    st.builds(FieldCondition, st.just(Field.CLASS), st.sampled_from(KINDS), st.booleans()),
    st.builds(FieldCondition, st.just(Field.TYPE), st.sampled_from(sorted(TYPES)), st.booleans()),
    st.builds(FieldCondition, st.just(Field.SOURCE), st.sampled_from(["a*", "*b", "**/a", "a/b"]), st.booleans()),
    st.builds(
        FieldCondition,
        st.sampled_from([Field.AFTER, Field.BEFORE]),
        st.sampled_from(["2024", "2024-02", "2024-02-29", "2025-07-01T08:30:00Z", "2024-02-29t12:00"]),
        st.booleans(),
    ),
)


def holds(condition: FieldCondition, brief: DocumentBrief) -> bool:
    whole = "0000-01-01T00:00:00Z"
    value = condition.value.upper()
    when = value.removesuffix("Z") + whole[len(value.removesuffix("Z")) :] if len(value) < len(whole) else value
    return {
        Field.CLASS: brief.source_class == condition.value,
        Field.TYPE: brief.media_type == TYPES.get(condition.value),
        Field.SOURCE: source_matches(condition.value, brief.source),
        Field.AFTER: brief.ingested_at >= when,
        Field.BEFORE: brief.ingested_at < when,
    }[condition.field]


@given(st.lists(conditions, max_size=6), briefs)
def test_any_of_one_field_all_of_several_and_nothing_that_is_negated(
    given_conditions: list[FieldCondition], brief: DocumentBrief
) -> None:
    assert all(wrong_value(each) is None for each in given_conditions)
    positive = [each for each in given_conditions if not each.negated]
    wanted = not any(each.negated and holds(each, brief) for each in given_conditions)
    for name in {each.field for each in positive}:
        of_field = [holds(each, brief) for each in positive if each.field is name]
        wanted = wanted and (all(of_field) if name in (Field.AFTER, Field.BEFORE) else any(of_field))
    assert filters(given_conditions, terms_of).admits(brief) == wanted


def test_headings_are_looked_for_by_their_terms_together() -> None:
    made = filters([FieldCondition(Field.HEADING, "the Moon")], terms_of)
    assert made.admits_heading(("Tides", "And THE MOON!"))
    assert not made.admits_heading(("The", "Moon"))
    assert not made.admits_heading(())
    none = filters([FieldCondition(Field.HEADING, "moon", True)], terms_of)
    assert none.admits_heading(())
    assert not none.admits_heading(("moon",))
    either = filters([FieldCondition(Field.HEADING, "sun"), FieldCondition(Field.HEADING, "moon")], terms_of)
    assert either.admits_heading(("sun",))
    assert (either.by_heading, either.by_document) == (True, False)
