"""What looks like a credential: names of parameters, and shapes of values. Better too much than too little.

`EXACT_NAMES`, `NAME_ENDINGS` and `VALUE_SHAPES` are the whole of the rule. A name is compared after `normalised`. No pattern
here reads far and then fails, so all take time linear in the text.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from attrs import frozen

#: Names that are credentials as they stand.
EXACT_NAMES: Final = frozenset(
    (
        *("accesskeyid", "apikey", "appkey", "assertion", "auth", "authentication", "authkey", "authorization"),
        *("authtkt", "awsaccesskeyid", "bearer", "clientkey", "consumerkey", "cookie", "cred", "creds", "hmac"),
        *("jwt", "key", "licensekey", "loginticket", "mfa", "oauth", "oauthverifier", "otp", "pass", "passcode"),
        *("passkey", "pwd", "samlresponse", "sas", "secretid", "serviceticket", "session", "sessionkey", "sid"),
        *("sig", "sign", "signkey", "sso", "subscriptionkey"),
        *("ticket", "tokenid", "totp", "userkey", "xkey"),
    )
)

#: Names that are credentials whatever stands before: `access_token`, `X-Amz-Signature`, `client-secret`, `JSESSIONID`.
NAME_ENDINGS: Final = (
    *("accesskey", "accesskeyid", "apikey", "authkey", "credential", "credentials", "passphrase", "passwd", "password"),
    *("privatekey", "pwd", "secret", "secretkey", "sessid", "sessionid", "signature", "subscriptionkey", "token"),
)

#: ASP names its cookie with a random ending.
NAME_BEGINNINGS: Final = ("aspsessionid",)

#: Where a value may begin: behind anything but a letter or digit, or behind something percent-encoded.
_FREE: Final = r"(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2}))"
#: For the two shapes of several parts: nothing may stand before that could belong to the first.
_APART: Final = r"(?:(?<![A-Za-z0-9_-])|(?<=%[0-9A-Fa-f]{2}))"
#: A header's credential is told from a word by a digit, an equals sign, or a capital after a small letter.
_NO_WORD: Final = r"(?=[A-Za-z0-9._~/+=-]{0,80}?(?:[0-9=]|[a-z][A-Z]))"
#: What tells keys from the slugs and document numbers that begin like them.
_WITH_DIGIT: Final = r"(?=[A-Za-z0-9_-]{0,80}?[0-9])"
_WITH_SMALL: Final = r"(?=[A-Z0-9._-]{0,80}[a-z])"

#: What a value is, by its look.
VALUE_SHAPES: Final = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("private key", r"(?s)-----BEGIN.*"),
        ("Authorization header", r"(?i:authorization)[\"']? {0,4}:[^\r\n&]+"),
        ("bearer token", _FREE + r"(?i:bearer)[ +:]{1,4}" + _NO_WORD + r"[A-Za-z0-9._~/+=-]{8,}"),
        ("basic credentials", _FREE + r"(?i:basic)[ +:]{1,4}" + _NO_WORD + r"[A-Za-z0-9._~/+=-]{8,}"),
        ("JSON web token", _APART + r"eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*)*"),
        ("AWS key", _FREE + r"(?:AKIA|ASIA)[A-Z0-9]{16,}"),
        ("GitHub token", _FREE + r"gh[oprsu]_[A-Za-z0-9]{20,}"),
        ("GitHub token", _FREE + r"github_pat_[A-Za-z0-9_]{20,}"),
        ("GitLab token", _FREE + r"gl(?:agent|cbt|dt|ffct|ft|imt|oas|pat|ptt|rt|soat)-[A-Za-z0-9_.-]{16,}"),
        ("Slack token", _FREE + r"x(?:ox[a-z]|app)-[A-Za-z0-9-]{10,}"),
        ("Google key", _FREE + r"(?:AIza|GOCSPX-)[A-Za-z0-9_-]{20,}"),
        ("Google token", _FREE + r"ya29\.[A-Za-z0-9._-]{16,}"),
        ("payment key", _FREE + r"(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9_]{10,}"),
        ("model provider's key", _FREE + r"sk-[A-Za-z0-9]{20,}"),
        ("model provider's key", _FREE + r"sk-(?:admin|ant|or|proj|svcacct)-" + _WITH_DIGIT + r"[A-Za-z0-9_-]{16,}"),
        ("npm token", _FREE + r"npm_[A-Za-z0-9]{20,}"),
        ("PyPI token", _FREE + r"pypi-AgE[A-Za-z0-9_-]{16,}"),
        ("Hugging Face token", _FREE + r"hf_[A-Za-z0-9]{20,}"),
        ("SendGrid key", _APART + r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
        ("CAS ticket", _FREE + r"(?:ST|PT|TGT|PGT|PGTIOU)-[0-9]{1,20}-" + _WITH_SMALL + r"[A-Za-z0-9._-]{16,}"),
    )
)

#: Ways of writing a text that are undone before it is judged; what is still encoded then is a secret to us.
_DECODINGS: Final = 5

_PARTS = re.compile(r"[\[\s]")
_ENCODED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


@frozen
class Decoded:
    """A text with its percent-encoding undone once, twice, …; `settled` if nothing is left to undo."""

    levels: tuple[str, ...]
    settled: bool


def decoded(text: str) -> Decoded:
    """The texts that percent-decoding (as UTF-8, what is none as U+FFFD) makes of this one, without itself."""
    levels: list[str] = []
    while "%" in text and (further := _ENCODED.sub(_unescaped, text)) != text:
        if len(levels) == _DECODINGS:
            return Decoded(tuple(levels), settled=False)
        levels.append(text := further)
    return Decoded(tuple(levels), settled=True)


def _unescaped(match: re.Match[str]) -> str:
    return bytes.fromhex(match.group().replace("%", "")).decode("utf-8", "replace")


def normalised(name: str) -> str:
    """A parameter's name as it is compared: decoded, NFKC, case folded, letters and digits only."""
    plain = decoded(name).levels[-1:] or (name,)
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", plain[0]).casefold()))


def credential_name(name: str) -> str | None:
    """The entry of our lists that a parameter's name falls under; None for a harmless one.

    Digits at the end do not count; in `user[pass]` each part is looked at alone, too.
    """
    if not decoded(name).settled:
        return "%25"
    # White space ends a name for some, and is dropped by others.
    return next(filter(None, map(_listed, {name: None, **dict.fromkeys(_PARTS.split(name))})), None)


def _listed(name: str) -> str | None:
    plain = normalised(name).rstrip("0123456789")
    if plain in EXACT_NAMES:
        return plain
    ending = next((ending for ending in NAME_ENDINGS if plain.endswith(ending)), None)
    return ending or next((start for start in NAME_BEGINNINGS if plain.startswith(start)), None)


def shapes_in(text: str) -> Iterator[tuple[str, int, int]]:
    """Each value that looks like a credential: what it looks like, its start and end in code points; not in order."""
    for kind, pattern in VALUE_SHAPES:
        for match in pattern.finditer(text):
            yield kind, *match.span()
