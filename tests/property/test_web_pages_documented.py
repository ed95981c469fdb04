"""The page about web pages names what the code has in its tables: all of it, and nothing else."""

import re
from pathlib import Path

import pytest
from attrs import fields

from groundkit.core import suspicions
from groundkit.core.addresses import V4_REFUSED, V6_REFUSED
from groundkit.core.charsets import DecidedBy
from groundkit.core.fetching import FetchLimits, FetchProblem
from groundkit.core.hosts import LOCAL_NAMES
from groundkit.core.live import LiveState
from groundkit.core.model import FetchFacts
from groundkit.core.pages import PAGE_KINDS, UNKNOWN_TYPES
from groundkit.core.secrets import EXACT_NAMES, NAME_BEGINNINGS, NAME_ENDINGS, VALUE_SHAPES, shapes_in
from groundkit.core.settings import LARGEST_BODY, Settings
from groundkit.core.urls import DEFAULT_PORTS, LONGEST, UrlProblem

PAGE = (Path(__file__).parents[2] / "docs" / "web-pages.md").read_text("utf-8")
#: What may follow the beginning of a credential; one of them fits each shape.
REST = (
    "a1B2c3D4e5F6g7H8i9J0k1L2m3N4",
    "0123456789ABCDEFGHIJ",
    "a1B2c3D4e5F6g7H8.a1B2c3D4e5F6g7H8",
    "1856339-a1B2c3D4e5F6g7H8i9J0",
)


def section(title: str) -> str:
    """What stands below a heading, up to the next one."""
    found = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, title
    return found[1]


def quoted(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def listing(text: str, before: str) -> list[str]:
    """The names of the paragraph that is nothing but names, after the one that ends so."""
    found = re.search(rf"{re.escape(before)}\n\n((?:`[^`]+`[,.]\s)+)", text)
    assert found, before
    return quoted(found[1])


def rows(text: str) -> list[list[str]]:
    """The cells of every table, without heads."""
    lines = re.findall(r"^\|(.*)\|$", text, re.MULTILINE)
    cells = [[cell.strip() for cell in line.split("|")] for line in lines]
    rules = [index for index, row in enumerate(cells) if set("".join(row)) <= set("-| ")]
    return [row for index, row in enumerate(cells) if index not in rules and index + 1 not in rules]


@pytest.mark.parametrize(
    ("title", "before", "table"),
    [
        ("Names of credentials", "Refused as they stand:", EXACT_NAMES),
        ("Names of credentials", "as in `access_token` or `X-Amz-Signature`:", NAME_ENDINGS),
        ("Names of credentials", "Refused whatever follows:", NAME_BEGINNINGS),
        ("Hosts", "Refused are these names and every name below them:", LOCAL_NAMES),
    ],
    ids=["exact", "endings", "beginnings", "hosts"],
)
def test_every_refused_name_is_documented_once(
    title: str, before: str, table: frozenset[str] | tuple[str, ...]
) -> None:
    assert sorted(listing(section(title), before)) == sorted(table)


def test_every_shape_of_a_credential_is_documented_and_every_documented_beginning_is_one() -> None:
    documented = [
        (kind, beginning) for kind, begins in rows(section("Shapes of credentials")) for beginning in quoted(begins)
    ]
    assert {kind for kind, _ in documented} == {kind for kind, _ in VALUE_SHAPES}
    for kind, beginning in documented:
        assert any(kind in {told for told, _, _ in shapes_in(beginning + rest)} for rest in REST), (kind, beginning)
    for kind, pattern in VALUE_SHAPES:
        examples = [beginning + rest for named, beginning in documented if named == kind for rest in REST]
        assert any(map(pattern.search, examples)), pattern.pattern


def test_every_block_of_addresses_is_documented() -> None:
    documented = [(block.strip("`"), why) for block, why in rows(section("Addresses"))]
    assert documented == [(str(block), why) for block, why in (*V4_REFUSED, *V6_REFUSED)]


def test_every_reason_is_documented() -> None:
    assert {each.value for each in UrlProblem} == {quoted(row[2])[0] for row in rows(section("Which URLs are taken"))}
    told = "".join(map(section, ("Which answers are taken", "Content types", "Content codings", "Limits")))
    assert {each.value for each in FetchProblem} <= set(quoted(told))


def test_every_field_of_a_fetch_and_what_decides_a_charset_are_documented() -> None:
    documented = [name.strip("`") for name, _ in rows(section("What is recorded"))]
    assert documented == [each.name for each in fields(FetchFacts)]
    assert {each.value for each in DecidedBy} <= set(quoted(section("What is recorded")))


def test_every_suspicion_and_every_state_of_a_live_page_is_documented() -> None:
    sentences = {
        value
        for name, value in vars(suspicions).items()
        if name.isupper() and not name.startswith("_") and isinstance(value, str)
    }
    documented = {said for said, _ in rows(section("Suspicions"))}
    assert documented == {each for each in sentences if " " in each}
    states = [state.strip("`") for state, _ in rows(section("What the page says today"))]
    assert states == [each.value for each in LiveState]


def test_every_content_type_is_documented() -> None:
    documented = [name for said, _ in rows(section("Content types")) for name in quoted(said)]
    assert sorted(documented) == sorted({*PAGE_KINDS, *UNKNOWN_TYPES} - {""})


def test_the_documented_limits_are_those_of_a_new_collection() -> None:
    limits = section("Limits")
    usual = Settings()
    assert f"{usual.fetch_bytes // 2**20} MiB, at most {LARGEST_BODY // 2**30} GiB" in limits
    assert f"| `--fetch-seconds` | {usual.fetch_seconds} |" in limits
    assert usual.fetch_ports == DEFAULT_PORTS == (80, 443)
    assert f"{FetchLimits(1, 1).headers // 1024} KiB" in limits
    assert f"{LONGEST:,} code points" in section("Which URLs are taken")
