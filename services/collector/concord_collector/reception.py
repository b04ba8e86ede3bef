"""Reception: what every report passes before it is read: who sends it, whether there is room, how large it is."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from fastapi import HTTPException, Request

from concord_collector.answers import too_many
from concord_collector.callers import Caller, Callers
from concord_collector.encodings import BadEncodingError, InflatedTooLargeError, UnknownEncodingError, inflate
from concord_collector.instruments import Instruments
from concord_collector.pressure import Pressure
from concord_collector.rates import Rate

_LEAST_COST: Final = 4096
"""What a request counts for at least (bytes): a small one costs us about as much."""


@dataclass(frozen=True, slots=True)
class Received:
    """A request that was let in: its body, inflated, and as it came; `packed` is the latter where it is gzip."""

    caller: Caller
    content_type: str
    body: bytes
    packed: bytes | None


class Reception:
    """Lets requests in, the cheapest checks first, so that what is refused costs little."""

    def __init__(
        self, callers: Callers, pressure: Pressure, rate: Rate, instruments: Instruments, *, max_inflated_bytes: int
    ) -> None:
        self._callers = callers
        self._pressure = pressure
        self._rate = rate
        self._instruments = instruments
        self._max_inflated_bytes = max_inflated_bytes

    async def receive(self, request: Request, content_types: Collection[str]) -> Received:
        """The request's body. Raises 400, 401, 413, 415, and 429 or 503 with Retry-After."""
        caller = await self._callers.identify(request)
        self._pressure.check()
        self._admit(self._rate.wait_s(caller.name, _LEAST_COST))
        content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if content_type not in content_types:
            raise HTTPException(415, f"send {' or '.join(content_types)}")
        wire = await request.body()
        self._instruments.wire_bytes.inc(len(wire))
        encoding = request.headers.get("content-encoding", "identity")
        body = self._inflated(wire, encoding)
        self._admit(await self._rate.take(caller.name, max(_LEAST_COST, len(body))))
        return Received(caller, content_type, body, wire if encoding.strip().lower() == "gzip" else None)

    def _admit(self, wait_s: float) -> None:
        if wait_s > 0:
            raise too_many("more than a participant's share", wait_s)

    def _inflated(self, wire: bytes, encoding: str) -> bytes:
        try:
            return inflate(wire, encoding, self._max_inflated_bytes)
        except UnknownEncodingError as error:
            raise HTTPException(415, str(error)) from error
        except InflatedTooLargeError as error:
            raise HTTPException(413, "the body is too large") from error
        except BadEncodingError as error:
            raise HTTPException(400, str(error)) from error
