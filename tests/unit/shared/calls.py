"""An interaction step for tests."""

from concord.trace.step import CallType, InteractionStep


def call(**changes: object) -> InteractionStep:
    """A call to an agent with attributes; `changes` replace its fields."""
    fields = {
        "step_id": "s",
        "trace_id": "t",
        "call_type": CallType.AGENT,
        "additional_attributes": {"a": "1", "b": "2"},
    }
    return InteractionStep.model_validate(fields | changes)
