"""The HTML report in a browser: it runs nothing, fits narrow screens, is read in both schemes and used by keyboard alone.

Needs chromium and chromedriver; without them these tests are skipped.
"""

import time
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from browser import DOWN, ENTER, SPACE, TAB, Driver, driver, visible

from groundkit.core.live import Live, LiveState
from groundkit.core.model import (
    Citation,
    FoundIn,
    FromExtractor,
    FromSnapshot,
    FromText,
    Locator,
    PageRange,
    Reason,
    Span,
    Verdict,
    Verification,
)
from groundkit.reports.html import html_report
from groundkit.reports.rows import Row

__all__ = ["driver"]

WIDTHS = (320, 360, 768, 1280)

FORGED = (
    '</div></details></section></main><h1 id="forged">forged</h1><script>document.title="forged"</script>'
    '<img src=x onerror="document.title=\'forged\'"><a href="javascript:alert(1)" id="forged">x</a><style>*{display:none}</style>'
    "&lt;b&gt; <!-- ]]> --> \u202etxet desrever\u202c \u2066\u0000\u001b[31m \ufdd0 \ud800"
)


def cited(source: str, start: int = 0, **more: Any) -> Citation:
    citation = Citation(
        "d" * 32, "c" * 32, source, FromText(), Span(start, start + 40), "0" * 64, locator=Locator(3, 7)
    )
    return evolve(citation, **more)


def found(reason: Reason, detail: str, verdict: Verdict = Verdict.DRIFTED, **more: Any) -> Verification:
    return Verification(verdict, reason, detail, **more)


OLD = (
    "The lighthouse at Ar-Men was built between 1867 and 1881 on a rock that the sea leaves bare for an hour at a time; in\n"
    "the first year the men worked eight hours in all. Its lamp is seen for 23 nautical miles."
)
NEW = (
    "The lighthouse of Ar-Men was built between 1867 and 1883 on a rock that the sea leaves bare for an hour at a time; in\n"
    "the first year the workers had worked eight hours in all. Its lamp is seen for 23 nautical miles, in fair weather."
)


