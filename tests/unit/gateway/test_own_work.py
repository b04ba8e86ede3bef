"""The gateway's own work for one assessment: a crowd of calls holds up nobody else, and no call waits for another."""

import asyncio
from itertools import pairwise

from concord_gateway.assignments import OpenCalls, OwnWork

CROWD = 100
PIECES = 20


async def pieces(work: OwnWork, name: str, made: list[str]) -> None:
    for _ in range(PIECES):
        async with work.piece():
            made.append(name)


async def test_a_bystander_beside_a_crowd_makes_every_second_piece() -> None:
    made: list[str] = []
    crowd, alone = OwnWork(), OwnWork()
    await asyncio.gather(*(pieces(crowd, "crowd", made) for _ in range(CROWD)), pieces(alone, "alone", made))
    own = [place for place, name in enumerate(made) if name == "alone"]
    assert max(later - earlier for earlier, later in pairwise(own)) <= 2


async def test_it_waits_for_the_whole_crowd_in_the_same_assessment() -> None:
    made: list[str] = []
    work = OwnWork()
    await asyncio.gather(*(pieces(work, "crowd", made) for _ in range(CROWD)), pieces(work, "alone", made))
    own = [place for place, name in enumerate(made) if name == "alone"]
    assert own[2] - own[1] > CROWD


async def test_a_piece_that_fails_or_is_cancelled_lets_the_next_begin() -> None:
    work = OwnWork()

    async def fail() -> None:
        async with work.piece():
            raise ValueError

    async def one() -> None:
        async with work.piece():
            pass

    failing, cancelled = asyncio.create_task(fail()), asyncio.create_task(one())
    await asyncio.sleep(0)
    cancelled.cancel()
    ended = await asyncio.gather(failing, cancelled, one(), return_exceptions=True)
    assert [type(each) for each in ended] == [ValueError, asyncio.CancelledError, type(None)]


def test_all_trials_of_an_assessment_share_its_work_and_other_trials_have_their_own() -> None:
    work, calls = OwnWork(), OpenCalls()
    with calls.trial("one", work) as one, calls.trial("two", work) as two:
        assert one.work is two.work is calls.of("one").work
        assert calls.of("of another gateway").work is not work
