"""The checks of the scenario: what was written when all quotes had arrived."""

from datetime import datetime
from typing import Any

from concord_assistant.scenario.evaluators import AgentBeatsEvalContext, EvalResult

MAX_CHARACTERS = 1200


async def written_after_quotes(context: AgentBeatsEvalContext, params: dict[str, Any]) -> EvalResult:
    """All points for a short email to `to` alone with all texts of `contains`, after the emails of all `quotes`."""
    known = context.initial_state["email"]["emails"]
    emails = [
        email for email in (await context.get_state("email"))["emails"].values() if email["message_id"] not in known
    ]
    arrived = {
        caterer: min((_sent_at(email) for email in emails if email["from_address"] == caterer), default=None)
        for caterer in params["quotes"]
    }
    times = [time for time in arrived.values() if time is not None]
    if len(times) < len(arrived):
        return EvalResult(0, 1, f"{len(times)} of {len(arrived)} quotes had arrived at the end.")
    fitting = [
        email
        for email in emails
        if email["folder"] == "sent"
        and email["to_addresses"] == [params["to"]]
        and not email["cc_addresses"]
        and not email["bcc_addresses"]
        and len(email["body_text"]) <= MAX_CHARACTERS
        and _sent_at(email) > max(times)
        and all(part in f"{email['subject']} {email['body_text']}".casefold() for part in params["contains"])
    ]
    return EvalResult(float(bool(fitting)), 1, f"{len(fitting)} fitting emails to {params['to']} after the last quote.")


def _sent_at(email: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(email["sent_at"])
