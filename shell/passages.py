"""Where a text stands in the stored documents of a collection: the lexical index proposes documents, their texts decide."""

import re
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeAlias, TypeVar

from attrs import field, frozen

from groundkit.core.auditing import rebuilt_text
from groundkit.core.folding import TOKEN_BYTES, search_view
from groundkit.core.model import DocumentRecord, Span
from groundkit.core.portable import occurrence_of
from groundkit.core.ports import LexicalIndex
from groundkit.core.query import LexicalQuery
from groundkit.core.result import Failure, Result, Success
from groundkit.core.storage import (
    ChunksByRow,
    ChunksOfDocument,
    LexicalFailure,
    RecordOfDocument,
    StorageFailure,
    StoredChunk,
)
from groundkit.reading import Pair

#: Documents of a collection that are read for one question, and code points of them.
MOST_DOCUMENTS, MOST_READ = 64, 64_000_000
#: A text that is looked for has so many code points, at least one word among them.
LEAST_LENGTH = 3
#: Code points of documents' texts that are kept for the next question.
_KEPT = 48_000_000

#: A boundary of chunks cuts at most one of the windows that lie apart: how many terms each has, and how many there are.
_LONG, _SHORT = (24, 3), (4, 6)
#: Single words that are asked for, the longest ones, and the chunks that hold a word which still says something.
_WORDS, _TELLING = 10, 256
#: No boundary of chunks falls within such a word: the blanks beside it are better places, and no chunk is too short for it.
_UNCUT = re.compile(r"(?<=\s)[A-Za-z]{4,12}(?=\s)")
#: So few documents are looked into without asking for more.
_PLAINLY = 4
#: Up to so many terms the first and the last one count as whole words; in a longer text they may be cut.
_FEW = 7
#: Chunks that are asked for at a time, and those that are looked at for what is near a long text, and a short one: what
#: shares most words with a short one need not be what is most like it.
_ROWS, _NEARBY, _NEARBY_SHORT = 128, 8, 64
#: Code points up to which a text is short.
_SHORT_TEXT = 240
#: Code points that a stretch nearby has more than what it is of.
_MARGIN = 64

T = TypeVar("T")

PlacesFailure: TypeAlias = StorageFailure | LexicalFailure


@frozen
class Place:
    """Where a text stands first in a document, whose whole text is at hand."""

    record: DocumentRecord
    span: Span
    text: str = field(repr=False)

    @property
    def count(self) -> int:
        """How often the document has it; places that overlap count each."""
        return occurrence_of(self.text, self.span)[1]


@frozen
class StoredText:
    """A stored document with its text and the chunks it is put together from, in order."""

    record: DocumentRecord
    text: str = field(repr=False)
    chunks: tuple[StoredChunk, ...] = field(repr=False)


