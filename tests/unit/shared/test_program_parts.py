"""The parts of one program: which are up, how a failing one starts again, and how all stop."""

import asyncio
import logging
import signal
import subprocess
import sys

import pytest
import structlog

from concord.restarts import MAX_RESTARTS
from concord.service.program import Parts


async def until_stopped(stop: asyncio.Event) -> None:
    await stop.wait()


async def test_all_parts_run_until_the_program_stops_and_all_drain() -> None:
    drained: list[str] = []
    parts, stop = Parts(), asyncio.Event()

    def part(name: str) -> None:
        async def work(stop: asyncio.Event) -> None:
            await stop.wait()
            assert parts.up()[name]
            drained.append(name)

        parts.add(name, work)

    part("one")
    part("other")
    assert parts.up() == {"one": False, "other": False}
    running = asyncio.create_task(parts.run(stop))
    while not all(parts.up().values()):
        await asyncio.sleep(0)
    stop.set()
    await running
    assert sorted(drained) == ["one", "other"]
    assert not any(parts.up().values())


async def test_a_part_that_raises_starts_again_and_the_others_go_on(caplog: pytest.LogCaptureFixture) -> None:
    starts = 0
    stop = asyncio.Event()

    async def fail_once(stop: asyncio.Event) -> None:
        nonlocal starts
        starts += 1
        if starts == 1:
            raise ValueError("broken")
        stop.set()

    parts = Parts(first_pause_s=0)
    parts.add("fragile", fail_once)
    parts.add("steady", until_stopped)
    with caplog.at_level(logging.ERROR):
        await parts.run(stop)
    assert starts == 2
    assert [record.getMessage() for record in caplog.records] == ["fragile failed; starting it again in 0 s"]
    assert "ValueError: broken" in caplog.text


async def test_a_part_that_waits_to_start_again_is_not_up() -> None:
    async def fail(_: asyncio.Event) -> None:
        raise ValueError

    parts, stop = Parts(first_pause_s=1000), asyncio.Event()
    parts.add("fragile", fail)
    parts.add("steady", until_stopped)
    running = asyncio.create_task(parts.run(stop))
    while not parts.up()["steady"] or parts.up()["fragile"]:
        await asyncio.sleep(0)
    assert parts.up() == {"fragile": False, "steady": True}
    stop.set()
    await running


@pytest.mark.parametrize("ends_early", [True, False])
async def test_a_part_that_keeps_failing_ends_the_program_after_the_others_have_drained(ends_early: bool) -> None:
    starts = 0
    drained = False

    async def fail(_: asyncio.Event) -> None:
        nonlocal starts
        starts += 1
        if not ends_early:
            raise RuntimeError("fragile is broken")

    async def drain(stop: asyncio.Event) -> None:
        nonlocal drained
        await stop.wait()
        drained = True

    parts = Parts(first_pause_s=0)
    parts.add("fragile", fail)
    parts.add("steady", drain)
    with pytest.raises(RuntimeError, match=r"fragile (ended by itself|is broken)"):
        await parts.run(asyncio.Event())
    assert (starts, drained) == (1 + MAX_RESTARTS, True)


async def test_the_log_lines_of_a_part_name_it() -> None:
    said: dict[str, object] = {}

    def part(name: str) -> None:
        async def work(stop: asyncio.Event) -> None:
            said[name] = structlog.contextvars.get_contextvars()["service"]
            if len(said) == 2:
                stop.set()
            await stop.wait()

        parts.add(name, work)

    parts = Parts()
    part("one")
    part("other")
    await parts.run(asyncio.Event())
    assert said == {"one": "one", "other": "other"}


def test_a_programs_imports_are_not_looked_through_for_garbage_again() -> None:
    """In a process of its own, since it has only one garbage collector."""
    program = """
import gc
from concord.service.program import run_until_signalled

async def work(stop):
    print(len(gc.get_objects()) < gc.get_freeze_count())

run_until_signalled(work)
"""
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert told.stdout == "True\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_has_the_work_drain_and_a_second_one_ends_it(number: signal.Signals) -> None:
    """In a process of its own, since the signals are the process's."""
    program = f"""
import asyncio, os
from concord.service.program import run_until_signalled

async def work(stop):
    os.kill(os.getpid(), {number})
    await stop.wait()
    print("drained")

async def work_on(stop):
    await work(stop)
    os.kill(os.getpid(), {number})
    await asyncio.Event().wait()

run_until_signalled(work)
run_until_signalled(work_on)
"""
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, text=True)
    assert (told.returncode, told.stdout) == (128 + signal.SIGTERM, "drained\ndrained\n")
