"""One call on its way through the proxy: its clock, its answer as far as it has come, and the step that it leaves."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from pydantic import JsonValue

from concord.trace.observation import GATEWAY, REFUSED_BY, RESPONSE_WORDS, WORDS_FIELD
from concord.trace.step import AgentInvocation, CallType, InteractionStep, StepAction
from concord.trust.redaction import redact
from concord_gateway.proxy.answers import MAX_QUOTED, AnswerReader
from concord_gateway.proxy.bodies import Held
from concord_gateway.watch import WatchedCall


@dataclass(slots=True)
class CarriedCall:
    """A call that the proxy carries. Times of day from the wall clock, durations from the monotonic one."""

    watched: WatchedCall
    trace_id: str
    callee_url: str
    answer: AnswerReader
    request_text: str = ""
    request_words: str = ""
    """The words of the request that its text lacks."""
    error: str | None = None
    """What went wrong on the way; what the callee itself said of its failure is in its answer."""
    refused: bool = False
    """Whether it went wrong for a limit of ours."""
    kept: Held | None = None
    """The room that its answer takes while nobody waits for the end of its task."""
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    _started: float = field(default_factory=time.monotonic)
    _elapsed: float = 0.0

    @property
    def age_s(self) -> float:
        """How long ago it began (seconds)."""
        return time.monotonic() - self._started

    def stop(self) -> None:
        """Takes the time, which is the call's latency."""
        self._elapsed = self.age_s

    def release(self) -> None:
        """Gives back the room that it took."""
        if self.kept is not None:
            self.kept.release()

    def step(self) -> InteractionStep:
        """The call as the gateway saw it: the caller by its token, the callee by the roster."""
        attributes = {"agent_name": self.watched.caller}
        if self.answer.state:
            attributes |= {"task_state": self.answer.state, "response_text": self.answer.text}
        if words := self.answer.words:
            attributes[RESPONSE_WORDS] = words
        if self.refused:
            attributes[REFUSED_BY] = GATEWAY
        if (error := self.error or self.answer.error) is not None:
            attributes["error"] = redact(error)[:MAX_QUOTED]
        return InteractionStep(
            step_id=self.watched.step_id,
            trace_id=self.trace_id,
            parent_step_id=self.watched.parent_id or None,
            call_type=CallType.AGENT,
            step_action=StepAction(
                agent_invocation=AgentInvocation(
                    agent_url=self.callee_url,
                    agent_name=self.watched.callee,
                    requests=self._request() or None,
                    response_trace=self.answer.response_trace,
                )
            ),
            additional_attributes=attributes,
            latency=round(self._elapsed * 1000),
            start_time=self.started_at,
            end_time=self.started_at + timedelta(seconds=self._elapsed),
        )

    def _request(self) -> dict[str, JsonValue]:
        told = {"text": self.request_text[:MAX_QUOTED], WORDS_FIELD: self.request_words}
        return {name: text for name, text in told.items() if text}
