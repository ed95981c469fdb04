"""How often a hybrid search abstains: of the queries that a collection answers, and of those of other collections.

`python bench/abstention.py [folder of the collections]`. Queries with odd numbers of Cranfield and MED, and SciFact's training
judgements, are the side on which the rule was searched for; ADR 0034 says how cleanly. Here all test queries are asked. MED
and SciFact are both about medicine, so that one has passages on what the other's queries ask is no fault of the rule.
"""

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import groundkit
from groundkit.collection import Collection
from groundkit.judged_files import read_judged
from groundkit.trial import written

COLLECTIONS = ("cranfield", "med", "scifact")
#: So many queries of each other collection.
FOREIGN = 120
#: What no scientific abstract answers.
ELSEWHERE = (
    "xqzv blorp wimble frandit",
    "how do i bake sourdough bread at home",
    "best pizza in naples italy",
    "reset my wifi router password",
    "what is the offside rule in football",
)


def abstaining(kb: Collection, queries: Sequence[str]) -> int:
    answers = [kb.answer(each, mode="hybrid", limit=1) for each in queries]
    return sum(not answer.hits for answer in answers)


def main(root: Path) -> None:
    judged = {name: read_judged(root / name).unwrap() for name in COLLECTIONS}
    asked = {name: [query.text for query in found.queries] for name, found in judged.items()}
    print(
        "| collection | of its own queries | " + " | ".join(f"of {name}'s" for name in COLLECTIONS) + " | of others |"
    )
    print("| --- |" + " ---: |" * (len(COLLECTIONS) + 2))
    for name, found in judged.items():
        with tempfile.TemporaryDirectory() as place:
            written(found.corpus or (), Path(place) / "corpus")
            with groundkit.open(Path(place) / "index", base=Path(place) / "corpus") as kb:
                kb.ingest("", dense=True)
                cells = [f"{abstaining(kb, asked[name])} of {len(asked[name])}"]
                for other in COLLECTIONS:
                    foreign = asked[other][:FOREIGN]
                    cells.append("" if other == name else f"{abstaining(kb, foreign)} of {len(foreign)}")
                cells.append(f"{abstaining(kb, ELSEWHERE)} of {len(ELSEWHERE)}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    shared = Path(os.environ.get("GK_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else shared / "data" / "ir")
