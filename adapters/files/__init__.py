"""The files below a base directory."""

from groundkit.adapters.files.reader import Files

__all__ = ["Files"]
