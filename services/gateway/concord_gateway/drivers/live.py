"""The live driver: sends the task to one participant or to all, and collects their answers."""

import asyncio
import json
import time
from collections.abc import Sequence
from typing import Final, Literal

from concord.a2a import AgentTimeoutError, AgentUnreachableError, Answer, RemoteError, TaskUpdate
from concord.assessment.results import AgentAnswer, TrialOutcome
from concord.assessment.task_spec import Control
from concord.trust.redaction import redact
from concord.wire.roster import RosterEntry
from concord_gateway.drivers.driver import TrialContext, open_alone

MAX_SHOWN: Final = 20_000
"""Limit on the characters of all answers in the row, which marks the cut."""

MAX_ANSWER: Final = 100_000
MAX_ANSWERS: Final = 1_000_000
"""Limits on the characters that are graded, per answer and in all. A longer answer is not graded as if whole."""


async def drive_live(context: TrialContext) -> TrialOutcome:
    """Sends the task as `start` says, and waits for every answer. In the control `alone`, the agent has no peers.

    The trial is completed if any recipient completed it. Every participant was reached before the first trial, so any
    failure here is the team's. Raises StorageUnavailableError.
    """
    started = time.monotonic()
    recipients = context.plan.recipients
    if context.task.control is Control.ALONE:
        await open_alone(context, recipients[0])
    answers = await asyncio.gather(*(_ask(context, entry, len(recipients)) for entry in recipients))
    return outcome_of(context.trial.trial_id, answers, time.monotonic() - started)


async def _ask(context: TrialContext, entry: RosterEntry, n_asked: int) -> AgentAnswer:
    limit_s = min(context.plan.config.turn_timeout_s or context.budget_s, context.budget_s)
    answer = await ask(context, entry, context.task.text, limit_s)
    if isinstance(answer, AgentAnswer):
        return answer
    if answer.state != "completed":
        return unanswered(entry.id, f"ended with {answer.state}: {answer.status_text}")
    return graded_answer(entry.id, redact(text_of(answer)), min(MAX_ANSWER, MAX_ANSWERS // n_asked))


async def ask(
    context: TrialContext, entry: RosterEntry, text: str, limit_s: float, *, context_id: str = "", task_id: str = ""
) -> Answer | AgentAnswer:
    """Sends a text to an agent, and waits `limit_s` for its answer. Returns why there is none, if there is none."""

    def note(update: TaskUpdate) -> None:
        context.progress.note(f"{entry.id}: {update.text or update.state}")

    try:
        async with asyncio.timeout(limit_s):
            return await context.send(entry, text, note, context_id=context_id, task_id=task_id)
    except (TimeoutError, AgentTimeoutError) as error:
        return unanswered(entry.id, str(error) or f"no answer within {limit_s:g} s", "timeout")
    except (AgentUnreachableError, RemoteError) as error:
        return unanswered(entry.id, str(error))


def graded_answer(agent: str, text: str, limit: int = MAX_ANSWER) -> AgentAnswer:
    """An agent's answer as it is graded: one of more than `limit` characters is none."""
    if len(text) > limit:
        error = f"its answer has {len(text):,} characters, and at most {limit:,} are graded"
        return unanswered(agent, error)
    return AgentAnswer(agent=agent, state="completed", text=text, error=None)


def unanswered(agent: str, error: str, state: Literal["failed", "timeout"] = "failed") -> AgentAnswer:
    """What there is of an agent without an answer: why it has none."""
    return AgentAnswer(agent=agent, state=state, text=None, error=redact(error))


def text_of(answer: Answer) -> str:
    """An agent's answer as text: of its artifacts, their texts, else their data as JSON; else of its status message."""
    if answer.text_parts or not (answer.data_parts or answer.status_data):
        return answer.text
    data = answer.data_parts or (() if answer.text else answer.status_data)
    return "\n".join(json.dumps(each, ensure_ascii=False) for each in data) or answer.text


def outcome_of(trial_id: str, answers: Sequence[AgentAnswer], time_used: float) -> TrialOutcome:
    """The outcome of a trial, from the answers of all recipients."""
    done = [answer for answer in answers if answer.state == "completed"]
    failed = [answer for answer in answers if answer.state != "completed"]
    timed_out = any(answer.state == "timeout" for answer in failed)
    return TrialOutcome(
        trial_id=trial_id,
        state="completed" if done else "timeout" if timed_out else "failed",
        error="; ".join(f"{answer.agent}: {answer.error}" for answer in failed) or None,
        answer=_joined(done) or None,
        answers=list(answers),
        time_used=time_used,
    )


def _joined(answers: Sequence[AgentAnswer]) -> str:
    whole = "\n\n".join(f"{answer.agent}:\n{answer.text}" for answer in answers)
    text = answers[0].text or "" if len(answers) == 1 else whole
    if len(text) <= MAX_SHOWN:
        return text
    mark = f"\n… (the first {MAX_SHOWN:,} of {len(text):,} characters)"
    return text[: MAX_SHOWN - len(mark)] + mark
