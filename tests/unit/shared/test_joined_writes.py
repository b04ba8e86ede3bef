"""Joined writes: the same bytes in the same order, the head of an answer together with its body."""

import asyncio
from typing import Final, cast

from hypothesis import given
from hypothesis import strategies as st

from concord.service.connections import JoinedWrites

TURN: Final = None
"""Between two writes: the event loop's next turn."""


class Recorder:
    """The transport below. `sent`: each write that reaches it, and None for its close."""

    def __init__(self) -> None:
        self.sent: list[bytes | None] = []

    def write(self, data: bytes) -> None:
        self.sent.append(data)

    def close(self) -> None:
        self.sent.append(None)

    abort = close

    def is_closing(self) -> bool:
        return None in self.sent


def sent(writes: list[bytes | None], *, closed: bool = False) -> list[bytes | None]:
    async def run() -> list[bytes | None]:
        below = Recorder()
        joined = JoinedWrites(cast(asyncio.Transport, below))
        for each in writes:
            if each is TURN:
                await asyncio.sleep(0)
            else:
                joined.write(each)
        if closed:
            joined.close()
        else:
            await asyncio.sleep(0)
        return below.sent

    return asyncio.run(run())


def test_head_and_body_go_out_at_once() -> None:
    assert sent([b"head", b"body"]) == [b"headbody"]


def test_what_is_written_alone_goes_out_in_the_next_turn() -> None:
    assert sent([b"event 1", TURN, b"event 2"]) == [b"event 1", b"event 2"]


def test_a_long_answer_does_not_gather() -> None:
    assert sent([b"head", b"1", b"2", b"3", b"4"]) == [b"head1", b"23", b"4"]


async def test_what_waits_when_the_connection_is_aborted_is_lost() -> None:
    below = Recorder()
    joined = JoinedWrites(cast(asyncio.Transport, below))
    joined.write(b"head")
    joined.abort()
    await asyncio.sleep(0)
    assert below.sent == [None]


@given(st.lists(st.binary(max_size=3) | st.just(TURN)), st.booleans())
def test_every_byte_is_sent_once_in_order_and_before_the_close(writes: list[bytes | None], closed: bool) -> None:
    found = sent(writes, closed=closed)
    assert b"".join(each for each in found if each is not None) == b"".join(each for each in writes if each is not None)
    assert found.count(None) == closed
    assert not closed or found[-1] is None
    assert b"" not in found
