"""Files that live as long as the rows that name them: snapshots of pages, and raw responses."""

from groundkit.adapters.snapshot_files.directory import KeptDirectory

__all__ = ["KeptDirectory"]
