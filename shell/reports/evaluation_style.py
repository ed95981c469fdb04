"""How the page of an evaluation looks: the colours of the other reports, and rules of its own."""

from string import Template

from groundkit.reports.style import COLOURS

#: Colours of stages, in their order; and of what lies above or below the line.
BARS = ("link", "verified", "drifted", "sign")
SIDES = {"more": "verified", "less": "unresolvable"}

_RULES = Template("""
:root{color-scheme:light dark;$light}
@media (prefers-color-scheme:dark){:root{$dark}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
header,main,footer{max-width:80rem;margin:0 auto;padding:0 1rem}
header{padding-top:1.5rem}
footer{padding-bottom:2rem;color:var(--muted)}
h1,h2,h3{line-height:1.25;margin:0}
h1{font-size:1.6rem}
h2{font-size:1.25rem;margin:2rem 0 .75rem}
h3{font-size:1.0625rem;margin:1.25rem 0 .5rem}
p{margin:.5rem 0;max-width:60rem}
a{color:var(--link)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:1rem;top:-4rem;padding:.5rem 1rem;background:var(--card)}
.skip:focus{top:.5rem}
.muted{color:var(--muted)}
.short{color:var(--unresolvable)}
.unseen{position:absolute;width:1px;height:1px;margin:0;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.scroll{overflow-x:auto;max-width:100%;margin:.5rem 0;position:relative}
table{border-collapse:collapse;background:var(--card)}
th,td{text-align:start;font-weight:400;padding:.1875rem .75rem;border:1px solid var(--line);vertical-align:top}
thead th{color:var(--muted);white-space:nowrap}
thead th:not(:first-child,.text){text-align:end}
tbody th{overflow-wrap:normal;white-space:nowrap}
td{text-align:end;font-variant-numeric:tabular-nums;white-space:nowrap;overflow-wrap:normal}
td.text{text-align:start;white-space:normal;min-width:14rem}
td.best{font-weight:600}
td.part{min-width:0}
.plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,19rem),1fr));gap:1rem}
figure{position:relative;margin:0;padding:.625rem .75rem;background:var(--card);border:1px solid var(--line);border-radius:.375rem;min-width:0}
figcaption{color:var(--muted);font-size:.875rem;margin-bottom:.375rem}
.rows{display:grid;grid-template-columns:max-content minmax(0,1fr) max-content;gap:.25rem .5rem;align-items:center;font-size:.875rem}
.row{display:contents}
.rows svg{display:block;width:100%;height:1rem;background:var(--paper)}
.value{text-align:end;font-variant-numeric:tabular-nums}
.b1{opacity:.55}
.b2{opacity:.3}
$fills
.differences{max-width:60rem;margin:.75rem 0}
.plot{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.5rem}
.plot svg{display:block;width:100%;height:14rem;background:var(--paper)}
.scale{display:flex;flex-direction:column;justify-content:space-between;text-align:end;font-size:.8125rem;line-height:1;color:var(--muted)}
.axis{stroke:var(--control);stroke-width:1px}
summary{cursor:pointer;padding:.25rem 0}
b.x{font:.875em ui-monospace,monospace;color:var(--sign);background:var(--sign-paper);border-radius:.1875rem;padding:0 .1875rem;
unicode-bidi:isolate;direction:ltr}
@media (forced-colors:active){rect{forced-color-adjust:none}}
@media (max-width:30rem){th,td{padding:.125rem .4rem}}
@media print{.skip{display:none}}
""")


def evaluation_style() -> str:
    """The rules of the page; always the same."""
    fills = [f".c{at}{{fill:var(--{name})}}" for at, name in enumerate(BARS)]
    fills += [f".{side}{{fill:var(--{name})}}" for side, name in SIDES.items()]
    light, dark = (";".join(f"--{name}:{both[at]}" for name, both in COLOURS.items()) for at in (0, 1))
    return _RULES.substitute(light=light, dark=dark, fills="\n".join(fills))
