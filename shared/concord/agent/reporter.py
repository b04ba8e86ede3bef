"""The trace reporter: sends steps to the collector without blocking the agent."""

import asyncio
import atexit
import logging
import os
import threading
import time
import weakref
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import ClassVar, Final

from pydantic_core import from_json, to_json

from concord.agent.delivery import DeliveryPolicy, DeliveryThread
from concord.trace.effects import Effect
from concord.trace.step import AgentInvocation, CallType, InteractionStep, StepAction, ToolInvocation
from concord.wire.assignment import Assignment
from concord.wire.roster import new_step_id

logger = logging.getLogger(__name__)

_GRACE_S: Final = 1.0
"""Extra time for a delivery thread to stop: a request in flight is not cut off."""


class TraceReporter:
    """Reports steps fire-and-forget, for as many assessments at once as its agent takes part in.

    `report` appends to a bounded buffer and returns; for each collector, one background thread sends batches and tries
    again. What does not fit is dropped, oldest first, and the next batch of its trace says how much and why. Nothing
    here raises into the agent. Safe to use from any thread, from async code, and after a fork.
    """

    POLICY: ClassVar = DeliveryPolicy()
    MAX_COLLECTORS = 16
    """Limit on collectors: every message can name one."""

    def __init__(self) -> None:
        self._start_afresh()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_StartAfresh(self))
        atexit.register(self.close)

    def _start_afresh(self) -> None:
        """The state of a process. After a fork, the child starts afresh: the parent's threads and buffers stay the
        parent's."""
        self._deliveries: dict[str | None, DeliveryThread] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._told_full_at: float | None = None

    def report(self, step: InteractionStep, assignment: Assignment) -> None:
        """Adds a step made under an assignment. Returns at once; without a collector to send to, drops the step."""
        self._put(step, assignment)

    def record(
        self,
        assignment: Assignment,
        call_type: CallType,
        name: str,
        *,
        content: Mapping[str, object] | None = None,
        agent_url: str = "",
        step_id: str | None = None,
        parent_step_id: str | None = None,
        error: str | None = None,
        attributes: Mapping[str, str] | None = None,
        total_tokens: int | None = None,
        cost: int | None = None,
        start_time: datetime | None = None,
        end_time: datetime | None = None,
    ) -> None:
        """Reports a step by its fields.

        `name` is that of the agent called or the tool used ("" for the agent's own work), `content` the request or the
        parameters, which may change afterwards. By default, the step has a new id and stands under the assignment's
        step. One that is invalid is dropped and counted, as `report` drops what cannot be written.
        """
        try:
            step = InteractionStep(
                step_id=step_id or new_step_id(),
                trace_id=assignment.trace_id,
                parent_step_id=parent_step_id or assignment.step_id,
                call_type=call_type,
                step_action=_action(call_type, name, content, agent_url),
                cost=cost,
                total_tokens=total_tokens,
                additional_attributes={**(attributes or {}), **({} if error is None else {"error": error})},
                start_time=start_time,
                end_time=end_time,
            )
        except ValueError:
            step = None
        self._put(step, assignment)

    def effect(self, effect: Effect, assignment: Assignment, *, tool: str = "") -> None:
        """Reports what the agent just did to an artifact, as a step of its own. Returns at once, as `report` does.

        `tool`: the one that it used; without one, the step is the agent's own work.
        """
        self.record(
            assignment,
            CallType.TOOL if tool else CallType.HOST,
            tool,
            attributes=effect.attributes(),
            start_time=datetime.now(UTC),
        )

    def flush(self, timeout_s: float = 5.0) -> bool:
        """Waits until every step so far was sent or dropped. Returns False on timeout."""
        deadline = time.monotonic() + timeout_s
        waiting = [delivery.flushed() for delivery in list(self._deliveries.values())]
        return all(done.wait(max(0.0, deadline - time.monotonic())) for done in waiting)

    def close(self, timeout_s: float = 5.0) -> None:
        """Sends the remaining steps for at most `timeout_s`, and stops. Further steps are dropped."""
        atexit.unregister(self.close)
        with self._lock:
            self._closed = True
            deliveries, self._deliveries = list(self._deliveries.values()), {}
        deadline = time.monotonic() + timeout_s
        for delivery in deliveries:
            delivery.stop(deadline)
        for delivery in deliveries:
            delivery.join(max(0.0, deadline - time.monotonic()) + _GRACE_S)

    async def aclose(self, timeout_s: float = 5.0) -> None:
        """Closes without blocking the event loop."""
        await asyncio.to_thread(self.close, timeout_s)

    def _put(self, step: InteractionStep | None, assignment: Assignment) -> None:
        delivery = self._deliveries.get(assignment.collector_url) or self._open(assignment.collector_url)
        if delivery is not None:
            delivery.put(step, assignment)

    def _open(self, url: str | None) -> DeliveryThread | None:
        """The delivery to a collector, created on first use; None if there are too many."""
        if url is None:
            return None
        with self._lock:
            if self._closed:
                return None
            try:
                if url not in self._deliveries and self._make_room():
                    self._deliveries[url] = DeliveryThread(url, self.POLICY)
            except RuntimeError:  # the interpreter is shutting down and starts no more threads
                self._closed = True
            return self._deliveries.get(url)

    def _make_room(self) -> bool:
        if len(self._deliveries) < self.MAX_COLLECTORS:
            return True
        idle = next((url for url, delivery in self._deliveries.items() if delivery.idle), None)
        if idle is None:
            self._tell_full(time.monotonic())
            return False
        self._deliveries.pop(idle).stop(time.monotonic() + self.POLICY.timeout_s)
        return True

    def _tell_full(self, now: float) -> None:
        if self._told_full_at is None or now - self._told_full_at >= self.POLICY.log_every_s:
            self._told_full_at = now
            logger.warning("too many collectors: steps for more than %d collectors are dropped", self.MAX_COLLECTORS)


def _action(call_type: CallType, name: str, content: Mapping[str, object] | None, agent_url: str) -> StepAction | None:
    """What a step did, with its content as JSON. Raises ValueError for what cannot be written, or named."""
    if call_type == CallType.HOST and not name and content is None:
        return None
    written = None if content is None else from_json(to_json(content, inf_nan_mode="constants"))
    if call_type == CallType.AGENT:
        return StepAction(agent_invocation=AgentInvocation(agent_url=agent_url, agent_name=name, requests=written))
    return StepAction(tool_invocation=ToolInvocation(tool_name=name, parameters=written))


class _StartAfresh:
    """Notifies a reporter of a fork. A weak reference, since fork hooks cannot be removed."""

    def __init__(self, reporter: TraceReporter) -> None:
        self._reporter = weakref.ref(reporter)

    def __call__(self) -> None:
        if (reporter := self._reporter()) is not None:
            reporter._start_afresh()
