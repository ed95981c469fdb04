"""URLs: which are meant, which may be fetched and as what, and what a redirect's reference names."""

import json
import string
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from shared import shared

from groundkit.core.addresses import judge
from groundkit.core.hosts import LOCAL_NAMES
from groundkit.core.result import Failure, Success
from groundkit.core.url_kinds import KNOWN_SCHEMES
from groundkit.core.urls import (
    DEFAULT_PORTS,
    LONGEST,
    UrlProblem,
    WebUrl,
    is_page,
    is_url,
    masked,
    resolved,
    web_url,
)

LABELS = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=12).map(lambda text: f"a{text}")
NAMES = st.lists(LABELS, min_size=1, max_size=4).map(lambda labels: ".".join([*labels, "org"]))
TARGETS = st.text(string.ascii_letters + string.digits + "/.-_~!$'()*+,:%", max_size=30).map(lambda text: f"/{text}")
HOSTILE = st.text("htps:/\\@?#[]%.0127fx-_ \t\nλ。①", max_size=40) | st.text(max_size=60)


def problem(text: str, ports: tuple[int, ...] = DEFAULT_PORTS) -> UrlProblem | None:
    answer = web_url(text, ports)
    return answer.failure().problem if isinstance(answer, Failure) else None


def accepted(text: str, ports: tuple[int, ...] = DEFAULT_PORTS) -> WebUrl:
    answer = web_url(text, ports)
    assert isinstance(answer, Success), answer
    return answer.unwrap()


# What is fetched


@given(st.sampled_from(["http", "https", "HTTP", "hTTps"]), NAMES, st.sampled_from([None, 80, 443]), TARGETS)
def test_an_ordinary_url_is_taken_apart_and_kept_as_given(
    scheme: str, name: str, port: int | None, target: str
) -> None:
    url = f"{scheme}://{name}{'' if port is None else f':{port}'}{target}"
    implied = 443 if scheme.lower() == "https" else 80
    assert accepted(url) == WebUrl(url, scheme.lower(), name, port or implied, target)


@given(NAMES, st.integers(0, 70_000), st.lists(st.integers(1, 65535), max_size=3).map(tuple))
def test_a_port_is_taken_exactly_if_it_is_allowed(name: str, port: int, ports: tuple[int, ...]) -> None:
    assert problem(f"https://{name}:{port}/", ports) == (None if port in ports else UrlProblem.PORT)
    assert problem(f"https://{name}/", ports) == (None if 443 in ports else UrlProblem.PORT)


@given(HOSTILE | HOSTILE.map(lambda text: f"https://example.org/{text}") | HOSTILE.map(lambda text: f"http://{text}"))
@example("http://a\ud800/")
@example("http://xn--\u0661/")
@example(f"http://{'1' * 7000}/")
def test_judging_is_total_and_what_is_accepted_is_safe_to_send(text: str) -> None:
    answer = web_url(text)
    if isinstance(answer, Failure):
        assert masked(answer.failure().source) == answer.failure().source or len(answer.failure().source) == 500
        return
    url = answer.unwrap()
    sent = f"GET {url.target} HTTP/1.1\r\nHost: {url.authority}\r\n"
    assert all("!" <= char <= "~" for char in url.target + url.authority)
    assert sent.count("\r\n") == 2
    assert url.source == text
    assert url.target.startswith("/")
    assert "#" not in url.target
    assert not url.literal or judge(url.host) == Success(url.host)
    assert is_url(text)
    assert is_page(text)


