"""Laws of links, read back as a browser reads them: split, decoded, and the terms of a directive looked for by its rules."""

import re
import string
import unicodedata
from itertools import count
from urllib.parse import urljoin, urlsplit

import pytest
from attrs import evolve, frozen
from hypothesis import assume, example, given
from hypothesis import strategies as st

from groundkit.core.links import char_positions, link_of
from groundkit.core.model import (
    CONTEXT,
    Citation,
    FromExtractor,
    FromSnapshot,
    FromText,
    Locator,
    PageRange,
    Provenance,
    Span,
)
from groundkit.core.paths import is_within_base
from groundkit.core.spans import LineMap
from groundkit.core.text_directives import LONGEST, text_directive
from groundkit.testing.strategies import plain_texts, texts

URL = "https://example.org/a/page"
ANY_TEXT = texts() | st.text(st.sampled_from("ab \t\n\r\x00\ud83d\ude00\u0301中文。-,&%#\u00ad\ufeff"), max_size=60)
PAGE = FromSnapshot()
NAMES = st.text(
    st.sampled_from("ab.%#?:/\\ ~+&;=@!$'()*,[]|\"<>`^{}é中\u0301\U0001f600\n\t\udcff-_"), min_size=1, max_size=20
)


def cited(document: str, span: Span, provenance: Provenance = PAGE, source: str = URL) -> Citation:
    before = document[max(0, span.start - CONTEXT) : span.start]
    after = document[span.end : span.end + CONTEXT]
    line, column = LineMap.of(document).line_column(span.start)
    return Citation("d", "c", source, provenance, span, "digest", before, after, Locator(line, column))


def a_span(data: st.DataObject, document: str) -> Span:
    start = data.draw(st.integers(0, len(document) - 1))
    return Span(start, data.draw(st.integers(start + 1, len(document))))


# A browser, as far as links go.


def decoded(text: str) -> str:
    """Percent-decoding of the URL Standard, then UTF-8 with what a file name may hold beside it."""
    parts = re.split(rb"%([0-9A-Fa-f]{2})", text.encode("ascii"))
    data = b"".join(bytes([int(part, 16)]) if at % 2 else part for at, part in enumerate(parts))
    return data.decode("utf-8", "surrogateescape")


@frozen
class Directive:
    prefix: str
    start: str
    end: str
    suffix: str

    @classmethod
    def of(cls, fragment: str) -> "Directive | None":
        """The one text directive of a fragment."""
        _, marker, directives = fragment.partition(":~:")
        if not marker:
            return None
        (directive,) = directives.split("&")
        name, _, value = directive.partition("=")
        assert name == "text"
        terms = value.split(",")
        prefix = decoded(terms.pop(0)[:-1]) if terms[0].endswith("-") else ""
        suffix = decoded(terms.pop()[1:]) if terms[-1].startswith("-") else ""
        assert 1 <= len(terms) <= 2 and all(terms) and not any("-" in term for term in terms)
        start, end = map(decoded, (*terms, "")[:2])
        return cls(prefix, start, end, suffix)


@frozen
class Shown:
    """What a browser has of a text: blocks apart, and blanks in a row as they are or as one."""

    signs: str
    offsets: list[int]
    inside: frozenset[int]

    @classmethod
    def of(cls, text: str, collapsed: bool) -> "Shown":
        kept = [
            (" " if sign == "\t" and collapsed else sign, at)
            for at, sign in enumerate(text)
            if not (collapsed and sign in " \t" and text[at - 1 : at] and text[at - 1] in " \t")
        ]
        signs = "".join(sign for sign, _ in kept)
        kinds = "".join(map(_kind, signs))
        words = re.finditer(r"we*(?:(?:me*)?we*)*|.e+", kinds, re.DOTALL)
        inside = {at for word in words for at in range(word.start() + 1, word.end())}
        return cls(signs, [at for _, at in kept], frozenset(inside))

    def is_at(self, term: str, at: int, starts_bounded: bool, ends_bounded: bool) -> bool:
        end = at + len(term)
        return (
            self.signs.startswith(term, at)
            and not (starts_bounded and at in self.inside)
            and not (ends_bounded and end in self.inside)
        )

    def find(self, wanted: Directive) -> tuple[int, int] | None:
        """The first range of the text that a directive marks."""
        for at in range(len(self.signs)):
            begin = at
            if wanted.prefix:
                if not self.is_at(wanted.prefix, at, True, False):
                    continue
                begin = self._past_blanks(at + len(wanted.prefix))
            if not self.is_at(wanted.start, begin, not wanted.prefix, bool(wanted.end) or not wanted.suffix):
                continue
            end = self._end(wanted, begin + len(wanted.start))
            if end is not None:
                return self.offsets[begin], self.offsets[end - 1] + 1
        return None

    def _end(self, wanted: Directive, behind: int) -> int | None:
        if not wanted.end:
            return behind if self._goes_on(wanted, behind) else None
        for at in range(behind, len(self.signs)):
            if self.is_at(wanted.end, at, True, not wanted.suffix) and self._goes_on(wanted, at + len(wanted.end)):
                return at + len(wanted.end)
        return None

    def _goes_on(self, wanted: Directive, at: int) -> bool:
        return not wanted.suffix or self.is_at(wanted.suffix, self._past_blanks(at), False, True)

    def _past_blanks(self, at: int) -> int:
        while at < len(self.signs) and self.signs[at].isspace():
            at += 1
        return at


