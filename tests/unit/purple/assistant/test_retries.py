"""An assistant's client sends a call again only if the refusal says that nothing was executed."""

from collections.abc import Iterator

import httpx
import pytest

from concord_environment_client import ServerError
from concord_purple.assistant.agent import MAX_RETRIES, RetryingClient

REFUSED = httpx.Response(503, headers={"retry-after": "0"}, json={"detail": "busy"})
DONE = httpx.Response(200, json={"format": "x", "content": "y"})


async def _called(*answers: httpx.Response) -> int:
    """How many calls are sent until one is done. Raises ServerError."""
    left: Iterator[httpx.Response] = iter(answers)
    calls: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        calls.append(request)
        return next(left)

    async with RetryingClient("http://environment", transport=httpx.MockTransport(answer)) as ues:
        await ues.calendar.list_calendars()
    return len(calls)


async def test_a_refused_call_is_sent_again() -> None:
    assert await _called(REFUSED, REFUSED, DONE) == 3


@pytest.mark.parametrize(
    "failure",
    [
        httpx.Response(500, headers={"retry-after": "0"}),
        httpx.Response(503),
        httpx.Response(503, headers={"retry-after": "soon"}),
    ],
)
async def test_a_call_that_may_have_been_executed_is_not(failure: httpx.Response) -> None:
    with pytest.raises(ServerError):
        await _called(failure, DONE)


async def test_a_call_that_is_always_refused_fails() -> None:
    with pytest.raises(ServerError, match="busy"):
        await _called(*[REFUSED] * (MAX_RETRIES + 1), DONE)
