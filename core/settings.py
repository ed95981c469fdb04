"""What a collection is told once and remembers."""

from attrs import asdict, evolve, frozen

from groundkit.core.result import Failure, Result, Success

#: A cluster longer than this many chunk sizes is cut in its middle.
HARD_LIMIT_FACTOR = 4
#: No source may be larger, in bytes, whatever a collection allows.
LARGEST = 1 << 40
#: No extraction may be given longer, in seconds, nor less memory, in bytes: a worker needs so much to begin.
LONGEST = 86_400
LEAST_MEMORY = 64 * 1024 * 1024
#: A large document honestly takes longer than a small one; so many of its bytes are worth one more second.
SIZE_PER_SECOND = 512 * 1024
#: No body of a page may be larger, in bytes: it is held in memory. No exchange may take longer, in seconds.
LARGEST_BODY = 1 << 30
LONGEST_FETCH = 3600
LANGUAGES = (
    "none", "arabic", "danish", "dutch", "english", "finnish", "french", "german", "greek", "hungarian", "italian",
    "norwegian", "portuguese", "romanian", "russian", "spanish", "swedish", "tamil", "turkish",
)  # fmt: skip


@frozen
class Settings:
    """Chunk size and overlap in code points, stemming language, and the largest source in bytes.

    One extraction may take `time_limit` seconds, `cpu_limit` seconds of a processor, and `memory_limit` bytes; for a
    large source more time, see `limits_for`. Of extractions made for verification, `cache_bytes` are kept on disk.
    A page may have `fetch_bytes` once its content coding is undone, and all of fetching it may take `fetch_seconds`; only
    `fetch_ports` are connected to.
    `base` is the base directory relative to the index directory (posix separators), or None while no local source was
    ingested. `recut` holds from a change of the chunk sizes until every source was cut by the new ones.
    """

    chunk_size: int = 1200
    chunk_overlap: int = 0
    language: str = "english"
    max_bytes: int = 64 * 1024 * 1024
    base: str | None = None
    recut: bool = False
    time_limit: int = 20
    cpu_limit: int = 10
    memory_limit: int = 512 * 1024 * 1024
    cache_bytes: int = 256 * 1024 * 1024
    fetch_bytes: int = 20 * 1024 * 1024
    fetch_seconds: int = 30
    fetch_ports: tuple[int, ...] = (80, 443)

    @property
    def hard_limit(self) -> int:
        """No chunk is longer than this, whatever the text."""
        return self.chunk_size * HARD_LIMIT_FACTOR


@frozen
class ExtractionLimits:
    """What one extraction may take: seconds by the clock, seconds of a processor, bytes of memory."""

    seconds: float
    cpu_seconds: int
    memory: int


@frozen
class SettingsRefused:
    """A setting outside its limits: its name, the value, what is allowed."""

    name: str
    value: object
    allowed: str


def checked(settings: Settings) -> Result[Settings, SettingsRefused]:
    """The settings, if every one lies within its limits."""
    if not 16 <= settings.chunk_size <= 1_000_000:
        return Failure(SettingsRefused("chunk_size", settings.chunk_size, "16 to 1000000 code points"))
    if not 0 <= settings.chunk_overlap < settings.chunk_size:
        return Failure(SettingsRefused("chunk_overlap", settings.chunk_overlap, "0 or more, and less than chunk_size"))
    if settings.language not in LANGUAGES:
        return Failure(SettingsRefused("language", settings.language, ", ".join(LANGUAGES)))
    if not 1 <= settings.max_bytes <= LARGEST:
        return Failure(SettingsRefused("max_bytes", settings.max_bytes, f"1 to {LARGEST} bytes"))
    for name in ("time_limit", "cpu_limit"):
        if not 1 <= getattr(settings, name) <= LONGEST:
            return Failure(SettingsRefused(name, getattr(settings, name), f"1 to {LONGEST} seconds"))
    if not LEAST_MEMORY <= settings.memory_limit <= LARGEST:
        return Failure(SettingsRefused("memory_limit", settings.memory_limit, f"{LEAST_MEMORY} to {LARGEST} bytes"))
    if not 0 <= settings.cache_bytes <= LARGEST:
        return Failure(SettingsRefused("cache_bytes", settings.cache_bytes, f"0 to {LARGEST} bytes"))
    if not 1 <= settings.fetch_bytes <= LARGEST_BODY:
        return Failure(SettingsRefused("fetch_bytes", settings.fetch_bytes, f"1 to {LARGEST_BODY} bytes"))
    if not 1 <= settings.fetch_seconds <= LONGEST_FETCH:
        return Failure(SettingsRefused("fetch_seconds", settings.fetch_seconds, f"1 to {LONGEST_FETCH} seconds"))
    if not settings.fetch_ports or not all(1 <= port <= 65_535 for port in settings.fetch_ports):
        return Failure(SettingsRefused("fetch_ports", settings.fetch_ports, "ports from 1 to 65535, at least one"))
    return Success(settings)


def limits_for(settings: Settings, size: int) -> ExtractionLimits:
    """What the extraction of a source of this many bytes may take: a second more for each 512 KiB of it."""
    more = size // SIZE_PER_SECOND
    return ExtractionLimits(settings.time_limit + more, settings.cpu_limit + more, settings.memory_limit)


@frozen
class SettingsChange:
    """What a request wants to be different; None leaves a setting as it is."""

    chunk_size: int | None = None
    chunk_overlap: int | None = None
    language: str | None = None
    max_bytes: int | None = None
    base: str | None = None
    time_limit: int | None = None
    cpu_limit: int | None = None
    memory_limit: int | None = None
    cache_bytes: int | None = None
    fetch_bytes: int | None = None
    fetch_seconds: int | None = None
    fetch_ports: tuple[int, ...] | None = None


def changed(settings: Settings, change: SettingsChange) -> Result[Settings, SettingsRefused]:
    """The settings with the change in them, if they stay within their limits. Other chunk sizes ask for a `recut`."""
    given = asdict(change, filter=lambda _, value: value is not None)
    wanted = evolve(settings, **given)
    resized = (wanted.chunk_size, wanted.chunk_overlap) != (settings.chunk_size, settings.chunk_overlap)
    return checked(evolve(wanted, recut=settings.recut or resized))
