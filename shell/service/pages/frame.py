"""What every page stands in, and the parts that several have. Whatever is not markup here is escaped by whoever puts it in."""

from collections.abc import Iterable
from html import escape
from urllib.parse import urlsplit

from groundkit.reports.signs import markup, markup_line, one_line
from groundkit.service.pages.form import SearchForm, line_of
from groundkit.service.values import CitationValue, PagesValue, VerificationValue

#: The header `Content-Security-Policy` of every page.
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)

_MARKS = {"verified": "✓", "drifted": "≠", "unresolvable": "✗", "unchecked": "○"}
#: Code points of a title in a browser's tab.
_TAB = 80
_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<link rel="icon" href="/static/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/page.css">
<script src="/static/page.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the {skipped}</a>
"""
_KEYS = (
    "<kbd>/</kbd> search box · <kbd>j</kbd> <kbd>k</kbd> next and previous passage · <kbd>Esc</kbd> out of the box, "
    "back to the results"
)


def page(title: str, header: str, main: Iterable[str], skipped: str) -> str:
    """A whole document. `title` is text, `header` and `main` are markup."""
    return (
        _HEAD.format(title=escape(f"{cut(one_line(title), _TAB)} – groundkit"), skipped=skipped)
        + f'<header>\n<a class="home" href="/">groundkit</a>\n{header}</header>\n'
        + f'<main id="main" tabindex="-1">\n{"".join(main)}</main>\n'
        + f'<footer>\n<p class="keys" hidden>{_KEYS}</p>\n'
        + "<p>Passages are quoted as they were ingested; what they say is theirs.</p>\n"
        + '<p id="said" class="said" role="status"></p>\n</footer>\n</body>\n</html>\n'
    )


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def value(text: str) -> str:
    """What stands in a field of a form, which has to be sent again as it is."""
    return escape(line_of(text))


def quoted(text: str) -> str:
    """A run of text of a document: white space counts, direction and language are its own."""
    return f'<div class="text" dir="auto" lang="">{markup(text)}</div>\n'


def name(text: str) -> str:
    """A source, a place or an identifier within a sentence."""
    return f'<bdi dir="ltr" class="name">{markup_line(text)}</bdi>'


def title_of(text: str) -> str:
    return f'<bdi lang="">{markup_line(text.strip() or "(without a title)")}</bdi>'


def link(address: str, inside: str, more: str = "") -> str:
    """A link within the pages; `inside` and `more` are markup."""
    return f'<a href="{escape(address)}"{more}>{inside}</a>'


def web_link(address: str | None, said: str) -> str:
    """A link out of the pages, or nothing where the address is none of the web."""
    if address is None or not is_web(address):
        return ""
    return f'<a href="{escape(address)}" rel="noopener noreferrer external">{said}</a>'


def is_web(address: str) -> bool:
    """Whether a browser would fetch it by HTTP, whatever it does with blanks and signs that cannot be seen."""
    if not address.isprintable() or any(sign.isspace() or sign == "\\" for sign in address):
        return False
    try:
        parts = urlsplit(address)
        return (
            parts.scheme in ("http", "https")
            and address[len(parts.scheme) :].startswith("://")
            and bool(parts.hostname)
        )
    except ValueError:
        return False


def badge(verification: VerificationValue | None) -> str:
    """A verdict with its reason, as a sign and in words."""
    verdict = "unchecked" if verification is None else verification.verdict
    plain = verification is None or verification.verdict == "verified" or not verification.reason
    why = "" if plain or verification is None else f" ({markup_line(said(verification.reason))})"
    return f'<span class="badge {verdict}"><span aria-hidden="true">{_MARKS[verdict]} </span>{verdict}{why}</span>'


def said(reason: str) -> str:
    return reason.replace("_", " ")


def notice(text: str, kind: str = "") -> str:
    """A sentence that should not be missed; `text` is markup."""
    return f'<p class="notice{f" {kind}" if kind else ""}">{text}</p>\n'


def way(citation: CitationValue) -> str:
    """The headings above a passage, from the outermost on."""
    path = citation.locator.heading_path if citation.locator else ()
    if not any(each.strip() for each in path):
        return ""
    steps = '<span aria-hidden="true"> › </span>'.join(f'<bdi lang="">{markup_line(each)}</bdi>' for each in path)
    return f'<p class="way"><span class="heard">Below the headings: </span>{steps}</p>\n'


def pages_of(citation: CitationValue | None) -> str:
    """`page 12`, `pages 12–13 (x–xi)`: text."""
    pages = citation.locator.pages if citation and citation.locator else None
    if pages is None:
        return ""
    numbers, labels = _between(str(pages.first), str(pages.last)), _labels(pages)
    told = f" ({labels})" if labels not in (numbers, "") else ""
    return f"page{'' if pages.first == pages.last else 's'} {numbers}{told}"


def _labels(pages: PagesValue) -> str:
    if not (pages.first_label or pages.last_label):
        return ""
    return _between(pages.first_label or "?", pages.last_label or "?")


def _between(first: str, last: str) -> str:
    return first if first == last else f"{first}–{last}"


def copy_button(chunk_id: str) -> str:
    """Shown by the script, without which it would do nothing."""
    return f'<button type="button" class="copy" data-copy="{value(chunk_id)}" hidden>Copy chunk id</button>\n'


def hidden_fields(form: SearchForm, *without: str) -> str:
    kept = ((key, text) for key, text in form.filled.items() if key not in without)
    return "".join(f'<input type="hidden" name="{key}" value="{value(text)}">\n' for key, text in kept)
