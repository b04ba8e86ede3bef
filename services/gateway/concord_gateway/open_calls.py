"""The open calls of each trial, both the gateway's own and the carried ones."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from cachetools import LRUCache
from opentelemetry.context import Context

from concord.errors import StorageUnavailableError
from concord.wire.ids import new_step_id
from concord_gateway.budgets import OverBudgetError
from concord_gateway.loop_shares import own_share

_MAX_GUESTS: Final = 256


@dataclass(frozen=True, slots=True)
class OpenCall:
    """An open call: its step, its parent step ("" if unknown), its caller and its callee."""

    step_id: str
    parent_id: str
    caller: str
    callee: str


class TrialCalls:
    """The calls of one trial, in the memory of the process that carries them."""

    def __init__(self) -> None:
        self.answered: list[OpenCall] = []
        self.share = own_share()
        """The share of the event loop in which its calls are carried."""
        self.parent: Context | None = None
        """The trial's span, the parent of its calls' spans; None in processes that only carry its calls."""
        self.lost: StorageUnavailableError | None = None
        """Why a call was not carried or not recorded, for which the participants are not to blame."""
        self.over_budget: OverBudgetError | None = None
        """How the participants exceeded the trial's budget."""
        self.exceeded = asyncio.Event()
        """Set with `over_budget`."""
        self.asked_again: set[str] = set()
        """Agents that were asked once more, after a failure."""
        self.acts: Counter[str] = Counter()
        """By agent, the calls that it began and its writes in the environment."""
        self._taken: set[str] = set()
        self._open: dict[str, OpenCall] = {}
        self._left: set[str] = set()

    @property
    def n_open(self) -> int:
        """The number of calls with a waiting caller: begun, and not yet recorded in the trace."""
        return len(self._open) - len(self._left)

    def begin(self, caller: str, callee: str, wanted_id: str = "", *, parent_id: str = "") -> OpenCall:
        """Registers a call.

        The call takes the caller's id, so that both ends report the same step, unless another step has that id: an
        agent must not hide a call behind another's id. Without `parent_id`, the parent is the call that the caller is
        answering, if there is exactly one.
        """
        step_id = wanted_id if wanted_id and wanted_id not in self._taken else new_step_id()
        answering = [call.step_id for call in self._open.values() if call.callee == caller]
        call = OpenCall(step_id, parent_id or (answering[0] if len(answering) == 1 else ""), caller, callee)
        self._taken |= {step_id, call.parent_id}
        self.acts[caller] += 1
        self._open[step_id] = call
        return call

    def leave(self, step_id: str) -> None:
        """Marks a call as left by its caller, which may ask for the callee's task later."""
        if step_id in self._open:
            self._left.add(step_id)

    def exceed(self, error: OverBudgetError) -> None:
        """Marks the trial as over its budget."""
        self.over_budget = self.over_budget or error
        self.exceeded.set()

    def end(self, step_id: str, *, answered: bool) -> None:
        """Marks a call as recorded. `answered` says whether the callee was reached and can report it."""
        self._left.discard(step_id)
        if (call := self._open.pop(step_id, None)) is not None and answered:
            self.answered.append(call)


class OpenCalls:
    """The open calls of all trials: trials of this gateway, and trials for which it only carries calls."""

    def __init__(self) -> None:
        self._driven: dict[str, TrialCalls] = {}
        self._guests: LRUCache[str, TrialCalls] = LRUCache(_MAX_GUESTS)

    @contextmanager
    def trial(self, trace_id: str) -> Iterator[TrialCalls]:
        """The open calls of a trial for as long as it is driven."""
        self._driven[trace_id] = trial_calls = TrialCalls()
        try:
            yield trial_calls
        finally:
            del self._driven[trace_id]

    def of(self, trace_id: str) -> TrialCalls:
        """The open calls of a trial. They are temporary if this gateway does not drive the trial."""
        if (trial_calls := self._driven.get(trace_id)) is not None:
            return trial_calls
        return self._guests.setdefault(trace_id, TrialCalls())
