"""What of a chunk an embedder reads."""

from collections.abc import Sequence


def embedding_text(heading_path: Sequence[str], title: str, text: str) -> str:
    """A chunk's text below the headings it stands under, as a search by words finds it too; "" if the text is blank.

    The title counts where it is no heading already. Nothing else of the document is in it, so a chunk that moves with its
    headings keeps its vector.
    """
    if not text.strip():
        return ""
    above = [*([title] if title not in heading_path else []), *heading_path]
    said = " ".join(each for each in above if each.strip())
    return f"{said}\n{text}" if said else text