class Kept(Generic[T]):
    """What was made last, by name, up to so many code points together, but always the last one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._held: OrderedDict[str, tuple[T, int]] = OrderedDict()

    def get(self, name: str) -> T | None:
        if name not in self._held:
            return None
        self._held.move_to_end(name)
        return self._held[name][0]

    def put(self, name: str, made: T, size: int) -> None:
        self._held[name] = made, size
        self._size += size
        while len(self._held) > 1 and self._size > self._most:
            self._size -= self._held.popitem(last=False)[1][1]


@frozen(eq=False, repr=False)
class Passages:
    """The documents of one generation, to be searched for texts. Good for as long as the pair's view is open."""

    pair: Pair
    index: LexicalIndex
    _texts: Kept[StoredText] = field(factory=lambda: Kept(_KEPT), init=False)
    _rows: dict[int, str] = field(factory=dict, init=False)

    def exact_places(
        self, text: str, limit: int, without: str | None = None
    ) -> Result[tuple[Place, ...], PlacesFailure]:
        """The first `limit` documents by source that hold the text letter for letter, but not the one with the id `without`.

        None for a text without a word. At most `MOST_DOCUMENTS` are read, those that share most with it.
        """
        among = self._holding_all(text, without)
        if isinstance(among, Failure):
            return among
        only = among.unwrap()
        proposed = Success(tuple(only)) if only is not None and len(only) <= _PLAINLY else self.proposed(text)
        if isinstance(proposed, Failure):
            return proposed
        found: list[Place] = []
        for stored in self.read(
            each for each in proposed.unwrap() if each != without and (only is None or each in only)
        ):
            if isinstance(stored, Failure):
                return stored
            at = stored.unwrap().text.find(text)
            if at >= 0:
                found.append(Place(stored.unwrap().record, Span(at, at + len(text)), stored.unwrap().text))
        return Success(tuple(sorted(found, key=lambda place: place.record.source)[: max(0, limit)]))

    def _holding_all(self, text: str, without: str | None) -> Result[frozenset[str] | None, PlacesFailure]:
        """The other documents that hold each of the text's rare words, for one that holds the text holds all of them.

        None where none of its words is rare. Mostly one or two words tell that there is no other.
        """
        held: frozenset[str] | None = None
        words = sorted(set(_UNCUT.findall(text)), key=lambda each: (-len(each), each))
        if self.pair.searcher is None or not words:
            return Success(None)
        owners = self._owners()
        if isinstance(owners, Failure):
            return owners
        for word in words[:_WORDS]:
            terms = self.index.terms(search_view(word)[0])
            if len(terms) != 1:
                continue
            found = self.pair.searcher.candidates(LexicalQuery((terms[0],), (terms[0],)), _TELLING)
            if isinstance(found, Failure):
                return found
            if found.unwrap().matches > _TELLING:
                continue
            having = frozenset(owners.unwrap().get(row, "") for row, _ in found.unwrap().rows) - {"", without}
            held = having if held is None else held & having
            if not held:
                break
        return Success(held)

    def proposed(self, text: str) -> Result[tuple[str, ...], PlacesFailure]:
        """Ids of the documents that may hold a text, those first that share most of what was asked for."""
        votes: Counter[str] = Counter()
        for answer in self._answers(text):
            if isinstance(answer, Failure):
                return answer
            votes.update(list(dict.fromkeys(owner for _, owner in answer.unwrap())))
        return Success(tuple(owner for owner, _ in votes.most_common(MOST_DOCUMENTS)))

    def nearby(
        self, texts: Sequence[str], within: frozenset[str] = frozenset()
    ) -> Result[dict[str, tuple[Span, ...]], PlacesFailure]:
        """Stretches of documents that share most with one of these texts, by document id, the best first.

        They are the chunks that were proposed, wider by the longest of the texts. `within`: of these documents only, if any.
        """
        votes: Counter[int] = Counter()
        for text in texts:
            for answer in self._answers(text):
                if isinstance(answer, Failure):
                    return answer
                votes.update(row for row, owner in answer.unwrap() if not within or owner in within)
        longest = max(map(len, texts), default=0)
        looked_at = _NEARBY_SHORT if longest <= _SHORT_TEXT else _NEARBY
        rows = tuple(row for row, _ in votes.most_common(looked_at))
        got = self.pair.view.chunks(ChunksByRow(rows), self.pair.generation.mark.generation)
        if isinstance(got, Failure):
            return got
        reach = longest + _MARGIN
        found: dict[str, list[Span]] = {}
        for each in got.unwrap():
            span = each.chunk.span
            wide = Span(max(0, span.start - reach), min(each.record.length, span.end + reach))
            _widen(found.setdefault(each.record.document_id, []), wide)
        return Success({document: tuple(zones) for document, zones in found.items()})

    def _answers(self, text: str) -> Iterator[Result[list[tuple[int, str]], PlacesFailure]]:
        """For each thing that is asked for a text, the rows that have it with their documents."""
        asked = self._probes(text)
        if self.pair.searcher is None or not asked:
            return
        owners = self._owners()
        if isinstance(owners, Failure):
            yield owners
            return
        for query, telling in asked:
            found = self.pair.searcher.candidates(query, telling or _ROWS)
            if isinstance(found, Failure):
                yield found
                return
            if not telling or found.unwrap().matches <= telling:
                # A row without an owner is a ghost of a damaged index; it proposes nothing.
                known = owners.unwrap()
                yield Success([(row, known[row]) for row, _ in found.unwrap().rows if row in known])

    def read(self, documents: Iterable[str]) -> Iterator[Result[StoredText, StorageFailure]]:
        """The texts of these documents, as far as `MOST_READ` goes."""
        read = 0
        for each in documents:
            stored = self.stored(each)
            if isinstance(stored, Failure):
                yield stored
                return
            text = stored.unwrap()
            if text is not None:
                yield Success(text)
                read += len(text.text)
            if read > MOST_READ:
                return

    def stored(self, document_id: str) -> Result[StoredText | None, StorageFailure]:
        """One document with its text; None where it is not there, or its chunks do not make up a text."""
        kept = self._texts.get(document_id)
        if kept is not None:
            return Success(kept)
        at = self.pair.generation.mark.generation
        records = self.pair.view.records(RecordOfDocument(document_id), at)
        if isinstance(records, Failure):
            return records
        chunks = self.pair.view.chunks(ChunksOfDocument(document_id), at)
        if isinstance(chunks, Failure):
            return chunks
        text = rebuilt_text(chunks.unwrap())
        if not records.unwrap() or text is None:
            return Success(None)
        stored = StoredText(records.unwrap()[0], text, chunks.unwrap())
        self._texts.put(document_id, stored, len(text))
        return Success(stored)

    def _owners(self) -> Result[dict[int, str], StorageFailure]:
        """The document of every row."""
        if not self._rows:
            live = self.pair.view.live(self.pair.generation.mark.generation)
            if isinstance(live, Failure):
                return live
            self._rows.update(live.unwrap())
        return Success(self._rows)

    def _probes(self, text: str) -> list[tuple[LexicalQuery, int]]:
        """What the index is asked for a text. With a number: an answer with more matches than that says nothing."""
        if len(text) < LEAST_LENGTH:
            return []
        view = search_view(text)[0]
        terms = self.index.terms(view)
        first, last = _whole_words(view.split())
        inner = terms[first:last]
        phrases = [terms, inner] if len(terms) <= _FEW else [*windows(inner, *_LONG), *windows(inner, *_SHORT)]
        words = sorted(dict.fromkeys(terms if len(terms) <= _FEW else inner), key=len, reverse=True)[:_WORDS]
        asked = dict.fromkeys(phrase for phrase in map(tuple, phrases) if len(phrase) > 1)
        return [
            *((LexicalQuery(tuple(sorted(set(phrase))), (), (phrase,)), 0) for phrase in asked),
            *((LexicalQuery((word,), (word,)), _TELLING) for word in words),
            *([(LexicalQuery(tuple(sorted(words))), 0)] if words else []),
        ]


