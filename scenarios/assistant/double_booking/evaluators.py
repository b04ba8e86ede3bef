"""The checks of the scenario: the attendee's response to the moved meeting."""

from typing import Any

from concord_assistant.scenario.evaluators import AgentBeatsEvalContext, EvalResult


async def accepted_by(context: AgentBeatsEvalContext, params: dict[str, Any]) -> EvalResult:
    """All points if `attendee` has accepted the event `event_id`, in its final version."""
    event = (await context.get_state("calendar"))["events"].get(params["event_id"]) or {}
    response = next(
        (each["response"] for each in event.get("attendees") or () if each["email"] == params["attendee"]), "missing"
    )
    return EvalResult(float(response == "accepted"), 1, f"The attendee's response is {response}.")
