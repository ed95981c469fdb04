"""Hosts of URLs: names as the DNS knows them, addresses as WHATWG's URL standard reads them.

Stricter than either where parsers disagree: whatever one of them would turn into another host is refused, not turned.
"""

import re
import unicodedata
from ipaddress import IPv4Address
from typing import Final

from attrs import frozen

from groundkit.core.addresses import AddressRefused, judge, parsed
from groundkit.core.result import Failure, Result, Success

#: Names that mean something on the machine or its network only: RFC 6761, 6762, 7686, 8375, 9476, ICANN (`internal`), and
#: what routers, containers and clusters use without asking. Their addresses would be judged as well.
LOCAL_NAMES: Final = (
    *("localhost", "localdomain", "local", "internal", "home.arpa", "onion", "alt"),
    *("corp", "home", "instance-data", "intranet", "lan", "metadata", "private", "svc"),
)

_LABEL = re.compile(r"[a-z0-9_-]{1,63}")
_MOST_IN_LABEL: Final = 63
_MOST_IN_NAME: Final = 253


@frozen
class HostRefused:
    """A host that is not looked up; `why` quotes nothing of it."""

    why: str


@frozen
class Host:
    """A name in lower case and A-labels without a final dot, or a public address in its usual form if `literal`."""

    name: str
    literal: bool


def host_of(written: str) -> Result[Host, HostRefused | AddressRefused]:
    """The host that a URL names, without a port.

    A final dot is dropped: certificates, SNI (RFC 6066) and most servers know a name without it.
    """
    if written.startswith("["):
        return _literal_v6(written)
    if (why := _misread(written)) is not None:
        return Failure(HostRefused(why))
    labels = written.lower().removesuffix(".").split(".")
    if _is_number(labels[-1]):
        return _literal_v4(labels)
    names = [_a_label(label) for label in labels]
    known = [name for name in names if name is not None]
    if len(known) < len(names):
        return Failure(HostRefused("a label of the host is no DNS or IDNA label"))
    return _named(".".join(known))


def _misread(written: str) -> str | None:
    """Why parsers may take this for different hosts."""
    if written in ("", "."):
        return "there is no host"
    if "%" in written:
        return "the host is percent-encoded"
    lower = written.lower()
    if any(unicodedata.normalize("NFKC", text) != text for text in (written, lower)):
        return "the host has characters that stand for others"
    return None


def _named(name: str) -> Result[Host, HostRefused | AddressRefused]:
    if len(name) > _MOST_IN_NAME:
        return Failure(HostRefused("the host is longer than a DNS name can be"))
    local = next((local for local in LOCAL_NAMES if f".{name}".endswith(f".{local}")), None)
    if local is not None:
        return Failure(HostRefused(f"names that end in {local!r} are for local use"))
    return Success(Host(name, literal=False))


def _a_label(label: str) -> str | None:
    """A label as it is looked up (IDNA 2008, nothing mapped); None for none."""
    if label.isascii() and not label.startswith("xn--"):
        return label if _LABEL.fullmatch(label) else None
    # The bound comes first: the rules below take more than linear time.
    if len(label) > _MOST_IN_LABEL:
        return None
    import idna

    try:
        shown = idna.ulabel(label)
        looked_up = idna.alabel(shown).decode("ascii")
    except (ValueError, IndexError):
        return None
    sound = not _is_number(shown) and (looked_up == label or not label.isascii())
    return looked_up if sound else None


def _is_number(label: str) -> bool:
    """Whether a host that ends in this label is an address to a browser, or to one that knows more digits."""
    return label.isdigit() or re.fullmatch(r"0x[0-9a-f]*", label) is not None


def _literal_v4(labels: list[str]) -> Result[Host, HostRefused | AddressRefused]:
    numbers = [_number(label) for label in labels]
    known = [number for number in numbers if number is not None]
    last_limit = 256 ** (5 - len(numbers)) if len(numbers) <= 4 else 0
    if len(known) < len(numbers) or any(number > 255 for number in known[:-1]) or known[-1] >= last_limit:
        return Failure(HostRefused("the host ends in a number and is no IPv4 address"))
    value = known[-1] + sum(number << (24 - 8 * place) for place, number in enumerate(known[:-1]))
    judged = _judged(str(IPv4Address(value)))
    if isinstance(judged, Success) and any(re.fullmatch(r"0+[1-9][0-9]+", label) for label in labels):
        return Failure(HostRefused("a number with a leading zero is octal to some and decimal to others"))
    return judged


def _number(label: str) -> int | None:
    """One part of an address: decimal, octal after a 0, hexadecimal after 0x (alone: 0); None beyond 64 bits."""
    digits, base = label, 10
    if label.startswith("0x"):
        digits, base = label[2:] or "0", 16
    elif label.startswith("0"):
        base = 8
    digits = digits.lstrip("0") or "0"
    allowed = "0123456789abcdef"[:base]
    # 22 octal digits hold 64 bits; Python refuses to read decimals of thousands.
    return int(digits, base) if label and len(digits) <= 22 and all(digit in allowed for digit in digits) else None


def _literal_v6(written: str) -> Result[Host, HostRefused | AddressRefused]:
    inner = written[1:-1]
    if not written.endswith("]") or ":" not in inner or parsed(inner) is None:
        return Failure(HostRefused("what stands in brackets is no IPv6 address"))
    return _judged(inner)


def _judged(address: str) -> Result[Host, HostRefused | AddressRefused]:
    answer = judge(address)
    return answer if isinstance(answer, Failure) else Success(Host(answer.unwrap(), literal=True))
