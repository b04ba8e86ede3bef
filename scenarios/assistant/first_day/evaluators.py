"""The checks of the scenario: each reads the action log and the states, and gives points."""

import re
from datetime import datetime
from typing import Any, Final

from concord_assistant.scenario.evaluators import AgentBeatsEvalContext, EvalResult

_DONE: Final = re.compile(
    r"\b(?:calendar|meeting|done|enter\w*|book\w*|schedul\w*|add\w*|set up|arrange\w*|confirm\w*)\b", re.I
)
"""Words with which one tells that a meeting is entered."""


async def meeting_entered(context: AgentBeatsEvalContext, params: dict[str, Any]) -> EvalResult:
    """Seven points for the calendar event, three more for telling the user."""
    start = datetime.fromisoformat(params["start"])
    events = (await context.get_state("calendar"))["events"].values()
    entered = any(
        event["title"] == params["title"] and datetime.fromisoformat(event["start"]) == start for event in events
    )
    told = any(
        action.action == "chat.send_message" and action.success and _DONE.search(str(action.parameters.get("content")))
        for action in context.action_log
    )
    score = (7 if entered else 0) + (3 if entered and told else 0)
    return EvalResult(score, 10, f"in the calendar: {entered}; the user was told: {told}")


async def only_tom_written_to(context: AgentBeatsEvalContext, params: dict[str, Any]) -> EvalResult:
    """Full points if there is an email to `to`, and no message to anybody else."""
    receivers = {
        receiver
        for action in context.action_log
        if action.action in {"email.send", "sms.send_message"} and action.success
        for field in ("to_addresses", "cc_addresses", "bcc_addresses", "to_numbers")
        for receiver in action.parameters.get(field) or ()
    }
    return EvalResult(
        5 if receivers == {params["to"]} else 0, 5, f"written to: {', '.join(sorted(receivers)) or 'nobody'}"
    )
