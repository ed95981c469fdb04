"""What all kept files promise, real or in memory: subclass, and give `make`."""

from collections.abc import Callable
from typing import TypeAlias

from attrs import frozen
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from groundkit.core.ports import KeptFiles
from groundkit.core.result import Failure, Success
from groundkit.core.snapshots import body_name, is_snapshot_name
from groundkit.core.storage import KeptListing, KeptProblem, KeptUnread

#: The real ones wait for their disk at every file.
shared = settings(suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow])

NAMES = tuple(f"{number:032x}" for number in (0, 1, 0xAB << 100))
CONTENTS = (b"", b"one\n", b"\xef\xbb\xbfzwei\r\n\0", bytes(range(256)) * 8)


@frozen
class Put:
    name: str
    data: bytes


@frozen
class Remove:
    name: str


@frozen
class Discard:
    pass


@frozen
class Settle:
    pass


Step: TypeAlias = Put | Remove | Discard | Settle
names = st.sampled_from(NAMES)
steps = st.one_of(
    st.builds(Put, names, st.sampled_from(CONTENTS) | st.binary(max_size=9)),
    st.builds(Remove, names),
    st.builds(Discard),
    st.builds(Settle),
)
no_names = st.text(max_size=5) | st.text(st.sampled_from("./\\\0:a0"), max_size=5) | st.sampled_from((
    *(".", "..", "../" + NAMES[0], "./" + NAMES[0], NAMES[0] + "/", NAMES[0] + "/.", "/etc/passwd", "a/" + NAMES[0]),
    *(NAMES[0][1:], NAMES[0] + "0", NAMES[2].upper(), NAMES[0] + "\n", NAMES[0] + "\0", "\uff10" * 32, "\ud800" * 32),
    body_name("0" * 64), "c:" + NAMES[0][2:],
))  # fmt: skip


class KeptFilesContract:
    """`make` gives kept files in a new place, for names of snapshots."""

    make: Callable[[], KeptFiles]

    def test_where_nothing_was_put_there_is_nothing_and_nothing_to_do(self) -> None:
        kept = self.make()
        for _ in range(2):
            assert kept.listed() == Success(KeptListing())
            assert [self._problem(kept, name) for name in NAMES] == [KeptProblem.MISSING] * len(NAMES)
            assert kept.settle() == kept.remove(NAMES[0]) == kept.discard() == Success(None)

    @shared
    @given(st.lists(steps, max_size=12))
    def test_files_hold_what_was_put_last_until_they_are_removed(self, history: list[Step]) -> None:
        kept = self.make()
        expected: dict[str, bytes] = {}
        for step in history:
            match step:
                case Put(name, data):
                    assert kept.put(name, data) == Success(name not in expected)
                    expected[name] = data
                case Remove(name):
                    assert kept.remove(name) == Success(None)
                    expected.pop(name, None)
                case Discard():
                    assert kept.discard() == Success(None)
                    expected.clear()
                case Settle():
                    assert kept.settle() == Success(None)
            assert kept.listed() == Success(KeptListing(tuple(sorted(expected))))
            found = {name: kept.get(name).unwrap() for name in expected}
            assert found == expected
            gone = [name for name in NAMES if name not in expected]
            assert [self._problem(kept, name) for name in gone] == [KeptProblem.MISSING] * len(gone)

    def test_large_files_come_back_whole(self) -> None:
        kept = self.make()
        large = bytes(range(251)) * 20_000
        kept.put(NAMES[0], large).unwrap()
        assert kept.get(NAMES[0]).unwrap() == large
        for other in (large[:-1], large[:-1] + b"\0", large + b"\0"):
            assert kept.put(NAMES[0], other) == Success(False)
            assert kept.get(NAMES[0]).unwrap() == other

    @shared
    @given(no_names)
    @example(body_name("0" * 64))
    def test_a_name_that_no_file_here_has_is_refused_by_everything(self, name: str) -> None:
        assert not is_snapshot_name(name)
        kept = self.make()
        kept.put(NAMES[0], b"one").unwrap()
        assert isinstance(kept.put(name, b"two"), Failure)
        assert isinstance(kept.remove(name), Failure)
        assert self._problem(kept, name) is KeptProblem.MISSING
        assert kept.listed() == Success(KeptListing((NAMES[0],)))
        assert kept.get(NAMES[0]) == Success(b"one")

    def _problem(self, kept: KeptFiles, name: str) -> KeptProblem:
        unread = kept.get(name).failure()
        assert isinstance(unread, KeptUnread)
        return unread.problem
