"""What a whole process costs."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

HERE = Path(__file__).resolve().parent
#: Where corpora, indexes, bytecode and the peer live, unless something else is said.
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "groundkit-bench"


#: Values by measure and unit.
Told: TypeAlias = Mapping[str, Mapping[str, list[float]]]


@dataclass(frozen=True)
class Cost:
    """Seconds of wall clock and of processor (user and system), and the most memory at a time, in MB.

    Memory includes what this process holds when it starts the other one, so this one stays small.
    """

    wall: float
    cpu: float
    memory: float


@dataclass(frozen=True)
class Runner:
    """Starts processes on the core this one runs on, with bytecode kept in the cache directory.

    `path`: where they find groundkit, instead of where this process does.
    """

    cache: Path
    path: str | None = None

    def environment(self, ours: bool) -> dict[str, str]:
        """Of a peer, nothing of ours is on the path."""
        unwanted = {"PYTHONDONTWRITEBYTECODE", "PYTHONSAFEPATH"} | (set() if ours else {"PYTHONPATH"})
        kept = {name: value for name, value in os.environ.items() if name not in unwanted}
        if self.path is not None:
            kept["PYTHONPATH"] = self.path
        return kept | {"PYTHONPYCACHEPREFIX": str(self.cache / "bytecode"), "NO_COLOR": "1"}

    def cost(self, command: Sequence[str], ours: bool = True, codes: tuple[int, ...] = (0,)) -> Cost:
        """Of one run, which must end with one of `codes`."""
        began = time.perf_counter()
        child = subprocess.Popen(
            command,
            env=self.environment(ours),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert child.stderr is not None
        said = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in codes:
            sys.exit(f"{' '.join(command)}\n{said.decode(errors='replace')}")
        return Cost(
            wall, used.ru_utime + used.ru_stime, used.ru_maxrss / (1024 if sys.platform == "linux" else 1 << 20)
        )

    def told(self, python: str, script: str, arguments: Sequence[str | int | Path], ours: bool = True) -> Told:
        """The measures that one of the scripts here prints as JSON."""
        command = [python, str(HERE / script), *map(str, arguments)]
        done = subprocess.run(
            command,
            check=False,
            env=self.environment(ours),
            capture_output=True,
            text=True,
        )
        if done.returncode:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        told: Told = json.loads(done.stdout.splitlines()[-1])
        return told


def size_of(directory: Path) -> int:
    """Bytes of all files below a directory."""
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
