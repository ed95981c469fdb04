"""What has to happen before anything is written. ADR 0006."""

from typing import TypeAlias

from attrs import frozen

from groundkit.core.storage import Mark, StoreState


@frozen
class Rebuild:
    """Make a new index from the store's rows at `tip`; what was there cannot be trusted."""

    why: str


@frozen
class Replay:
    """Apply the outbox; the index stands at `cur`."""


@frozen
class Finish:
    """The index already stands at `tip`; only the store's declaration is missing, if anything."""


Recovery: TypeAlias = Rebuild | Replay | Finish


def _told_by_outbox(state: StoreState) -> bool:
    """Whether the outbox leads from `current` to `tip`: over one write, and not over a recount, which makes new rows."""
    one_write = state.tip.mark.generation == state.current.mark.generation + 1
    return one_write and state.tip.analyzer == state.current.analyzer


def recovery_for(state: StoreState, held: Mark | None, analyzer: str) -> Recovery:
    """What has to happen before anything is written, from what the index says it holds (None: missing or unreadable)."""
    if state.tip.analyzer != analyzer:
        return Rebuild(f"the analyzer is now {analyzer}, the index was made by {state.tip.analyzer}")
    if held is None:
        return Rebuild("the lexical index is missing or unreadable")
    if held == state.tip.mark:
        return Finish()
    if held == state.current.mark:
        return Replay() if _told_by_outbox(state) else Rebuild("every chunk was counted anew since")
    return Rebuild("the lexical index holds another generation than the store")
