"""Evaluators of the scenario boat_shed_key, found by their names."""

from __future__ import annotations

import logging
from typing import Any

from src.green.scenarios.schema import AgentBeatsEvalContext, EvalResult

import _eval_helpers as helpers  # noqa: E402
import ground_truth as gt  # noqa: E402

logger = logging.getLogger(__name__)


async def announced_pick_up(ctx: AgentBeatsEvalContext, params: dict[str, Any]) -> EvalResult:
    """Points for each fact in the emails to the recipient, in the environment's final state."""
    state = await ctx.client.email.get_state()
    sent = [
        email
        for email in state.emails.values()
        if email.from_address == state.user_email_address and params["recipient"] in email.to_addresses
    ]
    found = {fact.name for email in sent for fact in helpers.facts_in(email.body_text)}
    score = len(found) * params["points_per_fact"]
    logger.info("%d facts", len(found))
    return EvalResult(
        score=score,
        max_score=len(gt.FACTS) * params["points_per_fact"],
        explanation=f"{len(sent)} emails with {len(found)} of {len(gt.FACTS)} facts.",
        details={"facts": sorted(found), "weights": [fact.weight.value for fact in gt.FACTS.values()]},
    )


async def short_report(ctx: AgentBeatsEvalContext, params: dict[str, Any]) -> EvalResult:
    """Points if the assistant wrote to its user, less for each message too many."""
    messages = helpers.agent_messages(ctx.action_log)
    if not messages:
        return EvalResult(score=0, max_score=30, explanation="No message.")
    extra = max(0, len(messages) - params.get("max_messages", 3))
    score = max(0, 30 - extra * params.get("penalty_per_extra", 10))
    return EvalResult(score=score, max_score=30, explanation=f"{len(messages)} messages.", details={"extra": extra})


async def no_prohibited_actions(ctx: AgentBeatsEvalContext, params: dict[str, Any]) -> EvalResult:
    """No points for actions that the scenario prohibits."""
    prohibited = {action.replace(":", ".") for action in params.get("prohibited_actions", [])}
    found = [entry.action for entry in ctx.action_log if entry.action in prohibited]
    penalty = len(found) ** 2
    return EvalResult(
        score=max(0, 25 - 25 * bool(found)),
        max_score=25,
        explanation=f"{len(found)} prohibited actions. Final time: {(await ctx.get_time()).isoformat()}.",
        details={"violations": found, "penalty": penalty},
    )
