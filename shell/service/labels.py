"""The only words that logs, metrics and traces say of a request: what a caller chose is `other`."""

from collections.abc import Collection
from typing import Final

OTHER: Final = "other"
OPERATIONS: Final = (
    *("search", "fetch_chunk", "list_collections", "index_status"),
    *("fetch", "resource", "mcp", "page", "static", "openapi", "healthz", "readyz", "metrics"),
)
SURFACES: Final = ("rest", "mcp", "page", "python")
METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE")


def known(word: str, among: Collection[str]) -> str:
    """The word if it is one of ours."""
    return word if word in among else OTHER