def sample() -> list[Row]:
    """Every reason and every fact, in names and passages that are long, of other scripts, or hostile."""
    sea, deep = "guide/lighthouses.md", "docs/" + "a-directory-with-a-long-name/" * 6 + "file" * 20 + ".md"
    page, pdf = "https://example.org/harbour/timetable?season=winter", "reports/Jahresbericht 2031 – Küste.pdf"
    same = Verification(Verdict.VERIFIED, Reason.SAME, "the source has this text at this place")
    of_page = cited(page, provenance=FromSnapshot(), locator=Locator(1, 1, anchor="winter"))
    of_pdf = cited(
        pdf, provenance=FromExtractor("pypdf/7.1.1+recipe/1"), locator=Locator(1, 1, pages=PageRange(12, 13, "x", "xi"))
    )
    return [
        *((f"{at:032x}", cited(sea, 40 * at), same, None) for at in range(7)),
        ("a" * 32, cited(sea, 400), found(Reason.EDITED, "93 % of its words stand in the same place", cited=OLD, found=NEW, span=Span(412, 640), similarity=0.93, locator=Locator(14, 3)), None),
        ("b" * 32, cited(sea, 700), found(Reason.MOVED, "stands letter for letter elsewhere", cited=OLD, found=OLD, span=Span(1412, 1640), context_changed=True), None),
        ("c" * 32, cited(sea, 900), found(Reason.REFORMATTED, "only white space changed", cited="one line\nand another  one", found="one line and another one", span=Span(912, 940)), None),
        ("d" * 32, cited(sea, 950), found(Reason.AMBIGUOUS, "stands at 7 places", cited="Its lamp is seen.", candidates=tuple(Span(at, at + 17) for at in range(0, 700, 100))), None),
        ("e" * 32, cited(deep), found(Reason.REMOVED, "is not in the source any more", cited=OLD, found_in=FoundIn("archive/2029/lighthouses.md", "f" * 32, Span(10, 99))), None),
        ("f" * 32, cited("tides.md"), found(Reason.SOURCE_MISSING, "tides.md: No such file or directory", Verdict.UNRESOLVABLE, same_bytes_at="archive/tides.md"), None),
        ("1" * 32, of_pdf, found(Reason.CHANGED, "the text is another one", cited="語" * 300, found="語" * 299 + "言葉" + "x" * 300), None),
        ("2" * 32, of_page, same, Live(LiveState.EDITED, "the page says something like it")),
        ("3" * 32, cited("العربية/منارة.txt"), found(Reason.EDITED, "similar", cited="بُنيت المنارة بين عامي 1867 و1881 على صخرة.", found="بُنيت المنارة بين عامي 1867 و1883 على صخرة كبيرة.", similarity=0.8, span=Span(0, 40)), None),
        ("4" * 32, cited(f"{FORGED}.md"), found(Reason.EDITED, FORGED, cited=f"a {FORGED} b", found=f"c {FORGED} d", similarity=0.5, span=Span(0, 4)), None),
        ("5" * 32, cited("long.txt"), found(Reason.EDITED, "a long passage", cited="word " * 900 + "end", found="word " * 450 + "other " + "word " * 450 + "end", similarity=0.99, span=Span(0, 4)), None),
        *((f"{at:032x}", cited(f"notes/{at}.md"), same, None) for at in range(3)),
        ("nothing-like-it", None, found(Reason.UNKNOWN_CHUNK, "the collection has no chunk nothing-like-it", Verdict.UNRESOLVABLE), None),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text("".join(html_report(sample(), "Citations of the harbour guide")), "utf-8")
    return path


def test_the_browser_has_nothing_to_complain_about(driver: Driver, page: Path) -> None:
    driver.complaints()
    driver.show(page)
    assert driver.run("return document.title") == "11 of 22 citations not verified – Citations of the harbour guide"
    assert driver.run("return getComputedStyle(document.querySelector('.choices')).display") == "flex"
    assert driver.complaints() == []


def test_the_page_loads_nothing(driver: Driver, page: Path) -> None:
    driver.show(page)
    assert driver.run("return performance.getEntriesByType('resource').map(e => e.name)") == []
    assert driver.run("return document.scripts.length + document.images.length + document.styleSheets.length") == 1


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_window(driver: Driver, page: Path, width: int) -> None:
    driver.show(page, width)
    script = """
        const wide = e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline';
        return [document.documentElement.scrollWidth,
                [...document.querySelectorAll('main *')].filter(wide).map(e => e.tagName + '.' + e.className)]"""
    assert driver.run(script) == [width, []]


def test_the_filter_leaves_the_window_to_what_is_filtered(driver: Driver, page: Path) -> None:
    driver.show(page, 360)
    pills = "[...document.querySelectorAll('.choices label')].map(e => e.getBoundingClientRect().height)"
    assert driver.run("return document.querySelector('fieldset').getBoundingClientRect().height") < 900 / 5
    assert min(driver.run(f"return {pills}")) >= 24


def test_what_needs_attention_stands_before_what_is_verified(driver: Driver, page: Path) -> None:
    driver.show(page)
    names = "return [...document.querySelectorAll('section.source:not(.unverified) h3')].map(e => e.textContent)"
    assert driver.run(names) == [
        "https://example.org/harbour/timetable?season=winter", "notes/0.md", "notes/1.md", "notes/2.md",
    ]  # fmt: skip
    assert visible(driver, "section.source") == 9
    driver.run("document.querySelector('.whole > summary').click()")
    assert visible(driver, "section.source") == 12
    driver.run("document.getElementById('show-unverified').click()")
    assert visible(driver, ".whole") == 0


@pytest.mark.parametrize(("width", "beside"), [(360, False), (1280, True)])
def test_then_and_now_stand_beside_each_other_where_there_is_room(
    driver: Driver, page: Path, width: int, beside: bool
) -> None:
    driver.show(page, width)
    tops = "return [...document.querySelector('.pair.two').children].map(e => e.getBoundingClientRect().top)"
    then, now = driver.run(tops)
    assert (then == now) is beside


def test_the_scheme_is_the_one_that_is_preferred(driver: Driver, page: Path) -> None:
    papers = []
    for scheme in ("light", "dark"):
        driver.show(page, scheme=scheme)
        papers.append(driver.run("return getComputedStyle(document.body).backgroundColor"))
    assert papers == ["rgb(246, 246, 243)", "rgb(20, 20, 18)"]


def test_markup_in_documents_is_text(driver: Driver, page: Path) -> None:
    driver.show(page)
    assert driver.run(
        "return [document.querySelectorAll('#forged').length, document.querySelectorAll('h1').length]"
    ) == [
        0,
        1,
    ]
    name = driver.run(
        "return [...document.querySelectorAll('h3')].map(e => e.textContent).find(t => t.includes('forged'))"
    )
    assert name.startswith('</div></details></section></main><h1 id="forged">forged</h1><script>')
    assert name.endswith("--> \\u202etxet desrever\\u202c \\u2066\\x00\\x1b[31m \\ufdd0 \\ud800.md")


def test_a_choice_leaves_what_it_names(driver: Driver, page: Path) -> None:
    driver.show(page)
    assert visible(driver, ".row.verified") == 1
    rows = visible(driver, ".row")
    driver.run("document.getElementById('show-unverified').click()")
    assert (visible(driver, ".row"), visible(driver, ".row.verified"), visible(driver, "section.source")) == (11, 0, 8)
    driver.run("document.getElementById('show-edited').click()")
    assert (visible(driver, ".row"), visible(driver, ".row.edited"), visible(driver, "section.source")) == (4, 4, 4)
    assert visible(driver, "nav li") == 4
    driver.run("document.getElementById('show-all').click()")
    assert visible(driver, ".row") == rows == 12


def test_the_keyboard_reaches_everything_and_shows_where_it_is(driver: Driver, page: Path) -> None:
    driver.show(page)
    where = "const e = document.activeElement; return e.id || e.className || e.tagName"
    driver.press(TAB)
    assert driver.run(where) == "skip"
    assert driver.run("return document.activeElement.getBoundingClientRect().top >= 0")
    driver.press(TAB)
    assert driver.run(where) == "show-all"
    outline = "return getComputedStyle(document.activeElement.closest('label')).outlineStyle"
    assert driver.run(outline) == "solid"
    driver.press(DOWN)
    assert driver.run(where) == "show-unverified"
    assert driver.run(outline) == "solid"
    assert visible(driver, ".row.verified") == 0
    driver.press(TAB)
    assert driver.run(where) == "SUMMARY"
    driver.press(TAB)
    assert driver.run("return document.activeElement.getAttribute('href')") == "#source-1"
    driver.press(ENTER, TAB)
    assert driver.run("return document.activeElement.closest('section').getAttribute('aria-labelledby')") == "source-1"
    shown = "return document.activeElement.closest('details').open"
    assert driver.run(shown)
    driver.press(SPACE)
    assert not driver.run(shown)


def test_the_skip_link_leads_behind_the_list_of_sources(driver: Driver, page: Path) -> None:
    driver.show(page)
    driver.press(TAB, ENTER)
    for _ in range(100):  # the browser follows the link when it comes to it
        if driver.run("return document.activeElement.id") == "sources":
            break
        time.sleep(0.05)
    assert driver.run("return document.activeElement.id") == "sources"


def test_what_is_not_verified_is_open_and_told_by_more_than_colours(driver: Driver, page: Path) -> None:
    driver.show(page)
    assert driver.run("return document.querySelectorAll('.row.unverified:not([open])').length") == 0
    style = "return ['del', 'ins'].map(n => getComputedStyle(document.querySelector(n)).textDecorationLine)"
    assert driver.run(style) == ["line-through", "underline"]
    spoken = "return ['del', 'ins'].map(n => getComputedStyle(document.querySelector(n), '::before').content)"
    assert driver.run(spoken) == ['" removed: "', '" added: "']
