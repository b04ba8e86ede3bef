"""The watch over a trial: every call that the gateway makes or carries, from its beginning to its end."""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from concord.trace.ids import new_step_id

_MAX_GUESTS: Final = 256


@dataclass(frozen=True, slots=True)
class WatchedCall:
    """A call under way: its step, the step it was made under ("" where that is not known), and its two ends."""

    step_id: str
    parent_id: str
    caller: str
    callee: str


class TrialWatch:
    """The calls of one trial. Lives in the process that carries them, and only there."""

    def __init__(self) -> None:
        self.answered: list[WatchedCall] = []
        self._taken: set[str] = set()
        self._open: dict[str, WatchedCall] = {}
        self._left: set[str] = set()

    @property
    def open_calls(self) -> int:
        """How many calls somebody waits for: begun, and not yet ended and in the trace."""
        return len(self._open) - len(self._left)

    def begin(self, caller: str, callee: str, wanted_id: str = "", *, parent_id: str = "") -> WatchedCall:
        """Notes that a call begins.

        Its id is the caller's, so that its two ends meet, unless that names another step already: nobody may hide a
        call behind the id of another. Without `parent_id` it stands under the call that the caller is answering,
        where that is only one.
        """
        step_id = wanted_id if wanted_id and wanted_id not in self._taken else new_step_id()
        answering = [call.step_id for call in self._open.values() if call.callee == caller]
        call = WatchedCall(step_id, parent_id or (answering[0] if len(answering) == 1 else ""), caller, callee)
        self._taken |= {step_id, call.parent_id}
        self._open[step_id] = call
        return call

    def leave(self, step_id: str) -> None:
        """Notes that the caller left a call before its end, to ask for its task later, or never."""
        if step_id in self._open:
            self._left.add(step_id)

    def end(self, step_id: str, *, answered: bool) -> None:
        """Notes that a call is over and in the trace. `answered`: its callee was reached and can tell of it."""
        self._left.discard(step_id)
        if (call := self._open.pop(step_id, None)) is not None and answered:
            self.answered.append(call)


class Watches:
    """The watches of all trials that are driven here, and of those that only pass through."""

    def __init__(self) -> None:
        self._driven: dict[str, TrialWatch] = {}
        self._guests: OrderedDict[str, TrialWatch] = OrderedDict()

    @contextmanager
    def trial(self, trace_id: str) -> Iterator[TrialWatch]:
        """The watch of a trial, for as long as it is driven."""
        self._driven[trace_id] = watch = TrialWatch()
        try:
            yield watch
        finally:
            del self._driven[trace_id]

    def of(self, trace_id: str) -> TrialWatch:
        """The watch of a trial; a passing one where another gateway drives it, or nobody any more."""
        if (watch := self._driven.get(trace_id)) is not None:
            return watch
        watch = self._guests.setdefault(trace_id, TrialWatch())
        self._guests.move_to_end(trace_id)
        while len(self._guests) > _MAX_GUESTS:
            self._guests.popitem(last=False)
        return watch
