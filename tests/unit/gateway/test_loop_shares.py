"""Shares of the event loop: a crowd of tasks takes a slice of each pass, and tasks do in it what they do without."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import nullcontext, suppress
from contextvars import copy_context
from itertools import count, pairwise
from typing import Any

import pytest
import uvloop
from hypothesis import given
from hypothesis import strategies as st

from concord_gateway.loop_shares import LoopShare, new_task, own_share, sharing

CROWD = 100
STEPS = 20
LOOPS = pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])

NewLoop = Callable[[], asyncio.AbstractEventLoop]


def run(work: Coroutine[Any, Any, None], new_loop: NewLoop = asyncio.new_event_loop) -> None:
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.get_loop().set_task_factory(new_task)
        runner.run(work)


def ticking(slice_s: float = 2.5) -> LoopShare:
    """A share by whose clock every step takes a second."""
    ticks = count()
    return LoopShare(slice_s=slice_s, clock=lambda: float(next(ticks)))


async def steps(number: int, made: list[int], name: int = 0) -> int:
    for _ in range(number):
        made.append(name)
        await asyncio.sleep(0)
    return name


class TestABystander:
    @LOOPS
    def test_few_steps_of_a_crowd_are_made_between_two_of_its_own(self, new_loop: NewLoop) -> None:
        made: list[int] = []

        async def both() -> None:
            with sharing(ticking()):
                crowd = [asyncio.create_task(steps(STEPS, made, 1)) for _ in range(CROWD)]
            await steps(STEPS, made)
            await asyncio.gather(*crowd)

        run(both(), new_loop)
        own = [place for place, name in enumerate(made) if name == 0]
        assert max(later - earlier for earlier, later in pairwise(own)) <= 5

    def test_it_waits_for_the_whole_crowd_without_a_share(self) -> None:
        made: list[int] = []

        async def both() -> None:
            crowd = [asyncio.create_task(steps(STEPS, made, 1)) for _ in range(CROWD)]
            await steps(STEPS, made)
            await asyncio.gather(*crowd)

        run(both())
        own = [place for place, name in enumerate(made) if name == 0]
        assert own[2] - own[1] > CROWD

    def test_a_long_step_costs_its_own_crowd_later_passes(self) -> None:
        made: list[int] = []
        clock = [0.0]

        async def long() -> None:
            clock[0] += 10
            await asyncio.sleep(0)
            made.append(1)

        async def both() -> None:
            with sharing(LoopShare(slice_s=1, clock=lambda: clock[0])):
                crowd = asyncio.create_task(long())
            await steps(STEPS, made)
            await crowd

        run(both())
        assert made.index(1) >= 9

    def test_it_has_a_share_of_its_own(self) -> None:
        made: list[int] = []

        async def both() -> None:
            tasks = []
            for name, number in ((1, CROWD), (0, 1)):
                with sharing(ticking()):
                    tasks += [asyncio.create_task(steps(STEPS, made, name)) for _ in range(number)]
            await asyncio.gather(*tasks)

        run(both())
        own = [place for place, name in enumerate(made) if name == 0]
        assert max(later - earlier for earlier, later in pairwise(own)) <= 5 * 3


class TestTasksInAShare:
    @LOOPS
    def test_what_they_begin_is_in_it(self, new_loop: NewLoop) -> None:
        share = ticking()

        async def inner() -> LoopShare:
            return own_share()

        async def outer() -> LoopShare:
            async with asyncio.TaskGroup() as group:
                begun = group.create_task(inner())
            return begun.result()

        async def both() -> None:
            with sharing(share):
                task = asyncio.create_task(outer())
            assert await task is share
            assert own_share() is not share
            assert await asyncio.get_running_loop().create_task(outer(), context=copy_context()) is not share

        run(both(), new_loop)

    @given(st.lists(st.integers(0, 5), max_size=30), st.floats(0.5, 10))
    def test_all_of_them_end_with_their_results(self, numbers: list[int], slice_s: float) -> None:
        async def all_of_them() -> None:
            with sharing(ticking(slice_s)):
                tasks = [asyncio.create_task(steps(number, [], name)) for name, number in enumerate(numbers)]
            assert await asyncio.gather(*tasks) == list(range(len(numbers)))

        run(all_of_them())

    @LOOPS
    def test_errors_reach_them_and_leave_them(self, new_loop: NewLoop) -> None:
        async def failing(future: asyncio.Future[None]) -> None:
            try:
                await future
            except KeyError as error:
                raise ValueError("as it should") from error

        async def one() -> None:
            future = asyncio.get_running_loop().create_future()
            with sharing(ticking(0.5)):
                task = asyncio.create_task(failing(future))
            await asyncio.sleep(0)
            future.set_exception(KeyError())
            with pytest.raises(ValueError, match="as it should"):
                await task

        run(one(), new_loop)

    @LOOPS
    def test_a_limit_of_time_ends_them(self, new_loop: NewLoop) -> None:
        async def limited() -> str:
            try:
                async with asyncio.timeout(0):
                    await asyncio.Event().wait()
            except TimeoutError:
                return "late"
            return ""

        async def one() -> None:
            with sharing(ticking()):
                task = asyncio.create_task(limited())
            assert await task == "late"

        run(one(), new_loop)


class TestCancelling:
    @LOOPS
    @pytest.mark.parametrize("passes", range(4))
    def test_ends_a_task_before_it_begins_while_it_waits_for_its_share_and_later(
        self, new_loop: NewLoop, passes: int
    ) -> None:
        begun: list[int] = []
        ended: list[int] = []

        async def work(name: int) -> None:
            begun.append(name)
            try:
                await steps(CROWD, [])
            finally:
                ended.append(name)

        async def one() -> None:
            with sharing(ticking(0.5)):
                crowd = [asyncio.create_task(work(name)) for name in range(10)]
            for _ in range(passes):
                await asyncio.sleep(0)
            for task in crowd:
                task.cancel()
            await asyncio.gather(*crowd, return_exceptions=True)
            assert all(task.cancelled() for task in crowd)

        run(one(), new_loop)
        assert len(begun) < 10
        assert begun == ended

    def test_leaves_the_share_to_the_others(self) -> None:
        made: list[int] = []

        async def some() -> None:
            with sharing(ticking(0.5)):
                crowd = [asyncio.create_task(steps(STEPS, made, name)) for name in range(10)]
            await asyncio.sleep(0)
            for task in crowd[:9]:
                task.cancel()
            assert await crowd[9] == 9

        run(some())
        assert made.count(9) == STEPS

    def test_lets_a_task_clean_up_in_steps(self) -> None:
        made: list[int] = []

        async def work() -> None:
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            await steps(STEPS, made, 1)

        async def one() -> None:
            with sharing(ticking(0.5)):
                task = asyncio.create_task(work())
            await asyncio.sleep(0)
            task.cancel()
            await task

        run(one())
        assert len(made) == STEPS


@pytest.fixture(autouse=True)
def _no_share_is_left() -> Iterator[None]:
    yield
    assert own_share() is not own_share()


@pytest.mark.parametrize("share", [None, LoopShare()], ids=["without a share", "with a share"])
def test_a_task_has_the_options_of_any_python(share: LoopShare | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """`create_task` of Python 3.13 and later has `eager_start` beside the name."""
    given: dict[str, object] = {}

    class RecordingTask(asyncio.Task[int]):
        def __init__(self, work: Coroutine[Any, Any, int], *, eager_start: bool, **options: Any) -> None:  # noqa: ANN401
            given.update(options, eager_start=eager_start)
            super().__init__(work, **options)

    async def make() -> None:
        monkeypatch.setattr("concord_gateway.loop_shares.asyncio.Task", RecordingTask)
        with sharing(share) if share is not None else nullcontext():
            task = new_task(asyncio.get_running_loop(), steps(1, []), name="steps", eager_start=False)
        assert await task == 0

    with asyncio.Runner() as runner:
        runner.run(make())
    assert (given["name"], given["eager_start"]) == ("steps", False)
