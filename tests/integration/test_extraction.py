"""Extraction in worker processes: the contract, the limits, and every way for a worker to end."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest
from attrs import evolve, frozen
from commands import environment

from groundkit.adapters.extraction import WorkerPool
from groundkit.core.extraction import ExtractionProblem
from groundkit.core.ports import Extractions, Extractor
from groundkit.core.result import Failure, Success
from groundkit.core.settings import ExtractionLimits
from groundkit.testing.extraction_contract import ExtractionsContract
from groundkit.testing.memory_extraction import InlineExtractions
from groundkit.testing.sample_extractors import (
    LIMITS,
    Anew,
    Burning,
    Crashing,
    DiesOnce,
    Eating,
    Exiting,
    Garbling,
    Hanging,
    Leaving,
    Lines,
    Nothing,
    Pid,
    Printing,
    Raising,
    Random,
    Refusing,
    Sleeping,
    all_of,
    job,
    one_of,
    problem_of,
)

#: Room for the interpreter and little else.
SMALL = evolve(LIMITS, memory=200_000_000)
SHORT = evolve(LIMITS, seconds=0.5)
BRISK = evolve(LIMITS, cpu_seconds=1)


class TestWorkerPool(ExtractionsContract):
    def make(self) -> Extractions:
        return WorkerPool(2)


class TestInlineExtractions(ExtractionsContract):
    def make(self) -> Extractions:
        return InlineExtractions()


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    with closing(WorkerPool(1)) as made:
        yield made


def pid_of(pool: WorkerPool, limits: ExtractionLimits = LIMITS) -> int:
    return int(one_of(pool, job(Pid(), limits=limits)).unwrap().text)


def gone(pid: int) -> bool:
    """Whether no process has this number, or only the remains of one that its parent has yet to collect."""
    listed = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, check=False).stdout.strip()
    return listed == b"" or listed.startswith(b"Z")


def comes_true(fact: Callable[[], bool], seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while not fact():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def children() -> set[int]:
    """The processes that this one started and has not collected."""
    with subprocess.Popen(["ps", "-A", "-o", "pid=,ppid="], stdout=subprocess.PIPE) as listing:
        lines = [line.split() for line in listing.communicate()[0].splitlines()]
    return {int(pid) for pid, parent in lines if int(parent) == os.getpid()} - {listing.pid}


# Limits


def test_one_that_hangs_is_ended_at_its_time_and_the_next_one_works(pool: WorkerPool) -> None:
    problem, detail = problem_of(one_of(pool, job(Hanging(), limits=SHORT)))
    assert (problem, detail) == (ExtractionProblem.TIME, "took longer than 0.5 s; --time-limit raises it")
    assert one_of(pool, job(Lines())) == Lines().extract(b"text", job(Lines()).hint)


def test_one_that_burns_is_ended_at_its_processor_time(pool: WorkerPool) -> None:
    problem, detail = problem_of(one_of(pool, job(Burning(), limits=BRISK)))
    assert problem is ExtractionProblem.CPU
    assert detail == "took more than 1 s of a processor; --cpu-limit raises it"


def test_processor_time_counts_for_each_job_anew(pool: WorkerPool) -> None:
    before = pid_of(pool)
    for _ in range(3):
        assert isinstance(one_of(pool, job(Burning(seconds=0.4), limits=BRISK)), Success)
    assert pid_of(pool) == before


def test_one_that_eats_memory_is_told_so(pool: WorkerPool) -> None:
    problem, detail = problem_of(one_of(pool, job(Eating(), limits=SMALL)))
    assert problem is ExtractionProblem.MEMORY
    assert detail == "needed more than 190 MiB of memory; --memory-limit raises it"
    assert isinstance(one_of(pool, job(Lines(), limits=SMALL)), Success)


def test_data_that_leave_no_room_are_told_so_though_they_were_never_read(pool: WorkerPool) -> None:
    outcome = one_of(pool, job(Lines(), b"x" * 250_000_000, limits=SMALL))
    assert problem_of(outcome)[0] is ExtractionProblem.MEMORY
    assert isinstance(one_of(pool, job(Lines(), limits=SMALL)), Success)


def test_a_worker_that_held_much_makes_way_for_a_fresh_one(pool: WorkerPool) -> None:
    before = pid_of(pool, SMALL)
    assert int(one_of(pool, job(Eating(size=10_000_000), limits=SMALL)).unwrap().text) == before
    assert int(one_of(pool, job(Eating(size=90_000_000), limits=SMALL)).unwrap().text) == before
    assert pid_of(pool, SMALL) != before


def test_a_job_for_which_only_its_worker_had_no_room_is_done_by_another(pool: WorkerPool) -> None:
    before = pid_of(pool, SMALL)
    assert int(one_of(pool, job(Eating(size=45_000_000, leak=True), limits=SMALL)).unwrap().text) == before
    assert int(one_of(pool, job(Eating(size=140_000_000), limits=SMALL)).unwrap().text) != before


def test_a_worker_with_a_thread_left_in_it_makes_way_for_a_fresh_one(pool: WorkerPool) -> None:
    before = pid_of(pool)
    assert int(one_of(pool, job(Leaving())).unwrap().text) == before
    assert pid_of(pool) != before


# Ends


@pytest.mark.parametrize(
    ("extractor", "said"),
    [(Crashing(), "was killed by SIGSEGV, twice"), (Exiting(), "ended with exit code 3, twice")],
    ids=["crash", "exit"],
)
def test_a_worker_that_dies_of_its_job_takes_that_job_alone_with_it(
    pool: WorkerPool, extractor: Crashing | Exiting, said: str
) -> None:
    problem, detail = problem_of(one_of(pool, job(extractor)))
    assert problem is ExtractionProblem.DIED
    assert detail == f"its process {said}"
    assert isinstance(one_of(pool, job(Lines())), Success)


def test_a_job_whose_worker_died_once_is_done_by_another(pool: WorkerPool, tmp_path: Path) -> None:
    asked = job(DiesOnce(marker=str(tmp_path / "died")), b"done")
    assert one_of(pool, asked).unwrap().text == "done"
    assert (tmp_path / "died").exists()


def test_a_worker_that_is_killed_from_outside_in_the_middle_is_replaced(pool: WorkerPool) -> None:
    victim = pid_of(pool)
    pool.start(1, job(Sleeping(seconds=1.0)))
    time.sleep(0.2)
    os.kill(victim, signal.SIGKILL)
    [(key, outcome)] = all_of(pool, 1)
    assert key == 1
    assert int(outcome.unwrap().text) != victim


def test_a_worker_that_is_killed_while_it_waits_is_replaced_before_the_next_job(
    pool: WorkerPool, tmp_path: Path
) -> None:
    victim = pid_of(pool)
    os.kill(victim, signal.SIGKILL)
    assert comes_true(lambda: gone(victim))
    assert one_of(pool, job(DiesOnce(marker=str(tmp_path / "died")), b"done")).unwrap().text == "done"


def test_what_an_extractor_prints_or_reads_is_not_taken_for_an_answer(pool: WorkerPool) -> None:
    before = pid_of(pool)
    assert one_of(pool, job(Printing(), b"clear")).unwrap().text == "clear"
    assert pid_of(pool) == before


def test_garbage_in_the_pipe_is_no_answer(pool: WorkerPool) -> None:
    problem, detail = problem_of(one_of(pool, job(Garbling())))
    assert problem is ExtractionProblem.DIED
    assert detail == "its process sent what is no answer, twice"
    assert isinstance(one_of(pool, job(Lines())), Success)


def test_an_identity_that_the_worker_does_not_share_is_refused(pool: WorkerPool) -> None:
    problem, detail = problem_of(one_of(pool, job(Anew())))
    assert problem is ExtractionProblem.IDENTITY_CHANGED
    assert f"not anew@{os.getpid()}" in detail


def test_chance_is_neither_hidden_nor_a_failure(pool: WorkerPool) -> None:
    assert one_of(pool, job(Random())) != one_of(pool, job(Random()))


# Extractors that no other process can load


def local(kind: type) -> Extractor:
    """An extractor that no other process can load: its class is that of a function."""

    @frozen
    class Local(kind):  # type: ignore[misc, valid-type]
        pass

    return cast(Extractor, Local())


@pytest.mark.parametrize(
    ("kind", "limits", "problem"),
    [
        (Hanging, evolve(LIMITS, seconds=0.5), ExtractionProblem.TIME),
        (Burning, evolve(LIMITS, cpu_seconds=1), ExtractionProblem.CPU),
        (Eating, evolve(LIMITS, memory=200_000_000), ExtractionProblem.MEMORY),
        (Crashing, LIMITS, ExtractionProblem.DIED),
        (Exiting, LIMITS, ExtractionProblem.DIED),
        (Raising, LIMITS, ExtractionProblem.RAISED),
        (Nothing, LIMITS, ExtractionProblem.BROKEN_RESULT),
        (Refusing, LIMITS, ExtractionProblem.NO_TEXT),
    ],
)
def test_what_only_this_process_can_load_is_held_to_its_limits_too(
    kind: type, limits: ExtractionLimits, problem: ExtractionProblem
) -> None:
    with closing(WorkerPool(1)) as pool:
        assert problem_of(one_of(pool, job(local(kind), limits=limits)))[0] is problem
        assert one_of(pool, job(local(Lines), b"# still\nworking")).unwrap().text == "# still\nworking"
        assert one_of(pool, job(local(Printing), b"printed")).unwrap().text == "printed"


def test_a_process_that_dies_is_noticed_though_another_is_begun_at_that_moment() -> None:
    dying, going_on = job(local(Crashing), limits=evolve(LIMITS, seconds=8.0)), job(local(Hanging))
    for _ in range(60):
        with closing(WorkerPool(3)) as pool:
            for key, each in enumerate((dying, going_on, dying)):
                pool.start(key, each)
            problems = {key: problem_of(outcome)[0] for key, outcome in all_of(pool, 2)}
            assert problems == {0: ExtractionProblem.DIED, 2: ExtractionProblem.DIED}


def test_closing_ends_what_only_this_process_can_load(tmp_path: Path) -> None:
    with closing(WorkerPool(2)) as pool:
        pool.start(0, job(local(Hanging), limits=evolve(LIMITS, seconds=600.0)))
        pool.start(1, job(local(Hanging), limits=evolve(LIMITS, seconds=600.0)))
        time.sleep(0.3)
        pool.close()
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_a_job_that_breaks_the_pool_itself_leaves_nothing_behind() -> None:
    """Limits are numbers: to have others is an error of ours."""
    impossible = job(local(Hanging), limits=evolve(LIMITS, seconds=cast(float, "soon")))
    with closing(WorkerPool(1)) as pool:
        problem, detail = problem_of(one_of(pool, impossible))
        assert (problem, detail.partition(":")[0]) == (ExtractionProblem.DIED, "TypeError")
        with pytest.raises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)
        assert one_of(pool, job(local(Lines), b"still working")).unwrap().text == "still working"


# Workers


def test_a_worker_is_started_once_for_many_jobs(pool: WorkerPool) -> None:
    for key in range(40):
        pool.start(key, job(Pid()))
    assert len({outcome.unwrap().text for _, outcome in all_of(pool, 40)}) == 1


def test_a_second_worker_comes_only_when_the_first_is_busy() -> None:
    with closing(WorkerPool(2)) as pool:
        assert len({pid_of(pool) for _ in range(5)}) == 1
        for key in range(2):
            pool.start(key, job(Sleeping(seconds=1.0)))
        assert len({outcome.unwrap().text for _, outcome in all_of(pool, 2)}) == 2


def test_no_process_and_no_descriptor_outlives_its_pool() -> None:
    before, open_before = children(), len(os.listdir("/dev/fd"))
    with closing(WorkerPool(2)) as pool:
        for key, extractor in enumerate([Lines(), Crashing(), Hanging(), Garbling(), Eating()]):
            pool.start(key, job(extractor, limits=evolve(SMALL, seconds=2.0)))
        all_of(pool, 5)
        pid_of(pool)
        assert children() != before
    assert children() == before
    assert len(os.listdir("/dev/fd")) == open_before


def test_closing_ends_busy_workers_at_once_and_drops_what_they_did() -> None:
    before = children()
    pool = WorkerPool(2)
    for key in range(4):
        pool.start(key, job(Hanging(), limits=evolve(LIMITS, seconds=600.0)))
    assert comes_true(lambda: len(children() - before) == 2)
    pool.close()
    assert children() == before


def test_a_forgotten_pool_ends_its_workers() -> None:
    before = children()
    pool = WorkerPool(1)
    pool.start(0, job(Hanging(), limits=evolve(LIMITS, seconds=600.0)))
    assert comes_true(lambda: children() != before)
    del pool
    assert comes_true(lambda: children() == before)


# Scripts

SCRIPT = """
import sys
import time
from attrs import evolve, frozen
from groundkit.adapters.extraction import WorkerPool
from groundkit.testing.sample_extractors import LIMITS, Crashing, Hanging, Lines, Pid, Sleeping, job, one_of

