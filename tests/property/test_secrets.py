"""Credentials: how they are told, and that masking leaves none of them in any text."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.masking import MASK, credential_in, masked, masked_url
from groundkit.core.result import Failure, Success
from groundkit.core.secrets import EXACT_NAMES, NAME_ENDINGS, VALUE_SHAPES, credential_name, decoded
from groundkit.core.urls import web_url

ALNUM = string.ascii_letters + string.digits
#: Nothing a text has by chance; letters and digits, so that no delimiter ends it.
SECRETS = st.text(ALNUM, min_size=8, max_size=24).map(lambda text: f"zQ9{text}")
HOSTS = st.sampled_from(["h.example.org", "h.example.org:443", "8.8.8.8", "[2606:4700::1]", "bücher.example.org", ""])
SCHEMES = st.sampled_from(["https://", "http://", "HTTP://", "//", "ftp://", "http:/", "http:", "https:\\\\", ""])
PATHS = st.sampled_from(
    ["", "/", "/a/b", "/a@b/c", "/a?x=1&y=2", "?x=1", "/a;v=1/b", "/a%20b", "\\x", "/a?mail=me@x.org"]
)
BEFORE = st.sampled_from(["", "fetching ", "«", "(", "error: ", "two lines\n", "url=", "https://a.org/x ", "a&b "])
AFTER = st.sampled_from(["", " failed", "\n", ": no route", ")", "&c=d", " me@x.org", " https://b.org/@x"])
LISTED = st.sampled_from([*sorted(EXACT_NAMES), *NAME_ENDINGS, "access_token", "X-Amz-Signature", "client-secret"])

A, B, D = "a1B2c3D4e5F6g7H8i9J0", "Zy9Xw8Vu7Ts6Rq5Po4Nm3", "0123456789ABCDEF"
SHAPED = [
    f"eyJhbGciOi{A}.eyJzdWIi{B}.{A}_-{B}",
    f"AKIA{D}",
    f"ASIA{D}",
    f"ghp_{A}{B}",
    f"gho_{A}{B}",
    f"github_pat_{A}_{B}",
    f"glpat-{A}",
    f"glrt-t3_{A}.{B}",
    "xox" + f"b-123456789012-{A}",
    f"xapp-1-{A}",
    f"AIzaSy{A}{B}",
    f"ya29.{A}-_{B}",
    f"sk_live_{A}",
    f"rk_live_{A}",
    f"sk-{A}{B}",
    f"sk-proj-{A}-{B}",
    f"sk-ant-api03-{A}_{B}",
    f"npm_{A}{B}",
    f"hf_{A}{B}",
    f"pypi-AgEIcHlwaS5vcmcC{A}{B}",
    f"SG.{A}.{B}",
    f"ST-1856339-{A}-cas",
    f"Bearer {A}",
    f"bearer+{A}",
    "Basic dXNlcjpwYXNzd29yZA==",
    "-----BEGIN RSA " + f"PRIVATE KEY-----\n{A}",
]


@st.composite
def spelled(draw: st.DrawFn, names: st.SearchStrategy[str]) -> str:
    """A name in any case, with any of its letters percent-encoded, up to twice, and punctuation in it."""
    chars = []
    for char in draw(names):
        char = draw(st.sampled_from([char.lower(), char.upper()]))
        encoded = f"%{ord(char):02x}"
        chars.append(
            draw(st.sampled_from([char, char, char, encoded, encoded.replace("%", "%25"), f"_{char}", f"{char}."]))
        )
    return "".join(chars)


@given(
    BEFORE,
    SCHEMES,
    SECRETS,
    SECRETS,
    st.sampled_from(["@", "%40", "%2540", "@@", "\uff20", "\\@", "?@", "#@"]),
    HOSTS,
    PATHS,
    AFTER,
)
def test_no_user_information_is_left(
    before: str, scheme: str, name: str, secret: str, at: str, host: str, path: str, after: str
) -> None:
    for userinfo in (
        f"{name}:{secret}",
        f":{secret}",
        secret,
        f"x:{secret}:y",
        f"x@{secret}",
        f"x:a/{secret}",
        f"x/y:{secret}",
    ):
        shown = masked(before + scheme + userinfo + at + host + path + after)
        assert secret not in shown, userinfo


@given(
    SCHEMES,
    HOSTS,
    PATHS,
    spelled(LISTED),
    SECRETS,
    st.sampled_from("?&;#/"),
    st.sampled_from(["", "&z=1", ";z=1", "#z", "@z"]),
)
def test_no_value_of_a_listed_parameter_is_left(
    scheme: str, host: str, path: str, name: str, secret: str, before: str, after: str
) -> None:
    url = f"{scheme}{host}{path}{before}{name}={secret}{after}"
    assert secret not in masked(url)
    assert secret not in masked_url(url)
    assert secret not in masked(f"could not fetch '{url}': refused")


@given(
    st.sampled_from(SHAPED), st.sampled_from(["/", "/x/", "/?q=", "/?q=a%20", "/#", "/#t=", "/x;v=", "?", "/a,"]), PATHS
)
def test_no_value_with_the_shape_of_a_credential_is_left(value: str, before: str, after: str) -> None:
    for url in (f"https://h.example.org{before}{value}{after}", f"{value}{after}", f"saw {value}, sorry"):
        shown = masked(url)
        assert not any(part in shown for part in (value, A, B, D, "dXNlcjpwYXNzd29yZA"))


@given(st.sampled_from(SHAPED), st.integers(1, 4))
def test_encoding_hides_no_shape(value: str, times: int) -> None:
    text = value
    for _ in range(times):
        text = "".join(f"%{byte:02X}" for byte in text.encode())[:40_000]
    assert text not in masked(f"https://h.example.org/?q={text}")
    assert credential_in(f"/?q={text}") is not None


@pytest.mark.parametrize(
    "nested",
    [
        "https://u:zQ9secret@h/",
        "//u:zQ9secret@h",
        "https://h/?token=zQ9secret",
        "a=b&token=zQ9secret",
        "x;sig=zQ9secret",
    ],
)
@pytest.mark.parametrize("times", [0, 1, 2, 3, 7])
def test_a_nested_secret_is_masked_and_refused_however_often_it_is_encoded(nested: str, times: int) -> None:
    text = nested
    for _ in range(times):
        text = "".join(char if char.isalnum() else f"%{ord(char):02x}" for char in text)
    url = f"https://h.example.org/login?next={text}&x=1"
    assert "zQ9secret" not in masked(url)
    assert isinstance(web_url(url), Failure)


HOSTILE = st.text("ht:/\\@?#&;=%25403dF. []\n'\"*aktoen\u202e\uff20", max_size=40) | st.text(max_size=60)


@given(HOSTILE)
def test_masking_twice_is_masking_once(text: str) -> None:
    for mask in (masked, masked_url):
        assert mask(mask(text)) == mask(text)
    assert masked(masked_url(text)) == masked_url(text)


@given(st.lists(HOSTILE | LISTED.map(lambda name: f"?{name}=x@y") | st.sampled_from(SHAPED), max_size=6).map("".join))
def test_masking_is_total_and_twice_is_once_among_secrets(text: str) -> None:
    assert masked(masked(text)) == masked(text)


@given(st.text(ALNUM + " .,/?&-_\n\t\x1b", max_size=80))
def test_a_text_without_marks_of_a_secret_is_left_as_it_is(text: str) -> None:
    if not any(
        text[start:end] for _, pattern in VALUE_SHAPES for start, end in [m.span() for m in pattern.finditer(text)]
    ):
        assert masked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "https://example.org/a/b?x=1&y=2#part",
        "https://medium.com/@writer/story",
        "https://example.org/a%20b/%E2%82%AC?mail=me%40x.org",
        "https://[2606:4700::1]:443/x",
        "https://example.org:443: connection refused",
        "see https://a.org/x and http://b.org/y: both fail\x1b[0m",
        "https://example.org/sk-learn-and-hf_hub?keyword=tokenizer&author=x&monkey=1&design=2",
        "https://example.org/?q=basic+mathematics&r=bearer%20instruments",
        "https://example.org/2024:05:06/x",
    ],
)
def test_harmless_urls_are_shown_as_they_are(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://u:p@h.org/x", "https://***@h.org/x"),
        ("https://u@h.org/x", "https://***@h.org/x"),
        ("https://h.org/?token=a&b=c", "https://h.org/?token=***&b=c"),
        ("https://h.org/x;jsessionid=a", "https://h.org/x;jsessionid=***"),
        ("https://h.org/#access_token=a&b=c", "https://h.org/#access_token=***&b=c"),
        ("https://h.org/?next=https%3A%2F%2Fu%3Ap%40i&b=c", "https://h.org/?next=***&b=c"),
        (f"https://h.org/ghp_{A}{B}/x", "https://h.org/***/x"),
        ("GET https://u:p@h.org failed", "GET https://***@h.org failed"),
        ("//u:p@h.org/x", "//***@h.org/x"),
        ("u:p@h.org/x", "***@h.org/x"),
        ("http://127.1.1.1:80\\@@127.2.2.2:80/", "http://***@127.2.2.2:80/"),
        ("http://user:pa ss@h.org/", "http://*** ***@h.org/"),
        ("http://user/name:p@h.org/", "http://***@h.org/"),
        ("Authorization: Basic eDp5 and more", "***"),
    ],
)
def test_what_is_masked_is_only_the_secret_where_its_place_is_plain(text: str, shown: str) -> None:
    assert masked(text) == shown


@pytest.mark.parametrize(
    "path",
    [
        "global-warming-and-what-it-means-for-us",
        "glass-bottles-and-other-containers",
        "doc/document/ST-9822-2018-REV-1-ADD-1/en/pdf",
        "pypi-packages-and-how-to-publish-them-with-twine",
        "sk-vseobecne-informacie-o-stranke",
        "high_temperature_superconductors_today",
        "wiki/Basic%20training%20of%20recruits",
        "?q=bearer+responsibilities&page=2&id=7&lang=en&v=1.0.0",
        "web/2020/https://medium.com/@writer",
        "?mail=me@x.org&at=10:30",
    ],
)
def test_ordinary_addresses_of_pages_are_not_taken_for_credentials(path: str) -> None:
    assert isinstance(web_url(f"https://example.org/{path}"), Success)


@pytest.mark.parametrize("name", ["to\nken", "x token", "x\tsig"])
def test_white_space_in_a_name_hides_nothing_in_a_text_that_is_one_url(name: str) -> None:
    assert masked_url(f"https://h.org/?{name}=zQ9") == f"https://h.org/?{name}={MASK}"


def test_white_space_ends_nothing_in_a_text_that_is_one_url() -> None:
    assert masked_url("http://user:pa ss@h.org/?token=a b") == f"http://{MASK}@h.org/?token={MASK}"


@given(spelled(LISTED))
def test_a_listed_name_is_known_however_it_is_spelled(name: str) -> None:
    assert credential_name(name) is not None


@pytest.mark.parametrize(
    "name",
    [
        "access_token",
        "X-Amz-Security-Token",
        "JSESSIONID",
        "PHPSESSID",
        "ASPSESSIONIDABCD",
        "user[pass]",
        "user[password]",
        "token[]",
        "token2",
        "ｔｏｋｅｎ",
        "%74oken",
        "to%256ben",
        "csrf-token",
        "AWSAccessKeyId",
        "Ocp-Apim-Subscription-Key",
    ],
)
def test_names_people_meet_are_known(name: str) -> None:
    assert credential_name(name) is not None


@pytest.mark.parametrize(
    "name", ["", "q", "code", "page", "author", "keyword", "monkey", "tokenizer", "passage", "assign", "id"]
)
def test_ordinary_names_are_harmless(name: str) -> None:
    assert credential_name(name) is None


@given(st.text() | st.text("%245AaFf0", max_size=60))
def test_decoding_shortens_until_it_is_settled(text: str) -> None:
    answer = decoded(text)
    assert all(len(one) > len(other) for one, other in zip((text, *answer.levels), answer.levels, strict=False))
    assert not answer.settled or decoded((text, *answer.levels)[-1]).levels == ()


LONG = [
    *(
        "a",
        "=",
        "&",
        "/",
        "\\",
        "\\\\a",
        ":/",
        "@",
        ":",
        "%25",
        "%2525",
        "%40",
        "a=",
        "token=",
        "sk-",
        "eyJ",
        "eyJ.",
        "glpat-",
    ),
    *(
        "-----BEGIN",
        "Bearer ",
        "Bearer a",
        "basic:",
        "SG.",
        "SG.a",
        "ST-1-",
        "[",
        "a[",
        "#",
        "?",
        ";",
        "a=b&",
        "http://",
    ),
    *(
        "http:/\\",
        "x:\\a",
        "a@b/",
        "%26",
        "e%79J",
        "authorization: ",
        "1",
        "-",
        "a//b",
        " \\\\a:",
        "\u0301",
        "%41=",
        "pypi-",
    ),
]


@pytest.mark.parametrize("unit", LONG)
def test_masking_a_long_text_ends(unit: str) -> None:
    # A refusal masks in both ways.
    assert isinstance(web_url((unit * 100_000)[:100_000]), Failure)
