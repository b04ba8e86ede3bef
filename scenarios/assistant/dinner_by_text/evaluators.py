"""The checks of the scenario: whether the table was booked before everybody had answered."""

from datetime import datetime
from typing import Any

from concord_assistant.scenario.evaluators import AgentBeatsEvalContext, EvalResult


async def booked_after_answers(context: AgentBeatsEvalContext, params: dict[str, Any]) -> EvalResult:
    """All points if the first email to `restaurant` is later than the first new message of each of `friends`."""
    emails = (await context.get_state("email"))["emails"].values()
    booked = [
        datetime.fromisoformat(email["sent_at"])
        for email in emails
        if email["folder"] == "sent" and params["restaurant"] in email["to_addresses"]
    ]
    known = {message["message_id"] for message in _messages(context.initial_state["sms"])}
    answers: dict[str, datetime] = {}
    for message in _messages(await context.get_state("sms")):
        if message["message_id"] not in known:
            sent_at = datetime.fromisoformat(message["sent_at"])
            answers[message["from_number"]] = min(sent_at, answers.get(message["from_number"], sent_at))
    waiting = [friend for friend in params["friends"] if friend not in answers]
    if not booked or waiting:
        return EvalResult(0, 1, f"Emails to the restaurant: {len(booked)}; friends without an answer: {len(waiting)}.")
    last = max(answers[friend] for friend in params["friends"])
    return EvalResult(float(min(booked) > last), 1, f"Booked at {min(booked)}; the last answer came at {last}.")


def _messages(state: dict[str, Any]) -> list[dict[str, Any]]:
    messages = state["messages"]
    return list(messages.values()) if isinstance(messages, dict) else list(messages)
