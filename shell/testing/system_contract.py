"""What every `Clock` and every `WriterLock` promises. Subclass, say how one is made, and run it with pytest."""

import threading
from datetime import UTC, datetime

from groundkit.core.ports import Clock, LockBusy, WriterLock
from groundkit.core.result import Failure, Success


class ClockContract:
    def make(self) -> Clock:
        raise NotImplementedError

    def test_now_is_a_second_of_utc(self) -> None:
        said = self.make().now()
        assert datetime.strptime(said, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).strftime("%Y-%m-%dT%H:%M:%SZ") == said

    def test_time_does_not_run_backwards(self) -> None:
        clock = self.make()
        assert clock.now() <= clock.now()


class WriterLockContract:
    """`make` gives one lock anew on each call; `same` another object, or the same, for the same lock."""

    def make(self) -> WriterLock:
        raise NotImplementedError

    def same(self, lock: WriterLock) -> WriterLock:
        raise NotImplementedError

    def test_a_lock_is_held_by_one_at_a_time(self) -> None:
        lock = self.make()
        with lock.hold(0).unwrap():
            for again in (lock, self.same(lock)):
                refused = again.hold(0)
                assert isinstance(refused, Failure)
                assert isinstance(refused.failure(), LockBusy)

    def test_a_lock_that_was_let_go_can_be_held_again(self) -> None:
        lock = self.make()
        for _ in range(3):
            with lock.hold(0).unwrap():
                pass
        assert isinstance(self.same(lock).hold(0), Success)

    def test_a_lock_is_let_go_when_its_holder_raises(self) -> None:
        lock = self.make()
        try:
            with lock.hold(0).unwrap():
                raise ValueError
        except ValueError:
            pass
        with self.same(lock).hold(0).unwrap():
            pass

    def test_two_locks_do_not_meet(self) -> None:
        with self.make().hold(0).unwrap(), self.make().hold(0).unwrap():
            pass

    def test_who_waits_long_enough_gets_the_lock(self) -> None:
        lock = self.make()
        got = threading.Event()

        def wait() -> None:
            with self.same(lock).hold(60).unwrap():
                got.set()

        waiting = threading.Thread(target=wait)
        with lock.hold(0).unwrap():
            waiting.start()
            assert not got.wait(0.1)
        waiting.join()
        assert got.is_set()

    def test_the_refusal_says_who_holds_it(self) -> None:
        lock = self.make()
        with lock.hold(0).unwrap():
            refused = self.same(lock).hold(0.05).failure()
        assert isinstance(refused, LockBusy)
        assert refused.holder
        assert refused.holder.isprintable()
