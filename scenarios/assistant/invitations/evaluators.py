"""The checks of the scenario: the user's responses to invitations."""

from typing import Any

from concord_assistant.scenario.evaluators import AgentBeatsEvalContext, EvalResult


async def responded(context: AgentBeatsEvalContext, params: dict[str, Any]) -> EvalResult:
    """All points for the response `response` to `event_id`; half of them for a refusal without a comment."""
    user = context.initial_state["email"]["user_email_address"]
    event = (await context.get_state("calendar"))["events"].get(params["event_id"]) or {}
    own = next((each for each in event.get("attendees") or () if each["email"] == user), {})
    if own.get("response") != params["response"]:
        return EvalResult(0, 2, f"The response is {own.get('response')}, not {params['response']}.")
    if params["response"] == "declined" and not own.get("comment"):
        return EvalResult(1, 2, "The invitation is declined without a comment.")
    return EvalResult(2, 2, f"The invitation is {params['response']} as it should be.")
