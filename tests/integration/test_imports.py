"""What is loaded when, and what the core may lean on."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from commands import environment, write

import groundkit

PACKAGE = Path(groundkit.__file__).parent
#: Heavy, or of one command or format alone.
LATE = {
    "numpy",
    "httpcore",
    "httpx",
    "certifi",
    "idna",
    "bs4",
    "pypdf",
    "cattrs",
    "hypothesis",
    "pytest",
    "tantivy",
    "apsw",
    "rich",
    "pathspec",
    "mcp",
    "pydantic",
    "starlette",
    "uvicorn",
    "prometheus_client",
    "opentelemetry",
}
#: The standard library's modules that compute and do nothing else.
PURE = {
    "__future__", "base64", "bisect", "codecs", "collections", "contextlib", "dataclasses", "difflib", "enum", "functools", "hashlib", "heapq", "html", "http",
    "ipaddress", "itertools", "math", "operator", "re", "string", "struct", "textwrap", "types", "typing", "unicodedata",
}  # fmt: skip


#: The libraries of the core: two that it is written with, and tables of internationalised names, loaded when one comes.
LIBRARIES = {"attrs", "returns", "idna"}


def loaded_by(*command: str, cwd: Path) -> set[str]:
    """The top-level packages and our own modules that a process imports, by Python's own account."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *command], cwd=cwd, env=environment(), capture_output=True, check=False
    )
    names = re.findall(rb"^import time:[^|]+\|[^|]+\|\s*(\S+)$", done.stderr, re.MULTILINE)
    assert names, done.stderr
    return {name.decode() for name in names}


def packages(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


@pytest.mark.parametrize(
    "command",
    [("-c", "import groundkit"), ("-m", "groundkit", "--help"), ("-m", "groundkit", "--version")],
    ids=["import", "help", "version"],
)
def test_what_everybody_pays_for_is_light(tmp_path: Path, command: tuple[str, ...]) -> None:
    assert not packages(loaded_by(*command, cwd=tmp_path)) & LATE


def test_a_core_module_brings_no_adapter_and_no_command_line(tmp_path: Path) -> None:
    loaded = packages(loaded_by("-c", "import groundkit.core.spans", cwd=tmp_path))
    assert not loaded & {"apsw", "tantivy", "click", "numpy"}


#: What a search has no use for. Each class costs it half a millisecond, and there are many in these.
NOT_FOR_A_SEARCH = {
    "adapters.files.ignore", "adapters.files.survey", "adapters.files.walk", "adapters.sqlite_store.generations",
    "adapters.sqlite_store.old", "core.changes",
    "adapters.extraction", "adapters.html", "adapters.pdf", "adapters.snapshot_files", "adapters.web",
    "core.fetching", "core.live", "core.masking", "core.relocation", "core.snapshots", "core.url_kinds", "core.urls",
    "core.web_failures", "keeping",
    "core.auditing", "core.boundaries", "core.charsets", "core.chunking", "core.extraction", "core.kinds", "core.locating", "core.markdown", "core.markdown_lines",
    "core.older", "core.outline", "core.planning", "core.recovery", "core.spans", "core.walking",
    "demo", "doctor", "drop", "fetch", "ingest", "ingest_pending", "ingest_run", "ingest_values", "offers", "render", "requests", "status",
    "service", "testing", "uncollected", "core.versions", "wire", "writing",
    "core.drift", "core.links", "core.percent", "core.portable", "core.text_directives", "core.units", "core.web_annotation",
    "cite", "cite_desk", "cite_marks", "cite_values", "core.annotation_selectors", "core.inner_marks", "core.markers", "core.quotations",
    "core.quote_matching", "core.references", "core.written_places",
    "citation_files", "elsewhere", "exporting", "passages", "portable_json", "reports", "travelling",
}  # fmt: skip
#: Modules of the standard library that came with something a search no longer does.
NOT_ITS_STANDARD_LIBRARY = {"csv", "decimal", "importlib.metadata", "logging", "shutil", "subprocess"}


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("indexed")
    write(folder, a_md="needle")
    subprocess.run(
        [sys.executable, "-m", "groundkit", "ingest", "."],
        cwd=folder, env=environment(), check=True, capture_output=True,
    )  # fmt: skip
    return folder


def test_a_search_loads_what_it_needs_and_no_more(indexed: Path) -> None:
    loaded = loaded_by("-m", "groundkit", "search", "needle", cwd=indexed)
    assert {"groundkit.search", "groundkit.verifying"} <= loaded
    assert not loaded & {f"groundkit.{name}" for name in NOT_FOR_A_SEARCH}
    assert not packages(loaded) & (LATE - {"apsw", "tantivy"})


def test_a_search_brings_little_of_the_standard_library(indexed: Path) -> None:
    foreign = loaded_by("-c", "import apsw, tantivy, attrs, returns.result, click", cwd=indexed)
    loaded = loaded_by("-m", "groundkit", "search", "needle", cwd=indexed)
    assert not (loaded - foreign) & NOT_ITS_STANDARD_LIBRARY


def test_every_module_named_here_exists() -> None:
    for name in NOT_FOR_A_SEARCH:
        path = PACKAGE.joinpath(*name.split("."))
        assert path.is_dir() or path.with_suffix(".py").is_file(), name


def modules_of(layer: str) -> list[Path]:
    return sorted((PACKAGE / layer).rglob("*.py"))


def imported_by(module: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module.name} imports by dots"
            found.add(node.module or "")
    return found


@pytest.mark.parametrize("module", modules_of("core"), ids=lambda path: os.path.basename(path))
def test_the_core_leans_on_pure_modules_attrs_and_returns_alone(module: Path) -> None:
    for name in imported_by(module):
        own = name.startswith("groundkit.core.") or name == "groundkit.core"
        assert own or name.partition(".")[0] in PURE | LIBRARIES, f"{module.name} imports {name}"


@pytest.mark.parametrize("module", modules_of("adapters"), ids=lambda path: os.path.basename(path))
def test_adapters_lean_on_the_core_and_not_on_the_shell(module: Path) -> None:
    ours = {name for name in imported_by(module) if name.partition(".")[0] == "groundkit"}
    assert all(name.startswith(("groundkit.core", "groundkit.adapters")) for name in ours)
