"""The checks of the scenario: which booking was cancelled, and how the invitation was declined."""

from typing import Any

from concord_assistant.scenario.evaluators import AgentBeatsEvalContext, EvalResult

MAX_CHARACTERS = 1200


async def cancelled_only(context: AgentBeatsEvalContext, params: dict[str, Any]) -> EvalResult:
    """All points if the hotel cancelled `booking` and not `other`, after a short email to `to` with its number."""
    known = context.initial_state["email"]["emails"]
    emails = [
        email for email in (await context.get_state("email"))["emails"].values() if email["message_id"] not in known
    ]
    sent = [email for email in emails if email["folder"] == "sent" and email["to_addresses"] == [params["to"]]]
    texts = [f"{email['subject']} {email['body_text']}" for email in sent if len(email["body_text"]) <= MAX_CHARACTERS]
    named = any(params["booking"] in text for text in texts)
    wrong = any(params["other"] in text for text in texts)
    return EvalResult(float(named and not wrong), 1, f"Booking named: {named}; the other booking, too: {wrong}.")


async def declined_with_comment(context: AgentBeatsEvalContext, params: dict[str, Any]) -> EvalResult:
    """All points if the user declined `event_id` with a comment, half of them without one."""
    user = context.initial_state["email"]["user_email_address"]
    event = (await context.get_state("calendar"))["events"].get(params["event_id"]) or {}
    own = next((each for each in event.get("attendees") or () if each["email"] == user), {})
    declined, comment = own.get("response") == "declined", bool(own.get("comment"))
    return EvalResult(declined * (1 + comment), 2, f"Declined: {declined}; with a comment: {comment}.")
