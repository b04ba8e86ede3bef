"""Removes what was said from a trace, or replaces it by digests, before anything is computed from it."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Final

from msgspec.structs import replace as changed

from concord.assessment.recorded_work import Redaction
from concord.trace import effects
from concord.trace.attributes import (
    AGENT_NAME,
    CONTEXT,
    EDGE_KIND,
    ERROR_TYPE,
    EXCEPTION,
    FINISH_REASON,
    RESPONSE_TEXT,
    RETRY_OF,
    ROUND,
    SPAN_NAME,
    TASK_STATE,
    TOOL_RESULT,
)
from concord.trace.decoding import read
from concord.trace.otlp import genai
from concord.trace.report import ReportBatch, unpack
from concord.trace.stored_step import AnswerTrace, CalledAgent, Invocation, Json, SerialisedBatch, Step, UsedTool
from concord_evaluator.formats.trace import Trace
from concord_evaluator.trace.reading import INPUT_TOKENS, OUTPUT_TOKENS

_TEXTS: Final = frozenset({RESPONSE_TEXT, TOOL_RESULT})
_ERRORS: Final = frozenset({EXCEPTION, "error"})
_KEPT: Final = frozenset(
    {AGENT_NAME, EDGE_KIND, ERROR_TYPE, FINISH_REASON, RETRY_OF, ROUND, SPAN_NAME, TASK_STATE, "call_type"}
    | {genai.GENAI_OPERATION[0], INPUT_TOKENS, OUTPUT_TOKENS}
    | effects.ATTRIBUTES - {effects.EXCERPT}
)
"""Attributes without texts. All others are left out, since anybody may have written anything into them."""

REMOVED: Final = "removed"
"""What stands for an error that is dropped, since a failure stays one."""


@dataclass(frozen=True)
class Redactor:
    """Redacts traces. Digests have a fresh key, so that nobody can tell a text by trying; they compare in one run."""

    how: Redaction
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    def __call__(self, trace: Trace) -> Trace:
        """The trace without texts: task, answer, requests, responses, arguments, results, errors. Names stay."""
        return replace(
            trace,
            batches=tuple(map(self._batch, trace.batches)),
            task=self._text(trace.task),
            answer=self._text(trace.answer),
            failure=self._failure(trace.failure),
            expected=None,
            grading=trace.grading and trace.grading.model_copy(update={"answers": []}),
        )

    def _batch(self, batch: ReportBatch) -> ReportBatch:
        whole = read(unpack(batch.body))
        serialised = SerialisedBatch.of(changed(whole, steps=list(map(self._step, whole.steps))))
        return serialised.received(batch.channel, authenticated=batch.authenticated, received_at=batch.received_at)

    def _step(self, step: Step) -> Step:
        attributes = {
            name: text if name in _KEPT else self._text(text) if name in _TEXTS else self._failure(text)
            for name, text in step.additional_attributes.items()
            if name in _KEPT | _TEXTS | _ERRORS
        }
        action = step.step_action
        return changed(
            step,
            step_action=None if action is None else Invocation(self._use(action), self._call(action)),
            additional_attributes={name: text for name, text in attributes.items() if text},
            error=None if step.error is None else self._failure(str(step.error)),
            parameters=self._values(step.parameters),
            requests=self._values(step.requests),
        )

    def _use(self, action: Invocation) -> UsedTool | None:
        tool = action.tool_invocation
        return None if tool is None else UsedTool(tool.tool_name, self._values(tool.parameters))

    def _call(self, action: Invocation) -> CalledAgent | None:
        call = action.agent_invocation
        if call is None:
            return None
        answer = call.response_trace
        inner = None if answer is None else AnswerTrace(answer.trace_id, list(map(self._step, answer.steps)))
        return changed(call, requests=self._values(call.requests), response_trace=inner)

    def _values(self, values: Mapping[str, Json] | None) -> dict[str, Json] | None:
        """The values of what was asked; None if nothing is left."""
        if values is None or self.how is Redaction.DROP:
            return None
        return {key: value if key == CONTEXT else self._text(str(value)) for key, value in values.items()}

    def _text(self, text: str) -> str:
        if not text or self.how is Redaction.DROP:
            return ""
        return f"#{blake2b(text.encode(errors='replace'), digest_size=8, key=self._key).hexdigest()}"

    def _failure(self, error: str) -> str:
        """The error as a text; `REMOVED` if that leaves nothing."""
        return (self._text(error) or REMOVED) if error else ""


def redactor(how: Redaction | None) -> Callable[[Trace], Trace]:
    """Redacts traces as `how` says; leaves them as they are without it."""
    return (lambda trace: trace) if how is None else Redactor(how)
