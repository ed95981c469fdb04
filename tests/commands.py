"""Running `gk` as a process of its own, the way a shell does."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from attrs import frozen

#: What would decide about an index or colours from outside a test.
_OURS = ("GK_INDEX_DIR", "GK_COLLECTION", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "_GK_COMPLETE")

#: Compiled once for all the processes of a run, also where the surroundings forbid to leave bytecode beside the sources.
_BYTECODE = tempfile.mkdtemp(prefix="groundkit-bytecode-")
atexit.register(shutil.rmtree, _BYTECODE, ignore_errors=True)


@frozen
class Ran:
    """What a process left behind."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def out(self) -> str:
        return self.stdout.decode()

    @property
    def err(self) -> str:
        return self.stderr.decode()


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in (*_OURS, "PYTHONDONTWRITEBYTECODE")}
    return kept | {"PYTHONPYCACHEPREFIX": _BYTECODE} | more


def gk(cwd: Path, *arguments: str | bytes, **more: str) -> Ran:
    """`gk ARGUMENTS` in a directory, with more environment variables; neither output is a terminal."""
    done = subprocess.run(
        [sys.executable, "-m", "groundkit", *arguments],
        cwd=cwd,
        env=environment(**more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def write(folder: Path, **files: str) -> Path:
    """A folder with files: `a_md="text"` is `a.md`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text, "utf-8", newline="")
    return folder
