"""What chunk size and overlap do to retrieval: nDCG@10 on Cranfield, MED and SciFact, as a table.

`python bench/chunk_sizes.py [folder of the collections]`. BM25 (k1 = 1.2, b = 0.75) in float64 over words stemmed for
English; a document scores as its best chunk; linear gains. `single`: every abstract is a document of its own. `joined`:
twenty abstracts are one long document, and a chunk counts for the abstract it covers most of. `growth` is the text in
chunks over the text: what postings and stored rows grow by.
"""

import json
import math
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from heapq import nsmallest
from pathlib import Path

import tantivy

from groundkit.core.chunking import chunk_spans
from groundkit.core.settings import Settings

SIZES = (400, 600, 800, 1000, 1200, 1600, 2400, 1_000_000)
OVERLAPS = (0.0, 0.1, 0.2)
COLLECTIONS = ("cranfield", "med", "scifact")
JOINED = 20
K1, B, DEPTH = 1.2, 0.75, 10

ANALYZER = (
    tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(r"[\p{L}\p{N}_\p{M}]+"))
    .filter(tantivy.Filter.lowercase())
    .filter(tantivy.Filter.stemmer("english"))
    .build()
)

Judgements = dict[str, dict[str, int]]


def lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def abstracts(folder: Path) -> dict[str, str]:
    """Text by id; a title stands above it unless the text repeats it."""
    found = {}
    for each in lines(folder / "corpus.jsonl"):
        title = each.get("title", "")
        apart = title and not each["text"].startswith(title)
        found[each["id"]] = f"{title}\n\n{each['text']}" if apart else each["text"]
    return found


def judgements(folder: Path) -> Judgements:
    relevant: Judgements = defaultdict(dict)
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        query, document, score = line.split("\t")[:3]
        if score.lstrip("-").isdigit() and int(score) > 0:
            relevant[query][document] = int(score)
    return relevant


def single(texts: dict[str, str], settings: Settings) -> Iterator[tuple[str, str]]:
    """Chunk texts with the abstract they count for."""
    for name, text in texts.items():
        for span, _ in chunk_spans(text, "text/plain", settings):
            yield name, text[span.start : span.end]


def joined(texts: dict[str, str], settings: Settings) -> Iterator[tuple[str, str]]:
    names = list(texts)
    for begin in range(0, len(names), JOINED):
        group = names[begin : begin + JOINED]
        ranges, text = [], ""
        for name in group:
            ranges.append((len(text), len(text) + len(texts[name]), name))
            text += texts[name] + "\n\n"
        for span, _ in chunk_spans(text, "text/plain", settings):
            best = max(ranges, key=lambda each: min(each[1], span.end) - max(each[0], span.start))
            yield best[2], text[span.start : span.end]


class Ranking:
    def __init__(self, chunks: list[tuple[str, str]]) -> None:
        self.names = [name for name, _ in chunks]
        counted = [Counter(ANALYZER.analyze(text)) for _, text in chunks]
        sizes = [each.total() for each in counted]
        mean = sum(sizes) / len(sizes)
        self.norms = [K1 * (1 - B + B * size / mean) for size in sizes]
        self.known: dict[str, list[tuple[int, float]]] = {}
        self.postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for row, counts in enumerate(counted):
            for term, count in counts.items():
                self.postings[term].append((row, count))

    def weights(self, term: str) -> list[tuple[int, float]]:
        if term not in self.known:
            posted = self.postings.get(term, [])
            idf = math.log(1 + (len(self.norms) - len(posted) + 0.5) / (len(posted) + 0.5))
            self.known[term] = [(row, idf * count * (K1 + 1) / (count + self.norms[row])) for row, count in posted]
        return self.known[term]

    def best(self, query: str) -> list[str]:
        scores = [0.0] * len(self.names)
        for term in sorted(set(ANALYZER.analyze(query))):
            for row, weight in self.weights(term):
                scores[row] += weight
        of_document: dict[str, float] = {}
        for name, score in zip(self.names, scores, strict=True):
            if score > of_document.get(name, 0.0):
                of_document[name] = score
        return nsmallest(DEPTH, of_document, key=lambda name: (-of_document[name], name))


def ndcg(found: list[str], relevant: dict[str, int]) -> float:
    gained = sum(relevant.get(name, 0) / math.log2(place + 2) for place, name in enumerate(found))
    ideal = sorted(relevant.values(), reverse=True)[:DEPTH]
    return gained / sum(gain / math.log2(place + 2) for place, gain in enumerate(ideal))


def measured(chunks: list[tuple[str, str]], queries: dict[str, str], relevant: Judgements) -> float:
    ranking = Ranking(chunks)
    return sum(ndcg(ranking.best(queries[each]), relevant[each]) for each in relevant) / len(relevant)


def main(root: Path) -> None:
    corpora = []
    for name in COLLECTIONS:
        queries = {each["id"]: each["text"] for each in lines(root / name / "queries.jsonl")}
        corpora.append((abstracts(root / name), queries, judgements(root / name)))
    heads = [f"{way} {name}" for way in ("single", "joined") for name in COLLECTIONS]
    print("| size | overlap | growth | " + " | ".join(heads) + " | joined mean |")
    print("| ---: | ---: | ---: |" + " ---: |" * (len(heads) + 1))
    for size in SIZES:
        for overlap in OVERLAPS if size < SIZES[-1] else OVERLAPS[:1]:
            settings = Settings(chunk_size=size, chunk_overlap=int(size * overlap))
            row, text, kept = [], 0, 0
            for way in (single, joined):
                for texts, queries, relevant in corpora:
                    if way is joined and size == SIZES[-1]:
                        continue
                    made = list(way(texts, settings))
                    if way is joined:
                        text += sum(map(len, texts.values()))
                        kept += sum(len(part) for _, part in made)
                    row.append(measured(made, queries, relevant))
            shown = [f"{each:.4f}" for each in row] + ["–"] * (len(heads) - len(row))
            mean = f"{sum(row[3:]) / 3:.4f}" if len(row) > 3 else "–"
            label = str(size) if size < SIZES[-1] else "whole"
            growth = f"{kept / text:.2f}" if text else "–"
            print(f"| {label} | {overlap:.0%} | {growth} | " + " | ".join(shown) + f" | {mean} |", flush=True)


if __name__ == "__main__":
    shared = Path(os.environ.get("GK_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else shared / "data" / "ir")