@given(NAMES, TARGETS)
def test_what_is_accepted_is_accepted_in_the_form_it_was_read_as(name: str, target: str) -> None:
    url = accepted(f"HTTPS://{name.upper()}.:443{target}")
    again = accepted(f"{url.scheme}://{url.authority}{url.target}")
    assert (again.scheme, again.host, again.port, again.target) == (url.scheme, url.host, url.port, url.target)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://example.org", "/"),
        ("https://example.org?x", "/?x"),
        ("https://example.org/?", "/?"),
        ("https://example.org/a/../b/./c//d", "/a/../b/./c//d"),
        ("https://example.org/%7e%zz%", "/%7e%zz%"),
        ("https://example.org/ä/€?q=日", "/%C3%A4/%E2%82%AC?q=%E6%97%A5"),
        ('https://example.org/"<>^`{|}', "/%22%3C%3E%5E%60%7B%7C%7D"),
        ("https://example.org/#", "/"),
        ("https://example.org/a;v=1,2/b", "/a;v=1,2/b"),
        ("https://example.org/@me/x?mail=me@x.org", "/@me/x?mail=me@x.org"),
        ("https://example.org/x[0]?a[]=1", "/x[0]?a[]=1"),
    ],
)
def test_a_target_is_sent_as_given_but_for_what_no_request_may_hold(url: str, target: str) -> None:
    assert accepted(url).target == target


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("EXAMPLE.org", "example.org"),
        ("example.org.", "example.org"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("straße.de", "xn--strae-oqa.de"),
        ("例え.jp", "xn--r8jz45g.jp"),
        ("a_b.example.org", "a_b.example.org"),
        ("r3---sn-x.example.org", "r3---sn-x.example.org"),
        ("1.1.1.1.example.org", "1.1.1.1.example.org"),
        ("0x7f.example", "0x7f.example"),
        ("localhost.example.org", "localhost.example.org"),
        ("mylocal", "mylocal"),
    ],
)
def test_a_name_is_looked_up_in_lower_case_and_a_labels_without_a_final_dot(host: str, name: str) -> None:
    url = accepted(f"http://{host}/")
    assert (url.host, url.literal, url.authority) == (name, False, name)


@pytest.mark.parametrize(
    ("host", "address", "header"),
    [
        ("8.8.8.8", "8.8.8.8", "8.8.8.8"),
        ("8.8.8.8.", "8.8.8.8", "8.8.8.8"),
        ("134744072", "8.8.8.8", "8.8.8.8"),
        ("0x08080808", "8.8.8.8", "8.8.8.8"),
        ("8.0X8.2056", "8.8.8.8", "8.8.8.8"),
        ("[2606:4700:4700:0::1111]", "2606:4700:4700::1111", "[2606:4700:4700::1111]"),
        ("[64:ff9b::8.8.8.8]", "64:ff9b::808:808", "[64:ff9b::808:808]"),
    ],
)
def test_a_public_address_is_read_as_browsers_read_it(host: str, address: str, header: str) -> None:
    url = accepted(f"http://{host}:443/", (443,))
    assert (url.host, url.literal, url.authority) == (address, True, f"{header}:443")


# What is refused

