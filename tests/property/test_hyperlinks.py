"""Laws of hyperlinks on terminals: what switches them on, where they lead, and that nothing in one can end it early."""

import re
from urllib.parse import unquote_to_bytes, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from groundkit.cli.hyperlinks import LONGEST, OFF, BadHyperlink, Hyperlinks, hyperlink, hyperlinks_of
from groundkit.core.editors import EDITORS, TemplateProblem, TemplateRefused, editor_link, editor_template
from groundkit.core.result import Failure, Success

KITTY = {"TERM": "xterm-kitty"}
ON = Hyperlinks(True, "file://{host}{path}", "here")
LINK = re.compile(r"\x1b\]8;;([!-~]+)\x1b\\([^\x1b]*)\x1b\]8;;\x1b\\")
PATHS = st.text(st.sampled_from("ab/ %#?:;\\{}&é中\U0001f600\n\x1b\x07\udcff\ud800"), max_size=20).map("/".__add__)
ENVIRONMENTS = st.dictionaries(
    st.sampled_from(("TERM", "TERM_PROGRAM", "VTE_VERSION", "FORCE_HYPERLINK", "GK_HYPERLINK", "KITTY_WINDOW_ID")),
    st.text(max_size=12)
    | st.sampled_from(("0", "1", "7600", "dumb", "xterm-kitty", "vscode", "x:{path}", "x:{paht}", "none")),
)


@pytest.mark.parametrize(
    "environment",
    [
        {"VTE_VERSION": "5000"}, {"VTE_VERSION": "7600"}, {"TERM_PROGRAM": "iTerm.app"}, {"TERM_PROGRAM": "WezTerm"},
        {"TERM_PROGRAM": "vscode"}, {"TERM_PROGRAM": "ghostty"}, {"TERM_PROGRAM": "Hyper"}, {"KITTY_WINDOW_ID": "1"},
        {"WT_SESSION": "x"}, {"KONSOLE_VERSION": "220401"}, {"TERM": "xterm-kitty"}, {"TERM": "alacritty"}, {"TERM": "foot"},
        {"TERM": "xterm-ghostty"}, {"TERM": "contour"}, {"DOMTERM": "1"},
    ],
    ids=str,
)  # fmt: skip
def test_a_terminal_that_takes_hyperlinks_gets_them_and_a_pipe_does_not(environment: dict[str, str]) -> None:
    assert hyperlinks_of({"TERM": "xterm", **environment}, True, "here") == Success(ON)
    assert hyperlinks_of({"TERM": "xterm", **environment}, False, "here") == Success(OFF)
    assert hyperlinks_of({**environment, "TERM": "dumb"}, True, "here") == Success(OFF)


@pytest.mark.parametrize(
    "environment",
    [
        {}, {"TERM": "xterm-256color"}, {"TERM": "linux"}, {"VTE_VERSION": "4999"}, {"VTE_VERSION": "x"}, {"VTE_VERSION": ""},
        {"VTE_VERSION": "9" * 5000}, {"TERM_PROGRAM": "Apple_Terminal"}, {"KITTY_WINDOW_ID": ""},
    ],
    ids=lambda environment: str(environment)[:40],
)  # fmt: skip
def test_a_terminal_that_is_not_known_for_them_gets_none(environment: dict[str, str]) -> None:
    assert hyperlinks_of(environment, True) == Success(OFF)


@given(st.dictionaries(st.sampled_from(("TERM", "TERM_PROGRAM", "VTE_VERSION")), st.text(max_size=8)), st.booleans())
def test_the_known_convention_outranks_what_is_found_out(environment: dict[str, str], is_terminal: bool) -> None:
    assert hyperlinks_of({**environment, "FORCE_HYPERLINK": "1"}, is_terminal, "here") == Success(ON)
    assert hyperlinks_of({**environment, "FORCE_HYPERLINK": "0"}, is_terminal, "here") == Success(OFF)


@pytest.mark.parametrize("name", sorted(EDITORS))
def test_an_editor_can_be_wanted_by_name_on_any_terminal(name: str) -> None:
    wanted = Success(OFF if name == "none" else Hyperlinks(True, EDITORS[name], "here"))
    for term in ("xterm", "xterm-kitty"):
        assert hyperlinks_of({"TERM": term, "GK_HYPERLINK": name}, True, "here") == wanted
        assert hyperlinks_of({"TERM": term, "GK_HYPERLINK": name}, False, "here") == Success(OFF)
    assert hyperlinks_of({"TERM": "dumb", "GK_HYPERLINK": name}, True, "here") == Success(OFF)
    assert hyperlinks_of({"FORCE_HYPERLINK": "1", "GK_HYPERLINK": name}, False, "here") == wanted


