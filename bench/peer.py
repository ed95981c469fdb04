"""The same measures with groundkit 0.2.1, run by the Python of its own environment."""

import asyncio
import logging
import sys
from pathlib import Path

from clock import Measures, Stopwatch
from corpus import queries

from groundkit.contracts import Citation
from groundkit.index.metadata import SQLiteMetadataStore
from groundkit.indexer import Indexer
from groundkit.ingestion.loaders import FileLoader
from groundkit.retrieval.citations import verify_citation
from groundkit.retrieval.search import Retriever


async def opening(told: Measures, index: str, repeat: str) -> None:
    for _ in range(int(repeat)):
        with Stopwatch() as watch:
            store = await SQLiteMetadataStore.open(Path(index), "default")
            retriever = await Retriever.open(store)
            await retriever.search("lous rous", top_k=10)
        told.note("open", watch.spent)
        await store.close()


async def warm(told: Measures, index: str, count: str) -> None:
    store = await SQLiteMetadataStore.open(Path(index), "default")
    retriever = await Retriever.open(store)
    for words in (1, 3, 8):
        times = []
        for query in queries(words, int(count)):
            with Stopwatch() as watch:
                await retriever.search(query, top_k=10)
            times.append(watch.spent)
        told.quantiles(f"warm {words}", times)
    await store.close()


async def changing(told: Measures, index: str, base: str, source: str, repeat: str) -> None:
    path = Path(base) / source
    before = path.read_bytes()
    store = await SQLiteMetadataStore.open(Path(index), "default")
    indexer = Indexer(store, FileLoader(Path(base)))
    for number in range(int(repeat)):
        word = f"zqp{number}xq"
        path.write_bytes(before + f"\n\n{word}\n".encode())
        with Stopwatch() as watch:
            await indexer.index_source(str(path))
            found = await (await Retriever.open(store)).search(word, top_k=10)
        told.note("change open", watch.spent)
        assert any(word in hit.content for hit in found.results)
    path.write_bytes(before)
    await indexer.index_source(str(path))
    await store.close()


async def verifying(told: Measures, base: str, source: str, repeat: str) -> None:
    path = Path(base) / source
    text = path.read_bytes().decode()
    starts = range(0, len(text) - 500, 450)
    cited = []
    for number in range(1000):
        at = starts[number % len(starts)]
        cited.append((_citation(str(path), at, at + 500), text[at : at + 500]))
    for _ in range(int(repeat)):
        with Stopwatch() as watch:
            for citation, content in cited:
                assert await verify_citation(citation, content, Path(base))
        told.note("verify", watch.spent)
        told.note("verify one by one", watch.spent)


def _citation(source: str, start: int, end: int) -> Citation:
    return Citation(document_id="d", chunk_id="c", source=source, start_offset=start, end_offset=end)


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    chosen = {each.__name__: each for each in (opening, warm, changing, verifying)}[sys.argv[1]]
    measures = Measures()
    asyncio.run(chosen(measures, *sys.argv[2:]))
    measures.tell()
