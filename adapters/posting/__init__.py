"""JSON over httpx, to endpoints that were judged."""

from groundkit.adapters.posting.client import HttpPoster

__all__ = ["HttpPoster"]
