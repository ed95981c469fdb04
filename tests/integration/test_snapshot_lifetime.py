"""Law 9: whatever is done, fails or is killed, at rest the files beside the rows are those that rows name."""

import shutil
import tempfile
from pathlib import Path

from attrs import evolve
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from web_faults import STEPS, Fault, Faulty, Killed
from web_support import Pages, at_rest, bodies, named, page, snapshots, web_collection, web_ports

from groundkit.collection import Collection
from groundkit.core.fetching import FetchFailed, FetchProblem
from groundkit.errors import GroundkitError

URLS = tuple(f"https://{name}.example/" for name in "abc")
#: What a page says, or None where it cannot be fetched. With a tide in it, it has an entity tag.
SERVED = ("ferry tide", "moon rock lamp", "", None)


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
        ports = web_ports(self.index, self.web)
        lexical = ports.lexical
        faulty = evolve(
            ports,
            documents=Faulty(ports.documents, self.fault),
            lexical=lambda language: Faulty(lexical(language), self.fault),
            snapshots=Faulty(ports.snapshots, self.fault),
            bodies=Faulty(ports.bodies, self.fault),
        )
        return Collection(faulty, self.index, "default", None)

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
        with web_collection(self.index, self.web) as kb:
            if any(not isinstance(each, FetchFailed) for each in self.web.values()):
                kb.ingest(list(URLS))
                assert at_rest(self.index)
                assert kb.doctor().healthy
        shutil.rmtree(self.folder)


TestLifetimes = Lifetimes.TestCase
TestLifetimes.settings = settings(
    max_examples=30 if settings().max_examples < 1000 else 500, stateful_step_count=12, deadline=None
)
