"""What the page's script adds, and what is there without it, in a browser; the pages are served by a few lines of our own.

Needs chromium and chromedriver; without them these tests are skipped.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

import pytest
from browser import ENTER, TAB, Driver, driver, visible

from groundkit.service.pages import POLICY, SearchForm, reader_page, search_page
from groundkit.service.values import ChunkAnswer, CitationValue, Passage, SearchAnswer, VerificationValue

__all__ = ["driver"]

ESCAPE = "\ue00c"
TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
FORM = SearchForm(q="harbour light", heading="Sector lights")
SAME = VerificationValue(verdict="verified", reason="same", detail="the source has this text", context_changed=False)


def cited(chunk: str) -> CitationValue:
    return CitationValue(
        document_id="d" * 32, chunk_id=chunk, source="a.md", source_class="text", extractor=None, start=0, end=9, digest="0" * 64,
        before=None, after=None, locator=None, incomplete=False,
    )  # fmt: skip


def hit(rank: int) -> Passage:
    chunk = f"{rank:032x}"
    return Passage(
        id=f"default/{chunk}", title=f"Lights {rank}", url="", rank=rank, score=1.0, place="a.md:1:1", text="light " * 300, text_start=0,
        text_truncated=False, citation=cited(chunk), verification=(SAME, None)[rank % 2],
    )  # fmt: skip


HITS = SearchAnswer(
    collection="default", mode="bm25", matches=9, results=tuple(map(hit, (1, 2, 3))), abstained=None, refused=None, truncated=False,
    changed=False, next_cursor="go on",
)  # fmt: skip


def chunk(number: int) -> ChunkAnswer:
    return ChunkAnswer(
        collection="default", chunk_id=f"{number:032x}", found=True, id="x", title=f"Lights {number}", url="", link=None, place="a.md:1:1", text="light",
        text_start=0, before="", after="", context_start=0, previous=f"{number - 1:032x}", next=f"{number + 1:032x}", citation=cited(f"{number:032x}"),
        page=None, verification=SAME, truncated=False, changed=False, next_cursor=None,
    )  # fmt: skip


class Handler(BaseHTTPRequestHandler):
    """The three pages, and their files."""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        kind = TYPES.get(path.rpartition(".")[2])
        if kind:
            body = files("groundkit.service").joinpath("static", path.rpartition("/")[2]).read_bytes()
        elif path.startswith("/read/"):
            body = reader_page(chunk(int(path.rpartition("/")[2], 16)), FORM).encode()
        else:
            body = search_page(FORM, ["books", "default"], HITS, None).encode()
        self.send_response(200)
        self.send_header("Content-Type", kind or "text/html; charset=utf-8")
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *said: Any) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def becomes(driver: Driver, script: str, wanted: object) -> bool:
    """Whether a script returns it before long: the browser goes to another page when it comes to it."""
    for _ in range(200):
        if driver.run(script) == wanted:
            return True
        time.sleep(0.02)
    return False


HEADING = "return document.querySelector('h1')?.textContent"
FOCUS = "return document.activeElement.textContent"


def test_the_browser_has_nothing_to_complain_about(driver: Driver, site: str) -> None:
    driver.complaints()
    for path in ("/", f"/read/default/{5:032x}"):
        driver.show(site + path)
        assert driver.run("return [document.styleSheets.length, document.scripts.length]") == [1, 1]
    assert driver.complaints() == []


def test_what_is_inline_is_not_run(driver: Driver, site: str) -> None:
    """The policy stands behind the escaping, for the day on which it fails."""
    driver.show(f"{site}/")
    driver.complaints()
    driver.run(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title = 1\"><i style=\"color:red\">x</i>')"
    )
    assert becomes(driver, "return document.querySelector('img').complete", True)
    assert "red" not in driver.run("return getComputedStyle(document.querySelector('i')).color")
    assert driver.run("return document.title") == "harbour light – search – groundkit"
    assert len([each for each in driver.complaints() if "Content Security Policy" in each]) >= 2


def test_keys_go_from_hit_to_hit_and_stop_at_both_ends(driver: Driver, site: str) -> None:
    driver.show(f"{site}/")
    stops = []
    for key in "jjjjkkk":
        driver.press(key)
        stops.append(driver.run(FOCUS))
    assert stops == [f"Lights {number}" for number in (1, 2, 3, 3, 2, 1, 1)]


def test_keys_do_not_move_while_somebody_types(driver: Driver, site: str) -> None:
    driver.show(f"{site}/")
    driver.press("/", "j", "k", "/")
    assert driver.run("return document.getElementById('q').value") == "jk/"
    driver.press(ESCAPE)
    assert driver.run("return [document.getElementById('q').value, document.activeElement.tagName]") == ["jk/", "BODY"]


def test_keys_go_from_passage_to_passage_and_back_to_the_results(driver: Driver, site: str) -> None:
    driver.show(f"{site}/read/default/{5:032x}")
    for key, heading in (("j", "Lights 6"), ("k", "Lights 5"), (ESCAPE, "Passages for harbour light")):
        driver.press(key)
        assert becomes(driver, HEADING, heading)
    assert "heading=Sector%20lights" in driver.run("return location.search")


def test_the_first_stop_of_the_keyboard_leads_to_the_passages(driver: Driver, site: str) -> None:
    driver.show(f"{site}/")
    driver.press(TAB)
    assert driver.run(FOCUS) == "Skip to the results"
    assert driver.run("const at = document.activeElement.getBoundingClientRect(); return at.top >= 0 && at.height > 20")
    driver.press(ENTER)
    assert becomes(driver, "return document.activeElement.id", "main")
    driver.press(TAB)
    assert driver.run(FOCUS) == "Lights 1"
    assert driver.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_an_address_has_only_what_was_filled_in(driver: Driver, site: str) -> None:
    driver.show(f"{site}/")
    driver.press("/", "t", ENTER)
    assert becomes(driver, "return location.search", "?q=t&collection=default&heading=Sector+lights")


def test_everything_has_a_name_and_buttons_are_there_only_with_the_script(driver: Driver, site: str) -> None:
    driver.show(f"{site}/", 360)
    nameless = "e => !(e.labels?.length || e.textContent.trim() || e.type === 'hidden')"
    assert (
        driver.run(f"return [...document.querySelectorAll('input, select, button, a')].filter({nameless}).length") == 0
    )
    assert visible(driver, "button.copy") == 3
    small = (
        "e => e.checkVisibility() && Math.min(e.getBoundingClientRect().height, e.getBoundingClientRect().width) < 20"
    )
    controls = "'main h2 a, main .tools a, main .onward a, button, select, input, .home'"
    assert driver.run(f"return [...document.querySelectorAll({controls})].filter({small}).map(e => e.outerHTML)") == []
    assert "hidden>Copy" in search_page(FORM, ["default"], HITS, None)


def test_a_chunk_id_is_copied(driver: Driver, site: str) -> None:
    driver.show(f"{site}/")
    driver.cdp("Browser.grantPermissions", origin=site, permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    driver.run("document.querySelectorAll('button.copy')[1].focus()")
    driver.press(ENTER)
    assert becomes(driver, "return document.getElementById('said').textContent != ''", True)
    assert driver.run("return document.getElementById('said').textContent") == f"Copied {2:032x}"


def test_a_verdict_is_told_by_more_than_its_colour(driver: Driver, site: str) -> None:
    driver.show(f"{site}/")
    assert driver.run("return [...document.querySelectorAll('.badge')].map(e => e.innerText)") == [
        "○ unchecked",
        "✓ verified",
        "○ unchecked",
    ]


def test_a_long_passage_is_opened_by_keyboard(driver: Driver, site: str) -> None:
    driver.show(f"{site}/")
    driver.press("j", TAB)
    assert driver.run("return document.activeElement.tagName") == "SUMMARY"
    assert visible(driver, "details.rest > .text") == 0
    driver.press(ENTER)
    assert visible(driver, "details.rest > .text") == 1