def _kind(sign: str) -> str:
    category = unicodedata.category(sign)
    if category[0] == "M" or (category == "Cf" and sign != "\u200b") or "\U0001f3fb" <= sign <= "\U0001f3ff":
        return "e"
    if sign.isalnum() or sign == "_" or "\U0001f1e6" <= sign <= "\U0001f1ff":
        return "w"
    return "m" if sign in "'\".,:;·‘’․﹒＇．״\u2027" else "x"


def directive_of(citation: Citation, text: str, document: str | None) -> Directive | None:
    link = link_of(citation, text, document)
    assert link is not None
    return Directive.of(link.partition("#")[2])


# Where a link leads.


@given(NAMES.filter(is_within_base))
@example("a:b/c.md")
@example("C:/x.md")
@example("...")
@example("a/..b/c..")
@example("%2e%2e/x")
@example("x.md#char=1,2?y")
def test_a_relative_link_leads_to_the_file_whatever_it_is_called(name: str) -> None:
    citation = Citation("d", "c", name, FromText(), Span(0, 1), "digest")
    link = link_of(citation, "x", "x")
    assert link is not None
    joined = urlsplit(urljoin("file:///base/", link))
    assert (joined.scheme, joined.netloc, joined.query, joined.fragment) == ("file", "", "", "char=0,1")
    assert decoded(joined.path) == f"/base/{name}"


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../x", "a/../../x", "/etc/passwd", "//host/x", "a//b", "a/./b", "x\0y"]
)
def test_a_name_that_is_not_below_the_base_is_not_linked(name: str) -> None:
    for provenance in (FromText(), FromExtractor("e/1")):
        assert link_of(Citation("d", "c", name, provenance, Span(0, 1), "digest"), "x", "x") is None


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//host/x", "x.html", ""]
)
def test_nothing_but_a_page_is_linked_as_a_page(url: str) -> None:
    assert link_of(Citation("d", "c", url, FromSnapshot(), Span(0, 1), "digest"), "x", "x") is None


@given(st.text(max_size=30), st.text(max_size=10))
def test_a_page_stays_the_page_that_was_fetched(rest: str, anchor: str) -> None:
    assume("#" not in rest)
    citation = cited("Some words.", Span(0, 11), source=f"https://example.org/{rest}")
    link = link_of(citation, "Some words.")
    assert link is not None
    assert decoded(link.partition("#")[0]) == decoded(re.sub(r"[^!-~]", _as_octets, f"https://example.org/{rest}"))
    assert link_of(evolve(citation, source=citation.source + "#"), "Some words.") == link
    anchored = evolve(citation, locator=Locator(1, 1, anchor=anchor))
    named = link_of(anchored, "Some words.")
    assert named is not None
    assert decoded(named.partition("#")[2].partition(":~:")[0]) == decoded(re.sub(r"[^!-$&-~]", _as_octets, anchor))


def _as_octets(found: re.Match[str]) -> str:
    return "".join(f"%{octet:02X}" for octet in found[0].encode())


