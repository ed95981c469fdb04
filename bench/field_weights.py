"""How often words of headings and titles should count: nDCG@10 on Cranfield, MED and SciFact, as a table.

`python bench/field_weights.py [folder of the collections]`. Every abstract is a document of its own with its title as its
heading, cut as `gk ingest` cuts Markdown; a document scores as its best chunk by BM25 (k1 = 1.2, b = 0.75) in float64 over
words stemmed for English; linear gains. A weight is how often headings and title are added to what is indexed of a chunk.
`train` and `test` are SciFact's own judgements; of Cranfield and MED, which have no such sides, queries with odd numbers are
for training and those with even numbers for testing. The weight is taken from the training sides alone.
"""

import json
import math
import os
import sys
from collections import Counter, defaultdict
from heapq import nsmallest
from pathlib import Path

from groundkit.adapters.tantivy_index.terms import Terms, tokenizer_for
from groundkit.core.folding import SEAM, search_view
from groundkit.core.settings import Settings
from groundkit.core.versions import text_origin, text_version

SIZES = (1200, 2400)
WEIGHTS = (0, 1, 2, 3, 4)
COLLECTIONS = ("cranfield", "med", "scifact")
K1, B, DEPTH = 1.2, 0.75, 10

TERMS = Terms(tokenizer_for("english"))

Judgements = dict[str, dict[str, int]]
#: The abstract a chunk is of, the terms of its text, the terms of what stands above it.
Part = tuple[str, list[str], list[str]]


def terms_of(text: str) -> list[str]:
    return TERMS.of(search_view(text)[0])


def lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def abstracts(folder: Path) -> dict[str, str]:
    """Markdown by id: the title is the heading, whether or not the text repeats it."""
    found = {}
    for each in lines(folder / "corpus.jsonl"):
        title = each.get("title", "")
        text = each["text"].removeprefix(title).lstrip() if title else each["text"]
        found[each["id"]] = f"# {' '.join(title.split())}\n\n{text}" if title else text
    return found


def judgements(path: Path) -> Judgements:
    relevant: Judgements = defaultdict(dict)
    for line in path.read_text(encoding="utf-8").splitlines():
        query, document, score = line.split("\t")[:3]
        if score.lstrip("-").isdigit() and int(score) > 0:
            relevant[query][document] = int(score)
    return relevant


def sides(folder: Path) -> tuple[Judgements, Judgements]:
    """Judgements for training and for testing."""
    judged, train = judgements(folder / "qrels.tsv"), folder / "qrels.train.tsv"
    if train.exists():
        return judgements(train), judged
    odd = {query: relevant for query, relevant in judged.items() if int(query) % 2}
    return odd, {query: relevant for query, relevant in judged.items() if query not in odd}


def parts(texts: dict[str, str], settings: Settings) -> list[Part]:
    found = []
    for name, text in texts.items():
        origin = text_origin(f"{name}.md", "0" * 64, "text/markdown", settings)
        version = text_version(origin, text, settings, "")
        for each in version.chunks:
            path, title = each.chunk.locator.heading_path, version.record.title
            above = path if title in path else (title, *path)
            told = [term for heading in above if heading for term in (SEAM, *terms_of(heading))]
            found.append((name, terms_of(each.chunk.text), told))
    return found


class Ranking:
    def __init__(self, made: list[Part], weight: int) -> None:
        self.names = [name for name, _, _ in made]
        counted = [Counter(text + above * weight) for _, text, above in made]
        sizes = [each.total() for each in counted]
        mean = sum(sizes) / len(sizes)
        self.norms = [K1 * (1 - B + B * size / mean) for size in sizes]
        self.postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for row, counts in enumerate(counted):
            for term, count in counts.items():
                self.postings[term].append((row, count))

    def best(self, query: str) -> list[str]:
        scores: dict[int, float] = defaultdict(float)
        for term in sorted(set(terms_of(query))):
            posted = self.postings.get(term, [])
            idf = math.log(1 + (len(self.norms) - len(posted) + 0.5) / (len(posted) + 0.5))
            for row, count in posted:
                scores[row] += idf * count * (K1 + 1) / (count + self.norms[row])
        of_document: dict[str, float] = defaultdict(float)
        for row, score in scores.items():
            of_document[self.names[row]] = max(of_document[self.names[row]], score)
        return nsmallest(DEPTH, of_document, key=lambda name: (-of_document[name], name))


def ndcg(found: list[str], relevant: dict[str, int]) -> float:
    gained = sum(relevant.get(name, 0) / math.log2(place + 2) for place, name in enumerate(found))
    ideal = sorted(relevant.values(), reverse=True)[:DEPTH]
    return gained / sum(gain / math.log2(place + 2) for place, gain in enumerate(ideal))


def measured(ranking: Ranking, queries: dict[str, str], judged: Judgements) -> float:
    return sum(ndcg(ranking.best(queries[each]), judged[each]) for each in judged) / len(judged)


def main(root: Path) -> None:
    heads = [f"{name} {side}" for name in COLLECTIONS for side in ("train", "test")]
    print("| size | weight | " + " | ".join(heads) + " |")
    print("| ---: | ---: |" + " ---: |" * len(heads))
    corpora = []
    for name in COLLECTIONS:
        queries = {each["id"]: each["text"] for each in lines(root / name / "queries.jsonl")}
        corpora.append((abstracts(root / name), queries, sides(root / name)))
    for size in SIZES:
        made = [parts(texts, Settings(chunk_size=size)) for texts, _, _ in corpora]
        for weight in WEIGHTS:
            row = []
            for each, (_, queries, both) in zip(made, corpora, strict=True):
                ranking = Ranking(each, weight)
                row += [measured(ranking, queries, judged) for judged in both]
            print(f"| {size} | {weight} | " + " | ".join(f"{each:.4f}" for each in row) + " |", flush=True)


if __name__ == "__main__":
    shared = Path(os.environ.get("GK_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else shared / "data" / "ir")
