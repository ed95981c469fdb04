"""The page of `gk serve` in a browser: nothing of a document is run, it works by keyboard and without script, and fits a phone.

Needs chromium and chromedriver; without them these tests are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote

import pytest
from browser import DOWN, ENTER, Driver, driver, visible
from forgeries import FORGERIES
from integration.support import put
from service_support import Served, served

import groundkit

__all__ = ["driver"]

TIDES = "# Tides\n\n" + "".join(
    f"## Part {n}\n\nThe beacon of part {n} is lit at dusk. " + "Filler. " * 120 + "\n\n" for n in range(12)
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    base = tmp_path_factory.mktemp("page")
    put(base, {f"forged/{n:03}.md": f"# {' '.join(text.split())}\n\n{text}\n" for n, text in enumerate(FORGERIES)})
    put(
        base,
        {
            "tides.md": TIDES,
            "notes/drift.md": "The ferry leaves at nine from the harbour.",
            "notes/gone.md": "The mill.",
        },
    )
    put(base, {"long.md": "lantern " + "x" * 3000 + " " + "https://example.org/" + "y" * 2000})
    with groundkit.open(base / ".groundkit", base=base) as kb:
        assert kb.ingest("").failed == ()
    (base / "notes/drift.md").write_text("The ferry leaves at ten from the harbour.")
    (base / "notes/gone.md").unlink()
    with served(base / ".groundkit") as running:
        yield running


def at(server: Served, path: str) -> str:
    return f"http://127.0.0.1:{server.port}{path}"


def html(server: Served, path: str) -> str:
    status, headers, body = server.request("GET", path)
    assert status == 200 and headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in headers["content-security-policy"]
    return body.decode()


class Tags(HTMLParser):
    """The elements of a page with the names of their attributes, and where they lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: set[tuple[str, tuple[str, ...]]] = set()
        self.targets: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add((tag, tuple(sorted(name for name, _ in attrs))))
        self.targets += [value or "" for name, value in attrs if name in ("href", "src", "action")]


def readers(text: str) -> list[str]:
    return list(dict.fromkeys(each for each in Tags(text).targets if each.startswith("/read/")))


def test_no_text_adds_an_element_or_an_address(server: Served) -> None:
    plain = Tags(html(server, "/?q=dusk")).elements | Tags(html(server, "/?q=lantern")).elements
    read = Tags(html(server, readers(html(server, "/?q=dusk"))[3])).elements
    for n in range(len(FORGERIES)):
        page = html(server, f"/?q=number{n}")
        found = Tags(page)
        assert found.elements - plain <= {("b", ("class",)), ("summary", ()), ("details", ())}, n
        assert all(each.startswith(("/", "#")) for each in found.targets), n
        document = Tags(html(server, readers(page)[0]))
        assert document.elements - read <= {("b", ("class",)), *plain}, n
        assert all(each.startswith(("/", "#")) for each in document.targets), n


def test_nothing_of_a_document_is_run(server: Served, driver: Driver) -> None:
    driver.complaints()
    for n in range(len(FORGERIES)):
        driver.show(at(server, f"/?q=number{n}"))
        assert driver.run("return document.title").startswith(f"number{n} ")
        assert driver.run("return document.getElementById('forged') || document.querySelector('main script')") is None
        if n % 4 == 0:
            driver.show(at(server, readers(html(server, f"/?q=number{n}"))[0]))
            assert driver.run("return document.title") != "forged"
            assert driver.run("return document.getElementById('forged')") is None
            assert visible(driver, "mark") >= 1
    assert driver.complaints() == []