@given(ANY_TEXT, st.integers() | st.integers(0, 60), st.integers() | st.integers(0, 60), NAMES, st.data())
def test_every_link_is_printable_ascii_and_none_raises(
    text: str, start: int, end: int, name: str, data: st.DataObject
) -> None:
    provenances: list[Provenance] = [FromText(), FromExtractor("e/1"), PAGE]
    provenance = data.draw(st.sampled_from(provenances))
    source = f"{URL}{name}" if provenance == PAGE else name
    pages = data.draw(st.none() | st.just(PageRange(3, 4)))
    locator = data.draw(st.none() | st.just(Locator(2, 1, pages=pages, anchor=name)))
    before = data.draw(st.none() | ANY_TEXT)
    citation = Citation("d", "c", source, provenance, Span(start, end), "digest", before, before, locator)
    link = link_of(citation, text, data.draw(st.none() | ANY_TEXT))
    assert link is None or set(link) <= set(string.printable) - set(string.whitespace)


@given(st.integers(1, 10**6), st.text(max_size=5))
def test_a_pdf_opens_at_the_first_page_of_the_passage(first: int, anchor: str) -> None:
    locator = Locator(1, 1, pages=PageRange(first, first + 2, "i", "iii"), anchor=anchor)
    for provenance, source in ((FromExtractor("e/1"), "a b.pdf"), (FromSnapshot(), f"{URL}.pdf#")):
        citation = Citation("d", "c", source, provenance, Span(0, 5), "digest", locator=locator)
        link = link_of(citation, "words", "words")
        assert link == f"{source.removesuffix('#').replace(' ', '%20')}#page={first}"


# Text files.


