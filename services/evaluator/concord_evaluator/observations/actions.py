"""The acts of an assistant in its environment, from the log of its actions."""

import re
from collections.abc import Iterable
from typing import Final

from pydantic_core import to_json

from concord.trace.effects import Effect, EffectKind, content_digest
from concord_assistant.results import ActionLogEntry
from concord_evaluator.observations.acts import MAX_TEXT, Act, Deed

_DELIVERING: Final = re.compile(r"\.(?:send|reply|forward|create)")
"""Actions that make something new for others; all other ones edit what is there."""


def acts_of_actions(agent: str, log: Iterable[ActionLogEntry]) -> list[Act]:
    """The acts of the assistant, in their order. Step ids are places in the log, from `action-1`."""
    return [_act(f"action-{number}", agent, entry) for number, entry in enumerate(log, 1)]


def _act(step_id: str, agent: str, entry: ActionLogEntry) -> Act:
    written = to_json({name: entry.parameters[name] for name in sorted(entry.parameters)}, serialize_unknown=True)
    parameters = written.decode()
    delivers = _DELIVERING.search(entry.action) is not None
    effect = Effect(
        kind=EffectKind.DELIVERED if delivers else EffectKind.EDITED,
        artifact=entry.action,
        digest=content_digest(f"{entry.action}{parameters}"),
    )
    return Act(
        step_id=step_id,
        agent=agent,
        deed=Deed.TOOL,
        to=entry.action,
        text=parameters[:MAX_TEXT],
        error=None if entry.success else entry.error_message or "the action failed",
        effect=effect if entry.success else None,
    )
