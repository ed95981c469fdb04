"""Models that read question and passage together."""

from groundkit.adapters.rerankers.local import FastembedReranker
from groundkit.adapters.rerankers.remote import HttpReranker

__all__ = ["FastembedReranker", "HttpReranker"]
