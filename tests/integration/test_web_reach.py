"""Whom a fetch reaches: addresses that were judged, with the certificate of the name that was asked for, and nobody else."""

import json
import ssl
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import trustme
from shared import shared
from web_server import ADDRESS, OTHER_ADDRESS, Detour, Seen, WebServer, page, served_with, silence, trusted

from groundkit.adapters.web.fetcher import WebFetcher
from groundkit.adapters.web.lifeline import Lifeline
from groundkit.adapters.web.network import Gauge, PinnedBackend, Strayed, SystemDialer
from groundkit.adapters.web.resolver import SystemResolver
from groundkit.core.fetching import FetchLimits, FetchProblem, FetchRequest
from groundkit.core.result import Failure
from groundkit.core.urls import WebUrl, web_url
from groundkit.testing import ScriptedResolver
from groundkit.testing.fetcher_contract import asked, page_of, problem_of

LIMITS = FetchLimits(body=100_000, seconds=20)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def resolving(*answers: tuple[str, ...]) -> ScriptedResolver:
    return ScriptedResolver({"good.test": list(answers), "other.test": [(ADDRESS,)]})


# Addresses


@pytest.mark.parametrize(
    "answer",
    [
        ("127.0.0.1",),
        (ADDRESS, "127.0.0.1"),
        ("::1", ADDRESS),
        ("10.0.0.1", "192.168.0.1"),
        (ADDRESS, "169.254.169.254"),
        (ADDRESS, "fe80::1%eth0"),
        ("::ffff:127.0.0.1",),
        ("64:ff9b::7f00:1",),
        ("2130706433",),
        (ADDRESS, "no address"),
        (ADDRESS, ""),
    ],
)
def test_one_address_that_is_not_public_refuses_them_all_before_anything_is_dialed(answer: tuple[str, ...]) -> None:
    dialer = Detour({80: 1})
    failed = WebFetcher(resolving(answer), dialer).fetch(asked())
    assert problem_of(failed) is FetchProblem.ADDRESS_REFUSED
    assert dialer.dialed == []


def test_a_refusal_names_the_address_and_why() -> None:
    detail = WebFetcher(resolving((ADDRESS, "127.0.0.1")), Detour({})).fetch(asked()).failure().detail
    assert all(part in detail for part in ("good.test", "127.0.0.1", "loopback"))


def test_a_name_that_changes_its_address_is_looked_up_once() -> None:
    resolver = resolving((ADDRESS,), ("127.0.0.1",))
    with WebServer(page(b"public")) as server:
        dialer = Detour({80: server.port})
        assert page_of(WebFetcher(resolver, dialer).fetch(asked())).body == b"public"
    assert resolver.asked == ["good.test"] and dialer.dialed == [(ADDRESS, 80)]


def test_a_name_that_changes_its_address_between_fetches_is_judged_again() -> None:
    resolver = resolving((ADDRESS,), ("127.0.0.1",))
    with WebServer(page(b"public")) as server:
        dialer = Detour({80: server.port})
        fetcher = WebFetcher(resolver, dialer)
        page_of(fetcher.fetch(asked()))
        assert problem_of(fetcher.fetch(asked())) is FetchProblem.ADDRESS_REFUSED
    assert dialer.dialed == [(ADDRESS, 80)]


def test_a_literal_address_is_dialed_without_a_look_up() -> None:
    resolver = resolving()
    with WebServer(page()) as server:
        dialer = Detour({80: server.port})
        page_of(WebFetcher(resolver, dialer).fetch(asked(f"http://{ADDRESS}/")))
        page_of(WebFetcher(resolver, dialer).fetch(asked("http://[2606:4700::1111]/")))
    assert resolver.asked == [] and dialer.dialed == [(ADDRESS, 80), ("2606:4700::1111", 80)]
    assert [seen.header("host") for seen in server.seen] == [ADDRESS, "[2606:4700::1111]"]


