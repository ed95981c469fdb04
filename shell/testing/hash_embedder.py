"""The twin of embedders; `--embedder hash` is the same."""

from groundkit.adapters.embedders.hashing import HashEmbedder

__all__ = ["HashEmbedder"]
