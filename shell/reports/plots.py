"""Plots as inline SVG. Only shapes are in them, stretched to the room there is; words stand in HTML, at their own size.

Each has a title and a description for those who do not see it, and stands beside a table with the same numbers.
"""

from collections.abc import Sequence

from attrs import frozen

from groundkit.reports.signs import markup_line

#: Bars of so many different colours; more begin anew.
COLOURS_OF_BARS = 4
_WIDE, _HIGH = 1000, 100


@frozen
class Bar:
    """One row of a bar plot: what it is called, its value, and the values that stand out beyond it, ascending."""

    label: str
    value: float
    said: str
    colour: int = 0
    beyond: tuple[float, ...] = ()


def bars(name: str, title: str, rows: Sequence[Bar], full: float) -> str:
    """Rows of bars, each of the part of `full` that it reaches. `name` is an id that the page has once."""
    told = "".join(_bar(row, full) for row in rows)
    described = "; ".join(f"{row.label}: {row.said}" for row in rows)
    return (
        f'<figure class="bars" role="group" aria-labelledby="{name}">\n<figcaption id="{name}">{markup_line(title)}</figcaption>\n'
        f'<p class="unseen">{markup_line(described)}</p>\n<div class="rows" aria-hidden="true">\n{told}</div>\n</figure>\n'
    )


def _bar(row: Bar, full: float) -> str:
    lengths = [_WIDE * min(1.0, each / full) if full > 0 else 0.0 for each in (row.value, *row.beyond)]
    # The longest first, so that the shorter ones lie on it.
    shapes = [
        f'<rect class="bar c{row.colour % COLOURS_OF_BARS} b{at}" x="0" y="0" width="{length:.1f}" height="{_HIGH}"/>'
        for at, length in reversed(list(enumerate(lengths)))
    ]
    picture = f'<svg viewBox="0 0 {_WIDE} {_HIGH}" preserveAspectRatio="none" focusable="false">{"".join(shapes)}</svg>'
    return f'<div class="row"><span>{markup_line(row.label)}</span>{picture}<span class="value">{markup_line(row.said)}</span></div>\n'


def differences_plot(name: str, title: str, described: str, values: Sequence[float]) -> str:
    """One upright bar for each value, the largest first, above or below the line of 0; the scale reaches from −1 to 1."""
    ordered = sorted(values, reverse=True)
    step = _WIDE / max(1, len(ordered))
    shapes = "".join(_upright(at * step, step, value) for at, value in enumerate(ordered) if value)
    return (
        f'<figure class="differences">\n<figcaption>{markup_line(title)}</figcaption>\n<div class="plot">\n'
        '<div class="scale" aria-hidden="true"><span>+1</span><span>0</span><span>−1</span></div>\n'
        f'<svg role="img" aria-labelledby="{name}-t {name}-d" viewBox="0 0 {_WIDE} {2 * _HIGH}" preserveAspectRatio="none" '
        f'focusable="false"><title id="{name}-t">{markup_line(title)}</title><desc id="{name}-d">{markup_line(described)}</desc>'
        f'{shapes}<line class="axis" x1="0" y1="{_HIGH}" x2="{_WIDE}" y2="{_HIGH}" vector-effect="non-scaling-stroke"/></svg>\n'
        "</div>\n</figure>\n"
    )


def _upright(left: float, width: float, value: float) -> str:
    height = _HIGH * min(1.0, abs(value))
    top = _HIGH - height if value > 0 else _HIGH
    kind = "more" if value > 0 else "less"
    return f'<rect class="{kind}" x="{left:.2f}" y="{top:.2f}" width="{width:.2f}" height="{height:.2f}"/>'