def test_a_literal_address_is_judged_even_if_nobody_did_before() -> None:
    dialer = Detour({80: 1})
    url = WebUrl("http://127.0.0.1/", "http", "127.0.0.1", 80, "/", literal=True)
    assert problem_of(WebFetcher(resolving(), dialer).fetch(FetchRequest(url, LIMITS))) is FetchProblem.ADDRESS_REFUSED
    assert dialer.dialed == []


def test_a_connection_that_leads_to_another_address_is_not_used() -> None:
    with WebServer(page()) as server:
        dialer = Detour({80: server.port}, peer=OTHER_ADDRESS)
        assert problem_of(WebFetcher(resolving((ADDRESS,)), dialer).fetch(asked())) is FetchProblem.ADDRESS_REFUSED
    assert server.seen == []


def test_the_network_of_an_exchange_leads_nowhere_else() -> None:
    dialer = Detour({80: 1})
    network = PinnedBackend("good.test", 80, (ADDRESS,), dialer, Lifeline(20), Gauge(1, 1))
    for host, port in (("other.test", 80), ("good.test", 81), (ADDRESS, 80), ("127.0.0.1", 80)):
        with pytest.raises(Strayed):
            network.connect_tcp(host, port)
    with pytest.raises(Strayed):
        network.connect_unix_socket("/run/x.sock")
    assert dialer.dialed == []


def test_the_next_judged_address_is_dialed_where_one_does_not_answer() -> None:
    class OneDown(Detour):
        def dial(self, address: str, port: int, timeout: float) -> object:  # type: ignore[override]
            if address == ADDRESS:
                self.dialed.append((address, port))
                raise TimeoutError
            return super().dial(address, port, timeout)

    with WebServer(page()) as server:
        dialer = OneDown({80: server.port})
        found = page_of(WebFetcher(resolving((ADDRESS, OTHER_ADDRESS)), dialer).fetch(asked(raw=True)))  # type: ignore[arg-type]
    assert dialer.dialed == [(ADDRESS, 80), (OTHER_ADDRESS, 80)]
    assert found.raw is not None and found.raw.address == OTHER_ADDRESS


def test_a_name_without_addresses_is_told() -> None:
    failed = WebFetcher(ScriptedResolver({}), Detour({})).fetch(asked())
    assert problem_of(failed) is FetchProblem.NOT_RESOLVED and "good.test" in failed.failure().detail


def test_the_system_resolver_knows_the_loopback_name_and_takes_anything_for_a_name() -> None:
    assert set(SystemResolver().addresses("localhost", 10).unwrap()) <= {"127.0.0.1", "::1"}
    for name in ("", "a" * 300, "a..b", "a b", "x" * 70 + ".invalid"):
        failed = SystemResolver().addresses(name, 10)
        assert isinstance(failed, Failure) and failed.failure().detail.isprintable()


def test_the_system_dialer_takes_addresses_alone() -> None:
    for name in ("localhost", "127.1", "2130706433", ""):
        with pytest.raises(ValueError, match="does not appear to be an IPv4 or IPv6 address"):
            SystemDialer().dial(name, 80, 1.0)
    with WebServer(page()) as server:
        stream = SystemDialer().dial("127.0.0.1", server.port, 5.0)
        assert stream.get_extra_info("server_addr") == ("127.0.0.1", server.port)
        stream.close()


# Certificates


def secure(authority: trustme.CA, url: str, tls: ssl.SSLContext, **more: object) -> tuple[WebServer, object]:
    with WebServer(page(b"secret"), tls) as server:
        fetcher = WebFetcher(resolving((ADDRESS,)), Detour({443: server.port}), trusted(authority))
        return server, fetcher.fetch(asked(url, limits=LIMITS, **more))


def test_the_name_asked_for_is_in_tls_the_certificate_and_the_host_header(authority: trustme.CA) -> None:
    server, answer = secure(authority, "https://good.test/", served_with(authority.issue_cert("good.test")))
    assert page_of(answer).body == b"secret"  # type: ignore[arg-type]
    assert (server.seen[0].name, server.seen[0].header("host")) == ("good.test", "good.test")


