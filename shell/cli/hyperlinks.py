"""Hyperlinks for terminals that take them (OSC 8): whether there are any, where they lead, how they are written."""

import re
from collections.abc import Mapping
from typing import Final

from attrs import field, frozen

from groundkit.core.percent import IN_PATH, encoded
from groundkit.core.result import Failure, Result, Success

#: Longer targets are not taken by the terminals of the VTE family.
LONGEST: Final = 2083

#: Terminals by what they set: a variable's values, or that it is there at all.
_BY_VALUE: Final = {
    "TERM_PROGRAM": {
        "iTerm.app",
        "WezTerm",
        "vscode",
        "ghostty",
        "Hyper",
        "rio",
        "mintty",
        "Tabby",
        "zed",
        "WarpTerminal",
    },
    "TERM": {
        "xterm-kitty",
        "xterm-ghostty",
        "alacritty",
        "alacritty-direct",
        "foot",
        "foot-extra",
        "contour",
        "wezterm",
    },
    "TERMINAL_EMULATOR": {"JetBrains-JediTerm"},
}
_BY_PRESENCE: Final = ("KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "DOMTERM", "GHOSTTY_RESOURCES_DIR")
#: Terminals of the VTE family take hyperlinks from 0.50 on, and some versions of it before crash.
_VTE: Final = 5000
_NEVER: Final = {"dumb", "linux", "vt100", "vt220"}

_UNSAFE = re.compile(r"[^!-~]")


@frozen
class BadHyperlink:
    """What `GK_HYPERLINK` may not be, with a sentence that says what it may."""

    given: str = field(repr=False)
    sentence: str


@frozen
class Hyperlinks:
    """How places are linked on one terminal; without `is_on`, a label stays what it is."""

    is_on: bool
    template: str = ""
    host: str = ""

    def editor(self, label: str, absolute_path: str, line: int, column: int) -> str:
        """A label that opens a text file at a line and column."""
        if not (self.is_on and self.template):
            return label
        from groundkit.core.editors import editor_link

        return hyperlink(label, editor_link(absolute_path, line, column, self.template, self.host))

    def file(self, label: str, absolute_path: str) -> str:
        """A label that opens a file with what the desktop opens it with, without a fragment: many desktops take none."""
        if not self.is_on:
            return label
        return hyperlink(label, f"file://{encoded(self.host)}{encoded(absolute_path, IN_PATH)}")

    def page(self, label: str, url: str) -> str:
        """A label that opens a URL."""
        return hyperlink(label, url) if self.is_on else label


OFF: Final = Hyperlinks(False)


def hyperlinks_of(
    environment: Mapping[str, str], is_terminal: bool, host: str = ""
) -> Result[Hyperlinks, BadHyperlink]:
    """Hyperlinks as the environment wants them.

    `FORCE_HYPERLINK` says yes or no (`0`) to whatever the output is; otherwise there are some on terminals alone: on those
    known for them, and on others where `GK_HYPERLINK` names an editor or a template (`core/editors`). It is not looked at
    where there are none anyway.
    """
    forced = environment.get("FORCE_HYPERLINK", "")
    if forced == "0" or not (forced or is_terminal):
        return Success(OFF)
    wanted = environment.get("GK_HYPERLINK", "")
    if not (forced or (wanted and environment.get("TERM") not in _NEVER) or takes_hyperlinks(environment)):
        return Success(OFF)
    return _checked(wanted or "file", host)


def takes_hyperlinks(environment: Mapping[str, str]) -> bool:
    """Whether this is the environment of a terminal that is known to take them."""
    if environment.get("TERM") in _NEVER:
        return False
    version = environment.get("VTE_VERSION", "")
    if version.isascii() and version.isdecimal() and len(version) < 9 and int(version) >= _VTE:
        return True
    known = (environment.get(name) in values for name, values in _BY_VALUE.items())
    return any(known) or any(environment.get(name) for name in _BY_PRESENCE)


def _checked(wanted: str, host: str) -> Result[Hyperlinks, BadHyperlink]:
    from groundkit.core.editors import editor_template

    template = editor_template(wanted)
    if isinstance(template, Failure):
        return Failure(_bad(wanted))
    return Success(Hyperlinks(True, template.unwrap(), host) if template.unwrap() else OFF)


def _bad(wanted: str) -> BadHyperlink:
    from groundkit.cli.printable import one_line
    from groundkit.core.editors import EDITORS

    shown = one_line(wanted if len(wanted) <= 100 else wanted[:99] + "…")
    return BadHyperlink(
        wanted,
        f"GK_HYPERLINK is {shown!r}, which is no editor ({', '.join(EDITORS)}) and no template of a link: "
        "a scheme, a colon, {path}, and {line}, {column}, {host} where wanted",
    )


def hyperlink(label: str, target: str) -> str:
    """The label as a link. Its caller made it safe to print; of the target, nothing can end the sequence early.

    A label without letters, a target without any or one that is too long for terminals: the label alone.
    """
    if not label or not target or len(safe := _UNSAFE.sub(lambda found: encoded(found[0]), target)) > LONGEST:
        return label
    return f"\x1b]8;;{safe}\x1b\\{label}\x1b]8;;\x1b\\"
