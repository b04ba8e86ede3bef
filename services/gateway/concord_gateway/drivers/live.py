"""Live: the task goes to one participant or to all; the work goes on among them, and their answers come back."""

import asyncio
import time
from dataclasses import dataclass
from typing import Literal

from concord.a2a import AgentTimeoutError, AgentUnreachableError, RemoteError, TaskUpdate
from concord.identity import RosterEntry
from concord.results import TrialOutcome
from concord_gateway.drivers.driver import TrialContext

_ANSWER_LENGTH = 20_000


@dataclass(frozen=True, slots=True)
class _Reply:
    """How one participant's part ended."""

    agent: str
    state: Literal["completed", "failed", "timeout"]
    infrastructure: bool
    text: str


async def drive_live(context: TrialContext) -> TrialOutcome:
    """Sends the task where `start` says, and waits for every answer.

    The trial is completed if anybody it was given to completed it. An agent that cannot be reached at all is a fault
    of the infrastructure; one that does not answer in time, or answers with an error, is its own.
    """
    started = time.monotonic()
    start = context.plan.config.start
    chosen = [entry for entry in context.plan.roster if start in {"all", entry.id}]
    replies = await asyncio.gather(*(_ask(context, entry) for entry in chosen))
    return _outcome(context.trial.trial_id, replies, time.monotonic() - started)


async def _ask(context: TrialContext, entry: RosterEntry) -> _Reply:
    limit = context.plan.config.turn_timeout_s or context.budget_s

    def note(update: TaskUpdate) -> None:
        context.progress.note(f"{entry.id}: {update.text or update.state}")

    try:
        async with asyncio.timeout(min(limit, context.budget_s)):
            answer = await context.send(entry, context.task.text, note)
    except (TimeoutError, AgentTimeoutError) as error:
        return _Reply(entry.id, "timeout", False, str(error) or f"no answer within {limit:g} s")
    except AgentUnreachableError as error:
        return _Reply(entry.id, "failed", True, str(error))
    except RemoteError as error:
        return _Reply(entry.id, "failed", False, str(error))
    if answer.state == "completed":
        return _Reply(entry.id, "completed", False, answer.text)
    return _Reply(entry.id, "failed", False, f"ended with {answer.state}: {answer.status_text}")


def _outcome(trial_id: str, replies: list[_Reply], time_used: float) -> TrialOutcome:
    done = [reply for reply in replies if reply.state == "completed"]
    failed = [reply for reply in replies if reply.state != "completed"]
    timed_out = any(reply.state == "timeout" for reply in failed)
    return TrialOutcome(
        trial_id=trial_id,
        state="completed" if done else "timeout" if timed_out else "failed",
        infrastructure=not done and all(reply.infrastructure for reply in failed),
        error="; ".join(f"{reply.agent}: {reply.text}" for reply in failed) or None,
        answer=_joined(done) or None,
        time_used=time_used,
    )


def _joined(replies: list[_Reply]) -> str:
    if len(replies) == 1:
        return replies[0].text[:_ANSWER_LENGTH]
    return "\n\n".join(f"{reply.agent}:\n{reply.text}" for reply in replies)[:_ANSWER_LENGTH]
