"""The search form as HTML: the box, which collection, which ranking, and filters that open where one is set."""

from collections.abc import Iterable, Sequence
from html import escape

from groundkit.reports.signs import one_line
from groundkit.service.pages.form import SearchForm
from groundkit.service.pages.frame import hidden_fields, value

_MODES = (("bm25", "words"), ("dense", "meaning"), ("hybrid", "words and meaning"))
_KINDS = (("", "any"), ("text", "text files"), ("extracted", "PDF and HTML files"), ("snapshot", "web pages"))
#: Name of a field, what it is called, an example, more attributes.
_FILTERS = (
    ("source", "Source", "docs/**/*.md", ""),
    ("heading", "Heading", "Installation", ""),
    ("type", "Type", "markdown, pdf, html", ' list="types"'),
    ("after", "Ingested from", "2026-01-31", ""),
    ("before", "Ingested before", "2027", ""),
    ("per_source", "Passages per source", "all", ' inputmode="numeric" pattern="[1-9][0-9]{0,8}"'),
)
_TYPES = "".join(f'<option value="{each}"></option>' for each in ("markdown", "text", "pdf", "html"))


def whole_form(form: SearchForm, collections: Sequence[str]) -> str:
    """All fields. Sent without a cursor: another search begins at its beginning."""
    state, wrong = " open" if form.narrowed else "", form.left_out
    inputs = "".join(_filter(form, *each, wrong.get(each[0], "")) for each in _FILTERS)
    return (
        f'<form action="/" method="get" role="search" id="search">\n{_box(form)}'
        f'<div class="choices">\n{_collection(form, collections)}{_choice("mode", "Rank by", _MODES, form.mode)}</div>\n'
        f"<details{state}>\n<summary>Filters</summary>\n"
        f'<div class="filters">\n{_choice("kind", "Kind of source", _KINDS, form.kind)}{inputs}</div>\n'
        f'<datalist id="types">{_TYPES}</datalist>\n</details>\n</form>\n'
    )


def small_form(form: SearchForm) -> str:
    """The box alone; the other fields stay as they are."""
    kept = hidden_fields(form, "q", "cursor")
    return f'<form action="/" method="get" role="search" id="search">\n{_box(form)}{kept}</form>\n'


def _box(form: SearchForm) -> str:
    return (
        '<div class="box">\n<label for="q" class="heard">Search for</label>\n'
        f'<input type="search" id="q" name="q" value="{value(form.q)}" placeholder="Search for…" maxlength="10000" '
        'autocomplete="off" autocapitalize="none" spellcheck="false" enterkeyhint="search">\n'
        '<button type="submit">Search</button>\n</div>\n'
    )


def _collection(form: SearchForm, collections: Sequence[str]) -> str:
    """One that is not there is kept, so that what is said of it fits what is shown."""
    there = list(dict.fromkeys(collections))
    if form.collection and form.collection not in there:
        there.insert(0, form.collection)
    if not there:
        return ""
    chosen = form.collection or ("default" if "default" in there else there[0])
    return _choice("collection", "Collection", ((each, one_line(each)) for each in there), chosen)


def _choice(field: str, label: str, options: Iterable[tuple[str, str]], chosen: str) -> str:
    told = "".join(
        f'<option value="{value(key)}"{" selected" if key == chosen else ""}>{escape(text)}</option>\n'
        for key, text in options
    )
    return f'<label>{label}\n<select name="{field}">\n{told}</select></label>\n'


def _filter(form: SearchForm, field: str, label: str, example: str, more: str, wrong: str) -> str:
    text = getattr(form, field)
    state = f' aria-invalid="true" aria-describedby="{field}-wrong"' if wrong else ""
    why = f'<span class="wrong" id="{field}-wrong">Left out: {escape(wrong)}.</span>\n' if wrong else ""
    return (
        f'<div class="field"><label for="{field}">{label}</label>\n<input type="text" id="{field}" name="{field}" '
        f'value="{value(text)}" placeholder="{example}" autocomplete="off" spellcheck="false"{more}{state}>\n{why}</div>\n'
    )
