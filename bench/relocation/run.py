"""What becomes of a passage under edits whose truth is known: this project's rule beside that of annotation tools.

`python bench/relocation/run.py --trials 100 --seed 1`. It prints a table for each set of edits.
"""

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))

import record
from kinds import HARDER, NAMED, Kind
from sources import LANGUAGES, folder
from trials import LOOSE, LOST, RIGHT, WRONG, Rule, judged, ours, strict_tools, tools, trials

LENGTHS = (40, 120, 400)
US = "groundkit"
RULES: dict[str, Rule] = {US: ours, "tools, 1/2": tools, "tools, 1/4": strict_tools}
_SHOWN = (RIGHT, WRONG, LOST)

#: Verdicts by kind of edit, length of quote and rule.
Tally = dict[tuple[str, int, str], Counter[str]]


def tally(options: argparse.Namespace, kinds: Mapping[str, Kind], count: int, language: str = "") -> Tally:
    found: Tally = defaultdict(Counter)
    redrawn: Counter[str] = Counter()
    rules = {US: RULES[US]} if options.ours else RULES
    for name, kind in kinds.items():
        if options.only and not any(each in name for each in options.only.split("|")):
            continue
        for length in LENGTHS:
            each_trial = trials(options.seed, name, kind, length, count, language, redrawn)
            for number, trial in enumerate(each_trial):
                for who, rule in rules.items():
                    verdict = judged(trial, rule(trial))
                    found[name, length, who][verdict] += 1
                    if who == US and verdict in (WRONG, LOST):
                        print(f"{verdict}: {name}, {length}, {language or '-'}, number {number}", file=sys.stderr)
        print(f"done: {name} {language}", file=sys.stderr, flush=True)
    print(f"drawn again: {dict(redrawn)}", file=sys.stderr)
    return found


def table(title: str, found: Tally) -> str:
    """A line for each kind and length, and their sum. What is right includes what is loose."""
    who = [each for each in RULES if any(key[2] == each for key in found)]
    head = [title, "quote", "trials", *(f"{each}: {verdict}" for each in who for verdict in _SHOWN), "loose"]
    lines = [head, ["---", *("---:" for _ in head[1:])]]
    rows = list(dict.fromkeys(key[:2] for key in found))
    for name, length in rows:
        lines.append([name, str(length), *_cells([found[name, length, each] for each in who])])
    sums = [sum((found[*row, each] for row in rows), Counter()) for each in who]
    lines.append(["**all**", "", *_cells(sums)])
    lines.append(
        [
            "**share**",
            "",
            "",
            *(f"{_shown(each, verdict) / each.total():.2%}" for each in sums for verdict in _SHOWN),
            "",
        ]
    )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cells(counts: list[Counter[str]]) -> list[str]:
    shown = [str(_shown(each, verdict)) for each in counts for verdict in _SHOWN]
    return [str(counts[0].total()), *shown, " / ".join(str(each[LOOSE]) for each in counts)]


def _shown(counts: Counter[str], verdict: str) -> int:
    return counts[verdict] + (counts[LOOSE] if verdict == RIGHT else 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100, help="for each named kind of edit and length of quote")
    parser.add_argument("--harder", type=int, help="for each of the harder kinds (a quarter of --trials)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sets", default="named,harder,languages")
    parser.add_argument("--only", default="", help="parts of names of kinds, with | between them")
    parser.add_argument("--ours", action="store_true", help="leave the annotation tools out")
    options = parser.parse_args()
    folder("text")
    few = options.harder or max(1, options.trials // 4)
    sets = {"named": [("edit", NAMED, options.trials, "")], "harder": [("harder edit", HARDER, few, "")]}
    sets["languages"] = [(f"{language}", NAMED | _some_harder(), few, language) for language in LANGUAGES]
    written = {}
    for each in options.sets.split(","):
        for title, kinds, count, language in sets[each]:
            found = tally(options, kinds, count, language)
            print(table(title, found) + "\n", flush=True)
            written[title] = {
                (f"{name}, {length}", verdict, who): [float(counts[verdict])]
                for (name, length, who), counts in found.items()
                for verdict in (RIGHT, LOOSE, WRONG, LOST)
            }
    record.write(f"relocation-seed-{options.seed}", 1, written)


def _some_harder() -> dict[str, Kind]:
    names = (
        "paragraph deleted, a like paragraph stays",
        "10 to 30 % of its words edited",
        "one of like items, deleted",
    )
    return {name: HARDER[name] for name in names}


if __name__ == "__main__":
    main()
