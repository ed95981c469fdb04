"""Queries and texts after public bug reports: none raises, none kills the process, and words are found."""

import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared import shared

from groundkit.adapters.tantivy_index import TantivyIndex
from groundkit.core.changes import LexicalDocument, LexicalRow
from groundkit.core.folding import search_view
from groundkit.core.query import MOST_PHRASE_WORDS, QueryProblem, compile_query, parse
from groundkit.core.result import Failure
from groundkit.core.storage import Mark
from groundkit.testing.index_contract import Writer, found, query_for

FISH = "fish and C++ in the sea, v2.21 @nasa #tag"


@pytest.fixture
def sea(tmp_path: Path) -> Writer:
    writer = Writer(TantivyIndex(tmp_path / "c.lexical", "english"))
    writer.write({1: [FISH], 2: ["an old man"], 3: ["the days at sea"]})
    return writer


def _asked(writer: Writer, text: str) -> set[int] | QueryProblem:
    """The rows found; a query that asks for nothing has none."""
    query = parse(text)
    if isinstance(query, Failure):
        return query.failure().problem
    compiled = compile_query(query.unwrap(), lambda part: writer.index.terms(search_view(part)[0]))
    if isinstance(compiled, Failure):
        return set() if compiled.failure().asks_for_nothing else compiled.failure().problem
    return found(writer.searcher(), compiled.unwrap())


#: A sign right before a word or a quotation mark, after white space: what is syntax for a word. Fields need a colon.
_SIGNED = re.compile(r"""(?<!\S)[-+][\w"]""")


def _plain(text: str) -> bool:
    return '"' not in text and not _SIGNED.search(text)


def test_special_characters_ask_for_the_words_between_them(sea: Writer) -> None:
    queries = json.loads((shared("cases/12-query-special-characters") / "queries.json").read_text(encoding="utf-8"))
    assert len(queries) == 84
    for text in queries:
        answer = _asked(sea, text)
        assert not isinstance(answer, QueryProblem)
        words = set(search_view(text)[0].split())
        if _plain(text):
            assert (1 in answer) == bool(words & set(search_view(FISH)[0].split()))
    assert _asked(sea, "fish days:") == {1, 3}
    assert _asked(sea, "NOT fish") == _asked(sea, "fish") == _asked(sea, "- fish") == {1}
    assert _asked(sea, "-fish") == set()
    assert (_asked(sea, "sea -fish"), _asked(sea, "sea +days")) == ({3}, {3})
    assert _asked(sea, "") == _asked(sea, " \n\0 ") == _asked(sea, "++") == set()
    assert _asked(sea, "C++") == _asked(sea, "c") == {1}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.one_of(st.text(), st.text(st.sampled_from("fish sea\"'()[]{}+-*?:^~\\/!&|<>@#%=,;\0\ud800\u202e"))))
def test_no_query_raises_and_unquoted_words_match(sea: Writer, text: str) -> None:
    answer = _asked(sea, text)
    words = set(search_view(text)[0].split())
    if _plain(text):
        assert isinstance(answer, set)
        assert ({"fish", "sea"} & words != set()) <= (1 in answer)


_FRAGMENTS = (
    *"()[]{}\"'+-*?:^~\\/!&|<>@#%=,; \0", "fish", "sea", "days", "-", "--", "AND", "NOT", "NEAR(", "source:", "source:*", "class:x",
    "after:", "before:2020", "heading:a", "type:pdf", "C++", "12:30", "it's", "[E0308]", "https://x/?a=b", "\u202e", "\ud800",
    "\u3000", "東京", "\U0001f600", "\ufeff", "e\u0301",
)  # fmt: skip


def test_ten_thousand_queries_put_together_from_syntax_are_all_answered(sea: Writer) -> None:
    draw = random.Random(12)
    for _ in range(10_000):
        text = "".join(draw.choice(("", " ")) + draw.choice(_FRAGMENTS) for _ in range(draw.randint(1, 12)))
        answer = _asked(sea, text)
        assert isinstance(answer, set), text
        if _plain(text) and ":" not in text and "fish" in search_view(text)[0].split():
            assert 1 in answer, text


