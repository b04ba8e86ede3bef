"""What the gateway assigns each participant of a trial, and which of its calls are open."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Final

from cachetools import LRUCache
from opentelemetry.context import Context
from pydantic import SecretStr

from concord.errors import StorageUnavailableError
from concord.trust.tokens import Claims, TokenKeys
from concord.wire.assignment import Assignment
from concord.wire.roster import GREEN_AGENT, new_step_id
from concord_gateway.rounds.exchange import OverBudgetError

# Assignments: the trace context and the token that the gateway gives each participant.

_MAX_TOKENS: Final = 4096


class Assignments:
    """Creates the gateway's own assignment for a trial, and each participant's token."""

    def __init__(self, token_keys: TokenKeys, collector_url: str | None) -> None:
        self._token_keys = token_keys
        self._collector_url = None if collector_url is None else collector_url.rstrip("/")
        self._tokens: LRUCache[Claims, SecretStr] = LRUCache(_MAX_TOKENS)

    def own(self, assessment_id: str, trace_id: str, step_id: str) -> Assignment:
        """The gateway's own assignment for a trial, whose root step is `step_id`."""
        collector = self._collector_url
        return Assignment(
            assessment_id=assessment_id,
            trace_id=trace_id,
            step_id=step_id,
            agent_id=GREEN_AGENT,
            collector_url=collector,
            peers_url=None if collector is None else f"{collector}/peers?assessment_id={assessment_id}",
        )

    async def token(self, claims: Claims) -> SecretStr:
        """A participant's token, the same throughout a trial. Raises StorageUnavailableError."""
        token = self._tokens.get(claims)
        if token is None:
            token = self._tokens[claims] = (await self._token_keys.issuer()).issue(claims)
        return token


# The open calls of each trial, both the gateway's own and the carried ones.

_MAX_GUESTS: Final = 256


@dataclass(frozen=True, slots=True)
class OpenCall:
    """An open call: its step, its parent step ("" if unknown), its caller and its callee."""

    step_id: str
    parent_id: str
    caller: str
    callee: str


class OwnWork:
    """What the gateway itself does for one assessment: it reads, rewrites or records one call in each pass of the event
    loop. A hundred calls at once then do not hold up the calls of others."""

    def __init__(self) -> None:
        self._one = asyncio.Lock()

    @asynccontextmanager
    async def piece(self) -> AsyncIterator[None]:
        """The turn of one piece, in which nothing may be awaited: an agent may wait for another call to be read."""
        async with self._one:
            yield
            await asyncio.sleep(0)


class TrialCalls:
    """The calls of one trial, in the memory of the process that carries them."""

    def __init__(self, work: OwnWork | None = None) -> None:
        self.answered: list[OpenCall] = []
        self.work = work or OwnWork()
        """The gateway's own work for its assessment."""
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
    def trial(self, trace_id: str, work: OwnWork | None = None) -> Iterator[TrialCalls]:
        """The open calls of a trial for as long as it is driven, as a part of the work for its assessment."""
        self._driven[trace_id] = trial_calls = TrialCalls(work)
        try:
            yield trial_calls
        finally:
            del self._driven[trace_id]

    def of(self, trace_id: str) -> TrialCalls:
        """The open calls of a trial. They are temporary if this gateway does not drive the trial."""
        if (trial_calls := self._driven.get(trace_id)) is not None:
            return trial_calls
        return self._guests.setdefault(trace_id, TrialCalls())
