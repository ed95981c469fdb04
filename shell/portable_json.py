"""The portable form of a citation as data for JSON, and strictly back again."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from attrs import frozen
from cattrs import Converter
from cattrs.errors import (
    AttributeValidationNote,
    ClassValidationError,
    ForbiddenExtraKeysError,
    IterableValidationError,
    IterableValidationNote,
)
from cattrs.gen import make_dict_structure_fn

from groundkit.core.model import (
    Citation,
    FromExtractor,
    FromSnapshot,
    FromText,
    Locator,
    PageRange,
    Provenance,
    SourceClass,
    Span,
    extractor_of,
    provenance,
    source_class_of,
)
from groundkit.core.portable import (
    CITATION_SCHEMA,
    LARGEST_NUMBER,
    CitationProblem,
    CitationRefused,
    Flaw,
    PortableCitation,
    checked,
)
from groundkit.core.result import Failure, Result, Success
from groundkit.core.web_annotation import EXTENSION, flat_of

Data = dict[str, Any]


@frozen
class _Pages:
    first: int
    last: int
    first_label: str
    last_label: str


@frozen
class _Place:
    line: int
    column: int
    heading_path: tuple[str, ...]
    pages: _Pages | None
    anchor: str


@frozen
class _Flat:
    """The keys of the portable form in their order. None has a default, so that each must be there."""

    schema: int
    collection: str
    source: str
    source_class: SourceClass
    extractor: str | None
    fetched_at: str | None
    incomplete: bool
    document_id: str
    document_digest: str
    chunk_id: str
    chunk_start: int
    chunk_end: int
    start: int
    end: int
    digest: str
    text: str
    before: str | None
    after: str | None
    occurrence: int
    occurrences: int
    locator: _Place | None


class _Wrong(Exception):
    """What a key holds is not what it must be; raised through cattrs, which knows the key."""

    def __init__(self, found: CitationProblem) -> None:
        super().__init__(str(found))
        self.found = found


_WORDS: Mapping[object, str] = {
    int: "a whole number",
    str: "a string",
    bool: "true or false",
    dict: "an object",
    list: "a list",
    float: "a number with a fraction or an exponent",
    type(None): "null",
}


def _wrong(wanted: str, value: object) -> _Wrong:
    found = _WORDS.get(type(value), "something else")
    return _Wrong(CitationProblem("", Flaw.TYPE, f"{wanted} is wanted, and this is {found}"))


def _exactly(kind: type[Any]) -> Any:
    def taken(value: object, _: object) -> Any:
        # `bool` is an `int` to isinstance, and no number to anybody else.
        if type(value) is kind:
            return value
        raise _wrong(_WORDS[kind], value)

    return taken


def _or_null(kind: Any, taken: Any) -> Any:
    return lambda value, _: None if value is None else taken(value, kind)


@cache
def _converter() -> Converter:
    converter = Converter(forbid_extra_keys=True, detailed_validation=True)
    for kind in (int, str, bool):
        converter.register_structure_hook(kind, _exactly(kind))
    converter.register_structure_hook(str | None, _or_null(str, _exactly(str)))
    converter.register_structure_hook(SourceClass, _source_class)
    converter.register_unstructure_hook(SourceClass, lambda each: each.value)
    converter.register_structure_hook_func(lambda kind: kind == tuple[str, ...], _strings)
    for shape in (_Pages, _Place, _Flat):
        taken = _object(make_dict_structure_fn(shape, converter, _cattrs_forbid_extra_keys=True))
        converter.register_structure_hook(shape, taken)
        converter.register_structure_hook(shape | None, _or_null(shape, taken))
    return converter


def _object(taken: Any) -> Any:
    def structured(value: object, kind: object) -> Any:
        if type(value) is dict:
            return taken(value, kind)
        raise _wrong(_WORDS[dict], value)

    return structured


def _strings(value: object, _: object) -> tuple[str, ...]:
    if type(value) is not list:
        raise _wrong(_WORDS[list], value)
    return tuple(_converter().structure(value, list[str]))


def _source_class(value: object, _: object) -> SourceClass:
    name = _exactly(str)(value, str)
    if name in set(SourceClass):
        return SourceClass(name)
    raise _Wrong(CitationProblem("", Flaw.VALUE, f"it is none of {', '.join(SourceClass)}"))


def citation_data(portable: PortableCitation) -> Data:
    """The portable form as dicts, lists, strings and numbers, its keys in a fixed order."""
    data: Data = _converter().unstructure(_flattened(portable))
    return data


def _flattened(portable: PortableCitation) -> _Flat:
    cited = portable.citation
    return _Flat(
        schema=CITATION_SCHEMA,
        collection=portable.collection,
        source=cited.source,
        source_class=source_class_of(cited.provenance),
        extractor=extractor_of(cited.provenance),
        fetched_at=portable.fetched_at,
        incomplete=cited.incomplete,
        document_id=cited.document_id,
        document_digest=portable.document_digest,
        chunk_id=cited.chunk_id,
        chunk_start=portable.chunk_span.start,
        chunk_end=portable.chunk_span.end,
        start=cited.span.start,
        end=cited.span.end,
        digest=cited.digest,
        text=portable.text,
        before=cited.before,
        after=cited.after,
        occurrence=portable.occurrence,
        occurrences=portable.occurrences,
        locator=None if cited.locator is None else _place_of(cited.locator),
    )


def _place_of(locator: Locator) -> _Place:
    pages = locator.pages
    on = None if pages is None else _Pages(pages.first, pages.last, pages.first_label, pages.last_label)
    return _Place(locator.line, locator.column, locator.heading_path, on, locator.anchor)


def citation_from(data: object) -> Result[PortableCitation, CitationRefused]:
    """The citation that data from JSON is, if it is one to the letter; else everything that is wrong with it.

    Nothing is converted, filled in or passed over, and what the keys say must fit together (`core.portable.checked`), which
    is looked at only where each of them is there and of its type. Any object may be given.
    """
    other = _other_schema(data)
    if other is not None:
        return _refused(other)
    try:
        flat: _Flat = _converter().structure(data, _Flat)
    except (_Wrong, ClassValidationError) as error:
        return _refused(*_problems(error, ""))
    return _fitting(flat)


def citation_from_annotation(data: object) -> Result[PortableCitation, CitationRefused]:
    """The citation that an annotation of `core.web_annotation.annotation_of` was made of, as strictly."""
    other = _other_schema(data.get(EXTENSION)) if type(data) is dict else None
    if other is not None:
        return _refused(other)
    flat = flat_of(data)
    return flat if isinstance(flat, Failure) else citation_from(flat.unwrap())


def _refused(*problems: CitationProblem) -> Failure[CitationRefused]:
    return Failure(CitationRefused(problems))


def _other_schema(data: object) -> CitationProblem | None:
    """A form of another version is told by its number alone: its keys may mean anything."""
    schema = data.get("schema") if type(data) is dict else None
    if type(schema) is not int or schema == CITATION_SCHEMA:
        return None
    # Python refuses to write numbers out that are thousands of digits long.
    which = schema if abs(schema) <= LARGEST_NUMBER else "this number"
    by = "it was made by a newer version" if schema > CITATION_SCHEMA else "there is no such schema"
    return CitationProblem(
        "schema", Flaw.VERSION, f"this version reads schema {CITATION_SCHEMA}, and not {which}: {by}"
    )


def _problems(error: BaseException, key: str) -> Iterator[CitationProblem]:
    match error:
        case ClassValidationError() | IterableValidationError():
            for each in error.exceptions:
                yield from _problems(each, _below(key, each))
        case ForbiddenExtraKeysError():
            for name in sorted(map(str, error.extra_fields)):
                yield CitationProblem(_joined(key, _short(name)), Flaw.UNKNOWN, "there is no such key")
        case _Wrong(found=found):
            yield CitationProblem(_joined(key, found.key), found.flaw, found.detail)
        case KeyError():
            yield CitationProblem(key, Flaw.MISSING, "it is missing")
        case _:
            raise error


def _below(key: str, error: BaseException) -> str:
    """The way to where an error happened, as cattrs noted it; the key itself where it did not."""
    for note in getattr(error, "__notes__", ()):
        if isinstance(note, AttributeValidationNote):
            return _joined(key, note.name)
        if isinstance(note, IterableValidationNote):
            return f"{key}[{note.index}]"
    return key


def _joined(key: str, name: str) -> str:
    return f"{key}.{name}" if key and name else key or name


#: Code points of a key that nobody knows.
_MOST_SHOWN = 80


def _short(name: str) -> str:
    if not name:
        return '""'
    return name if len(name) <= _MOST_SHOWN else name[: _MOST_SHOWN - 1] + "…"


def _fitting(flat: _Flat) -> Result[PortableCitation, CitationRefused]:
    known = provenance(flat.source_class, flat.extractor)
    if isinstance(known, Success):
        return checked(_portable_of(flat, known.unwrap()))
    whose = "needs one" if flat.source_class is SourceClass.EXTRACTED else "has none"
    first = CitationProblem("extractor", Flaw.MISMATCH, f"source_class is {flat.source_class}, which {whose}")
    # With an extractor in its place, so that what else is wrong is told with it.
    others = checked(_portable_of(flat, _STAND_INS[flat.source_class]))
    return _refused(first, *(others.failure().problems if isinstance(others, Failure) else ()))


_STAND_INS: Mapping[SourceClass, Provenance] = {
    SourceClass.TEXT: FromText(),
    SourceClass.EXTRACTED: FromExtractor("unknown"),
    SourceClass.SNAPSHOT: FromSnapshot(),
}


def _portable_of(flat: _Flat, provenance: Provenance) -> PortableCitation:
    cited = Citation(
        document_id=flat.document_id,
        chunk_id=flat.chunk_id,
        source=flat.source,
        provenance=provenance,
        span=Span(flat.start, flat.end),
        digest=flat.digest,
        before=flat.before,
        after=flat.after,
        locator=None if flat.locator is None else _locator_of(flat.locator),
        incomplete=flat.incomplete,
    )
    return PortableCitation(
        citation=cited,
        text=flat.text,
        document_digest=flat.document_digest,
        chunk_span=Span(flat.chunk_start, flat.chunk_end),
        occurrence=flat.occurrence,
        occurrences=flat.occurrences,
        collection=flat.collection,
        fetched_at=flat.fetched_at,
    )


def _locator_of(place: _Place) -> Locator:
    pages = place.pages
    on = None if pages is None else PageRange(pages.first, pages.last, pages.first_label, pages.last_label)
    return Locator(place.line, place.column, place.heading_path, on, place.anchor)
