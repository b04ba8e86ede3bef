"""The processes of a pool: work that exceeds a limit fails by name, and nobody else's work is affected."""

import ast
import asyncio
import os
import re
import signal
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from pydantic import JsonValue

from concord.assessment.jobs import Job, Queue
from concord.processes import Calls, LimitExceededError, ProcessDiedError, ProcessPool, program
from concord.processes.forked import VARIABLE, fork_server
from concord.storage import RetryLater
from concord.storage.connection import connect, run_worker
from concord.storage.job_policy import WorkerPolicy
from concord_evaluator.worker.jobs import JobCalls
from tests.kit.serving import eventually
from tests.kit.workers import alive, children

LIMIT = 256 * 1024 * 1024


@pytest.fixture
async def pool() -> AsyncIterator[ProcessPool]:
    async with ProcessPool(4, memory_bytes=LIMIT) as opened:
        yield opened


@pytest.fixture
def calls(pool: ProcessPool) -> Calls:
    return pool.calls(cpu_s=1, limit_s=60)


class TestLimits:
    @pytest.fixture(params=[False, True], ids=["executed", "forked"])
    async def pool(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ProcessPool]:
        """Whose processes are started, or forked by a server."""
        async with AsyncExitStack() as stack:
            if request.param:
                folder = stack.enter_context(TemporaryDirectory())
                modules = ["concord.processes.program", __name__]
                server = fork_server(Path(folder, "socket"), modules, os.environ, Path(folder, "log"))
                monkeypatch.setenv(VARIABLE, str(await stack.enter_async_context(server)))
            yield await stack.enter_async_context(ProcessPool(4, memory_bytes=LIMIT))

    @pytest.mark.smoke
    async def test_work_beyond_the_cpu_time_is_killed_even_inside_one_c_function(self, calls: Calls) -> None:
        with pytest.raises(LimitExceededError, match="limit of 1 s of CPU time"):
            await calls.run("costly", re.fullmatch, "(a+)+", "a" * 60 + "b")

    async def test_each_call_has_its_own_cpu_time(self, pool: ProcessPool) -> None:
        calls = pool.calls(cpu_s=2, limit_s=60)
        pids = [await calls.run("steady", _pid_after_cpu_time, 0.5) for _ in range(5)]
        assert len(set(pids)) == 1

    @pytest.mark.smoke
    async def test_work_beyond_the_memory_limit_fails_by_name(self, calls: Calls) -> None:
        with pytest.raises(LimitExceededError, match=r"memory limit of 0\.25 GiB"):
            await calls.run("hog", bytearray, 2 * LIMIT)
        assert len(await calls.run("modest", bytearray, LIMIT // 8)) == LIMIT // 8

    async def test_work_beyond_the_time_limit_is_killed_though_it_uses_no_cpu_time(self, pool: ProcessPool) -> None:
        with pytest.raises(LimitExceededError, match=r"time limit of 0\.5 s"):
            await pool.calls(cpu_s=1, limit_s=0.5).run("endless", time.sleep, 600)

    async def test_a_cancelled_call_is_killed(self, calls: Calls, tmp_path: Path) -> None:
        call = asyncio.create_task(calls.run("endless", _tell_and_sleep, tmp_path / "pid"))
        await eventually((tmp_path / "pid").exists)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert alive([int((tmp_path / "pid").read_text())]) == []


class TestProcesses:
    async def test_a_job_whose_process_dies_is_to_be_retried(self, calls: Calls) -> None:
        with pytest.raises(RetryLater):
            await JobCalls(calls).run("deadly", _die)

    async def test_a_pool_has_no_process_before_the_first_call_and_none_that_it_does_not_need(
        self, calls: Calls
    ) -> None:
        before = set(children(os.getpid()))
        first = await calls.run("one", os.getpid)
        second = await calls.run("another", os.getpid)
        assert (first, set(children(os.getpid())) - before) == (second, {first})

    async def test_a_process_that_dies_fails_its_own_call_and_is_replaced(self) -> None:
        replaced = 0

        def count() -> None:
            nonlocal replaced
            replaced += 1

        async with ProcessPool(2, memory_bytes=LIMIT, on_replaced=count) as pool:
            calls = pool.calls(cpu_s=1, limit_s=60)
            other = asyncio.create_task(calls.run("innocent", time.sleep, 0.5))
            with pytest.raises(ProcessDiedError):
                await calls.run("deadly", _die)
            await other
            assert await calls.run("deadly", os.getpid) != os.getpid()
        assert replaced == 1

    async def test_a_pool_that_ends_kills_its_processes_and_fails_their_calls(self, tmp_path: Path) -> None:
        async with ProcessPool(2, memory_bytes=LIMIT) as pool:
            calls = pool.calls(cpu_s=1, limit_s=600)
            at_work = asyncio.create_task(calls.run("long", _tell_and_sleep, tmp_path / "pid"))
            waiting = asyncio.create_task(calls.run("long", os.getpid))
            await eventually((tmp_path / "pid").exists)
        assert alive([int((tmp_path / "pid").read_text())]) == []
        assert [type(each) for each in await asyncio.gather(at_work, waiting, return_exceptions=True)] == [
            ProcessDiedError,
            ProcessDiedError,
        ]

    async def test_an_exception_of_the_function_is_raised_with_its_traceback_as_a_note(self, calls: Calls) -> None:
        with pytest.raises(ValueError, match="invalid literal") as raised:
            await calls.run("bad", int, "x")
        assert "Traceback" in raised.value.__notes__[0]

    async def test_an_exception_that_cannot_be_pickled_is_raised_with_its_name_and_text(self, calls: Calls) -> None:
        with pytest.raises(RuntimeError, match="_OddError: the odd one"):
            await calls.run("odd", _raise_odd_error)

    async def test_what_a_function_writes_to_standard_output_does_not_disturb_its_answer(self, calls: Calls) -> None:
        assert await calls.run("talkative", _write_and_add, 1, 2) == 3

    def test_the_program_of_a_process_imports_only_the_standard_library(self) -> None:
        tree = ast.parse(Path(program.__file__).read_bytes())
        imported = [
            name.split(".")[0]
            for node in ast.walk(tree)
            for name in (
                [each.name for each in node.names]
                if isinstance(node, ast.Import)
                else [node.module or "."]
                if isinstance(node, ast.ImportFrom)
                else []
            )
        ]
        assert imported
        assert set(imported) <= sys.stdlib_module_names

    async def test_a_call_waits_for_a_process_as_long_as_another_one_would_load(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        clock = iter([0.0, 60.0])
        monkeypatch.setattr("concord.processes.pool.monotonic", clock.__next__)
        async with ProcessPool(4, memory_bytes=LIMIT) as pool:
            await pool.load("json")
            calls = pool.calls(cpu_s=10, limit_s=60)
            pids = await asyncio.gather(*(calls.run(owner, _pid_after_cpu_time, 0.5) for owner in "abc"))
        assert len(set(pids)) == 1


class TestFairness:
    async def test_one_owner_holds_at_most_half_of_the_processes(self, calls: Calls, tmp_path: Path) -> None:
        greedy = [asyncio.create_task(calls.run("greedy", _wait_for, tmp_path, number)) for number in range(6)]
        await eventually(lambda: _waiting(tmp_path) == 2)
        assert await calls.run("modest", os.getpid)
        assert _waiting(tmp_path) == 2
        (tmp_path / "go").touch()
        assert sorted(await asyncio.gather(*greedy)) == list(range(6))

    async def test_a_call_that_is_cancelled_while_it_waits_gives_its_turn_to_the_next(
        self, calls: Calls, tmp_path: Path
    ) -> None:
        holding = [asyncio.create_task(calls.run("greedy", _wait_for, tmp_path, number)) for number in range(2)]
        waiting = asyncio.create_task(calls.run("greedy", os.getpid))
        patient = asyncio.create_task(calls.run("greedy", os.getpid))
        await eventually(lambda: _waiting(tmp_path) == 2)
        waiting.cancel()
        (tmp_path / "go").touch()
        assert await patient
        await asyncio.gather(*holding)

    async def test_a_pool_of_one_process_serves_everybody_in_turn(self) -> None:
        async with ProcessPool(1, memory_bytes=LIMIT) as pool:
            calls = pool.calls(cpu_s=1, limit_s=60)
            pids = await asyncio.gather(*(calls.run(owner, os.getpid) for owner in "aabbcc"))
        assert len(set(pids)) == 1


async def test_a_job_beyond_a_limit_is_a_dead_letter_after_one_try(redis_url: str, calls: Calls) -> None:
    stop, tries, letters = asyncio.Event(), 0, []
    async with connect(redis_url) as storage:

        async def hog(_: Mapping[str, JsonValue]) -> None:
            nonlocal tries
            tries += 1
            await JobCalls(calls).run("hog", bytearray, 2 * LIMIT)

        async def bury(job: Job, error: str, _: Exception | None) -> None:
            letters.append((job.job_id, error))
            stop.set()

        await storage.jobs.enqueue(Job("hog", "large", Queue.FAST, {}))
        await run_worker(redis_url, Queue.FAST, {"hog": hog}, WorkerPolicy(timeout_s=30), bury, stop=stop)
        [letter] = await storage.jobs.dead_letters()
    assert (tries, [job_id for job_id, _ in letters]) == (1, ["large"])
    assert "the work exceeded its memory limit" in letter.error


class _OddError(Exception):
    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} {second}")


def _raise_odd_error() -> None:
    raise _OddError("the odd", "one")


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _pid_after_cpu_time(seconds: float) -> int:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
    return os.getpid()


def _tell_and_sleep(file: Path) -> None:
    part = file.with_suffix(".part")
    part.write_text(str(os.getpid()))
    part.rename(file)
    time.sleep(600)


def _wait_for(folder: Path, number: int) -> int:
    """Says that it waits for the file `go`, waits for it, and returns the number."""
    (folder / f"{number}.waiting").touch()
    while not (folder / "go").exists():
        time.sleep(0.01)
    return number


def _waiting(folder: Path) -> int:
    return len(list(folder.glob("*.waiting")))


def _write_and_add(first: int, second: int) -> int:
    sys.stdout.write("disturbance\n" * 100)
    sys.stdout.flush()
    return first + second