@pytest.mark.parametrize("unit", ["(", "-", "((test)) ", "a OR ", '"', '" ', "\\", "w w "])
def test_deep_nesting_is_text_and_a_megabyte_is_refused(sea: Writer, unit: str) -> None:
    for times in (10, 3000, 20_000):
        assert isinstance(_asked(sea, unit * times + "fish"), set | QueryProblem)
        assert len(unit) * times > 65_000 or '"' in unit or "w" in unit or 1 in _asked(sea, unit * times + "fish")
    assert _asked(sea, unit * 1_000_000) is QueryProblem.TOO_LONG


def test_a_phrase_as_long_as_a_query_may_be_is_answered_or_refused(sea: Writer) -> None:
    for words in (2, 64, MOST_PHRASE_WORDS, MOST_PHRASE_WORDS + 1, 16_000):
        answer = _asked(sea, f'"{"sea " * words}"')
        assert answer == (set() if words <= MOST_PHRASE_WORDS else QueryProblem.TOO_MANY_PHRASE_WORDS)


#: The same in a process of its own: a signal would end it, and no test could catch that.
_NESTED = """
import sys
from pathlib import Path
from groundkit.adapters.tantivy_index import TantivyIndex
from groundkit.core.query import MOST_CHARACTERS
from groundkit.testing.index_contract import Writer, found, query_for
writer = Writer(TantivyIndex(Path(sys.argv[1]), "english"))
writer.write({1: ["test"]})
for text in ("(" * 60_000 + "test", "-" * 60_000 + "test", "(" * 30_000 + "test" + ")" * 30_000, '"' * 9 + " test"):
    assert found(writer.searcher(), query_for(writer.index, text)) == {1}, text[:9]
print("alive")
"""


def test_nested_parentheses_do_not_end_the_process(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _NESTED, str(tmp_path / "c.lexical")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, ended.stdout) == (0, "alive\n"), ended.stderr


def test_deleting_a_document_removes_it_and_no_other(tmp_path: Path) -> None:
    names = ["Docs/Read-Me.md", "docs/other.md", "docs", "docs read"]
    index = TantivyIndex(tmp_path / "c.lexical", "english")
    index.start(1).unwrap()
    told = [LexicalDocument(name, (LexicalRow(row, "needle docs"),)) for row, name in enumerate(names)]
    index.apply(1, Mark(1, "a"), told).unwrap()
    before = index.searcher(1).unwrap()
    for gone, left in (("docs", {0, 1, 3}), ("Docs/Read-Me.md", {1, 3}), ("unknown", {1, 3})):
        index.apply(1, Mark(2, "b"), [LexicalDocument(gone, ())]).unwrap()
        assert found(index.searcher(1).unwrap(), query_for(index, "needle")) == left
        assert set(index.live(1).unwrap()) == left
    assert found(before, query_for(index, "needle")) == {0, 1, 2, 3}


def test_long_words_and_words_of_scripts_without_blanks_are_found(tmp_path: Path) -> None:
    text = (shared("cases/29-long-and-cjk-tokens") / "long.md").read_text(encoding="utf-8")
    writer = Writer(TantivyIndex(tmp_path / "c.lexical", "english"))
    writer.write({1: [text], 2: ["something else"]})
    words = [
        "0123456789abcdef" * 4, "averyveryverylongpathsegmentwithoutanybreak", "LongIdentifierWithoutBreaks" * 4,
        "検索システム", "评价", "检索系统", "我们在北京测试了一个可以验证引用的检索系统并记录了结果", "ค้นหา", "ตรวจสอบ", "here", "id=12345",
    ]  # fmt: skip
    missing = [word for word in words if found(writer.searcher(), query_for(writer.index, word)) != {1}]
    assert missing == ["评价"]  # not in the text
    phrases = [word for word in words if word not in missing]
    assert all(found(writer.searcher(), query_for(writer.index, f'"{word}"')) == {1} for word in phrases)
    assert found(writer.searcher(), query_for(writer.index, '"統シス"')) == set()
