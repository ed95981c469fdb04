"""Whether two stages differ by more than chance: a paired randomisation test (Fisher 1935; Smucker et al. 2007). ADR 0035."""

from collections.abc import Iterator, Sequence

from attrs import frozen

from groundkit.core.metrics import mean

#: Up to so many pairs that differ, every assignment of signs is looked at; above, `PERMUTATIONS` random ones.
MOST_EXACT = 12
PERMUTATIONS = 10_000
SEED = 0x67726F756E64

#: Differences are compared as whole numbers of this part, so that the order of a sum decides nothing.
_GRID = 10**12
#: Pairs whose signs one byte of a random number decides.
_BYTE = 8
_WORD = 0xFFFF_FFFF_FFFF_FFFF


@frozen
class Comparison:
    """One stage beside another over the same queries. `difference` is the mean of (it − the other).

    `p` is two-sided: how often signs that are drawn at random make the mean as far from 0 as it is. Never 0; 1 where no pair
    differs. `exact` where every assignment of signs was looked at.
    """

    difference: float
    p: float
    wins: int
    ties: int
    losses: int
    exact: bool

    @property
    def pairs(self) -> int:
        return self.wins + self.ties + self.losses


def compared(ours: Sequence[float], theirs: Sequence[float], seed: int = SEED) -> Comparison:
    """Two equally long rows of values, pair by pair. The same for the same pairs in whatever order."""
    differences = [mine - other for mine, other in zip(ours, theirs, strict=True)]
    steps = [round(each * _GRID) for each in differences]
    wins, losses = sum(each > 0 for each in steps), sum(each < 0 for each in steps)
    # A pair without a difference adds nothing under either sign. Sorted, so that the order of the queries decides nothing.
    sizes = sorted(abs(each) for each in steps if each)
    exact = len(sizes) <= MOST_EXACT
    p = _exact(sizes, abs(sum(steps))) if exact else _sampled(sizes, abs(sum(steps)), seed)
    return Comparison(mean(differences), p, wins, len(steps) - wins - losses, losses, exact)


def _exact(sizes: Sequence[int], observed: int) -> float:
    """The part of all assignments of signs that reach the observed sum; the observed one is among them."""
    sums = _signed_sums(sizes)
    return sum(abs(each) >= observed for each in sums) / len(sums)


def _sampled(sizes: Sequence[int], observed: int, seed: int) -> float:
    """The same of random ones; the observed assignment counts as one more, so that no chance is called impossible."""
    tables = [_signed_sums(sizes[at : at + _BYTE]) for at in range(0, len(sizes), _BYTE)]
    # The last table may have fewer pairs than a byte has bits.
    masks = [len(table) - 1 for table in tables]
    drawn = _bytes(seed)
    hits = 0
    for _ in range(PERMUTATIONS):
        total = sum([table[next(drawn) & mask] for table, mask in zip(tables, masks, strict=True)])
        hits += abs(total) >= observed
    return (hits + 1) / (PERMUTATIONS + 1)


def _signed_sums(sizes: Sequence[int]) -> list[int]:
    """The sums under all 2^n assignments of signs."""
    sums = [0]
    for size in sizes:
        sums = [each - size for each in sums] + [each + size for each in sums]
    return sums


def _bytes(seed: int) -> Iterator[int]:
    """Random bytes without end: SplitMix64 (Steele, Lea, Flood 2014), each number from its lowest byte on."""
    state = seed & _WORD
    while True:
        state = (state + 0x9E37_79B9_7F4A_7C15) & _WORD
        yield from split_mix(state).to_bytes(8, "little")


def split_mix(state: int) -> int:
    """The number that SplitMix64 makes of a state of 64 bits."""
    mixed = ((state ^ (state >> 30)) * 0xBF58_476D_1CE4_E5B9) & _WORD
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D0_49BB_1331_11EB) & _WORD
    return mixed ^ (mixed >> 31)
