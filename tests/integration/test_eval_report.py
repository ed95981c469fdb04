"""The page of an evaluation: it runs nothing, holds only text, and says in tables what its plots show."""

import base64
import hashlib
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.evaluation import Bound, Evaluation, Seen, evaluated, shortfalls
from groundkit.core.judged import Hit, JudgedQuery, OfSource
from groundkit.core.metrics import METRICS
from groundkit.reports.evaluation import evaluation_report
from groundkit.reports.evaluation_style import BARS, SIDES
from groundkit.reports.style import COLOURS

NASTY = "<script>alert(1)</script>\"'&\x1b[31m\u202e"
VOID = {"meta", "rect", "line"}


class Page(HTMLParser):
    """The elements of a page, which must nest, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def example(
    text: str = "what gives lift", judged: str = "set", stages: tuple[str, ...] = ("bm25", "hybrid")
) -> Evaluation:
    queries = [JudgedQuery(f"q{at}", text, ((OfSource(f"{at}.md"), 1),)) for at in range(6)]
    queries.append(JudgedQuery("none", text, answerable=False))
    seen = {
        stage: [
            Seen(tuple(Hit(f"{(at + turn) % 6}.md") for turn in range(at % (2 + number), 6)), seconds=(("search", 0.01 * (at + 1)),))
            for at in range(len(queries))
        ]
        for number, stage in enumerate(stages)
    }  # fmt: skip
    return evolve(evaluated(judged, queries, seen), documents=6)


def page(evaluation: Evaluation) -> str:
    return "".join(evaluation_report(evaluation, shortfalls(evaluation, [Bound("map", 1.0)])))


def test_the_page_loads_and_runs_nothing() -> None:
    text = page(example(NASTY, NASTY))
    found = Page(text)
    assert not {"script", "link", "img", "iframe", "object", "form"} & {name for name, _ in found.elements}
    for _, attributes in found.elements:
        assert not any(name.startswith("on") or name in ("style", "src") for name in attributes)
        assert (attributes.get("href") or "#").startswith("#")
    style = text.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = next(each["content"] for each in found.all("meta") if each.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert f"'sha256-{digest}'" in policy


@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=40))
def test_no_query_and_no_name_forges_anything(text: str) -> None:
    plain, nasty = Page(page(example("words", "words"))), Page(page(example(text, text)))

    def shape(found: Page) -> list[str]:
        return [name for name, attributes in found.elements if attributes.get("class") != "x"]

    assert shape(nasty) == shape(plain)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page(example(text, text)))


def test_every_picture_has_words_and_every_reference_a_target() -> None:
    found = Page(page(example(stages=("bm25", "dense", "hybrid", "hybrid+rerank"))))
    ids = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    hidden = 0
    for tag, attributes in found.elements:
        for name in (attributes.get("aria-labelledby") or "").split():
            assert name in ids
        if tag == "svg" and attributes.get("role") == "img":
            assert len((attributes["aria-labelledby"] or "").split()) == 2
        hidden += tag == "svg" and attributes.get("role") is None
    assert len(found.all("title")) == len(found.all("desc")) + 1 == 4
    # Bars are hidden from those who hear the page; a sentence with their numbers is not.
    assert hidden == 4 * len(METRICS) + 4
    assert sum(each.get("class") == "unseen" for each in found.all("p")) == len(METRICS) + 4


def test_tables_can_be_reached_and_scrolled_by_keyboard() -> None:
    found = Page(page(example()))
    regions = [each for each in found.all("div") if each.get("class") == "scroll"]
    assert len(regions) == len(found.all("table"))
    assert all(each.get("tabindex") == "0" and each.get("aria-label") for each in regions)
    assert {each.get("scope") for each in found.all("th")} == {"col", "row"}
    levels = [int(name[1]) for name, _ in found.elements if re.fullmatch("h[1-6]", name)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_the_figures_are_those_of_the_evaluation() -> None:
    evaluation = example()
    words = Page(page(evaluation)).words
    for stage in evaluation.stages:
        assert all(f"{value:.4f}" in words for value in stage.means.values())
    comparison = evaluation.stage("hybrid").beside["ndcg@10"]
    assert f"{comparison.difference:+.4f}" in words
    assert any("is wanted" in each for each in words)
    rects = [each for each in Page(page(evaluation)).all("rect") if each.get("class") in ("more", "less")]
    assert [each["class"] for each in rects].count("more") == comparison.wins
    assert [each["class"] for each in rects].count("less") == comparison.losses


def test_the_page_is_the_same_each_time() -> None:
    assert page(example()) == page(example())


@pytest.mark.parametrize("scheme", [0, 1])
@pytest.mark.parametrize("name", sorted({*BARS, *SIDES.values()}))
def test_bars_stand_out_from_what_they_lie_on(name: str, scheme: int) -> None:
    """3:1 at least (WCAG 2.2, 1.4.11)."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
        return sum(map(float.__mul__, (0.2126, 0.7152, 0.0722), linear))

    upper, lower = sorted((luminance(COLOURS[each][scheme]) for each in (name, "paper")), reverse=True)
    assert (upper + 0.05) / (lower + 0.05) >= 3
