"""Whether a URL smells like a login, by the words in it: a hint for a person, nothing is decided by it."""

import re
from typing import Final

_LOGIN: Final = re.compile(
    r"(?<![a-z])(?:log[-_]?[io]n|sign[-_]?in|sso|auth|authenticate|authori[sz]e|oauth2?|openid|saml2?|adfs|cas|idp|"
    r"sessions?/new|accounts?|anmelden|connexion|accedi)(?![a-z])",
    re.IGNORECASE,
)


def leads_to_login(url: str) -> bool:
    """Of an absolute or relative URL. What stands in the values of its query does not count."""
    before, _, query = (url.partition("://")[2] or url).partition("?")
    names = (part.partition("=")[0] for part in query.split("&"))
    return _LOGIN.search(f"{before}?{'&'.join(names)}") is not None