@pytest.mark.parametrize("query", FORGERIES[::9])
def test_a_query_is_text_on_its_page(server: Served, driver: Driver, query: str) -> None:
    driver.complaints()
    driver.show(at(server, f"/?q={quote(query)}"))
    assert driver.run("return document.getElementById('forged')") is None
    assert driver.run("return document.title") != "forged"
    assert [each for each in driver.complaints() if "Security" in each] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_no_page_scrolls_sideways(server: Served, driver: Driver, width: int, scheme: str) -> None:
    pages = [
        "/",
        "/?q=beacon",
        "/?q=lantern",
        readers(html(server, "/?q=lantern"))[0],
        readers(html(server, "/?q=ferry"))[0],
    ]
    for path in pages:
        driver.show(at(server, path), width, scheme)
        assert driver.run("return document.documentElement.scrollWidth") <= width, path
    light = driver.run("return getComputedStyle(document.body).backgroundColor")
    driver.show(at(server, "/"), width, "light" if scheme == "dark" else "dark")
    assert driver.run("return getComputedStyle(document.body).backgroundColor") != light


def element(driver: Driver, selector: str) -> str:
    found: dict[str, str] = driver.tell("/element", using="css selector", value=selector)
    return next(iter(found.values()))


def test_a_search_works_without_script(server: Served, driver: Driver) -> None:
    driver.show(at(server, "/"), script=False)
    driver.tell(f"/element/{element(driver, '#q')}/value", text=f"dusk{ENTER}")
    first = element(driver, "main a[href^='/read/']")
    driver.tell(f"/element/{first}/click")
    marked = element(driver, "mark")
    text = wd_get(driver, f"/element/{marked}/text")
    assert "is lit at dusk" in text
    driver.show(at(server, "/"))


def wd_get(driver: Driver, path: str) -> Any:
    from browser import call

    return call(driver.port, "GET", f"/session/{driver.session}{path}", {})


def test_hits_are_reached_by_keyboard(server: Served, driver: Driver) -> None:
    driver.show(at(server, "/?q=dusk"))
    driver.press("/")
    assert driver.run("return document.activeElement.id") == "q"
    driver.press("\ue00c")
    driver.press("j")
    first = driver.run("return document.activeElement.getAttribute('href')")
    assert first is not None and first.startswith("/read/")
    driver.press("j")
    second = driver.run("return document.activeElement.getAttribute('href')")
    assert second != first
    driver.press("k")
    assert driver.run("return document.activeElement.getAttribute('href')") == first
    driver.press(ENTER)
    for _ in range(100):
        if visible(driver, "mark"):
            break
    assert visible(driver, "mark") == 1
    driver.press(DOWN)


def test_verdicts_are_words_and_drift_is_shown_word_by_word(server: Served) -> None:
    page = html(server, "/?q=ferry")
    assert "drifted (edited)" in page
    assert "unresolvable" in html(server, "/?q=mill")
    reader = html(server, readers(page)[0])
    assert "<del>nine</del>" in reader and "<ins>ten</ins>" in reader
    assert "<mark>" in reader and "notes/drift.md" in reader


def test_filters_narrow_and_are_kept(server: Served) -> None:
    assert "tides.md" in html(server, "/?q=beacon&source=tides.md")
    narrowed = html(server, "/?q=beacon&source=tides.md&per_source=2")
    assert len(readers(narrowed)) == 2
    assert 'value="tides.md"' in narrowed and "<details open" in narrowed
    inside = html(server, "/?q=beacon&source=" + quote('tides.md" OR source:"*'))
    assert "forged/" not in inside


def test_pages_of_hits_follow_each_other(server: Served) -> None:
    path, seen = "/?q=beacon", []
    for _ in range(30):
        page = html(server, path)
        seen += readers(page)
        onward = [each for each in Tags(page).targets if "cursor=" in each and each.startswith("/?")]
        if not onward:
            break
        path = onward[0]
    assert len(seen) == len(set(seen)) > 100


def test_what_is_not_there_is_a_page_for_a_person(server: Served) -> None:
    for path, status in (
        ("/nowhere", 404),
        ("/read/default/" + "0" * 32, 404),
        ("/read/nope/00", 404),
        ("/?q=a&mode=magic", 400),
    ):
        got, headers, body = server.request("GET", path, headers={"accept": "text/html"})
        assert got == status and headers["content-type"].startswith("text/html"), path
        assert "default-src 'none'" in headers["content-security-policy"]
        assert b"<main" in body
    assert server.request("GET", "/?q=tide&collection=nope")[0] == 404
