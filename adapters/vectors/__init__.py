"""Matrices of a collection's vectors: files that are mapped, checked whenever they are opened, and can be made again."""

from groundkit.adapters.vectors.index import VectorFiles

__all__ = ["VectorFiles"]