{definition}

def main(extractor):
    print("begun", flush=True)
    pool = WorkerPool(1)
    print(one_of(pool, job(extractor)), flush=True)
    return pool

{last}
"""
OWN = """
@frozen
class Own(Lines):
    def extract(self, data, hint):
        return super().extract(data[::-1], hint)
"""


def script(folder: Path, last: str, definition: str = "") -> list[str]:
    path = folder / "script.py"
    path.write_text(SCRIPT.format(definition=definition, last=last))
    return [sys.executable, "-W", "error", str(path)]


def output(command: list[str]) -> list[str]:
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False, timeout=60)
    assert done.stderr == "", done.stderr
    assert done.returncode == 0
    return done.stdout.splitlines()


def test_a_script_without_a_guard_is_not_run_again_by_its_workers(tmp_path: Path) -> None:
    begun, result = output(script(tmp_path, "pool = main(Lines())"))
    assert begun == "begun"
    assert "Success" in result


def test_an_extractor_of_a_guarded_script_works(tmp_path: Path) -> None:
    begun, result = output(script(tmp_path, 'if __name__ == "__main__":\n    main(Own())', OWN))
    assert begun == "begun"
    assert "Success" in result


def test_an_extractor_of_an_unguarded_script_works_and_the_script_is_run_once(tmp_path: Path) -> None:
    begun, result = output(script(tmp_path, "pool = main(Own())\nassert pool.room()\nraise SystemExit(0)", OWN))
    assert begun == "begun"
    assert "Success" in result


def test_an_extractor_typed_in_works() -> None:
    code = SCRIPT.format(definition=OWN, last="main(Own())")
    _, result = output([sys.executable, "-W", "error", "-c", code])
    assert "Success" in result


def test_a_script_that_leaves_a_busy_pool_behind_ends_at_once(tmp_path: Path) -> None:
    last = """