def test_a_second_name_on_one_address_needs_a_certificate_of_its_own(authority: trustme.CA) -> None:
    good, other = authority.issue_cert("good.test"), authority.issue_cert("other.test")
    with WebServer(page(), served_with(good)) as server:
        fetcher = WebFetcher(resolving((ADDRESS,)), Detour({443: server.port}), trusted(authority))
        page_of(fetcher.fetch(asked("https://good.test/")))
        failed = fetcher.fetch(asked("https://other.test/"))
        assert problem_of(failed) is FetchProblem.CERTIFICATE and "another name" in failed.failure().detail
        assert len(server.seen) == 1
    with WebServer(page(), served_with(good, name_of={"other.test": other})) as server:
        fetcher = WebFetcher(resolving((ADDRESS,)), Detour({443: server.port}), trusted(authority))
        for name in ("good.test", "other.test"):
            page_of(fetcher.fetch(asked(f"https://{name}/")))
        assert [seen.name for seen in server.seen] == ["good.test", "other.test"]


def test_a_certificate_may_be_for_an_address(authority: trustme.CA) -> None:
    _, answer = secure(authority, f"https://{ADDRESS}/", served_with(authority.issue_cert(ADDRESS)))
    page_of(answer)  # type: ignore[arg-type]


def test_certificates_that_do_not_hold_are_refused_in_words(authority: trustme.CA) -> None:
    stranger, past = trustme.CA(), datetime(2020, 1, 1, tzinfo=UTC)
    cases = {
        "another name": served_with(authority.issue_cert("evil.test")),
        "expired": served_with(
            authority.issue_cert("good.test", not_before=past, not_after=datetime(2021, 1, 1, tzinfo=UTC))
        ),
        "not valid yet": served_with(
            authority.issue_cert(
                "good.test", not_before=datetime(2200, 1, 1, tzinfo=UTC), not_after=datetime(2201, 1, 1, tzinfo=UTC)
            )
        ),
        "issuer is unknown": served_with(stranger.issue_cert("good.test")),
        "signed by itself": by_itself(stranger),
    }
    for words, tls in cases.items():
        server, failed = secure(authority, "https://good.test/", tls)
        assert problem_of(failed) is FetchProblem.CERTIFICATE  # type: ignore[arg-type]
        assert words in failed.failure().detail  # type: ignore[attr-defined]
        assert (server.seen, server.connections) == ([], 1)


def by_itself(authority: trustme.CA) -> ssl.SSLContext:
    context = served_with(authority.issue_cert("good.test"))
    with authority.cert_pem.tempfile() as certificate, authority.private_key_pem.tempfile() as key:
        context.load_cert_chain(certificate, key)
    return context


def test_the_default_trust_does_not_know_a_stranger(authority: trustme.CA) -> None:
    with WebServer(page(), served_with(authority.issue_cert("good.test"))) as server:
        fetcher = WebFetcher(resolving((ADDRESS,)), Detour({443: server.port}))
        assert problem_of(fetcher.fetch(asked("https://good.test/"))) is FetchProblem.CERTIFICATE
        assert server.seen == []


