"""What a collection is told once and remembers."""

from attrs import asdict, evolve, frozen

from groundkit.core.result import Failure, Result, Success

#: A cluster longer than this many chunk sizes is cut in its middle.
HARD_LIMIT_FACTOR = 4
#: No source may be larger, in bytes, whatever a collection allows.
LARGEST = 1 << 40
LANGUAGES = (
    "none", "arabic", "danish", "dutch", "english", "finnish", "french", "german", "greek", "hungarian", "italian",
    "norwegian", "portuguese", "romanian", "russian", "spanish", "swedish", "tamil", "turkish",
)  # fmt: skip


@frozen
class Settings:
    """Chunk size and overlap in code points, stemming language, and the largest source in bytes.

    `base` is the base directory relative to the index directory (posix separators), or None while no local source was
    ingested. `recut` holds from a change of the chunk sizes until every source was cut by the new ones.
    """

    chunk_size: int = 1200
    chunk_overlap: int = 0
    language: str = "english"
    max_bytes: int = 64 * 1024 * 1024
    base: str | None = None
    recut: bool = False

    @property
    def hard_limit(self) -> int:
        """No chunk is longer than this, whatever the text."""
        return self.chunk_size * HARD_LIMIT_FACTOR


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
    return Success(settings)


@frozen
class SettingsChange:
    """What a request wants to be different; None leaves a setting as it is."""

    chunk_size: int | None = None
    chunk_overlap: int | None = None
    language: str | None = None
    max_bytes: int | None = None
    base: str | None = None


def changed(settings: Settings, change: SettingsChange) -> Result[Settings, SettingsRefused]:
    """The settings with the change in them, if they stay within their limits. Other chunk sizes ask for a `recut`."""
    given = asdict(change, filter=lambda _, value: value is not None)
    wanted = evolve(settings, **given)
    resized = (wanted.chunk_size, wanted.chunk_overlap) != (settings.chunk_size, settings.chunk_overlap)
    return checked(evolve(wanted, recut=settings.recut or resized))
