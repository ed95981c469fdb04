"""What a text quotes, checked against a collection; and quotations and chunks made into citations."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import Ran, environment, gk, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from integration.support import fresh, opened, put
from shared import shared

import groundkit
from groundkit.cite_hits import hits_from
from groundkit.cite_values import MarkerState, QuoteState
from groundkit.collection import Collection
from groundkit.core.model import Reason, SourceClass, Span
from groundkit.core.quote_matching import NearKind
from groundkit.core.result import Failure

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
        assert "outside the passage" in outside.detail
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


# -- laws


@pytest.mark.parametrize(
    "folder", ["text/rust-book", "text/react-docs-ja", "text/react-docs-ar", "text/commonmark-spec"]
)
@pytest.mark.parametrize("size", [300, 1200])
def test_what_a_search_prints_as_markdown_is_exact(tmp_path: Path, folder: str, size: int) -> None:
    from groundkit.cli.search import _markdown

    data = shared(f"data/{folder}")
    files = {path.name: path.read_bytes() for path in sorted(data.rglob("*.[mt][dx]*"))[:12]}
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


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


# -- the command


def piped(cwd: Path, text: str | bytes, *arguments: str) -> Ran:
    done = subprocess.run(
        [sys.executable, "-m", "groundkit", "cite", *arguments],
        cwd=cwd,
        env=environment(),
        input=text if isinstance(text, bytes) else text.encode(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def test_the_exit_code_says_whether_everything_holds(base: Path) -> None:
    good, bad = "“The tide rises twice a day” (tides.md:3:1)", "“The tide rises three times a day” [1]"
    write(base, good_txt=good, bad_txt=bad)
    quiet = gk(base, "cite", "good.txt")
    assert (quiet.code, quiet.out) == (0, "quotations: exact 1, near 0, nowhere 0; marks 1, unknown 0\n")
    told = gk(base, "cite", "bad.txt")
    assert told.code == 1
    assert "1:2  ≠ near (edited" in told.out
    assert "[-twice-]{+three times+}" in told.out
    assert "1:36  ✗ unknown  [1]: " in told.out
    assert "quotations: exact 0, near 1, nowhere 0; marks 1, unknown 1" in told.out
    assert piped(base, bad).out == piped(base, bad, "-").out == told.out
    assert "1:2  ✓ exact  tides.md:3:1  ✓ verified (tides.md:3:1)" in piped(base, good, "-v").out
    assert "\x1b[" in piped(base, bad, "--color", "always").out


@pytest.mark.parametrize(
    "arguments",
    [
        ("--quote", "..."), ("--quote", "a b", "--all"), ("--source", "a.md"), ("--hits", "tides.md", "tides.md"),
        ("--format", "annotations", "tides.md"), ("--chunk", "nothing"), ("--quote", "a b c", "--source", "nothing.md"),
    ],
)  # fmt: skip
def test_wrong_requests_are_refused(base: Path, arguments: tuple[str, ...]) -> None:
    refused = gk(base, "cite", *arguments)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err


def test_what_is_no_text_is_refused(base: Path) -> None:
    for data in (b"\xff\xfe\x00", b"a\x00b"):
        assert piped(base, data).code == 2


def test_an_answer_as_json_has_everything(base: Path) -> None:
    text = "“The tide rises twice a day” [1] “The moon pushes at it. The” [7]\n\n[1] tides.md\n"
    data = json.loads(piped(base, text, "--format", "json").out)
    first, second = data["quotations"]
    assert (first["state"], first["holds"], first["citation"]["source"], first["places"]) == (
        "exact",
        True,
        "tides.md",
        1,
    )
    assert first["markers"] == ["[1]"]
    assert (second["state"], second["kind"]) == ("near", "edited")
    assert {part["change"] for part in second["diff"]} == {"same", "removed", "added"}
    assert [mark["state"] for mark in data["markers"]] == ["ok", "unknown"]
    assert data["totals"] == {
        "exact": 1, "near": 1, "nowhere": 0, "markers": 2, "unknown_markers": 1, "passed_over": 0,
    }  # fmt: skip
    lines = [json.loads(line) for line in piped(base, text, "--format", "jsonl").out.splitlines()]
    assert [line["type"] for line in lines] == ["quotation", "marker", "quotation", "marker"]


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_marks_count_the_hits_of_a_search_that_was_kept(base: Path, form: str) -> None:
    (base / "hits.json").write_bytes(gk(base, "search", "lamp window", "--format", form).stdout)
    assert piped(base, "“A lamp burned in every window” [1]", "--hits", "hits.json").code == 0
    outside = piped(base, "“A lamp burned in every window” [9]", "--hits", "hits.json")
    assert outside.code == 1
    assert "9 is outside the given hits" in outside.out


@pytest.mark.parametrize(
    "hits",
    [
        "nothing", "{}", "[1]", '{"hits": [{}]}', "[" * 100_000, '[{"start": ' + "9" * 5000 + "}]", '{"hits": [null]}', "\n{",
        '[{"source":"a","source_class":"text","document_id":"","chunk_id":"","text":"ab","start":-1,"end":1,"line":1,"column":1}]',
        '[{"source":"a","source_class":"text","document_id":"","chunk_id":"","text":"\\ud800b","start":0,"end":2,"line":1,"column":1}]',
        '[{"source":"a","source_class":"other","document_id":"","chunk_id":"","text":"ab","start":0,"end":2,"line":1,"column":1}]',
        '[{"source":"a","source_class":"text","document_id":"","chunk_id":"","text":"ab","start":true,"end":2,"line":1,"column":1}]',
    ],
)  # fmt: skip
def test_what_are_no_hits_is_refused(hits: str) -> None:
    refused = hits_from(hits.encode())
    assert isinstance(refused, Failure)
    assert str(refused.failure())


def test_no_control_character_reaches_a_terminal(base: Path) -> None:
    text = "“The tide rises \x1b[31m three times a day” (a\x1b[2J.md:1:1) “nobody \x1b]8;;x\x07 wrote this at all” [z\x1b.md:3]"
    told = piped(base, text)
    assert told.code == 1
    assert "\x1b" not in told.out + told.err
    assert "\x07" not in told.out + told.err


def test_one_quotation_is_printed_with_its_place_or_as_a_portable_citation(base: Path) -> None:
    human = gk(base, "cite", "--quote", "The tide rises twice a day")
    assert human.code == 0
    assert human.out.startswith("d/lamps.md:5:23  ✓ verified  the first of 2 places\n   The tide rises twice a day\n")
    data = gk(base, "cite", "--quote", "The tide rises twice a day", "--source", "tides.md", "--format", "json")
    assert groundkit.load_citation(json.loads(data.out)).text == "The tide rises twice a day"
    nowhere = gk(base, "cite", "--quote", "The tide rises three times a day", "--format", "json")
    assert (nowhere.code, nowhere.out) == (1, "")
    near = gk(base, "cite", "--quote", "A lamp burned in each window of the little town")
    assert near.code == 1
    assert "[-every-]{+each+}" in near.out
    assert "something near it does" in near.err


def test_the_citations_of_chunks_can_be_checked_anywhere(base: Path) -> None:
    everything = gk(base, "cite", "--all")
    assert everything.code == 0
    citations = groundkit.load_citations(everything.stdout)
    assert len(citations) == 3
    (base / "citations.jsonl").write_bytes(everything.stdout)
    assert gk(base, "verify", "--file", "citations.jsonl").code == 0
    chosen = gk(base, "cite", "--chunk", "tides.md", "--chunk", json.loads(everything.out.splitlines()[0])["chunk_id"])
    assert len(chosen.out.splitlines()) == 2
    annotations = gk(base, "cite", "--all", "--format", "annotations")
    assert [groundkit.from_web_annotation(json.loads(line)) for line in annotations.out.splitlines()] == citations
    assert all(not isinstance(each, str) and each.citation.source_class is SourceClass.TEXT for each in citations)
