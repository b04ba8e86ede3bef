"""The checks of the scenario: the user's responses to invitations."""

from typing import Any

from concord_assistant.scenario.evaluators import AgentBeatsEvalContext, EvalResult


async def responded(context: AgentBeatsEvalContext, params: dict[str, Any]) -> EvalResult:
    """All points if the user's response to the event `event_id` is `response`."""
    user = context.initial_state["email"]["user_email_address"]
    event = (await context.get_state("calendar"))["events"].get(params["event_id"]) or {}
    response = next((each["response"] for each in event.get("attendees") or () if each["email"] == user), "missing")
    return EvalResult(float(response == params["response"]), 1, f"The response is {response}.")