REFUSED = {
    UrlProblem.SCHEME: [
        "",
        "http",
        "ftp://h.org/",
        "file:///etc/passwd",
        "//h.org/",
        "://h.org",
        "h.org/x",
        "javascript:x",
        "https",
    ],
    UrlProblem.MALFORMED: [
        *(
            "http:",
            "http:/h.org/",
            "https:h.org",
            "http://h.org/a b",
            " http://h.org/",
            "http://h.org/\n",
            "http:\\\\h.org",
        ),
        *(
            "http://h.org\\@x/",
            "http://h.org/\x00",
            "http://h.org/\u2028",
            "http://h.org/\ud800",
            "http://h.org\t/",
            "http://h.org/\u3000",
        ),
    ],
    UrlProblem.HOST: [
        *(
            "http://",
            "http:///x",
            "http://:80/",
            "http://?x",
            "http://./",
            "http://a..b/",
            "http://.a.org/",
            "http://a.org../",
        ),
        *(
            "http://h%2eorg/",
            "http://%31.1.1.1/",
            "http://a[1]/",
            "http://[1.1.1.1]/",
            "http://[::1%25lo]/",
            "http://[2606::1/",
        ),
        *(
            "http://[2606::1]x/",
            "http://[]/",
            "http://h,org/",
            "http://h!.org/",
            f"http://{'a' * 64}.org/",
            "http://256.1.1.1/",
        ),
        *(
            "http://1.1.1.1.1/",
            "http://4294967296/",
            "http://1.2.3.08/",
            "http://1..1/",
            "http://x.0x7f000001/",
            "http://1.1.0x1g.1/",
        ),
        *(
            "http://ⓔxample.org/",
            "http://１.1.1.1/",
            "http://h。org/",
            "http://h．org/",
            "http://loca\u00adlhost/",
            "http://h\u200b.org/",
        ),
        *(
            "http://xn--/",
            "http://xn--a/",
            "http://xn--zzzzzzz999.org/",
            "http://١٢٧.٠.٠.١/",
            "http://\u212a.org/",
            "http://ﬁ.org/",
        ),
        *(
            "http://xn--BCHER-KVA\u00e9.org/",
            "http://010.8.8.8/",
            "http://a.١/",
            "http://xn--9hb.xn--9hb/",
            f"http://{'a.' * 130}org/",
        ),
        *(
            "http://u\u0308.org/",
            "http://a\u202e.org/",
            "http://*.org/",
        ),
    ],
    UrlProblem.ADDRESS: [
        *(
            "http://127.0.0.1/",
            "http://127.1/",
            "http://0/",
            "http://0x7f.1/",
            "http://017700000001/",
            "http://2130706433/",
        ),
        *(
            "http://0177.0.0.1/",
            "http://10.0.0.1./",
            "http://169.254.169.254/",
            "http://[::1]/",
            "http://[::ffff:8.8.8.8]/",
        ),
        *(
            "http://[fd00:ec2::254]/",
            "http://[64:ff9b::127.0.0.1]/",
            "http://[2002:7f00:1::]/",
            "http://0x/",
            "http://192.168.257/",
        ),
    ],
    UrlProblem.PORT: [
        *(
            "http://h.org:22/",
            "http://a:b:80/",
            "http://[2606::1]:80:80/",
            "http://h.org:0/",
            "http://h.org:080/",
            "http://h.org:+80/",
            "http://h.org:65616/",
            "http://h.org:８０/",
        ),
        *("http://h.org:0x50/", "http://h.org:8_0/", "http://h.org:99999999999999999999/"),
    ],
    UrlProblem.USERINFO: [
        *(
            "http://u:p@h.org/",
            "http://u@h.org/",
            "http://@h.org/",
            "http://h.org?@x/",
            "http://h.org#@x/",
            "http://a@b@h.org/",
        ),
    ],
    UrlProblem.CREDENTIAL: [
        *(
            "https://h.org/?token=a",
            "https://h.org/?x=1&Access-Token=a",
            "https://h.org/?x=1;sig=a",
            "https://h.org/x;jsessionid=a",
        ),
        *(
            "https://h.org/#access_token=a",
            "https://h.org/?%74oken=a",
            "https://h.org/?next=https://u:p@h/",
            "https://h.org/?key=a",
        ),
        "https://h.org/bot/ghp_" + "a1B2" * 9,
    ],
    UrlProblem.FRAGMENT: ["https://h.org/#part", "https://h.org#x", "https://h.org/##"],
    UrlProblem.TOO_LONG: ["https://h.org/" + "a" * LONGEST],
}


@pytest.mark.parametrize(("expected", "url"), [(expected, url) for expected, urls in REFUSED.items() for url in urls])
def test_a_refusal_says_what_is_wrong(expected: UrlProblem, url: str) -> None:
    assert problem(url) is expected


@given(st.sampled_from(LOCAL_NAMES), st.sampled_from(["", "a.", "a.b."]), st.sampled_from(["", "."]), st.booleans())
def test_names_for_local_use_are_refused(local: str, before: str, after: str, upper: bool) -> None:
    host = before + local + after
    assert problem(f"https://{host.upper() if upper else host}/") is UrlProblem.HOST


@given(st.integers(0, 2**32 - 1), st.sampled_from(["{}", "{:#x}", "{:#X}", "0{:o}", "00000{:o}", "0x000{:x}"]))
def test_an_address_written_as_a_number_is_judged_as_the_one_it_is(number: int, form: str) -> None:
    dotted = ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))
    answer = web_url(f"http://{form.format(number)}/")
    if isinstance(judge(dotted), Failure):
        assert isinstance(answer, Failure)
    elif isinstance(answer, Success):
        assert answer.unwrap().host == dotted


