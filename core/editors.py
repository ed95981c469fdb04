"""Links that open a file in an editor, at a line and column."""

import re
from enum import Enum
from typing import Final

from attrs import frozen

from groundkit.core.percent import IN_PATH, encoded
from groundkit.core.result import Failure, Result, Success

#: How editors are called from a link. `none` is no link.
EDITORS: Final = {
    "cursor": "cursor://file{path}:{line}:{column}",
    "emacs": "emacs://open?url=file://{path}&line={line}&column={column}",
    "file": "file://{host}{path}",
    "idea": "idea://open?file={path}&line={line}&column={column}",
    "kitty": "file://{host}{path}#{line}",
    "macvim": "mvim://open?url=file://{path}&line={line}&column={column}",
    "none": "",
    "textmate": "txmt://open?url=file://{path}&line={line}&column={column}",
    "vscode": "vscode://file{path}:{line}:{column}",
    "vscode-insiders": "vscode-insiders://file{path}:{line}:{column}",
    "vscodium": "vscodium://file{path}:{line}:{column}",
    "zed": "zed://file{path}:{line}:{column}",
}

_TEMPLATE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]*")
_FIELD = re.compile(r"\{([^{}]*)\}")


class TemplateProblem(Enum):
    UNKNOWN_NAME = "unknown_name"
    NO_PATH = "no_path"
    UNKNOWN_FIELD = "unknown_field"


@frozen
class TemplateRefused:
    """What is neither the name of an editor nor a template of a link to a file."""

    given: str
    problem: TemplateProblem


def editor_template(given: str) -> Result[str, TemplateRefused]:
    """The template of an editor of `EDITORS`, or the one that is given; "" for no links.

    A template is printable ASCII: a scheme, ":", and the rest with `{path}` and, if wanted, `{line}`, `{column}`, `{host}`.
    """
    if given in EDITORS:
        return Success(EDITORS[given])
    if not _TEMPLATE.fullmatch(given):
        return Failure(TemplateRefused(given, TemplateProblem.UNKNOWN_NAME))
    fields = set(_FIELD.findall(given))
    if not fields <= {"path", "line", "column", "host"} or set("{}") & set(_FIELD.sub("", given)):
        return Failure(TemplateRefused(given, TemplateProblem.UNKNOWN_FIELD))
    if "path" not in fields:
        return Failure(TemplateRefused(given, TemplateProblem.NO_PATH))
    return Success(given)


def editor_link(absolute_path: str, line: int, column: int, template: str, host: str = "") -> str:
    """A file at a line and column as the link of a checked template; no `host` is this one (RFC 8089)."""
    path = encoded(absolute_path, IN_PATH)
    values = {"path": path, "line": str(line), "column": str(column), "host": encoded(host)}
    return _FIELD.sub(lambda found: values[found[1]], template)
