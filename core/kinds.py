"""What the suffix of a source stands for."""

from enum import StrEnum

from attrs import frozen


class Loader(StrEnum):
    """Who turns the bytes of a source into its text."""

    TEXT = "text"
    MARKDOWN = "markdown"


@frozen
class Kind:
    """What a suffix stands for: the loader and the media type that is recorded."""

    loader: Loader
    media_type: str


#: Suffixes are compared in lower case.
KINDS = {
    ".md": Kind(Loader.MARKDOWN, "text/markdown"),
    ".markdown": Kind(Loader.MARKDOWN, "text/markdown"),
    ".txt": Kind(Loader.TEXT, "text/plain"),
}

PLAIN_TEXT = Kind(Loader.TEXT, "text/plain")

KNOWN_SUFFIXES = ", ".join(sorted(KINDS))


def suffix_of(source: str) -> str:
    """The last suffix of the last part in lower case, or "". A leading dot begins no suffix."""
    name = source.rpartition("/")[2]
    dot = name.rfind(".")
    return name[dot:].lower() if dot > 0 else ""


def kind_of(source: str, as_text: bool = False) -> Kind | None:
    """What a file of this name is; None when its suffix stands for nothing. With `as_text` every file is plain text."""
    return PLAIN_TEXT if as_text else KINDS.get(suffix_of(source))


def kind_of_media_type(media_type: str) -> Kind:
    """The kind a stored document was ingested as, whatever its name is."""
    return next((kind for kind in KINDS.values() if kind.media_type == media_type), PLAIN_TEXT)