@pytest.mark.parametrize(
    ("given_", "problem"),
    [
        ("vscoed", TemplateProblem.UNKNOWN_NAME), ("", TemplateProblem.UNKNOWN_NAME), ("{path}", TemplateProblem.UNKNOWN_NAME),
        ("my editor:{path}", TemplateProblem.UNKNOWN_NAME), ("x:{path}\x1b\\", TemplateProblem.UNKNOWN_NAME),
        ("x:é{path}", TemplateProblem.UNKNOWN_NAME), ("x:{path}\n", TemplateProblem.UNKNOWN_NAME),
        ("x:{line}", TemplateProblem.NO_PATH), ("x:y", TemplateProblem.NO_PATH),
        ("x:{path}{lien}", TemplateProblem.UNKNOWN_FIELD), ("x:{path}{}", TemplateProblem.UNKNOWN_FIELD),
        ("x:{path}{", TemplateProblem.UNKNOWN_FIELD), ("x:{{path}}", TemplateProblem.UNKNOWN_FIELD),
        ("x:{path!r}{path.x}", TemplateProblem.UNKNOWN_FIELD),
    ],
)  # fmt: skip
def test_what_is_no_editor_and_no_template_is_refused_with_a_sentence(given_: str, problem: TemplateProblem) -> None:
    assert editor_template(given_) == Failure(TemplateRefused(given_, problem))
    if given_:
        bad = hyperlinks_of({**KITTY, "GK_HYPERLINK": given_}, True)
        assert isinstance(bad, Failure)
        refused = bad.failure()
        assert isinstance(refused, BadHyperlink)
        assert "GK_HYPERLINK" in refused.sentence and "vscode" in refused.sentence
        assert refused.sentence.isprintable()


@given(ENVIRONMENTS, st.booleans(), PATHS, st.text("ab.é\x1b", max_size=5))
def test_no_environment_is_too_strange(environment: dict[str, str], is_terminal: bool, path: str, host: str) -> None:
    links = hyperlinks_of(environment, is_terminal, host)
    if isinstance(links, Success):
        for shown in (links.unwrap().editor("label", path, 3, 4), links.unwrap().file("label", path)):
            assert shown == "label" or LINK.fullmatch(shown)


@given(PATHS, st.integers(1, 10**6), st.integers(1, 10**6), st.sampled_from(sorted(set(EDITORS) - {"none"})))
def test_an_editor_is_given_the_file_and_the_place(path: str, line: int, column: int, name: str) -> None:
    link = editor_link(path, line, column, EDITORS[name], "here")
    assert re.fullmatch(r"[!-~]+", link)
    parts = urlsplit(link)
    values = dict(pair.split("=") for pair in parts.query.split("&") if pair)
    wanted, places = (
        values.get("file")
        or values.get("url", "").removeprefix("file://")
        or parts.path.removesuffix(f":{line}:{column}"),
        link.count(str(line)),
    )
    assert unquote_to_bytes(wanted) == octets(path)
    assert places or name == "file"


def octets(path: str) -> bytes:
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogatepass")


@given(PATHS)
def test_a_file_is_linked_whatever_it_is_called(path: str) -> None:
    found = LINK.fullmatch(ON.file("label", path))
    assert found is not None and found[2] == "label"
    parts = urlsplit(found[1])
    assert (parts.scheme, parts.netloc, parts.query, parts.fragment) == ("file", "here", "", "")
    assert unquote_to_bytes(parts.path) == octets(path)
    assert OFF.file("label", path) == OFF.editor("label", path, 1, 1) == "label"


@given(st.text(min_size=1, max_size=40) | st.text("a\x1b\\\x07\x9c;\r\n\ud800é", min_size=1, max_size=40))
@example("a b")
def test_no_target_ends_its_link_early(target: str) -> None:
    shown = hyperlink("label", target)
    found = LINK.fullmatch(shown)
    assert found is not None and found[2] == "label"
    assert unquote_to_bytes(found[1]) == unquote_to_bytes(re.sub(r"[^!-~]", lambda sign: quoted(sign[0]), target))


def quoted(sign: str) -> str:
    return "".join(f"%{octet:02X}" for octet in octets(sign))


def test_a_link_that_cannot_be_is_its_label() -> None:
    assert hyperlink("label", "") == hyperlink("label", "x" * (LONGEST + 1)) == hyperlink("label", "é" * 400) == "label"
    assert hyperlink("", "x:y") == ""
    assert LINK.fullmatch(hyperlink("label", "x" * LONGEST))


def test_pages_are_linked_as_they_are() -> None:
    url = "https://example.org/a?b=c#:~:text=d%2De"
    assert ON.page("label", url) == f"\x1b]8;;{url}\x1b\\label\x1b]8;;\x1b\\"
    assert OFF.page("label", url) == "label"
