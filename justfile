set shell := ["bash", "-euo", "pipefail", "-c"]
export UV_NO_PROGRESS := "1"
run := "uv run -q --all-extras"
# tools name the linked copy; people want the file they edit
here := "sed -E 's#build/__editable__[^/]*/groundkit/(core|adapters)/#\\1/#; s#build/__editable__[^/]*/groundkit/#shell/#'"

default:
    @just --list

# lay the links anew: a deleted module leaves a dangling one behind
sync:
    uv sync -q --all-extras --reinstall-package groundkit

# what the gate looks at beside the tests
static: sync format-check lint types imports hygiene

format:
    {{run}} ruff format .

format-check:
    {{run}} ruff format --check .

lint:
    {{run}} ruff check .

types:
    {{run}} mypy | {{here}}

imports:
    {{run}} lint-imports --no-logo --no-cache

test *args:
    {{run}} pytest {{args}}

# ten times the examples, the long crash runs
nightly:
    HYPOTHESIS_PROFILE=nightly {{run}} pytest

# the wheel alone, in an empty environment, from a folder where no checkout is
wheel:
    rm -rf dist build/lib
    uv build -q
    cd / && uv run -q --no-project --isolated --with "$(ls {{justfile_directory()}}/dist/*.whl)" gk demo > /dev/null

# no registry host, no lock of uv, nothing over 1 MB
hygiene:
    ! git grep -nIE 'https?://[^ "]*/simple(/|"| |$)|registry = "http' -- . ':!justfile'
    test -z "$(git ls-files uv.lock build dist)"
    test -z "$(git ls-files -z | xargs -0 -r du -k -- 2>/dev/null | awk '$1 > 1024')"

# the versions this checkout was tested with, one `name==version` a line
lock:
    uv pip freeze --exclude-editable | grep -v '^groundkit' > requirements.lock

bench *args:
    {{run}} python bench/run.py {{args}}

check: static wheel test
