"""What somebody filled in, as a value: its query, its request, its address."""

import unicodedata
from collections.abc import Mapping
from urllib.parse import quote, urlencode

from attrs import asdict, evolve, fields, frozen

from groundkit.core.filters import Field, FieldCondition, wrong_value

#: What a field is where nothing is said.
_MODE = "bm25"
#: What no line of text has: it would not come back from a form as it was put there.
_NO_TEXT = frozenset(("Cc", "Cs", "Zl", "Zp"))


def line_of(text: str) -> str:
    """The text as a field of a form can hold it: blanks for line breaks and other control characters."""
    if text.isprintable():
        return text
    return "".join(" " if unicodedata.category(sign) in _NO_TEXT else sign for sign in text)


@frozen
class SearchForm:
    """The fields of the search form as they were sent; any texts whatever.

    `source` is a pattern, `kind` a class of sources (`text`, `extracted`, `snapshot`), `type` a media type, `per_source` a
    number in digits. `cursor` is of the answer before. Empty is what was not filled in.
    """

    q: str = ""
    collection: str = ""
    mode: str = _MODE
    source: str = ""
    kind: str = ""
    type: str = ""
    heading: str = ""
    after: str = ""
    before: str = ""
    per_source: str = ""
    cursor: str = ""

    @classmethod
    def of(cls, params: Mapping[str, str]) -> "SearchForm":
        """From the parameters of an address, of which others are ignored."""
        given = {each.name: line_of(params.get(each.name, "")) for each in fields(cls)}
        return cls(**(given | {"mode": given["mode"] or _MODE}))

    @property
    def query(self) -> str:
        """The query with the conditions before it: a quotation mark without a partner would find one in what follows."""
        conditions = (f'{each.field.value}:"{each.value}"' for each in self._conditions() if wrong_value(each) is None)
        return " ".join(filter(None, (*conditions, self.q)))

    @property
    def left_out(self) -> dict[str, str]:
        """Of each field whose value is no condition, what one is."""
        wrong = ((each, wrong_value(each)) for each in self._conditions())
        return {_NAMES[each.field]: why.rpartition(": ")[2] for each, why in wrong if why is not None}

    @property
    def narrowed(self) -> bool:
        """Whether there is more to the form than words."""
        return bool(self._conditions() or self.per_source.strip())

    def _conditions(self) -> list[FieldCondition]:
        given = asdict(self)
        values = ((field, _one_value(field, given[name])) for field, name in _NAMES.items())
        return [FieldCondition(field, value) for field, value in values if value]

    def arguments(self) -> dict[str, str]:
        """The fields of a search request, as texts, without those that are empty."""
        given = {
            "query": self.query,
            "collection": self.collection,
            "mode": self.mode,
            "per_source": self.per_source.strip(),
            "cursor": self.cursor,
        }
        return {name: value for name, value in given.items() if value}

    def address(self, **changes: str) -> str:
        """The page of this search, relative to the server, with other values in some fields."""
        return f"/{evolve(self, **changes)._question}"

    def reader(self, collection: str, chunk_id: str, part: str = "") -> str:
        """The page of one passage, from which this search can be returned to. `part` is a cursor within the passage."""
        asked = self._question
        more = f"{'&' if asked else '?'}part={_quoted(part)}" if part else ""
        return f"/read/{_quoted(collection)}/{_quoted(chunk_id)}{asked}{more}"

    @property
    def filled(self) -> dict[str, str]:
        """The fields that say something, as they stand in an address."""
        given = {name: line_of(value) for name, value in asdict(self).items()}
        return {name: value for name, value in given.items() if value and (name, value) != ("mode", _MODE)}

    @property
    def _question(self) -> str:
        filled = self.filled
        return f"?{urlencode(filled, safe='', quote_via=quote)}" if filled else ""


_NAMES = {
    Field.SOURCE: "source",
    Field.CLASS: "kind",
    Field.TYPE: "type",
    Field.HEADING: "heading",
    Field.AFTER: "after",
    Field.BEFORE: "before",
}


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="replace")


def _one_value(field: Field, text: str) -> str:
    """The text without what would end the value: to a pattern `?` is any sign, also a quotation mark."""
    return line_of(text).strip().replace('"', "?" if field is Field.SOURCE else " ").strip()
