"""Where this runs. Imports nothing that exists only there."""

import sys

SUPPORTED = ("linux", "darwin")


def platform_refused(platform: str = sys.platform) -> str | None:
    """Why this does not run on a system; None if it does."""
    return None if platform in SUPPORTED else f"groundkit runs on Linux and macOS, not on {platform}"
