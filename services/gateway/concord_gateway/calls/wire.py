"""The wire between seats that call each other: it carries each call as it is, but for planted faults. No I/O.

A call is two messages: the caller's request, and the callee's answer.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from concord.assessment.faults import Cut, Delay, OnSeat, PlantedFault, Swap, Truncate
from concord_gateway.rounds.wire import garbled

_OWN: Final = "history"
"""The field of a task with the messages that its caller sent."""


@dataclass(frozen=True, slots=True)
class CallWire:
    """What becomes of the messages between the seats of one trial."""

    faults: Sequence[PlantedFault] = ()

    def addressee(self, sender: str, receiver: str) -> str:
        """The seat at which a request to the receiver arrives. Of that seat, it is the receiver."""
        for fault in self.faults:
            if isinstance(fault, Swap) and fault.concerns(sender, receiver):
                return fault.instead if receiver == fault.receiver else fault.receiver
        return receiver

    def is_cut(self, sender: str, receiver: str) -> bool:
        """Whether two seats have no connection."""
        return any({sender, receiver} == set(fault.edge) for fault in self.faults if isinstance(fault, Cut))

    def is_silenced(self, seat: str) -> bool:
        """Whether nothing that a seat says arrives anywhere."""
        return any(fault.seat == seat for fault in self.faults if isinstance(fault, OnSeat))

    def is_lost(self, sender: str, receiver: str) -> bool:
        """Whether a message never arrives."""
        return self.is_silenced(sender) or self._has("drop", sender, receiver)

    def is_doubled(self, sender: str, receiver: str) -> bool:
        """Whether a request arrives twice. Of an answer, a caller takes the first."""
        return self._has("duplicate", sender, receiver)

    def delay_s(self, sender: str, receiver: str) -> float:
        """How much later a message arrives."""
        delays = (fault for fault in self._on(sender, receiver) if isinstance(fault, Delay))
        return sum(fault.seconds or 0.0 for fault in delays)

    def changes(self, sender: str, receiver: str) -> bool:
        """Whether messages arrive changed."""
        return any(fault.kind in {"truncate", "garble"} for fault in self._on(sender, receiver))

    def parts(self, sender: str, receiver: str, parts: Sequence[Any]) -> list[Any]:
        """The parts of a message as they arrive; none of one that is nested too deep."""
        arriving = _Arriving(list(self._on(sender, receiver)))
        try:
            return [each for part in parts for each in arriving.part(part)]
        except RecursionError:
            return []

    def answer(self, sender: str, receiver: str, document: dict[str, Any]) -> dict[str, Any]:
        """A document of an answer, with the parts of all messages and artifacts in it as they arrive.

        Empty if it is nested too deep.
        """
        try:
            found: dict[str, Any] = self._answer(sender, receiver, document)
        except RecursionError:
            return {}
        return found

    def _answer(self, sender: str, receiver: str, document: Any) -> Any:  # noqa: ANN401 - JSON
        if isinstance(document, list):
            return [self._answer(sender, receiver, each) for each in document]
        if not isinstance(document, Mapping):
            return document
        return {
            key: self.parts(sender, receiver, value)
            if key == "parts" and isinstance(value, list)
            else value
            if key == _OWN
            else self._answer(sender, receiver, value)
            for key, value in document.items()
        }

    def _has(self, kind: str, sender: str, receiver: str) -> bool:
        return any(fault.kind == kind for fault in self._on(sender, receiver))

    def _on(self, sender: str, receiver: str) -> Iterator[PlantedFault]:
        for fault in self.faults:
            if not isinstance(fault, OnSeat | Cut) and fault.concerns(sender, receiver):
                yield fault


class _Arriving:
    """One message on its way. Its texts are cut and garbled as if they were one."""

    def __init__(self, faults: Sequence[PlantedFault]) -> None:
        limits = [fault.characters for fault in faults if isinstance(fault, Truncate)]
        self._left: int | None = min(limits, default=None)
        self._garbles = any(fault.kind == "garble" for fault in faults)

    def part(self, part: Any) -> Iterator[Any]:  # noqa: ANN401 - JSON
        if not isinstance(part, Mapping):
            yield part
        elif isinstance(text := part.get("text"), str):
            yield {**part, "text": self._text(text)}
        elif self._left is None:
            yield {**part, "data": self._data(part["data"])} if "data" in part else part
        else:
            self._left -= len(json.dumps(part.get("data")))
            if self._left >= 0:
                yield part
            self._left = max(0, self._left)

    def _text(self, text: str) -> str:
        if self._left is not None:
            text = text[: self._left]
            self._left -= len(text)
        if self._garbles and (changed := garbled(text)) != text:
            self._garbles = False
            return changed
        return text

    def _data(self, data: Any) -> Any:  # noqa: ANN401 - JSON
        if isinstance(data, str):
            return self._text(data)
        if isinstance(data, list):
            return [self._data(each) for each in data]
        return {key: self._data(each) for key, each in data.items()} if isinstance(data, Mapping) else data
