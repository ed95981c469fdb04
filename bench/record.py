"""Every value of a run, kept in `results/`."""

import json
import os
import platform
import sys
import time
from collections.abc import Mapping

from process import HERE
from table import Results


def write(label: str, repeat: int, results: Mapping[str, Results]) -> None:
    """All values by corpus, measure, unit and who, with what is to be known of the machine."""
    directory = HERE / "results"
    directory.mkdir(exist_ok=True)
    path = directory / f"{label}-{time.strftime('%Y%m%d-%H%M%S')}.json"
    about = {"python": platform.python_version(), "machine": platform.machine(), "load": os.getloadavg()}
    found = [
        {"corpus": corpus, "measure": measure, "unit": unit, "who": who, "values": values}
        for corpus, each in results.items()
        for (measure, unit, who), values in each.items()
    ]
    path.write_text(json.dumps({**about, "repeat": repeat, "results": found}, indent=1))
    print(f"written to bench/results/{path.name}; load {os.getloadavg()[0]:.1f}", file=sys.stderr)
