"""What a text quotes, checked against a collection, and quotations made into citations."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from integration.support import fresh, opened, put
from pdf_builder import pdf, prose
from shared import shared

import groundkit
from groundkit.cite_values import MarkerState, QuoteState
from groundkit.collection import Collection
from groundkit.core.model import Reason, Span
from groundkit.core.quote_matching import NearKind

TIDES = """# Tides

The tide rises twice a day, and the moon pulls at it.

The old pier of stone is *never* dry at noon; he was unable to swim there.

\tA storm came in the night,
\tand “nobody” knew why.
"""
LAMPS = """# Lamps

A lamp burned in every window of the little town.

The moon pulls at it. The tide rises twice a day here, too.
"""


FILES: dict[str, bytes | str] = {
    "tides.md": TIDES,
    "d/lamps.md": LAMPS,
    "港.md": "夜の港の灯は見える。\nとても遠くまで見える。",
}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    fresh(tmp_path, FILES).close()
    return tmp_path


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    """For questions only: nobody changes its files."""
    with fresh(tmp_path_factory.mktemp("asked"), FILES) as found:
        yield found


# -- quotations


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"The tide rises twice a day, and"', (QuoteState.EXACT, None, "tides.md:3:1")),
        ("“A storm came in the night, and “nobody” knew why”", (QuoteState.EXACT, None, "tides.md:7:2")),
        ("> A storm came in\n> the night,\n", (QuoteState.EXACT, None, "tides.md:7:2")),
        ("「とても遠くまで見える」", (QuoteState.EXACT, None, "港.md:2:1")),
        ("“dry at noon … The tide rises twice”", (QuoteState.NOWHERE, None, None)),
        ("“The tide rises […] dry at noon”", (QuoteState.EXACT, None, "tides.md:3:1")),
        ("“the old pier of stone is never dry”", (QuoteState.NEAR, NearKind.FORM, "tides.md:5:1")),
        ("“pulls at it.” he said; “the old pier!”", (QuoteState.NEAR, NearKind.FORM, "tides.md:5:1")),
        ("“able to swim there”", (QuoteState.NEAR, NearKind.CUT, "tides.md:5:56")),
        ("“A lamp burned in each window of the small town”", (QuoteState.NEAR, NearKind.EDITED, "d/lamps.md:3:1")),
        ("“nobody has ever said a thing like that”", (QuoteState.NOWHERE, None, None)),
    ],
)
def test_a_quotation_is_exact_or_near_or_nowhere(
    kb: Collection, text: str, expected: tuple[QuoteState, NearKind | None, str | None]
) -> None:
    checked = kb.check_answer(text)
    found = [(each.state, each.kind, each.citation and each.citation.place) for each in checked.quotations]
    assert expected in found
    assert bool(checked) == all(each.state is QuoteState.EXACT for each in checked.quotations)


def test_the_citation_of_a_quotation_is_that_of_its_passage(kb: Collection) -> None:
    (check,) = kb.check_answer("“A storm came in the night, and”").quotations
    assert check.citation is not None
    assert check.found == "A storm came in the night,\n\tand"
    assert check.citation.span == Span(TIDES.index("A storm"), TIDES.index(" “nobody”"))
    assert (check.citation.before or "").endswith("swim there.\n\n\t")
    assert check.citation.after == " “nobody” knew why.\n"
    assert check.citation.locator is not None and check.citation.locator.heading_path == ("Tides",)
    assert check.verification is not None and check.verification.reason is Reason.SAME
    assert check.diff == ()
    assert kb.resolve_citation(check.citation) == check.found


def test_a_near_quotation_says_in_what_it_differs(kb: Collection) -> None:
    (check,) = kb.check_answer("“A lamp burned in every door of the little town.”").quotations
    assert check.similarity is not None and 0.6 <= check.similarity < 1
    assert "".join(part.text for part in check.diff if part.change.value != "added") == check.found
    assert "".join(part.text for part in check.diff if part.change.value != "removed") == check.quote
    assert [part.text for part in check.diff if part.change.value == "added"] == ["door"]


def test_what_a_source_does_not_say_any_more_does_not_hold(base: Path) -> None:
    put(base, {"tides.md": TIDES.replace("twice a day", "three times a day")})
    with opened(base) as kb:
        checked = kb.check_answer("“The tide rises twice a day, and”")
    (check,) = checked.quotations
    assert check.state is QuoteState.EXACT
    assert check.verification is not None and check.verification.reason is Reason.EDITED
    assert not check
    assert not checked


def test_short_quotations_are_counted_and_a_text_without_any_holds(kb: Collection) -> None:
    checked = kb.check_answer("He likes “tides” and “War”.")
    assert (checked.quotations, checked.markers, checked.passed_over, bool(checked)) == ((), (), 2, True)
    assert kb.check_answer("")


# -- marks


def test_a_mark_counts_the_given_hits_and_none_outside_them_is_repaired(kb: Collection) -> None:
    hits = kb.search("lamp window town", limit=1)
    assert [hit.source for hit in hits] == ["d/lamps.md"]
    for mark in (
        "[0]",
        "[2]",
        "[999999999999999999999]",
        "[1, 2]",
        "[2-9]",
        "[^2]",
        "[tides.md:3:1]",
        "`" + "0" * 32 + "`",
    ):
        checked = kb.check_answer(f"“A lamp burned in every window” {mark}", hits)
        assert [each.state for each in checked.markers] == [MarkerState.UNKNOWN], mark
        assert checked.markers[0].detail
        assert checked.quotations[0].state is QuoteState.EXACT
        assert not checked
    for mark in ("[1]", "[^1]", "[d/lamps.md:3]", f"`{hits[0].chunk_id}`", f"[{hits[0].chunk_id[:12]}]"):
        checked = kb.check_answer(f"“A lamp burned in every window” {mark}", hits)
        assert [each.sources for each in checked.markers] == [("d/lamps.md",)], mark
        assert checked
    assert not kb.check_answer("Nothing is quoted [1]", [])
    assert kb.check_answer("Nothing is quoted [1]", hits)


def test_a_quotation_has_to_stand_where_its_mark_says(kb: Collection) -> None:
    hits = kb.search("lamp window town", limit=1)
    (check,) = kb.check_answer("“The old pier of stone is” [1]", hits).quotations
    assert (check.state, check.citation, check.places) == (QuoteState.NOWHERE, None, 1)
    assert check.elsewhere is not None and check.elsewhere.place == "tides.md:5:1"
    (both,) = kb.check_answer("“The tide rises twice a day” [1]", hits).quotations
    assert both.citation is not None and both.citation.source == "d/lamps.md"
    assert both
    (first,) = kb.check_answer("“The tide rises twice a day”", hits).quotations
    assert (first.citation and first.citation.source, first.places) == ("d/lamps.md", 2)


def test_a_quotation_outside_the_passage_of_its_mark_is_told(tmp_path: Path) -> None:
    text = "The tide rises twice a day.\n\n" + "Nothing happens here at all. " * 12 + "\n\nA lamp burned in the window."
    with fresh(tmp_path, {"a.md": text}, chunk_size=120) as kb:
        hits = kb.search("lamp burned", limit=1)
        (outside,) = kb.check_answer("“The tide rises twice a day” [1]", hits).quotations
        assert outside
        assert outside.detail == "it stands in the document, at 1:1, but outside the passage that its mark points to"
        (inside,) = kb.check_answer("“A lamp burned in the window” [1]", hits).quotations
        assert inside.detail == ""


def test_of_many_places_the_one_in_the_passage_of_the_mark_is_cited(tmp_path: Path) -> None:
    text = "\n\n".join(f"# Part {number}\n\nThe tide rises twice a day in part {number}." for number in range(9))
    with fresh(tmp_path, {"a.md": text}, chunk_size=64) as kb:
        (hit,) = kb.search('"part 7"', limit=1)
        (check,) = kb.check_answer("“The tide rises twice a day” [1]", [hit]).quotations
        assert check.citation is not None
        assert hit.citation.span.start <= check.citation.span.start < check.citation.span.end <= hit.citation.span.end
        assert check.places == 9


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("“The tide rises twice a day” [1]\n\n[1] tides.md:3:1 The Tides\n", ["ok"]),
        ("“The tide rises twice a day” [1]\n\n[1]: d/lamps.md\n", ["ok"]),
        ("“The tide rises twice a day”[^t]\n\n[^t]: `tides.md:3:1`, first page\n", ["ok"]),
        ("“The tide rises twice a day” (./tides.md:3:1)", ["ok"]),
        ("> The tide rises twice a day\n> — tides.md\n", ["ok"]),
        ("“The tide rises twice a day” [1]", ["unknown"]),
        ("“The tide rises twice a day” [1]\n\n[1] nowhere.md:1:1\n", ["unknown"]),
        ("“The tide rises twice a day” [x.md:1:1]", ["unknown"]),
        ("“The tide rises twice a day”[^t]", ["unknown"]),
    ],
)
def test_without_hits_a_mark_is_resolved_by_the_text_itself(kb: Collection, text: str, states: list[str]) -> None:
    checked = kb.check_answer(text)
    assert [each.state.value for each in checked.markers] == states
    assert bool(checked) == (states == ["ok"])


PIER = "\n\n".join(f"# Part {number}\n\nThe pier of part {number} is dry, and it is old." for number in range(1, 30))


@pytest.fixture(scope="module")
def pier(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    """Chunks of a paragraph or two; what stands on which line is known."""
    folder = tmp_path_factory.mktemp("pier")
    with fresh(folder, {"d/pier.md": PIER, "tides.md": TIDES}, chunk_size=120) as found:
        yield found


@pytest.mark.parametrize(
    ("mark", "detail"),
    [
        ("(d/pier.md:3)", ""), ("(d/pier.md:1)", ""), ("(d/pier.md)", ""), ("[d/pier.md:1:1]", ""), ("(d/pier.md:1-99)", ""),
        ("(d/pier.md:89)", "it stands in the document, at 3:1, not at :89"),
        ("[d/pier.md, line 89]", "it stands in the document, at 3:1, not at :89"),
        ("[d/pier.md:9999]", "it stands in the document, at 3:1, not at :9999"),
        ("[d/pier.md:89] [d/pier.md:95-97]", "it stands in the document, at 3:1, not at :89 or at :95-97"),
        ("[d/pier.md:89] (d/pier.md:3)", ""), ("[tides.md:3] (d/pier.md)", ""),
    ],
)  # fmt: skip
def test_a_place_says_where_a_quotation_has_to_stand_and_another_line_is_told(
    pier: Collection, mark: str, detail: str
) -> None:
    hits = pier.search("pier of part 1 is dry", limit=4) + pier.search("tide", limit=1)
    for given_hits in (None, hits):
        checked = pier.check_answer(f"“The pier of part 1 is dry” {mark}", given_hits)
        assert [each.detail for each in checked.quotations] == [detail]
        assert checked


def test_beside_hits_a_place_means_its_line_and_a_document_all_of_it(pier: Collection) -> None:
    hits = [hit for hit in pier.search("part 20 pier", limit=5) if "part 20" in hit.text][:1]
    assert hits
    for mark, detail in (
        ("(d/pier.md:3)", ""),
        ("(d/pier.md)", ""),
        ("[^a]", ""),
        ("[1]", "it stands in the document, at 3:1, but outside the passage that its mark points to"),
    ):
        checked = pier.check_answer(f"“The pier of part 1 is dry”{mark}\n\n[^a]: d/pier.md\n", hits)
        assert ([each.detail for each in checked.quotations], bool(checked)) == ([detail], True), mark


def test_the_place_a_search_prints_is_where_every_part_of_its_passage_stands(pier: Collection) -> None:
    for hit in pier.search("pier", limit=20):
        lines = [line for line in hit.text.splitlines() if "pier" in line]
        answer = "\n\n".join(f"“{line}” [{hit.citation.place}]" for line in lines)
        for hits in (None, [hit]):
            checked = pier.check_answer(answer, hits)
            assert [each.detail for each in checked.quotations] == [""] * len(lines)


def test_pages_have_to_overlap(tmp_path: Path) -> None:
    with fresh(tmp_path, {"r.pdf": pdf(prose(6, lines=12))}, chunk_size=300) as kb:
        quote = f"“{prose(3)[2].splitlines()[4]}”"
        first = kb.find_quote(quote.strip("“”")).citation
        assert first is not None and first.citation.locator is not None
        assert str(first.citation.locator.pages) == "p. 3"
        for written in ("r.pdf p. 3", "r.pdf pp. 2-3", "r.pdf, page 3", "r.pdf#page=3", "r.pdf"):
            (check,) = kb.check_answer(f"{quote} [1]\n\n[1] {written}\n").quotations
            assert (check.detail, bool(check)) == ("", True)
        (check,) = kb.check_answer(f"{quote} [r.pdf p. 5]").quotations
        assert check
        assert check.detail == "it stands in the document, on p. 3, not on p. 5"


@pytest.mark.parametrize(
    "text",
    [
        "“The old pier of stone is [1]”", "“The old pier [1] of stone is”", "> The old pier of\n> stone is [1]\n",
        "> The old pier of\n> stone is\n> [1]\n", "> The old pier [1] of\n> stone is\n", "<q>The old pier of stone is [1]</q>",
    ],
)  # fmt: skip
def test_a_mark_within_a_quotation_is_a_mark(kb: Collection, text: str) -> None:
    for hits, listed in ((kb.search("pier of stone", limit=1), ""), (None, "\n\n[1] tides.md\n")):
        checked = kb.check_answer(text + listed, hits)
        assert checked, checked
        (check,) = checked.quotations
        assert check.found == "The old pier of stone is"
        assert [mark.text for mark in check.markers] == [mark.text for mark in checked.markers] == ["[1]"]
    unknown = kb.check_answer(text.replace("[1]", "[9]"), kb.search("pier of stone", limit=1))
    assert ([each.state for each in unknown.quotations], bool(unknown)) == ([QuoteState.EXACT], False)
    elsewhere = kb.check_answer(text, kb.search("lamp window town", limit=1))
    assert [each.state for each in elsewhere.quotations] == [QuoteState.NOWHERE]


def test_what_a_source_has_in_brackets_are_its_letters(tmp_path: Path) -> None:
    text = "The tide rises [1] twice a day.[^2]\n\nA lamp burned in the window [3].\n"
    with fresh(tmp_path, {"a.md": text}) as kb:
        for quote in ("“The tide rises [1] twice a day.[^2]”", "> The tide rises [1] twice\n> a day.[^2]\n"):
            checked = kb.check_answer(quote)
            assert checked
            assert checked.markers == ()
            assert checked.quotations[0].found == "The tide rises [1] twice a day.[^2]"
        (near,) = kb.check_answer("“The tide rises [1] three times a day.[^2]”").quotations
        assert near.quote == "The tide rises [1] three times a day.[^2]"
        assert near.markers == ()


@pytest.mark.parametrize(
    ("entry", "detail"),
    [
        ("1. tides.md", ""), ("- [1] tides.md", ""), ("[1] The Tides, tides.md, line 3", ""), ("[^1]: tides.md", ""),
        ("[1] The Tides by Somebody (see tides.md)", ""), ("1. The Tides, tides.md", ""),
        ("Sources:\n[1] The Tides by Somebody", "line 4 is entry 1 and names no source of the collection"),
        ("- [^1] tides.md", ""), ("[^1] tides.md", ""),
        ("- [1] nothing.md", "line 3 is entry 1 and names no source of the collection"),
        ("[1]: The Tides", "line 3 is entry 1 and names no source of the collection"),
        ("[1] nothing.md\n[2] The Moon", "line 3 is entry 1 and names no source of the collection"),
    ],
)  # fmt: skip
def test_an_entry_of_a_list_is_no_mark_and_names_a_source_or_is_said_to_name_none(
    kb: Collection, entry: str, detail: str
) -> None:
    checked = kb.check_answer(f"“The tide rises twice a day” [1]\n\n{entry}\n")
    assert [mark.detail for mark in checked.markers] == [detail]
    assert bool(checked) == (detail == "")


def test_an_unknown_source_is_named_without_its_line(kb: Collection) -> None:
    for written in ("d/nosuch.md:3", "./d/nosuch.md:3:1", "d/nosuch.md, line 3", "d/nosuch.md p. 3"):
        (mark,) = kb.check_answer(f"[{written}]").markers
        assert mark.detail == "the collection has no source d/nosuch.md"


def test_the_nearest_of_what_is_near_is_told(tmp_path: Path) -> None:
    """`169`, a part of 1698, is as near to 1579 as 1759 is."""
    others = {f"{year}.md": f"They lit it in {year}." for year in range(1600, 1650) if not set("579") & set(str(year))}
    first = "They lit it in 1698 first.\n\nAnother lamp: they lit it in 1759.\n\nThen it was dark.\n"
    with fresh(tmp_path, {"a.md": first, **others}) as kb:
        for near in (kb.find_quote("lit it in 1579").near, *kb.check_answer("“lit it in 1579” (a.md)").quotations):
            assert near is not None
            assert near.found == "lit it in 1759"
            assert near.citation is not None and near.citation.place.startswith("a.md:3:")


# -- laws


@pytest.mark.parametrize(
    "folder", ["text/rust-book", "text/react-docs-ja", "text/react-docs-ar", "text/commonmark-spec"]
)
@pytest.mark.parametrize("size", [300, 1200])
def test_what_a_search_prints_as_markdown_is_exact(tmp_path: Path, folder: str, size: int) -> None:
    from groundkit.cli.search import _markdown

    data = shared(f"data/{folder}")
    files = {path.name: path.read_bytes() for path in sorted(data.rglob("*.[mt][dx]*"))[:6]}
    assert files
    with fresh(tmp_path, files, chunk_size=size) as kb:
        for query in (
            "use the example of a function",
            "コンポーネント の 例",
            "استخدام المكون",
            "> list item paragraph",
        ):
            hits = kb.search(query, limit=8)
            checked = kb.check_answer("\n".join(map(_markdown, hits)))
            wrong = [(each.state, each.kind, each.quote) for each in checked.quotations if not each]
            assert wrong == []
            assert checked
            assert len(checked.quotations) + checked.passed_over == len(hits)
            marked = kb.check_answer("\n".join(map(_markdown, hits)), hits)
            assert marked


def test_odd_signs_survive_the_way_through_markdown(tmp_path: Path) -> None:
    from groundkit.cli.search import _markdown

    odd = '\ufeff# A family 👩\u200d👩\u200d👧 and\u00ad soft\r\n\r\n> quoted lines\r\n> of a source — “here” …\r\n\r\n```\r\ncode "a b c d"\r\n```\r\n'
    with fresh(tmp_path, {"odd `name.md": odd}) as kb:
        hits = kb.search("family")
        checked = kb.check_answer("\n".join(map(_markdown, hits)))
        assert [each.state for each in checked.quotations] == [QuoteState.EXACT]


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_quotation_is_cited_if_and_only_if_it_stands_in_the_collection(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    words = st.sampled_from(
        ["the", "tide", "moon", "rock", "don’t", "港の灯", "\n\n", "\r\n", "# lamp\n", "e\u0301t", "…", "x"]
    )
    texts = data.draw(st.lists(st.lists(words, min_size=5, max_size=60).map(" ".join), min_size=1, max_size=3))
    base = tmp_path_factory.mktemp("law")
    files = {f"{number}.md": text for number, text in enumerate(texts)}
    with fresh(base, files, chunk_size=data.draw(st.sampled_from([16, 40, 400]))) as kb:
        for _ in range(6):
            text = data.draw(st.sampled_from(texts))
            start, end = sorted(data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
            quote = text[start:end]
            if len(re.findall(r"\w", quote)) < 20 or "…" in quote:
                continue
            cited = kb.find_quote(" ".join(quote.split()))
            assert cited.citation is not None
            stands = [source for source, whole in files.items() if " ".join(quote.split()) in " ".join(whole.split())]
            assert cited.citation.citation.source == min(stands)
            assert " ".join(cited.citation.text.split()) == " ".join(quote.split())
            assert kb.verify(cited.citation)
            assert groundkit.verify(cited.citation, base=base)
        assert kb.cite(f"{texts[0]} and then something that nobody wrote") is None


def test_a_cited_quotation_says_how_many_places_it_has(kb: Collection) -> None:
    found = kb.find_quote("the moon   pulls at it")
    assert (found.places, found.citation and found.citation.citation.place) == (1, "tides.md:3:33")
    twice = kb.find_quote("he tide rises twice a day")
    assert (twice.places, twice.citation and twice.citation.citation.place) == (2, "d/lamps.md:5:24")
    elsewhere = kb.find_quote("tide rises twice a day", source="tides.md")
    assert (elsewhere.places, elsewhere.citation and elsewhere.citation.citation.place) == (1, "tides.md:3:5")
    none = kb.find_quote("A lamp burned in each window of the little town")
    assert not none
    assert none.near is not None and none.near.kind is NearKind.EDITED
    assert kb.cite("tide rises twice a day", source="nothing.md") is None
    assert kb.cite("...") is None
