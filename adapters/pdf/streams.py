"""Contents and forms that end before their compressed data does. pypdf decodes what there is of them without a word."""

import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attrs import Factory, frozen

_STEP = 1 << 20
#: A zlib stream is two bytes, the deflated data, and four bytes of checksum, which says nothing of the data's end.
_HEADER = 2
_RAW = -15
_DEFLATED = ("/FlateDecode", "/Fl")
#: So many objects are looked at for the forms of one page; pypdf draws no more of them.
_FORMS_LIMIT = 5_000


@frozen
class CutShort:
    """Which streams of one document have no end. A form that many pages draw is inflated once."""

    _known: dict[int, bool] = Factory(dict)

    def contents(self, page: Any) -> bool:
        """Whether deflated contents of the page have no end, or cannot be inflated to it."""
        contents = _found(page.get("/Contents"))
        return any(not _whole(_found(each)) for each in (contents if isinstance(contents, list) else [contents]))

    def forms(self, page: Any) -> bool:
        """The same for the forms that the page may draw, and those that these may."""
        return any(self._cut(form) for form in _forms(page))

    def _cut(self, form: Any) -> bool:
        number = getattr(form.indirect_reference, "idnum", -1)
        if number not in self._known:
            self._known[number] = not _whole(form)
        return self._known[number]


def shows_a_picture(page: Any) -> bool:
    """Whether the page has a picture among its external objects."""
    return any(each.get("/Subtype") == "/Image" for each in _drawn(page))


def _forms(page: Any) -> Iterator[Any]:
    waiting, met = [page], dict[int, Any]()
    while waiting and len(met) < _FORMS_LIMIT:
        for each in _drawn(waiting.pop()):
            if id(each) not in met and each.get("/Subtype") == "/Form":
                met[id(each)] = each
                waiting.append(each)
                yield each


def _drawn(holder: Any) -> Iterator[Any]:
    """The dictionaries among a page's or a form's external objects."""
    resources = _found(holder.get("/Resources"))
    objects: Any = _found(resources.get("/XObject")) if hasattr(resources, "get") else None
    for each in objects.values() if hasattr(objects, "values") else ():
        if hasattr(found := _found(each), "get"):
            yield found


def _found(value: Any) -> Any:
    return value.get_object() if value is not None else None


def _whole(stream: Any) -> bool:
    filters: Any = _found(stream.get("/Filter")) if hasattr(stream, "get") else None
    names = [*filters] if isinstance(filters, list) else [filters]
    raw = getattr(stream, "_data", None)
    if not isinstance(raw, bytes):
        return True
    letters = _letters()
    while names and names[0] in letters:
        raw = letters[names.pop(0)](raw)
    return not raw or not names or names[0] not in _DEFLATED or _ends(raw)


def _letters() -> Mapping[str, Callable[[bytes], bytes]]:
    """What undoes the filters that write bytes as letters; deflated data are often within them."""
    from pypdf.filters import ASCII85Decode, ASCIIHexDecode

    return {
        **dict.fromkeys(("/ASCII85Decode", "/A85"), ASCII85Decode.decode),
        **dict.fromkeys(("/ASCIIHexDecode", "/AHx"), ASCIIHexDecode.decode),
    }


def _ends(raw: bytes) -> bool:
    """Inflates in bounded steps and keeps nothing. Data that is no deflate at all is for pypdf to complain of."""
    inflating = zlib.decompressobj(_RAW)
    rest, begun = raw[_HEADER:], False
    while rest and not inflating.eof:
        try:
            begun = bool(inflating.decompress(rest, _STEP)) or begun
        except zlib.error:
            return not begun
        rest = inflating.unconsumed_tail
    return inflating.eof
