"""Marks, tokens and what recovery does."""

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from groundkit.core.changes import NewDocument, Write, first_token, token_after, token_after_recount
from groundkit.core.model import DocumentRecord, FromText
from groundkit.core.recovery import Finish, Rebuild, Replay, recovery_for
from groundkit.core.settings import Settings
from groundkit.core.storage import Generation, Mark, Statistics, StoreState

ANALYZERS = st.sampled_from(("words/1", "words/2"))
#: Few of each, so that they often meet.
MARKS = st.builds(Mark, st.integers(0, 3), st.sampled_from(("s", "t", "u")))
GENERATIONS = st.builds(Generation, MARKS, st.just(Statistics()), ANALYZERS)


@st.composite
def states(draw: st.DrawFn) -> StoreState:
    current, tip = draw(GENERATIONS), draw(GENERATIONS)
    if tip.mark.generation <= current.mark.generation:
        tip = current
    return StoreState(current, tip, draw(st.integers(0, 3)), Settings())


@given(states(), st.none() | MARKS, ANALYZERS)
def test_an_index_is_kept_exactly_when_it_is_at_an_end_that_one_known_step_completes(
    state: StoreState, held: Mark | None, analyzer: str
) -> None:
    done = recovery_for(state, held, analyzer)
    if held == state.tip.mark and state.tip.analyzer == analyzer:
        assert done == Finish()
        return
    one_write = state.tip.mark.generation - state.current.mark.generation == 1
    same_rows = state.current.analyzer == state.tip.analyzer == analyzer
    assert (done == Replay()) == (held == state.current.mark and one_write and same_rows)
    assert isinstance(done, Rebuild) != (done == Replay())


@given(states(), st.none() | MARKS)
def test_an_index_is_paired_with_the_end_whose_number_and_token_it_has(state: StoreState, held: Mark | None) -> None:
    paired = state.generation(held)
    assert (paired is not None) == (held in (state.current.mark, state.tip.mark))
    assert paired is None or paired.mark == held


names = st.text("ab:1", max_size=3)
records = st.builds(
    DocumentRecord,
    document_id=names,
    source=names,
    provenance=st.just(FromText()),
    text_digest=st.just("d"),
    length=st.just(1),
    chunks=st.integers(0, 2),
    media_type=st.just("text/plain"),
    title=st.just(""),
    fingerprint=names,
    ingested_at=st.sampled_from(("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z")),
)
writes = st.builds(
    Write,
    documents=st.lists(st.builds(NewDocument, records, st.just(())), max_size=2).map(tuple),
    rebound=st.lists(records, max_size=2).map(tuple),
    removed=st.lists(names, max_size=2).map(tuple),
    settings=st.none() | st.builds(Settings, chunk_size=st.integers(16, 18)),
)


def work_of(write: Write) -> object:
    """What a write does, but for the hour."""

    def timeless(record: DocumentRecord) -> object:
        return (record.document_id, record.fingerprint, record.chunks)

    documents = [timeless(each.record) for each in write.documents]
    return documents, [timeless(each) for each in write.rebound], write.removed, write.settings


@given(names, writes, names, writes)
def test_tokens_are_equal_exactly_when_what_was_before_and_the_work_are(
    before: str, write: Write, other_before: str, other: Write
) -> None:
    same = (before, work_of(write)) == (other_before, work_of(other))
    assert (token_after(before, write) == token_after(other_before, other)) == same


@given(names, writes)
def test_no_time_enters_a_token(before: str, write: Write) -> None:
    def at(record: DocumentRecord) -> DocumentRecord:
        return evolve(record, ingested_at="1970-01-01T00:00:00Z")

    documents = tuple(evolve(each, record=at(each.record)) for each in write.documents)
    later = evolve(write, documents=documents, rebound=tuple(map(at, write.rebound)))
    assert token_after(before, later) == token_after(before, write)


@given(names, writes, ANALYZERS)
def test_beginnings_recounts_and_writes_never_share_a_token(before: str, write: Write, analyzer: str) -> None:
    made = {first_token(Settings(), analyzer), token_after_recount(before, analyzer), token_after(before, write)}
    assert len(made) == 3


@given(writes)
def test_a_write_is_empty_exactly_when_nothing_is_in_it(write: Write) -> None:
    assert write.empty == (write == Write())