pool = WorkerPool(1)
print(one_of(pool, job(Pid())).unwrap().text)
pool.start(1, job(Hanging(), limits=evolve(LIMITS, seconds=600.0)))
time.sleep(0.3)
"""
    [worker] = output(script(tmp_path, last))
    assert gone(int(worker))


FORKED = """
pool = main(Lines())
import os
if (child := os.fork()) == 0:
    print(one_of(pool, job(Pid())), flush=True)
    pool.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(one_of(pool, job(Pid())), flush=True)
"""


def test_a_forked_child_has_workers_of_its_own_and_leaves_the_parents_alone(tmp_path: Path) -> None:
    command = script(tmp_path, FORKED)
    command[2] = "ignore::DeprecationWarning"  # newer Pythons warn when a process with threads forks
    _, first, childs, parents = output(command)
    assert "Success" in first
    assert "Success" in childs
    assert "Success" in parents


@pytest.mark.parametrize(
    "last",
    ["time.sleep(600)", "one_of(pool, job(Hanging(), limits=evolve(LIMITS, seconds=1.0)))"],
    ids=["idle", "busy"],
)
def test_the_workers_of_a_killed_process_end_by_themselves(tmp_path: Path, last: str) -> None:
    text = "pool = WorkerPool(1)\nprint(one_of(pool, job(Pid())).unwrap().text, flush=True)\n" + last
    with subprocess.Popen(script(tmp_path, text), env=environment(), stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        worker = int(owner.stdout.readline())
        time.sleep(0.2)
        owner.kill()
    assert comes_true(lambda: gone(worker))


def test_a_worker_that_dies_with_hardly_any_memory_left_is_held_to_have_died_of_it(tmp_path: Path) -> None:
    last = """
