"""Law 9: whatever is done, fails or is killed, at rest the files beside the rows are those that rows name."""

import shutil
import tempfile
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from web_faults import STEPS, Fault, Faulty, Killed
from web_support import Pages, at_rest, bodies, named, page, snapshots, web_ports

from groundkit.collection import Collection
from groundkit.core.fetching import FetchFailed, FetchProblem
from groundkit.errors import GroundkitError
from groundkit.testing import InlineExtractions

URLS = tuple(f"https://{name}.example/" for name in "abc")
#: What a page says, or None where it cannot be fetched. With a tide in it, it has an entity tag.
SERVED = ("ferry tide", "moon rock lamp", "", None)


def faulty_collection(index: Path, pages: Pages, fault: Fault) -> Collection:
    ports = web_ports(index, pages)
    lexical = ports.lexical
    behind = evolve(
        ports,
        documents=Faulty(ports.documents, fault),
        lexical=lambda language: Faulty(lexical(language), fault),
        snapshots=Faulty(ports.snapshots, fault),
        bodies=Faulty(ports.bodies, fault),
        extractions=lambda _: InlineExtractions(),
    )
    return Collection(behind, index, "default", None)


class Lifetimes(RuleBasedStateMachine):
    """Pages come, change, fail and go; now and then a step of a write fails, or the process is killed there."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.index = self.folder / "index"
        self.web: Pages = {}
        self.stored: dict[str, str] = {}
        self.fault = Fault()
        self.settled = True
        self.collection = self.opened()

    def opened(self) -> Collection:
        return faulty_collection(self.index, self.web, self.fault)

    @rule(
        changes=st.dictionaries(st.sampled_from(URLS), st.sampled_from(SERVED), max_size=3),
        keep=st.booleans(),
        fault=st.one_of(
            st.none(),
            st.tuples(
                st.sampled_from(STEPS[:6]), st.integers(1, 3), st.sampled_from(("fail", "kill before", "kill after"))
            ),
        ),
    )
    def ingest(self, changes: dict[str, str | None], keep: bool, fault: tuple[str, int, str] | None) -> None:
        """The pages change, and are ingested, all of them."""
        for url, text in changes.items():
            failed = FetchFailed(FetchProblem.TIME, "it took too long")
            self.web[url] = failed if text is None else page(text, etag=f'"{text}"' if "tide" in text else "")
        self.carry_out(lambda: self.collection.ingest(URLS, keep_bodies=keep), fault)

    @rule(
        url=st.sampled_from(URLS),
        fault=st.one_of(
            st.none(),
            st.tuples(
                st.sampled_from(STEPS[2:6]), st.integers(1, 2), st.sampled_from(("fail", "kill before", "kill after"))
            ),
        ),
    )
    @precondition(lambda self: self.collection.exists)
    def remove(self, url: str, fault: tuple[str, int, str] | None) -> None:
        self.carry_out(lambda: self.collection.remove(url), fault)

    @rule(
        sure=st.integers(0, 3),
        fault=st.one_of(st.none(), st.tuples(st.sampled_from(STEPS[6:]), st.integers(1, 2), st.just("kill before"))),
    )
    @precondition(lambda self: self.collection.exists)
    def drop(self, sure: int, fault: tuple[str, int, str] | None) -> None:
        if sure:
            return
        self.carry_out(self.collection.drop, fault)
        if fault is None:
            assert not snapshots(self.index)
            assert not bodies(self.index)

    def carry_out(self, work: object, fault: tuple[str, int, str] | None) -> None:
        """One operation, perhaps with a fault in it, and what must hold after it."""
        self.fault.step, self.fault.countdown, self.fault.how = fault or ("", 0, "")
        try:
            work()  # type: ignore[operator]
        except Killed:
            self.settled = False
            self.collection.close()
            self.fault.step = ""
            self.collection = self.opened()
        except GroundkitError:
            assert fault is not None
            # What was not accepted left nothing behind.
            self.settled = fault[0] in ("put", "settle", "stage") and fault[2] == "fail"
        else:
            self.settled = fault is None
        self.fault.step = ""
        if not (self.index / "default.sqlite3").exists() or not self.collection.exists:
            return
        # No row ever names a file that is missing, or that is not its text.
        rows, raw = named(self.index)
        assert rows <= snapshots(self.index)
        assert raw <= bodies(self.index)
        assert all(each.verification for each in self.collection.verify_all())
        if self.settled:
            assert at_rest(self.index)
            assert self.collection.doctor().healthy

    def teardown(self) -> None:
        if not hasattr(self, "folder"):
            return
        self.fault.step = ""
        self.collection.close()
        with self.opened() as kb:
            if any(not isinstance(each, FetchFailed) for each in self.web.values()):
                kb.ingest(list(URLS))
                assert at_rest(self.index)
                assert kb.doctor().healthy
        shutil.rmtree(self.folder)


TestLifetimes = Lifetimes.TestCase
TestLifetimes.settings = settings(
    max_examples=30 if settings().max_examples < 1000 else 500, stateful_step_count=12, deadline=None
)


WORK = {
    "ingest": lambda kb: kb.ingest(URLS, keep_bodies=True),
    "remove": lambda kb: kb.remove(URLS[:2]),
}


@pytest.mark.parametrize("how", ["fail", "kill before", "kill after"])
@pytest.mark.parametrize("step", STEPS[:6])
@pytest.mark.parametrize("work", WORK)
def test_whatever_step_of_a_write_fails_or_is_the_last_one_files_are_rows_in_the_end(
    tmp_path: Path, work: str, step: str, how: str
) -> None:
    """What was refused leaves nothing at once; of what was killed, the next writer leaves nothing, whatever it is about."""
    index, web, fault = tmp_path / "index", {url: page("ferry tide") for url in URLS}, Fault()
    with faulty_collection(index, web, fault) as kb:
        kb.ingest(URLS, keep_bodies=True)
        web |= {URLS[0]: page("moon rock"), URLS[1]: page("lamp")}
        fault.step, fault.countdown, fault.how = step, 1, how
        try:
            WORK[work](kb)
        except Killed:
            reached = True
        except GroundkitError:
            reached = True
            assert at_rest(index)
        else:
            reached = fault.countdown < 1
        assert reached is (work == "ingest" or step not in ("put", "settle"))
        fault.step = ""
        rows, raw = named(index)
        assert rows <= snapshots(index)
        assert raw <= bodies(index)
        assert all(each.verification for each in kb.verify_all())
    with faulty_collection(index, web, fault) as kb:
        assert kb.ingest(URLS[2], keep_bodies=True).unchanged == 1
        assert at_rest(index)
        assert kb.doctor().healthy
