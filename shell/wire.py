"""Core values as plain data for JSON: spans as start and end, provenance as source class and extractor."""

from functools import cache
from typing import Any

from attrs import resolve_types
from cattrs import Converter
from cattrs.gen import make_dict_unstructure_fn, override

from groundkit.core import model
from groundkit.core.model import (
    Citation,
    DocumentRecord,
    FoundIn,
    RetrievalResult,
    Verification,
    extractor_of,
    source_class_of,
)
from groundkit.core.searching import ScoreParts

#: Grows when a field of any JSON answer changes its meaning or goes.
SCHEMA = 1

Data = dict[str, Any]


@cache
def _converter() -> Converter:
    converter = Converter()
    for kind in (Citation, DocumentRecord):
        converter.register_unstructure_hook(kind, _flat(converter, kind))
    converter.register_unstructure_hook(FoundIn, _flat_span(make_dict_unstructure_fn(FoundIn, converter)))
    converter.register_unstructure_hook(Verification, _told(converter))
    # Its annotation is a name until somebody wants the type.
    resolve_types(RetrievalResult, {**vars(model), "ScoreParts": ScoreParts})
    plain = make_dict_unstructure_fn(RetrievalResult, converter, citation=override(), locator=override(omit=True))
    converter.register_unstructure_hook(RetrievalResult, plain)
    return converter


def _flat(converter: Converter, kind: type[Any]) -> Any:
    """A dict without `provenance` and `span`, with what they stand for instead."""
    plain = make_dict_unstructure_fn(kind, converter)

    def flattened(value: Any) -> Data:
        data: Data = plain(value)
        data.pop("provenance")
        data["source_class"] = source_class_of(value.provenance).value
        data["extractor"] = extractor_of(value.provenance)
        if "span" in data:
            span = data.pop("span")
            data["start"], data["end"] = span["start"], span["end"]
        return data

    return flattened


def _flat_span(plain: Any) -> Any:
    """A dict with `start` and `end` instead of a `span`."""

    def flattened(value: Any) -> Data:
        data: Data = plain(value)
        span = data.pop("span")
        return {**data, "start": span["start"], "end": span["end"]}

    return flattened


#: What a verification has only where there is something to say.
_IF_ANY = ("span", "locator", "similarity", "candidates", "found_in", "same_bytes_at", "cited", "found")


def _told(converter: Converter) -> Any:
    """A dict with the word diff, where there is one."""
    only = {name: override(omit_if_default=True) for name in _IF_ANY}
    plain = make_dict_unstructure_fn(Verification, converter, **only)  # type: ignore[arg-type]

    def told(value: Verification) -> Data:
        data: Data = plain(value)
        if "locator" in data:
            data["locator"] = {"line": data["locator"]["line"], "column": data["locator"]["column"]}
        parts = value.diff
        return data | ({"diff": converter.unstructure(parts)} if parts else {})

    return told


def data_of(value: object) -> Any:
    """Any value of ours as dicts, lists, strings and numbers."""
    return _converter().unstructure(value)
