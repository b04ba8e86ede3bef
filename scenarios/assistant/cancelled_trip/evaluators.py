"""The checks of the scenario: how the invitation was declined."""

from typing import Any

from concord_assistant.scenario.evaluators import AgentBeatsEvalContext, EvalResult


async def declined_with_comment(context: AgentBeatsEvalContext, params: dict[str, Any]) -> EvalResult:
    """All points if the user declined `event_id` with a comment, half of them without one."""
    user = context.initial_state["email"]["user_email_address"]
    event = (await context.get_state("calendar"))["events"].get(params["event_id"]) or {}
    own = next((each for each in event.get("attendees") or () if each["email"] == user), {})
    declined, comment = own.get("response") == "declined", bool(own.get("comment"))
    return EvalResult(declined * (1 + comment), 2, f"Declined: {declined}; with a comment: {comment}.")
