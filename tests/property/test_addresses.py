"""Addresses: which are public, by a table that no Python release changes."""

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.addresses import GLOBAL_UNICAST, NAT64, V4_REFUSED, V6_REFUSED, AddressRefused, judge
from groundkit.core.result import Failure, Success

V4 = st.integers(0, 2**32 - 1).map(IPv4Address)
V6 = st.integers(0, 2**128 - 1).map(IPv6Address)

#: The first and the last address of each refused range of IPv4, neighbours joined, written out by hand.
REFUSED_RANGES = [
    ("0.0.0.0", "0.255.255.255"),
    ("10.0.0.0", "10.255.255.255"),
    ("100.64.0.0", "100.127.255.255"),
    ("127.0.0.0", "127.255.255.255"),
    ("168.63.129.16", "168.63.129.16"),
    ("169.254.0.0", "169.254.255.255"),
    ("172.16.0.0", "172.31.255.255"),
    ("192.0.0.0", "192.0.0.255"),
    ("192.0.2.0", "192.0.2.255"),
    ("192.31.196.0", "192.31.196.255"),
    ("192.52.193.0", "192.52.193.255"),
    ("192.88.99.0", "192.88.99.255"),
    ("192.168.0.0", "192.168.255.255"),
    ("192.175.48.0", "192.175.48.255"),
    ("198.18.0.0", "198.19.255.255"),
    ("198.51.100.0", "198.51.100.255"),
    ("203.0.113.0", "203.0.113.255"),
    ("224.0.0.0", "255.255.255.255"),
]


@pytest.mark.parametrize(("first", "last"), REFUSED_RANGES)
def test_a_refused_range_begins_and_ends_where_the_registry_says(first: str, last: str) -> None:
    assert isinstance(judge(first), Failure)
    assert isinstance(judge(last), Failure)
    if first != "0.0.0.0":
        assert judge(str(IPv4Address(first) - 1)) == Success(str(IPv4Address(first) - 1))
    if last != "255.255.255.255":
        assert judge(str(IPv4Address(last) + 1)) == Success(str(IPv4Address(last) + 1))


@given(V4)
def test_an_ipv4_address_is_public_exactly_outside_the_refused_ranges(address: IPv4Address) -> None:
    inside = any(IPv4Address(first) <= address <= IPv4Address(last) for first, last in REFUSED_RANGES)
    assert isinstance(judge(str(address)), Failure if inside else Success)


@given(st.sampled_from(V4_REFUSED + V6_REFUSED), st.data())
def test_no_address_of_a_refused_block_is_public(
    block: tuple[object, str],
    data: st.DataObject,
) -> None:
    network = next(network for network, why in V4_REFUSED + V6_REFUSED if (network, why) == block)
    address = network[data.draw(st.integers(0, network.num_addresses - 1))]
    assert isinstance(judge(str(address)), Failure)


@given(V6)
def test_ipv6_is_refused_outside_global_unicast_and_nat64(address: IPv6Address) -> None:
    assert isinstance(judge(str(address)), Failure) or address in GLOBAL_UNICAST or address in NAT64


@given(V4)
def test_nat64_is_judged_by_the_address_it_leads_to(address: IPv4Address) -> None:
    inner, outer = judge(str(address)), judge(f"64:ff9b::{address}")
    assert isinstance(outer, type(inner))


@given(V4, st.sampled_from(["::{}", "::ffff:{}", "::ffff:0:{}", "fe80::5efe:{}", "64:ff9b:1::{}"]))
def test_other_ipv6_addresses_that_hold_an_ipv4_address_are_refused(address: IPv4Address, form: str) -> None:
    assert isinstance(judge(form.format(address)), Failure)


@given(V4, st.integers(0, 2**80 - 1))
def test_tunnels_of_ipv4_are_refused(address: IPv4Address, rest: int) -> None:
    six_to_four = IPv6Address(0x2002 << 112 | int(address) << 80 | rest)
    teredo = IPv6Address(0x20010000 << 96 | rest)
    assert judge(str(six_to_four)) == Failure(AddressRefused(str(six_to_four), "6to4"))
    assert judge(str(teredo)) == Failure(AddressRefused(str(teredo), "Teredo"))


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("127.0.0.1", "loopback"),
        ("10.1.2.3", "private network"),
        ("169.254.169.254", "link-local"),
        ("100.100.100.200", "shared address space"),
        ("192.0.0.192", "protocol assignments"),
        ("168.63.129.16", "host service of a cloud"),
        ("255.255.255.255", "broadcast"),
        ("64:ff9b::a9fe:a9fe", "NAT64 of link-local"),
        ("64:ff9b:1::808:808", "local-use NAT64"),
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("::ffff:8.8.8.8", "IPv4-mapped"),
        ("::ffff:0:8.8.8.8", "IPv4-translated"),
        ("::8.8.8.8", "IPv4-compatible"),
        ("fe80::1", "link-local"),
        ("fec0::1", "site-local"),
        ("fd00:ec2::254", "unique local"),
        ("ff02::1", "multicast"),
        ("100::1", "discard-only"),
        ("5f00::1", "segment routing"),
        ("4000::1", "not global unicast"),
        ("2001:db8::1", "documentation"),
        ("3fff::1", "documentation"),
        ("2001:20::1", "protocol assignments"),
        ("2620:4f:8000::1", "anycast sink"),
    ],
)
def test_a_refusal_names_the_block(address: str, why: str) -> None:
    answer = judge(address)
    assert isinstance(answer, Failure)
    assert answer.failure().why == why


@pytest.mark.parametrize(
    ("written", "usual"),
    [
        ("8.8.8.8", "8.8.8.8"),
        ("2606:4700:4700:0:0:0:0:1111", "2606:4700:4700::1111"),
        ("2A00:1450:4001:80B::200E", "2a00:1450:4001:80b::200e"),
        ("64:ff9b::8.8.8.8", "64:ff9b::808:808"),
        ("2001:200::1", "2001:200::1"),
        ("3ffe::1", "3ffe::1"),
    ],
)
def test_a_public_address_comes_back_in_its_usual_form(written: str, usual: str) -> None:
    assert judge(written) == Success(usual)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "8.8.8",
        "8.8.8.8.",
        "08.8.8.8",
        "010.8.8.8",
        "0x8.8.8.8",
        "134744072",
        "8.8.8.256",
        " 8.8.8.8",
        "8.8.8.8\n",
        "8.8.8.8/32",
        "2606:4700::1%1",
        "2606:4700::1%",
        "[2606:4700::1]",
        "2606:4700::1/64",
        ":::",
        "2606:4700",
        "٨.8.8.8",
        "8．8．8．8",
        "2606::1::1",
        "2606:4700:1:2:3:4:5:6:7",
        "dns.google",
        "�",
        "8.8.8.8\x00",
    ],
)
def test_other_spellings_are_no_addresses(text: str) -> None:
    assert judge(text) == Failure(AddressRefused(text, "not an address"))


@given(st.text() | st.text("0123456789abcdef:.%/[] ٣x", max_size=45))
def test_judging_is_total_and_its_answer_is_judged_the_same(text: str) -> None:
    answer = judge(text)
    if isinstance(answer, Success):
        assert judge(answer.unwrap()) == answer


@pytest.mark.parametrize("text", ["1." * 50_000, ":" * 100_000, "f:" * 50_000, "0" * 100_000, "1" * 100_000 + ":"])
def test_long_texts_are_no_addresses(text: str) -> None:
    assert isinstance(judge(text), Failure)
