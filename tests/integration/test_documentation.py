"""What the documentation names is there, and what it says to type works. Blocks called `console` are shown, not run."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from attrs import fields
from commands import environment

from groundkit import portable_json
from groundkit.cli import gk

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
    for path in [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
}
README = PAGES["README.md"]
#: Options of other programs that the documentation names.
OF_OTHERS = {"--all-extras"}


def commands() -> dict[str, click.Command]:
    context = click.Context(gk)
    found = {name: gk.get_command(context, name) for name in gk.list_commands(context)}
    return {name: command for name, command in found.items() if command is not None}


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_command_line_page_lists_every_command_and_no_other() -> None:
    listed = re.findall(r"^\| (`gk .*?) \| ", PAGES["docs/cli.md"], re.MULTILINE)
    named = {name for cell in listed for name in re.findall(r"`gk ([a-z]+)", cell)}
    assert named == set(commands())


def test_every_option_that_is_named_exists() -> None:
    known = {
        name
        for command in commands().values()
        for each in command.params
        for name in (*each.opts, *each.secondary_opts)
    }
    named = {
        (option, page) for page, text in PAGES.items() for option in re.findall(r"(?<![\w`<-])`?(--[a-z][a-z-]+)", text)
    }
    assert named
    assert not {(option, page) for option, page in named if option not in known | OF_OTHERS | {"--help", "--version"}}


def test_every_option_of_an_ingest_for_pages_is_on_the_page_about_them() -> None:
    options = {
        name
        for each in commands()["ingest"].params
        for name in each.opts
        if name.startswith(("--fetch", "--keep", "--from"))
    }
    assert len(options) == 5
    assert all(option in PAGES[page] for option in options for page in ("docs/web-pages.md", "docs/cli.md"))


def test_the_extras_are_those_that_can_be_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    table = re.search(r"^\| extra \| for \|\n.*?\n\n", README, re.MULTILINE | re.DOTALL)
    assert table
    assert set(re.findall(r"^\| `([a-z]+)` \|", table[0], re.MULTILINE)) == set(project["optional-dependencies"])


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", PAGES[page]):
        name, _, anchor = target.partition("#")
        if name.startswith(("http:", "https:")):
            continue
        path = (ROOT / page).parent / name if name else ROOT / page
        assert path.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", each).lower().replace(" ", "-") for each in headings}, target


def test_every_decision_is_in_their_index() -> None:
    pages = {path.name for path in (DOCS / "adr").glob("[0-9]*.md")}
    assert set(re.findall(r"\(([0-9][^)]+\.md)\)", PAGES["docs/adr/README.md"])) == pages


def test_the_first_steps_of_the_readme_end_as_it_says(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "shell" / "demo_documents", tmp_path / "shell" / "demo_documents")
    (steps,) = [each for each in blocks(README, "sh") if "gk ingest ." in each]
    script = "\n".join(line for line in steps.splitlines() if not line.startswith("source "))
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "gk"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m groundkit "$@"\n')
    program.chmod(0o755)
    ran = run(["bash", "-c", script], tmp_path)
    assert ran.returncode == 1
    assert ", failed 0, " in ran.stdout
    assert re.search(r"^verified \d+, drifted 0, unresolvable 0$", ran.stdout, re.MULTILINE)
    assert re.search(r"^verified \d+, drifted 1, unresolvable 0$", ran.stdout, re.MULTILINE)
    assert "lighthouses.md" in ran.stdout

    python = "\n".join(blocks(README, "python"))
    told = run([sys.executable, "-W", "error", "-c", python], tmp_path)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.startswith("verified same ")


@pytest.mark.parametrize("page", ["docs/citations.md", "docs/search.md", "docs/serving.md"])
def test_the_python_of_a_page_runs(tmp_path: Path, page: str) -> None:
    shutil.copytree(ROOT / "shell" / "demo_documents", tmp_path / "tryout")
    told = run([sys.executable, "-W", "error", "-c", "\n".join(blocks(PAGES[page], "python"))], tmp_path)
    assert (told.returncode, told.stderr) == (0, "")


def test_the_keys_of_a_citation_that_travels_are_those_on_their_page() -> None:
    table = re.search(r"^\| key \| type \|.*?\n\n", PAGES["docs/citations.md"], re.MULTILINE | re.DOTALL)
    assert table
    listed = re.findall(r"`([a-z_]+)`", "".join(re.findall(r"^\| (`[^|]*) \|", table[0], re.MULTILINE)))
    assert sorted(listed) == sorted(each.name for each in fields(portable_json._Flat))


def run(command: list[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command, cwd=folder, env=environment(PATH=path), capture_output=True, text=True, timeout=120, check=False
    )
