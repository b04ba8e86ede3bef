"""Failures that spans tell and no call between agents does: of the run, of an agent asked from outside, exceptions."""

from collections.abc import Mapping
from itertools import chain

from msgspec.structs import replace as changed

from concord.trace.attributes import EXCEPTION, FAILED_OUTSIDE
from concord.trace.otlp import Span, SpanTree, genai, is_control_flow
from concord.trace.step import MAX_VALUE_LENGTH
from concord.trace.stored_step import Step
from concord_evaluator.formats.activations import Activation, Activations


def failure_of_run(tree: SpanTree, activations: Activations, read: Mapping[str, Span]) -> str:
    """The error of the last outermost span around work of agents; "" if that did not fail, or has an answer.

    `read`: the spans as their mapping read them.
    """
    for top in reversed(tree.children.get("", ())):
        if any(activations.of_span.get(each.span_id) for each in chain((top,), tree.below(top))):
            failed = read[top.span_id].failed and not top.content.output
            return error_of(read[top.span_id]) if failed else ""
    return ""


def error_of(span: Span) -> str:
    """The error of a failed span: its message, else its type."""
    thrown = [span.text(("exception.type",)), span.text(genai.EXCEPTION)]
    return span.message or ": ".join(text for text in thrown if text) or span.text(genai.ERROR_TYPE) or "error"


def with_failures(step: Step, span: Span, read: Span, tree: SpanTree, at: Activation | None) -> Step:
    """The step of a span, marked as a failure of the run or of an agent asked from outside, or with an exception that
    was caught. `read`: the span as its mapping read it; `at`: the activation that it is part of."""
    noted: dict[str, str] = {}
    if read.failed and span.parent_id not in tree.spans:
        noted[FAILED_OUTSIDE] = "run"
    elif read.failed and at is not None and at.head.span_id == span.span_id and not at.causes:
        noted[FAILED_OUTSIDE] = "agent"
    elif not span.failed and not read.failed and span.text(genai.EXCEPTION) and not is_control_flow(span):
        noted[EXCEPTION] = error_of(span)[:MAX_VALUE_LENGTH]
    return changed(step, additional_attributes=step.additional_attributes | noted) if noted else step