def as_read(text: str) -> str:
    """A text with line breaks of one character, as positions count them."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


@given(ANY_TEXT.filter(bool), st.data())
def test_character_positions_hold_the_passage_as_the_standard_counts(document: str, data: st.DataObject) -> None:
    span = a_span(data, document)
    text = document[span.start : span.end]
    link = link_of(cited(document, span, FromText(), "a.md"), text, document)
    assert link is not None
    found = re.fullmatch(r"a\.md#char=(\d+),(\d+)", link)
    assert found is not None
    first, last = map(int, found.groups())
    # Of a line break that the passage cuts, the whole is meant.
    begin = span.start - (document[max(0, span.start - 1) : span.start + 1] == "\r\n")
    stop = span.end + (document[span.end - 1 : span.end + 1] == "\r\n")
    shown = as_read(document[begin:stop])
    assert as_read(document.removeprefix("\ufeff"))[first:last] == (
        shown.removeprefix("\ufeff") if begin == 0 else shown
    )


@given(ANY_TEXT.filter(bool), st.data())
def test_lines_hold_the_passage_where_only_it_is_at_hand(document: str, data: st.DataObject) -> None:
    span = a_span(data, document)
    link = link_of(cited(document, span, FromText(), "a.md"), document[span.start : span.end])
    assert link is not None
    found = re.fullmatch(r"a\.md#line=(\d+),(\d+)", link)
    assert found is not None
    places = LineMap.of(document)
    assert (int(found[1]) + 1, int(found[2])) == (
        places.line_column(span.start)[0],
        places.line_column(span.end - 1)[0],
    )


def test_positions_are_those_of_the_examples() -> None:
    assert char_positions("ab\r\ncd\r\n", Span(4, 6)) == (3, 5)
    assert char_positions("\ufeffab", Span(1, 3)) == (0, 2)
    assert char_positions("\ufeffab", Span(0, 1)) == (0, 0)
    assert char_positions("a\r\nb", Span(2, 4)) == (1, 3)
    assert char_positions("a\r\nb", Span(0, 2)) == (0, 2)


# Pages.


@given(ANY_TEXT.filter(bool), st.data(), st.booleans())
def test_a_browser_finds_what_a_directive_names(document: str, data: st.DataObject, is_known: bool) -> None:
    # What dozens of marks stand on is out of sight of whoever has the neighbourhood alone.
    assume(is_known or not re.search(r"[\u0300-\u036f]{24}", document))
    span = a_span(data, document)
    citation = cited(document, span)
    wanted = directive_of(citation, document[span.start : span.end], document if is_known else None)
    assume(wanted is not None)
    assert wanted is not None
    for collapsed in (False, True):
        assert Shown.of(document, collapsed).find(wanted) is not None


@given(plain_texts(), st.data(), st.booleans())
def test_a_browser_marks_the_passage_from_its_first_word_to_its_last(
    prose: str, data: st.DataObject, is_known: bool
) -> None:
    numbers = count()
    document = re.sub(r"\w+", lambda word: f"{word[0]}{next(numbers)}", prose)
    words = [word.span() for word in re.finditer(r"\S*\w\S*", document)]
    assume(words)
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, min(len(words) - 1, first + 30)))
    span = Span(words[first][0], words[last][1])
    text = document[span.start : span.end]
    wanted = directive_of(cited(document, span), text, document if is_known else None)
    assert wanted is not None
    for collapsed in (False, True):
        found = Shown.of(document, collapsed).find(wanted)
        assert found is not None
        assert span.start <= found[0] <= found[1] <= span.end
        assert not re.search(r"\w", document[span.start : found[0]] + document[found[1] : span.end])


SENTENCES = st.sampled_from(
    (
        "Twins are told apart.", "short", "中文没有空格。", "The quick brown fox jumps over the lazy dog; then it sleeps a little.",
        "First line of it\n\nand a last line", "a 1.5 b", "colour, comma - dash & sign", "ends\nends\nends", "x " * 150 + "y", "lengthy words " * 20,
    )
)  # fmt: skip


@given(SENTENCES, st.sampled_from((" ", "\n", "\n\n")), st.integers(0, 2))
def test_of_the_same_words_in_several_places_the_cited_ones_are_marked(words: str, gap: str, number: int) -> None:
    places, document = [], ""
    for lead, trail in (("Alpha one", "beta two"), ("Gamma three", "delta four"), ("Epsilon five", "zeta six")):
        document += lead + gap
        places.append(Span(len(document), len(document) + len(words)))
        document += words + gap + trail + "\n\n"
    span = places[number]
    wanted = directive_of(cited(document, span), words, document)
    assert wanted is not None
    for collapsed in (False, True):
        found = Shown.of(document, collapsed).find(wanted)
        assert found is not None
        assert found[0] == span.start
        assert span.end - 1 <= found[1] <= span.end


@given(ANY_TEXT.filter(bool), st.data())
def test_no_term_holds_what_no_browser_finds(document: str, data: st.DataObject) -> None:
    span = a_span(data, document)
    wanted = directive_of(cited(document, span), document[span.start : span.end], document)
    assume(wanted is not None)
    assert wanted is not None
    for term in (wanted.prefix, wanted.start, wanted.end, wanted.suffix):
        assert not re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]|  ", term)
        assert term == term.strip() and len(term) <= LONGEST and term in document
    assert any(map(str.isalnum, wanted.start))


def test_terms_are_those_of_the_examples() -> None:
    document = "An intro.\n\nThe cat, the dog - and 3.5 mice.\n\nIt ends here, after a while."
    whole = cited(document, Span(11, len(document)))
    assert text_directive(whole, document[11:]) == (
        "text=An%20intro.-,The%20cat%2C%20the%20dog%20%2D%20and%203.5%20mice.,It%20ends%20here%2C%20after%20a%20while."
    )
    assert document[21:36] == "he dog - and 3."
    part = cited(document, Span(21, 36))
    assert text_directive(part, document[21:36]) == "text=The%20cat%2C%20the-,dog%20%2D%20and"
    assert text_directive(cited("a compiler", Span(5, 8)), "pil") == "text=a-,compiler"


def test_a_neighbour_that_is_not_all_at_hand_is_no_term() -> None:
    assert text_directive(cited("y" * 70 + " cat.", Span(71, 74)), "cat") == "text=cat"
    assert text_directive(cited("cat " + "y" * 70, Span(0, 3)), "cat") == "text=cat"
    assert text_directive(cited("中" * 80 + "文字。", Span(80, 83)), "文字。") == ""
    assert text_directive(cited("前、" + "中" * 80, Span(2, 4)), "中中") == ""


@pytest.mark.parametrize("text", ["\x00\x01", " \n\n ", "---", "\ud800", "。", "x" * 300])
def test_a_passage_without_a_word_to_look_for_is_linked_as_its_page(text: str) -> None:
    assert link_of(cited(text, Span(0, len(text))), text, text) == URL