def _widen(zones: list[Span], zone: Span) -> None:
    """Add a zone to others; one that meets it takes it in."""
    for number, other in enumerate(zones):
        if zone.start <= other.end and other.start <= zone.end:
            zones[number] = Span(min(zone.start, other.start), max(zone.end, other.end))
            return
    zones.append(zone)


def windows(terms: Sequence[str], length: int, most: int) -> list[tuple[str, ...]]:
    """Up to `most` stretches of at most `length` terms that do not overlap: from the start, the end, evenly between."""
    count = min(most, max(1, len(terms) // length))
    length = min(length, len(terms))
    free = len(terms) - length
    starts = [free * number // max(1, count - 1) for number in range(count)]
    return [tuple(terms[start : start + length]) for start in starts]


def _whole_words(tokens: Sequence[str]) -> tuple[int, int]:
    """The stretch of the tokens without those at the edges, of which a text may hold a part only.

    A token over `TOKEN_BYTES` is cut from its beginning on, so all its pieces go with it.
    """
    first, last = 0, len(tokens)
    while first < last:
        first += 1
        if not _may_be_a_piece(tokens[first - 1]):
            break
    while first < last:
        last -= 1
        if not _may_be_a_piece(tokens[last]):
            break
    return first, last


def _may_be_a_piece(token: str) -> bool:
    return len(token.encode()) > TOKEN_BYTES - 4
