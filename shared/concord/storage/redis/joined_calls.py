"""Calls of a Lua script that go to Redis together."""

import asyncio
from collections import deque
from collections.abc import Sequence
from contextvars import Context
from dataclasses import dataclass
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import NoScriptError

from concord.storage.redis.cluster import TimedCluster

_Argument = str | bytes | int

_MOST_CALLS: Final = 64
_MOST_BYTES: Final = 1 << 20
"""Of the calls that go together: to pack them takes as much memory again."""


@dataclass(frozen=True, slots=True)
class _Call:
    keys: Sequence[str]
    arguments: Sequence[_Argument]
    answer: asyncio.Future[Any]

    @property
    def size(self) -> int:
        return sum(len(each) for each in self.arguments if isinstance(each, bytes))


class JoinedCalls:
    """A script whose calls go out together while Redis answers the ones before.

    To send a command and to wake up for its answer costs several times as much as the command itself. After a lost
    connection all of them are sent again, so that each must be harmless to repeat.
    """

    def __init__(self, redis: Redis, script: str) -> None:
        self._redis = redis
        self._script = redis.register_script(script)
        self._waiting: deque[_Call] = deque()
        self._sending: asyncio.Task[None] | None = None

    async def __call__(self, keys: Sequence[str], arguments: Sequence[_Argument]) -> Any:  # noqa: ANN401 - the script's
        """The script's answer to this call. Raises redis's errors and OSError."""
        if isinstance(self._redis, TimedCluster):  # where the calls of several traces go to several nodes
            return await self._script(keys, arguments)
        call = _Call(keys, arguments, asyncio.get_running_loop().create_future())
        self._waiting.append(call)
        if self._sending is None or self._sending.done():
            # In a context of nobody's: that of this caller would make the others wait for its share of the event loop.
            self._sending = asyncio.create_task(self._send_all(), context=Context())
        return await call.answer

    async def _send_all(self) -> None:
        while self._waiting:
            calls = self._next()
            try:
                await self._send(calls)
            except Exception as error:
                for call in calls:
                    if not call.answer.done():
                        call.answer.set_exception(error)

    def _next(self) -> list[_Call]:
        """The calls that go out now, at least one."""
        calls = [self._waiting.popleft()]
        size = calls[0].size
        while self._waiting and len(calls) < _MOST_CALLS and (size := size + self._waiting[0].size) <= _MOST_BYTES:
            calls.append(self._waiting.popleft())
        return calls

    async def _send(self, calls: Sequence[_Call]) -> None:
        unknown: list[_Call] = []
        for call, answer in zip(calls, await self._answers(calls), strict=True):
            if isinstance(answer, NoScriptError):
                unknown.append(call)
            else:
                _settle(call, answer)
        if unknown:
            await self._redis.script_load(self._script.script)
            for call, answer in zip(unknown, await self._answers(unknown), strict=True):
                _settle(call, answer)

    async def _answers(self, calls: Sequence[_Call]) -> list[Any]:
        """Each call's answer, or its error."""
        pipeline = self._redis.pipeline(transaction=False)
        for call in calls:
            pipeline.evalsha(self._script.sha, len(call.keys), *call.keys, *call.arguments)  # type: ignore[arg-type]
        return await pipeline.execute(raise_on_error=False)


def _settle(call: _Call, answer: object) -> None:
    if call.answer.done():  # its caller was cancelled
        return
    if isinstance(answer, Exception):
        call.answer.set_exception(answer)
    else:
        call.answer.set_result(answer)
