"""The checks of the scenario: a text message in time, and the user's responses to invitations."""

from datetime import datetime
from typing import Any

from concord_assistant.scenario.evaluators import AgentBeatsEvalContext, EvalResult

MAX_CHARACTERS = 400


async def texted_before(context: AgentBeatsEvalContext, params: dict[str, Any]) -> EvalResult:
    """All points for a short text message to `to` alone with all texts of `contains`, sent before `deadline`."""
    deadline = datetime.fromisoformat(params["deadline"])
    messages = (await context.get_state("sms"))["messages"]
    fitting = [
        message["sent_at"]
        for message in (messages.values() if isinstance(messages, dict) else messages)
        if message["direction"] == "outgoing"
        and message["to_numbers"] == [params["to"]]
        and len(message["body"]) <= MAX_CHARACTERS
        and all(part.casefold() in message["body"].casefold() for part in params["contains"])
    ]
    in_time = [sent_at for sent_at in fitting if datetime.fromisoformat(sent_at) < deadline]
    return EvalResult(float(bool(in_time)), 1, f"{len(fitting)} fitting text messages, {len(in_time)} of them in time.")


async def responded(context: AgentBeatsEvalContext, params: dict[str, Any]) -> EvalResult:
    """All points if the user's response to the event `event_id` is `response`."""
    user = context.initial_state["email"]["user_email_address"]
    event = (await context.get_state("calendar"))["events"].get(params["event_id"]) or {}
    response = next((each["response"] for each in event.get("attendees") or () if each["email"] == user), "missing")
    return EvalResult(float(response == params["response"]), 1, f"The response is {response}.")
