"""How the HTML report looks: colours by name in both schemes, and one style sheet."""

from string import Template

from groundkit.core.model import Reason, Verdict

#: Name: in a light scheme, in a dark one.
COLOURS = {
    "paper": ("#f6f6f3", "#141412"),
    "card": ("#ffffff", "#1d1d1a"),
    "ink": ("#1b1b19", "#edece7"),
    "muted": ("#595954", "#adaca4"),
    "line": ("#d6d6cf", "#3b3b36"),
    "control": ("#75756f", "#85857d"),
    "link": ("#0a539e", "#8fbdf7"),
    "verified": ("#18672f", "#7dd494"),
    "drifted": ("#865000", "#f0b55c"),
    "unresolvable": ("#a3202e", "#ff9d97"),
    "gone": ("#8a1220", "#ffc9c4"),
    "gone-paper": ("#fde4e2", "#4b1b1c"),
    "new": ("#12542a", "#b9eec5"),
    "new-paper": ("#dcf3e0", "#153c20"),
    "sign": ("#4a2a8a", "#d8ccff"),
    "sign-paper": ("#ece6fb", "#352a55"),
}

#: What is read on what: text and the paper below it.
READ_ON = (
    *((text, paper) for text in ("ink", "muted", "link") for paper in ("paper", "card")),
    *((verdict.value, paper) for verdict in Verdict for paper in ("paper", "card")),
    ("gone", "gone-paper"),
    ("new", "new-paper"),
    ("sign", "sign-paper"),
    ("ink", "sign-paper"),
)

#: The choices of the filter beside "all", with the class of rows and of sources that each leaves.
FILTERS = ("unverified", *(verdict.value for verdict in Verdict), *(reason.value for reason in Reason))

_RULES = Template("""
:root{color-scheme:light dark;$light}
@media (prefers-color-scheme:dark){:root{$dark}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
header,main,footer{max-width:80rem;margin:0 auto;padding:0 1rem}
header{padding-top:1.5rem}
footer{padding-bottom:2rem;color:var(--muted)}
h1,h2,h3,h4,h5{line-height:1.25;margin:0}
h1{font-size:1.6rem}
h2{font-size:1.25rem;margin:2rem 0 .75rem}
h3{font-size:1.0625rem}
h4,h5{font-size:1rem;font-weight:400}
h5{color:var(--muted);font-size:.875rem}
p{margin:.5rem 0}
a{color:var(--link)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:1rem;top:-4rem;padding:.5rem 1rem;background:var(--card)}
.skip:focus{top:.5rem}
.muted{color:var(--muted)}
table{border-collapse:collapse;width:100%;max-width:32rem;background:var(--card)}
th,td{text-align:start;font-weight:400;padding:.1875rem .75rem;border:1px solid var(--line);vertical-align:top}
thead th{color:var(--muted)}
td{text-align:end;font-variant-numeric:tabular-nums;white-space:nowrap;overflow-wrap:normal}
.tables{display:flex;flex-wrap:wrap;gap:1rem;align-items:flex-start}
.tables table{flex:1 1 16rem}
fieldset{border:0;margin:1rem 0 .5rem;padding:0;min-inline-size:0}
legend{padding:0;color:var(--muted);font-size:.875rem}
.choices{display:flex;flex-wrap:wrap;gap:.25rem;margin-top:.25rem}
.choices label{position:relative;display:inline-flex;align-items:center;min-height:1.625rem;padding:0 .5rem;
border:1px solid var(--control);border-radius:1rem;background:var(--card);font-size:.8125rem;white-space:nowrap;cursor:pointer}
.choices label:has(:checked){border-color:var(--link);box-shadow:inset 0 0 0 1px var(--link);font-weight:600}
.choices label:has(:focus-visible){outline:3px solid var(--link);outline-offset:2px}
.choices input{position:absolute;inset:0;margin:0;opacity:0;cursor:pointer}
nav ol{margin:.5rem 0;padding-inline-start:2.25rem}
nav li{margin:.25rem 0}
section.source{margin:1.25rem 0}
section.source>p{margin:.25rem 0 .5rem}
section.source:not(.unverified)>:is(h3,p){display:inline;margin-inline-end:.5rem}
.whole{margin:1.25rem 0}
.whole>section.source{margin:.25rem 0}
.places{margin:.5rem 0}
.places ul{columns:22rem;column-gap:1.5rem;margin:.25rem 0;padding:0;list-style:none;font-size:.875rem}
section.source>h3{scroll-margin-top:1rem}
details.row{background:var(--card);border:1px solid var(--line);border-inline-start-width:.375rem;border-radius:.375rem;
margin:.5rem 0}
.many details.row[open]{content-visibility:auto;contain-intrinsic-block-size:auto 18rem}
$borders
summary{padding:.5rem .75rem;cursor:pointer}
:is(nav details,.places,.whole)>summary{padding:.25rem 0}
summary h4{display:inline}
.body{padding:0 .75rem .75rem}
.badge{display:inline-block;border:1px solid currentColor;border-radius:1rem;padding:0 .625rem;font-size:.875rem;font-weight:600;
white-space:nowrap}
$badges
.place,.name{font-family:ui-monospace,monospace;font-size:.9375em}
.detail{margin:0 0 .5rem}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.125rem .75rem;margin:.5rem 0;font-size:.875rem}
dt{color:var(--muted)}
dd{margin:0}
.pair{display:grid;gap:.75rem;grid-template-columns:minmax(0,1fr)}
@media (min-width:52rem){.pair.two{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}}
.text{margin:.25rem 0 0;padding:.625rem .75rem;border:1px solid var(--line);border-radius:.375rem;background:var(--paper);
white-space:pre-wrap;tab-size:4}
ins,del{position:relative;border-radius:.1875rem;padding:0 .125rem;-webkit-box-decoration-break:clone;box-decoration-break:clone}
del{color:var(--gone);background:var(--gone-paper);text-decoration:line-through 1px}
ins{color:var(--new);background:var(--new-paper);text-decoration:underline 2px;text-underline-offset:.2em}
ins::before,del::before{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
del::before{content:" removed: "}
ins::before{content:" added: "}
b.x{font:.875em ui-monospace,monospace;color:var(--sign);background:var(--sign-paper);border-radius:.1875rem;padding:0 .1875rem;
unicode-bidi:isolate;direction:ltr}
.omitted{color:var(--muted);font-style:italic;unicode-bidi:isolate}
$filters
@media print{fieldset,.skip,nav{display:none}details.row[open]{content-visibility:visible}}
""")


def _scheme(which: int) -> str:
    return ";".join(f"--{name}:{both[which]}" for name, both in COLOURS.items())


def _filter(choice: str) -> str:
    shown = f"body:has(#show-{choice}:checked)"
    return f"{shown} .row:not(.{choice}),{shown} .source:not(.{choice}){{display:none}}"


def style_sheet() -> str:
    """The rules of the page; always the same."""
    return _RULES.substitute(
        light=_scheme(0),
        dark=_scheme(1),
        borders="\n".join(f"details.{each.value}{{border-inline-start-color:var(--{each.value})}}" for each in Verdict),
        badges="\n".join(f".badge.{each.value}{{color:var(--{each.value})}}" for each in Verdict),
        filters="\n".join(map(_filter, FILTERS)),
    )
