"""Measures of extracted sources inside a process that uses groundkit: `ours_extracted.py MEASURE ARGUMENT...`."""

import hashlib
import json
import random
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from clock import Measures, Spent, spent
from corpus import Words
from directly import every, files
from documents import pdf

import groundkit
from groundkit.adapters.extraction import WorkerPool
from groundkit.adapters.extraction.codec import decode, encode
from groundkit.adapters.extraction.process import started
from groundkit.compose import ports_for
from groundkit.core.changes import NewDocument, Write
from groundkit.core.extraction import Extraction, Hint, checked
from groundkit.core.ports import ActiveExtractor, ExtractionJob
from groundkit.core.result import Success
from groundkit.core.settings import Settings, limits_for
from groundkit.core.versions import extracted_origin, extracted_version
from groundkit.extractors import Registry
from groundkit.writing import Writer

_T = TypeVar("_T")
CITATIONS = 1000
#: A document in which there is next to nothing to extract.
SMALL = {"pypdf": lambda: pdf(Words(), random.Random(0), 1), "beautifulsoup": lambda: b"<p>a page</p>"}
MEDIA_TYPES = {"pypdf": "application/pdf", "beautifulsoup": "text/html"}


def readable(base: str, index: str) -> None:
    """Prints the sources that are ingested whole."""
    with groundkit.open(index, base=base) as collection:
        collection.ingest(".")
        records = collection.get_document_records()
        print(json.dumps([each.source for each in records if each.source.endswith(".pdf") and not each.incomplete]))


def ingesting(told: Measures, base: str, index: str, jobs: str, repeat: str) -> None:
    """A new collection of all files, in a process that has imported everything."""
    one = next(path for path in sorted(Path(base).rglob("*")) if path.is_file())
    _ingested(base, index, str(one.relative_to(base)), 1)
    for _ in range(int(repeat)):
        told.note("in process", spent(lambda: _ingested(base, index, ".", int(jobs))))


def _ingested(base: str, index: str, source: str, jobs: int) -> None:
    shutil.rmtree(index, ignore_errors=True)
    with groundkit.open(index, base=base) as collection:
        report = collection.ingest(source, jobs=jobs)
    assert report.added and not report.failed


def parts(told: Measures, who: str, base: str, index: str) -> None:
    """What an ingest consists of, each part by itself."""
    reads = Registry().reader_of(MEDIA_TYPES[who]).unwrap()
    jobs = [_job(reads, path.read_bytes()) for path in files(who, base)]
    small = [_job(reads, SMALL[who]())]
    _parts(Measures(), small, index)
    told.note("worker comes up", spent(_one_worker))
    told.note("first of a worker", spent(lambda: _pooled(small)))
    _parts(told, jobs, index)


def _parts(told: Measures, jobs: list[ExtractionJob], index: str) -> None:
    shutil.rmtree(index, ignore_errors=True)
    extractions = _noted(told, "extractor", lambda: [_called(each) for each in jobs])
    told.note("extracted by a worker", spent(lambda: _pooled(jobs)))
    told.note("through the pipe", spent(lambda: _passed(extractions)))
    cut = _noted(told, "cutting", lambda: _cut(jobs, extractions))
    told.note("writing", spent(lambda: _written(index, cut)))


def _noted(told: Measures, name: str, make: Callable[[], list[_T]]) -> list[_T]:
    made: list[_T] = []
    told.note(name, spent(lambda: made.extend(make())))
    return made


def _job(reads: ActiveExtractor, data: bytes) -> ExtractionJob:
    (media_type, *_) = sorted(reads.extractor.media_types, reverse=True)
    return ExtractionJob(reads.extractor, reads.identity, data, Hint(media_type), limits_for(Settings(), len(data)))


def _one_worker() -> None:
    worker = started().unwrap()
    assert isinstance(worker.greet(), Success)
    worker.end()


def _called(job: ExtractionJob) -> Extraction:
    return checked(job.extractor.extract(job.data, job.hint).unwrap()).unwrap()


def _pooled(jobs: list[ExtractionJob]) -> None:
    pool = WorkerPool(1)
    for number, each in enumerate(jobs):
        pool.start(number, each)
    left = len(jobs)
    while left:
        ended = pool.finished(wait=True)
        assert all(isinstance(outcome, Success) for _, outcome in ended)
        left -= len(ended)
    pool.close()


def _passed(extractions: list[Extraction]) -> None:
    for each in extractions:
        value = decode(encode(each))
        assert isinstance(value, Extraction)
        checked(value)


def _cut(jobs: list[ExtractionJob], extractions: list[Extraction]) -> list[NewDocument]:
    made, settings = [], Settings()
    for number, (job, extraction) in enumerate(zip(jobs, extractions, strict=True)):
        digest = hashlib.sha256(job.data).hexdigest()
        origin = extracted_origin(f"{number}", digest, job.hint.media_type, job.identity, settings)
        made.append(extracted_version(origin, extraction, settings, "2026-01-01T00:00:00Z"))
    return made


def _written(index: str, documents: list[NewDocument]) -> None:
    ports, settings = ports_for(Path(index), "default"), Settings()
    with ports.lock.hold(1.0).unwrap():
        lexical = ports.lexical(settings.language)
        ports.documents.create(settings, lexical.analyzer).unwrap()
        writer = Writer(ports.documents, lexical, None)
        writer.recover().unwrap()
        writer.write(Write(tuple(documents))).unwrap()
    ports.documents.close()


def citing(told: Measures, index: str, base: str) -> None:
    """A thousand citations of one file, beside reading it once with pypdf: twice, so that the second needs nothing read."""
    paths = files("pypdf", base)
    with groundkit.open(index, base=base) as collection:
        cited = list(_many(collection))
    once = spent(lambda: every("pypdf", paths))
    told.note("pypdf once", once)
    first = spent(lambda: _verified(index, base, cited))
    told.note("verify 1,000", first)
    told.note("verify 1,000, beyond one reading", Spent(first.wall - once.wall, first.cpu - once.cpu))
    told.note("verify 1,000, once more", spent(lambda: _verified(index, base, cited)))


def citing_kept(told: Measures, index: str, base: str) -> None:
    """The same where the collection keeps extractions on disk."""
    with groundkit.open(index, base=base) as collection:
        cited = list(_many(collection))
    told.note("verify 1,000, kept on disk", spent(lambda: _verified(index, base, cited)))


def _many(collection: groundkit.Collection) -> Iterator[groundkit.Citation]:
    known = list(collection.citations())
    return (known[number % len(known)] for number in range(CITATIONS))


def _verified(index: str, base: str, cited: list[groundkit.Citation]) -> None:
    with groundkit.open(index, base=base) as collection:
        checks = [each.verification for each in collection.verify_each(cited)]
    assert len(checks) == CITATIONS and all(checks)


if __name__ == "__main__":
    name, *rest = sys.argv[1:]
    if name == "readable":
        readable(*rest)
    else:
        measures = Measures()
        {each.__name__: each for each in (ingesting, parts, citing, citing_kept)}[name](measures, *rest)
        measures.tell()
