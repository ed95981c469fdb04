"""Which addresses may be connected to: our own table over the IANA registries, the same on every Python.

Sources: the IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890, 8190) and the IPv6 Address Space registry
(RFC 4291). `ipaddress` only reads and writes the text of addresses here; what its `is_*` flags say of a block has changed
between Python releases. A network's own NAT64 prefix (RFC 6052, 2.2) cannot be told from the address and is not looked for.
"""

from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final

from attrs import frozen

from groundkit.core.result import Failure, Result, Success


@frozen
class AddressRefused:
    """An address that is not public, or no address; `why` names its block in words."""

    address: str
    why: str


#: What is refused of IPv4; all else is public. Inner blocks stand before those that hold them.
V4_REFUSED: Final = tuple(
    (IPv4Network(block), why)
    for block, why in (
        ("0.0.0.0/8", "this network"),  # RFC 791
        ("10.0.0.0/8", "private network"),  # RFC 1918
        ("100.64.0.0/10", "shared address space"),  # RFC 6598; clouds keep metadata services here
        ("127.0.0.0/8", "loopback"),  # RFC 1122
        ("168.63.129.16/32", "host service of a cloud"),  # in no registry: Azure answers its machines here
        ("169.254.0.0/16", "link-local"),  # RFC 3927, with most clouds' metadata service
        ("172.16.0.0/12", "private network"),  # RFC 1918
        ("192.0.0.0/24", "protocol assignments"),  # RFC 6890; the few reachable ones serve no pages
        ("192.0.2.0/24", "documentation"),  # RFC 5737
        ("192.31.196.0/24", "anycast sink"),  # RFC 7535, AS112: whoever is nearest answers
        ("192.52.193.0/24", "multicast relays"),  # RFC 7450
        ("192.88.99.0/24", "6to4 relays"),  # RFC 7526
        ("192.168.0.0/16", "private network"),  # RFC 1918
        ("192.175.48.0/24", "anycast sink"),  # RFC 7534, AS112
        ("198.18.0.0/15", "benchmarking"),  # RFC 2544
        ("198.51.100.0/24", "documentation"),  # RFC 5737
        ("203.0.113.0/24", "documentation"),  # RFC 5737
        ("224.0.0.0/4", "multicast"),  # RFC 5771
        ("255.255.255.255/32", "broadcast"),  # RFC 919
        ("240.0.0.0/4", "reserved"),  # RFC 1112
    )
)

#: The only IPv6 block that is handed out for use on the internet (RFC 4291, 2.4).
GLOBAL_UNICAST: Final = IPv6Network("2000::/3")

#: Judged by the IPv4 address in its last 32 bits, which is where a packet ends up (RFC 6052).
NAT64: Final = IPv6Network("64:ff9b::/96")

#: What is refused within `GLOBAL_UNICAST`, and names for what lies outside it (refused without being named, too).
V6_REFUSED: Final = tuple(
    (IPv6Network(block), why)
    for block, why in (
        ("2001::/32", "Teredo"),  # RFC 4380: holds an IPv4 address
        ("2001::/23", "protocol assignments"),  # RFC 2928
        ("2001:db8::/32", "documentation"),  # RFC 3849
        ("2002::/16", "6to4"),  # RFC 3056: holds an IPv4 address
        ("2620:4f:8000::/48", "anycast sink"),  # RFC 7534, AS112
        ("3fff::/20", "documentation"),  # RFC 9637
        ("::/128", "unspecified"),  # RFC 4291
        ("::1/128", "loopback"),  # RFC 4291
        ("::ffff:0:0/96", "IPv4-mapped"),  # RFC 4291
        ("::ffff:0:0:0/96", "IPv4-translated"),  # RFC 2765
        ("::/96", "IPv4-compatible"),  # RFC 4291, deprecated
        ("64:ff9b:1::/48", "local-use NAT64"),  # RFC 8215
        ("100::/64", "discard-only"),  # RFC 6666
        ("5f00::/16", "segment routing"),  # RFC 9602
        ("fc00::/7", "unique local"),  # RFC 4193
        ("fe80::/10", "link-local"),  # RFC 4291
        ("fec0::/10", "site-local"),  # RFC 3879, deprecated
        ("ff00::/8", "multicast"),  # RFC 4291
    )
)


def parsed(address: str) -> IPv4Address | IPv6Address | None:
    """The address a text writes, None for no address: dotted quads without leading zeros, IPv6 without a zone."""
    try:
        if ":" not in address:
            return IPv4Address(address)
        return IPv6Address(address) if "%" not in address else None
    except AddressValueError:
        return None


def judge(address: str) -> Result[str, AddressRefused]:
    """A public address in its usual form (RFC 5952), or why it is not connected to."""
    given = parsed(address)
    if given is None:
        return Failure(AddressRefused(address, "not an address"))
    why = _v4_refused(given) if isinstance(given, IPv4Address) else _v6_refused(given)
    return Success(str(given)) if why is None else Failure(AddressRefused(str(given), why))


def _v4_refused(address: IPv4Address) -> str | None:
    return next((why for block, why in V4_REFUSED if address in block), None)


def _v6_refused(address: IPv6Address) -> str | None:
    if address in NAT64:
        why = _v4_refused(IPv4Address(int(address) & 0xFFFF_FFFF))
        return why and f"NAT64 of {why}"
    named = next((why for block, why in V6_REFUSED if address in block), None)
    return named if named or address in GLOBAL_UNICAST else "not global unicast"
