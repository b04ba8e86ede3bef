"""Digests by which tests compare steps: of all facts of a step, and of the request to the agent that it called."""

from typing import NamedTuple

from concord.trace.stored_step import Step, content_digest, json_digest


class StepDigest(NamedTuple):
    """`request`: None without a request."""

    content: bytes
    request: str | None


def digest(step: Step) -> StepDigest:
    call = step.agent_call
    return StepDigest(content_digest(step), json_digest(call.requests).hex() if call and call.requests else None)