def test_old_tls_is_not_spoken(authority: trustme.CA) -> None:
    tls = served_with(authority.issue_cert("good.test"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        tls.set_ciphers("ALL:@SECLEVEL=0")
        tls.minimum_version, tls.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    with WebServer(page(), tls) as server:
        failed = WebFetcher(resolving((ADDRESS,)), Detour({443: server.port})).fetch(asked("https://good.test/"))
    assert problem_of(failed) is FetchProblem.PROTOCOL and "TLS" in failed.failure().detail


def slow_hello(seen: Seen) -> Iterator[bytes]:
    yield b"\x16\x03\x03\x10\x00"
    while not seen.server.closing.wait(0.05):
        yield b"\x02"


@pytest.mark.parametrize("greet", [slow_hello, silence])
def test_a_handshake_that_is_slow_ends_with_the_time_of_the_whole(greet: object, authority: trustme.CA) -> None:
    with WebServer(page(), greet=greet) as server:  # type: ignore[arg-type]
        fetcher = WebFetcher(resolving((ADDRESS,)), Detour({443: server.port}), trusted(authority))
        failed = fetcher.fetch(asked("https://good.test/", limits=FetchLimits(1000, 0.5)))
    assert problem_of(failed) is FetchProblem.TIME


def test_a_server_that_does_not_speak_tls_is_told_and_one_that_hangs_up_is_tried_twice(authority: trustme.CA) -> None:
    for greet, problem, connections in (
        (lambda _: [b"HTTP/1.1 400 Bad Request\r\n\r\n"], FetchProblem.PROTOCOL, 1),
        (lambda _: [], FetchProblem.NOT_CONNECTED, 2),
    ):
        with WebServer(page(), greet=greet) as server:
            fetcher = WebFetcher(resolving((ADDRESS,)), Detour({443: server.port}), trusted(authority), pause=0.0)
            assert problem_of(fetcher.fetch(asked("https://good.test/"))) is problem
            assert server.connections == connections


# The shared cases


def test_no_redirect_of_the_shared_cases_is_followed() -> None:
    cases = [json.loads(line) for line in shared("data/ssrf/redirect_and_dns_cases.jsonl").read_text().splitlines()]
    for chain in (case["chain"] for case in cases if "chain" in case):
        for location in (chain[1], f"/a\r\nLocation: {chain[1]}"):
            with WebServer(page(status=302, Location=location)) as server:
                dialer = Detour({80: server.port})
                failed = WebFetcher(resolving((ADDRESS,)), dialer).fetch(asked("http://good.test/a", limits=LIMITS))
                assert problem_of(failed) is FetchProblem.REDIRECT, chain
                assert len(server.seen) == len(dialer.dialed) == 1
    statuses = next(case["status"] for case in cases if "status" in case)
    for status in set(statuses) - {304}:
        with WebServer(page(status=status, Location="http://127.0.0.1/")) as server:
            failed = WebFetcher(resolving((ADDRESS,)), Detour({80: server.port})).fetch(asked())
            assert problem_of(failed) is FetchProblem.REDIRECT and "127.0.0.1" in failed.failure().detail


@pytest.fixture(scope="module")
def cases() -> list[dict[str, str]]:
    return [json.loads(line) for line in shared("data/ssrf/urls.jsonl").read_text().splitlines()]


def test_every_shared_url_is_blocked_by_its_shape_or_where_its_name_leads(cases: list[dict[str, str]]) -> None:
    for case in cases:
        shape = web_url(case["url"])
        if isinstance(shape, Failure):
            continue
        assert case["expect"] != "block" or case["kind"].startswith("dns-name"), case
        if not shape.unwrap().literal:
            inner, private = Detour({80: 1, 443: 1}), ScriptedResolver({shape.unwrap().host: [("127.0.0.1",)]})
            failed = WebFetcher(private, inner).fetch(FetchRequest(shape.unwrap(), LIMITS))
            assert problem_of(failed) is FetchProblem.ADDRESS_REFUSED and inner.dialed == []


def test_every_shared_url_as_a_redirects_target_is_named_and_left_alone(cases: list[dict[str, str]]) -> None:
    location: list[str] = []
    with WebServer(lambda seen: page(status=302, Location=location[-1])(seen)) as server:
        dialer = Detour({80: server.port})
        fetcher = WebFetcher(resolving((ADDRESS,)), dialer)
        for url in (case["url"] for case in cases):
            location.append(url.encode("utf-8", "replace").decode("latin-1"))
            failed = fetcher.fetch(asked(limits=LIMITS))
            assert problem_of(failed) in (FetchProblem.REDIRECT, FetchProblem.PROTOCOL), url
            assert len(dialer.dialed) == len(location)
            if failed.failure().problem is FetchProblem.REDIRECT and url.startswith("http") and "\n" not in url:
                absolute = url.startswith(("http://", "https://"))
                refused = "would be refused" in failed.failure().detail
                assert not absolute or refused == isinstance(web_url(url), Failure), url