pool = WorkerPool(1)
print(one_of(pool, job(Crashing(holding=170_000_000), limits=evolve(LIMITS, memory=220_000_000))))
print(one_of(pool, job(Crashing(holding=50_000_000), limits=evolve(LIMITS, memory=220_000_000))))
"""
    much, little = output(script(tmp_path, last))
    assert "MEMORY" in much
    assert "DIED" in little


def test_a_program_that_is_no_interpreter_is_named(tmp_path: Path) -> None:
    last = "import multiprocessing\nmultiprocessing.set_executable('/bin/echo')\npool = main(Lines())"
    _, result = output(script(tmp_path, last))
    assert "no worker process could be started with /bin/echo" in result


@pytest.mark.parametrize(("program", "why"), [("'\\0'", "embedded null byte"), ("None", "no worker process could be")])
def test_where_no_program_can_be_started_getting_ready_says_nothing_and_the_job_says_why(
    tmp_path: Path, program: str, why: str
) -> None:
    here = f"import multiprocessing.spawn\nsys.executable = None\nmultiprocessing.set_executable({program})\n"
    last = "pool = WorkerPool(1)\npool.prepare()\nprint(one_of(pool, job(Lines())))"
    (result,) = output(script(tmp_path, here + last))
    assert why in result


def test_a_result_is_the_same_in_every_worker(tmp_path: Path) -> None:
    text = b"# One\n[a]\n\f# Two\n"
    results = []
    for _ in range(2):
        with closing(WorkerPool(1)) as pool:
            results.append(one_of(pool, job(Lines(), text)))
    assert results[0] == results[1]
    assert not isinstance(results[0], Failure)
