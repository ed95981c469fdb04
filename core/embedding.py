"""What turns texts into vectors is called by its identity, and a vector is whole numbers: cosines are the same everywhere.

A unit vector times `GRID`, rounded. The products of two of them and every partial sum of these are integers below 2²⁴, which
float32 holds exactly: no order of summing, number of threads or instruction set changes a cosine.
"""

import math
import struct
from collections.abc import Sequence
from enum import Enum, StrEnum

from attrs import frozen

from groundkit.core.result import Failure, Result, Success

#: Length of every vector but for rounding; with `MOST_DIMENSIONS` components, at most 4,064, whose square is below 2²⁴.
GRID, MOST_DIMENSIONS = 4000, 16_384


@frozen
class EmbeddingIdentity:
    """Who makes a collection's vectors. `digest` is that of the weights and of what else is known to decide, "" if nothing is."""

    provider: str
    model: str
    dimensions: int
    digest: str = ""

    @property
    def name(self) -> str:
        """What `--embedder` takes: `wordllama`, `ollama:model`."""
        return f"{self.provider}:{self.model}" if self.model else self.provider

    def __str__(self) -> str:
        told = f" ({self.digest[:12]})" if self.digest else ""
        return f"{self.name}, {self.dimensions} dimensions{told}"


class Purpose(StrEnum):
    """What a text is embedded for; some models want to be told."""

    DOCUMENT = "document"
    QUERY = "query"


class EmbedProblem(Enum):
    UNKNOWN = "unknown"
    MISSING = "missing"
    CONFIGURATION = "configuration"
    UNREACHABLE = "unreachable"
    REFUSED = "refused"
    ANSWER = "answer"


@frozen
class EmbedFailed:
    """Why there are no vectors. `detail` holds no key and nothing of the texts."""

    problem: EmbedProblem
    detail: str


@frozen
class VectorRefused:
    """What is wrong with a vector."""

    detail: str


@frozen
class IdentityDiffers:
    """A collection's vectors are of one embedder, and another one is at work."""

    recorded: EmbeddingIdentity
    active: EmbeddingIdentity


@frozen
class EmbedderNeeded:
    """A collection has vectors, and none can be made for what is to be written or looked for."""

    recorded: EmbeddingIdentity


def on_grid(values: Sequence[float], dimensions: int) -> Result[bytes, VectorRefused]:
    """The vector as it is stored: its direction on the grid, two bytes (little-endian) for each component.

    Refused: another number of components, one that is no finite number, and a vector without a direction.
    """
    try:
        numbers = [float(value) for value in values]
    except (TypeError, ValueError, OverflowError):
        return Failure(VectorRefused("a component is no number, or there are none"))
    if len(numbers) != dimensions:
        return Failure(VectorRefused(f"{len(numbers)} components where there should be {dimensions}"))
    if not all(map(math.isfinite, numbers)):
        return Failure(VectorRefused("a component is not a finite number"))
    # Scaled first: the squares of very large or small numbers are none.
    largest = max(map(abs, numbers), default=0.0)
    if largest == 0.0:
        return Failure(VectorRefused("every component is zero"))
    scaled = [number / largest for number in numbers]
    length = math.sqrt(math.fsum(value * value for value in scaled))
    return Success(struct.pack(f"<{dimensions}h", *(round(value / length * GRID) for value in scaled)))


def components(vector: bytes) -> tuple[int, ...]:
    """The components of a stored vector."""
    return struct.unpack(f"<{len(vector) // 2}h", vector)


def cosine(one: bytes, other: bytes) -> float:
    """Of two stored vectors, rounded to 9 decimals: what every index has to give."""
    a, b = components(one), components(other)
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return round(dot / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b)), 9)
