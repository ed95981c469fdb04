"""What an ingest has ready to be written, and how many of its sources are decided about."""

from collections.abc import Iterable

from attrs import Factory, define, frozen

from groundkit.core.changes import KeptFile, NewDocument, Write
from groundkit.core.model import DocumentRecord
from groundkit.ingest_values import OnEvent, SourceEvent


@frozen
class Batching:
    """A batch is written when it holds so many documents or so many code points of text; bytes of files count as these.

    An extracted document counts for `EXTRACTED_WEIGHT` of them: whoever is interrupted is not to lose minutes of work.
    """

    documents: int
    characters: int


EXTRACTED_WEIGHT = 64


@define
class Batch:
    documents: list[NewDocument] = Factory(list)
    rebound: list[DocumentRecord] = Factory(list)
    removed: list[str] = Factory(list)
    files: list[KeptFile] = Factory(list)
    weight: int = 0
    characters: int = 0

    def add(self, new: NewDocument) -> None:
        self.documents.append(new)
        self.weight += 1 if new.record.extraction is None else EXTRACTED_WEIGHT
        self.characters += new.record.length

    def rebind(self, record: DocumentRecord) -> None:
        self.rebound.append(record)
        self.weight += 1 if record.extraction is None else EXTRACTED_WEIGHT

    def keep(self, files: Iterable[KeptFile]) -> None:
        for each in files:
            self.files.append(each)
            self.characters += len(each.data)

    def holds(self, limits: Batching) -> bool:
        return self.weight >= limits.documents or self.characters >= limits.characters

    def write(self) -> Write:
        """By source, so that what is written does not tell which server or worker was the fastest."""
        documents = sorted(self.documents, key=lambda new: new.record.source)
        rebound = sorted(self.rebound, key=lambda record: record.source)
        return Write(tuple(documents), tuple(rebound), tuple(self.removed), files=tuple(self.files))


@define
class Teller:
    """Tells how many of the found sources are decided about."""

    on_event: OnEvent | None
    total: int
    done: int = 0

    def tell(self, source: str, action: str) -> None:
        self.done += 1
        if self.on_event is not None:
            self.on_event(SourceEvent(source, action, self.done, self.total))
