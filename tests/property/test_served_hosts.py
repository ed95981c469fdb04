"""Which Host and Origin headers pass: the listed spellings and no other, whatever is done to them."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from groundkit.core.result import Failure, Success
from groundkit.core.served_hosts import Allowed, allowed_hosts, host_problem, origin_problem

PORTS = st.integers(1, 65535) | st.sampled_from([80, 443, 8080])
NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,8}(\.[a-z][a-z0-9-]{0,8}){0,2}", fullmatch=True)
PIECES = st.sampled_from(
    [
        b"",
        b" ",
        b"\t",
        b".",
        b":",
        b"@",
        b"/",
        b",",
        b"%",
        b"#",
        b"?",
        b"\\",
        b"\x00",
        b"\r\n",
        b"0",
        b"x",
        b"*",
        b"[",
        b"]",
        b"evil.test",
        b".evil.test",
        b"localhost",
        b"127.0.0.1",
        b":80",
        b":8080",
        b"http://",
        b"https://",
        b"null",
        b"\xc5\xbf",
    ]
) | st.binary(max_size=6)


def allowed(bind_host: str, port: int, *extra: str) -> Allowed:
    answer = allowed_hosts(bind_host, port, extra)
    assert isinstance(answer, Success), answer
    return answer.unwrap()


def listed(port: int, *names: str) -> set[bytes]:
    spellings = {f"{name}:{port}" for name in ("localhost", "127.0.0.1", "[::1]", *names)}
    return {
        each.encode() for each in spellings | ({each.rpartition(":")[0] for each in spellings} if port == 80 else set())
    }


def other_case(text: bytes, flips: int) -> bytes:
    return bytes(
        char ^ 0x20 if chr(char).isascii() and chr(char).isalpha() and flips >> (place % 64) & 1 else char
        for place, char in enumerate(text)
    )


# Host


@given(PORTS.filter(lambda port: port != 443), st.lists(NAMES, max_size=3), st.data())
def test_a_host_passes_exactly_in_the_listed_spellings_in_any_case(
    port: int, extra: list[str], data: st.DataObject
) -> None:
    known = listed(port, *extra)
    some = data.draw(st.sampled_from(sorted(known)))
    start = data.draw(st.integers(0, len(some)))
    end = data.draw(st.integers(start, len(some)))
    mutated = some[:start] + data.draw(PIECES) + some[end:]
    rules = allowed("127.0.0.1", port, *extra)
    assert host_problem(rules, [other_case(some, data.draw(st.integers(0, 2**64)))]) is None
    assert (host_problem(rules, [mutated]) is None) == (mutated.lower() in known)


@given(st.binary(max_size=30) | st.text(max_size=20).map(str.encode))
@example(b"")
@example(b" localhost:8080")
@example(b"localhost:8080 ")
@example(b"localhost")
@example(b"localhost:80")
@example(b"localhost:08080")
@example(b"localhost:evil.test")
@example(b"localhost:8080.evil.test")
@example(b"localhost:8080,evil.test")
@example(b"localhost:8080, localhost:8080")
@example(b"localhost.:8080")
@example(b"localhost:8080.")
@example(b"localhost:8080@evil.test")
@example(b"127.0.0.1:8080@evil.test")
@example(b"evil.test@127.0.0.1:8080")
@example(b"user@localhost:8080")
@example(b"127.1:8080")
@example(b"2130706433:8080")
@example(b"0x7f.1:8080")
@example(b"[::1]8080")
@example(b"[0:0:0:0:0:0:0:1]:8080")
@example(b"::1:8080")
@example(b"0.0.0.0:8080")
@example(b"[::]:8080")
@example(b"LOCALHO\xc5\xbfT:8080")
@example(b"http://localhost:8080")
def test_no_other_host_passes(sent: bytes) -> None:
    assert host_problem(allowed("0.0.0.0", 8080), [sent]) is not None


@given(PORTS, st.data())
def test_exactly_one_host_header_passes(port: int, data: st.DataObject) -> None:
    sent = data.draw(st.lists(st.sampled_from(sorted(listed(port))), max_size=4))
    assert (host_problem(allowed("localhost", port), sent) is None) == (len(sent) == 1)


# Origin


@given(
    PORTS.filter(lambda port: port not in (80, 443)),
    st.sampled_from(["http", "https"]),
    st.lists(NAMES, max_size=2),
    st.data(),
)
def test_an_origin_passes_exactly_as_scheme_and_listed_host(
    port: int, scheme: str, extra: list[str], data: st.DataObject
) -> None:
    known = {prefix + host for host in listed(port, *extra) for prefix in (b"http://", b"https://")}
    some = data.draw(st.sampled_from(sorted(known)))
    start = data.draw(st.integers(0, len(some)))
    end = data.draw(st.integers(start, len(some)))
    mutated = some[:start] + data.draw(PIECES) + some[end:]
    rules = allowed("::", port, *extra)
    assert origin_problem(rules, [some]) is None
    assert (origin_problem(rules, [mutated]) is None) == (mutated.lower() in known)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"null",
        b"http://",
        b"http://localhost",
        b"http://localhost:8080/",
        b"http://localhost:8080 ",
        b"localhost:8080",
        b"ftp://localhost:8080",
        b"file://",
        b"http://localhost:8080.evil.test",
        b"http://evil.test",
        b"http://a@localhost:8080",
        b"http://localhost:8080 http://localhost:8080",
        b"http://localhost:8080,null",
        b"http:/localhost:8080",
        b"*",
        b"http://localhost:evil.test",
        b"chrome-extension://localhost:8080",
        b"http://localhost.:8080",
    ],
)
def test_no_other_origin_passes(sent: bytes) -> None:
    assert origin_problem(allowed("127.0.0.1", 8080), [sent]) is not None


@given(PORTS, st.data())
def test_no_origin_passes_and_more_than_one_never(port: int, data: st.DataObject) -> None:
    sent = data.draw(st.lists(st.just(f"http://localhost:{port}".encode()), max_size=3))
    assert (origin_problem(allowed("localhost", port), sent) is None) == (len(sent) <= 1)


def test_each_scheme_leaves_out_its_own_port_only() -> None:
    plain, secure = allowed("127.0.0.1", 80), allowed("127.0.0.1", 8080, "docs.test:443")
    assert origin_problem(plain, [b"http://localhost"]) is None
    assert origin_problem(plain, [b"https://localhost"]) is not None
    assert host_problem(secure, [b"docs.test"]) is None
    assert origin_problem(secure, [b"https://docs.test"]) is None
    assert origin_problem(secure, [b"http://docs.test"]) is not None
    assert host_problem(secure, [b"docs.test:8080"]) is not None


# What is listed


@given(NAMES, PORTS, PORTS)
def test_a_name_of_its_own_port_keeps_it(name: str, port: int, own: int) -> None:
    rules = allowed("127.0.0.1", port, f"{name}:{own}")
    assert host_problem(rules, [f"{name}:{own}".encode()]) is None
    assert (host_problem(rules, [f"{name}:{port}".encode()]) is None) == (port == own or name == "localhost")


@pytest.mark.parametrize("wildcard", ["0.0.0.0", "::", "[::]", "0::0", "", "*"])
def test_a_wildcard_names_nothing(wildcard: str) -> None:
    assert allowed(wildcard, 8080) == allowed("127.0.0.1", 8080)


@pytest.mark.parametrize(
    ("bind", "sent"),
    [("192.0.2.7", b"192.0.2.7:8080"), ("2001:DB8:0::7", b"[2001:db8::7]:8080"), ("Box.lan", b"box.lan:8080")],
)
def test_the_host_that_is_bound_is_listed(bind: str, sent: bytes) -> None:
    assert host_problem(allowed(bind, 8080), [sent]) is None
    assert host_problem(allowed("127.0.0.1", 8080), [sent]) is not None


@pytest.mark.parametrize(
    "written",
    [
        "",
        " ",
        "*",
        "*.test",
        "a b",
        "a..b",
        ".a",
        "a.",
        "a:",
        "a:0",
        "a:080",
        "a:65536",
        "a:b",
        "a:1:2",
        "a/b",
        "a@b",
        "http://a",
        "0.0.0.0",
        "[::]",
        "::1",
        "[::1",
        "[1]",
        "[127.0.0.1]",
        "1.2.3",
        "256.1.1.1",
        "127.0.0.01",
        "λ.test",
        "ſ.test",
        "a\n",
        "-a",
        "a" * 254,
    ],
)
def test_what_is_no_name_cannot_be_listed(written: str) -> None:
    assert isinstance(allowed_hosts("127.0.0.1", 8080, [written]), Failure)
