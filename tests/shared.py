"""Where the shared corpora and cases lie: beside the checkout, or at `GK_SHARED`. Tests skip where they are absent."""

import os
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("GK_SHARED") or Path(__file__).resolve().parents[2] / "shared")


def shared(name: str) -> Path:
    """The path of a shared file or folder, or a skip that says what is missing."""
    path = ROOT / name
    if not path.exists():
        pytest.skip(f"{name} is not beside this checkout (set GK_SHARED)")
    return path