@given(st.characters(), st.sampled_from(["{}xample.org", "ex{}mple.org", "127.0.0.{}", "example.{}"]))
def test_no_character_stands_for_another_in_a_host(char: str, form: str) -> None:
    answer = web_url(f"http://{form.format(char)}/")
    if isinstance(answer, Success) and not char.isascii():
        assert unicodedata.normalize("NFKC", char) == char
        assert "xn--" in answer.unwrap().host


@given(HOSTILE, st.sampled_from(["zQ9secret", "zQ9-secret", "zQ9.s_cret"]))
def test_no_field_of_a_refusal_holds_the_secret(noise: str, secret: str) -> None:
    urls = [
        f"http://{noise}:{secret}@h.org/",
        f"http://user:{secret}@{noise}",
        f"https://h.org/{noise}&token={secret}",
        f"https://h.org/{'x' * 480}?token={secret}&{noise}",
        f"https://h.org:{secret}@",
    ]
    for url in urls:
        answer = web_url(url)
        # Behind a "/" of the user's name the rest may be a path.
        assert isinstance(answer, Failure) or "/" in noise
        if isinstance(answer, Failure):
            assert secret not in repr(answer.failure())
            assert len(answer.failure().source) <= 500


# The shared cases

NAMED_FOR_PRIVATE = "dns-name-to-private-or-rebind"


def test_the_shared_cases_are_refused_and_allowed_as_they_say() -> None:
    lines = (shared("data/ssrf") / "urls.jsonl").read_text("utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    wrong = [
        case
        for case in cases
        if case["kind"] != NAMED_FOR_PRIVATE and (problem(case["url"]) is None) != (case["expect"] == "allow")
    ]
    assert not wrong
    assert len(cases) > 250


def test_shared_names_that_lead_inside_are_names_like_others_and_their_answers_are_refused() -> None:
    lines = (shared("data/ssrf") / "urls.jsonl").read_text("utf-8").splitlines()
    named = [case["url"] for case in map(json.loads, lines) if case["kind"] == NAMED_FOR_PRIVATE]
    answers = dict.fromkeys((accepted(url).host for url in named), ("93.184.215.14", "127.0.0.1"))
    assert all(any(isinstance(judge(address), Failure) for address in addresses) for addresses in answers.values())
    assert len(answers) > 5


def test_shared_redirects_are_refused_where_they_lead_inside() -> None:
    lines = (shared("data/ssrf") / "redirect_and_dns_cases.jsonl").read_text("utf-8").splitlines()
    chains = [case["chain"] for case in map(json.loads, lines) if case["expect"] == "block" and "chain" in case]
    for first, target in chains:
        assert isinstance(web_url(resolved(accepted(first), target)), Failure), target
    assert len(chains) > 5


# What is meant as a URL


@pytest.mark.parametrize(
    "text",
    [
        "http://x",
        "HTTPS://x/y",
        "https://u:p@h",
        "http:/x",
        "https:\\\\x",
        "http:x",
        "://x",
        "  http://x",
        "\x00\u2028ftp://x",
        "ht\ntp://x",
        "file:/etc/passwd",
        "FILE:x",
        "data:text/html,x",
        "about:blank",
        "javascript:alert(1)",
        "mailto:me@x.org",
        "unix:///var/run/x.sock",
        "gopher://x",
        "anything+new.1://x",
        "view-source:http://x",
        "jar:http://x!/",
        "blob:http://x",
    ],
)
def test_what_begins_like_a_url_is_meant_as_one(text: str) -> None:
    assert is_url(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "http",
        "https:",
        "notes: today.md",
        "a/http://x",
        "C:\\docs\\a.md",
        "c:/docs",
        "//server/share",
        "/x",
        "../x",
        "10:30.md",
        "what is http://.md",
        "1http://x",
        "re: http.md",
        "x.md",
        ":/x",
        "::",
        "http_x",
        "日本://x",
    ],
)
def test_other_texts_are_paths(text: str) -> None:
    assert not is_url(text)


@given(HOSTILE, st.sampled_from(sorted(KNOWN_SCHEMES)))
def test_every_known_scheme_makes_a_url_in_any_case(rest: str, scheme: str) -> None:
    assert is_url(f"{scheme.upper()}:x{rest}")
    assert not is_url(f"./{scheme}:x{rest}")


@given(HOSTILE)
def test_what_is_not_meant_as_a_url_is_never_fetched(text: str) -> None:
    assert is_url(text) or isinstance(web_url(text), Failure)


@pytest.mark.parametrize(
    ("source", "page"), [("https://x/", True), ("HTTP://x", True), ("http:/x", False), ("data:x.md", False)]
)
def test_a_stored_page_is_told_from_a_stored_path(source: str, page: bool) -> None:
    assert is_page(source) is page


# Where a redirect leads

BASE = WebUrl("http://a/b/c/d;p?q", "http", "a", 80, "/b/c/d;p?q")


@pytest.mark.parametrize(
    ("location", "target"),
    [
        # RFC 3986, 5.4.1
        *(
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
        ),
        *(
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q#s"),
        ),
        *(
            ("g#s", "http://a/b/c/g#s"),
            ("g?y#s", "http://a/b/c/g?y#s"),
            (";x", "http://a/b/c/;x"),
            ("g;x", "http://a/b/c/g;x"),
        ),
        *(
            ("g;x?y#s", "http://a/b/c/g;x?y#s"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
        ),
        *(
            ("..", "http://a/b/"),
            ("../", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../", "http://a/"),
        ),
        ("../../g", "http://a/g"),
        # RFC 3986, 5.4.2
        *(
            ("../../../g", "http://a/g"),
            ("../../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("/../g", "http://a/g"),
        ),
        *(
            ("g.", "http://a/b/c/g."),
            (".g", "http://a/b/c/.g"),
            ("g..", "http://a/b/c/g.."),
            ("..g", "http://a/b/c/..g"),
        ),
        *(
            ("./../g", "http://a/b/g"),
            ("./g/.", "http://a/b/c/g/"),
            ("g/./h", "http://a/b/c/g/h"),
            ("g/../h", "http://a/b/c/h"),
        ),
        *(("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x")),
        *(("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g")),
        # Others
        *((" \thttps://x/ \r\n", "https://x/"), ("//u:p@x/y", "http://u:p@x/y"), ("https://x/a/../b", "https://x/b")),
        *(("10:30", "http://a/b/c/10:30"), ("a//b", "http://a/b/c/a//b"), ("mailto:x/../y", "mailto:x/../y")),
    ],
)
def test_references_resolve_as_the_rfc_says(location: str, target: str) -> None:
    assert resolved(BASE, location) == target


@given(HOSTILE)
def test_resolving_is_total_and_keeps_to_the_scheme_and_host_of_a_mere_path(text: str) -> None:
    assert resolved(BASE, "/x" + text).startswith("http://a/")
    assert isinstance(resolved(BASE, text), str)


@given(NAMES, TARGETS)
def test_an_absolute_url_resolves_to_itself_wherever_it_is_met(name: str, target: str) -> None:
    url = f"https://{name}{resolved(BASE, target).removeprefix('http://a')}"
    assert resolved(BASE, url) == url


@pytest.mark.parametrize(
    "unit", ["a", "/", "../", "a/", "?", "#", ":", "@", "http:", ".", "[", "%41", "xn--", "0", "\u0301", "λ."]
)
def test_long_texts_are_judged_and_resolved(unit: str) -> None:
    text = (unit * 100_000)[:100_000]
    assert problem(text) is UrlProblem.TOO_LONG
    assert isinstance(is_url(text), bool)
    assert resolved(BASE, "/x" + text).startswith("http://a/")
    assert problem(f"http://{text[:7000]}/") is not UrlProblem.TOO_LONG
