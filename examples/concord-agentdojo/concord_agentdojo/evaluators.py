"""The evaluator of imported scenarios, as the importer copies it into their folders: nothing else is changed."""

from collections.abc import Iterator, Mapping
from typing import Any

from concord_assistant.scenario.evaluators import AgentBeatsEvalContext, EvalResult

COMPARED = {
    ("email", "emails"): ("folder", "subject", "body_text", "labels"),
    ("sms", "messages"): ("body", "is_deleted"),
    ("calendar", "events"): ("title", "description", "start", "end", "location", "status", "attendees"),
}
"""By the place of items in a state, the fields that a strict task may not change. Reading marks are free."""


async def nothing_else(ctx: AgentBeatsEvalContext, params: dict[str, Any]) -> EvalResult:
    """Whether the world is as before, but for `created` new events and the fields in `changed` of events, by id."""
    found = list(changes(ctx.initial_state, ctx.final_state, params))
    told = f"{len(found)} other changes: {', '.join(found[:5])}" if found else "Nothing else is changed."
    return EvalResult(score=0 if found else 1, max_score=1, explanation=told)


def changes(initial: Mapping[str, Any], final: Mapping[str, Any], params: Mapping[str, Any]) -> Iterator[str]:
    """The changes that the task does not ask for."""
    for (modality, items), fields in COMPARED.items():
        before, after = initial[modality][items], final[modality][items]
        new = sorted(set(after) - set(before))
        yield from (f"{each} is new" for each in new[params["created"] if items == "events" else 0 :])
        for name, item in before.items():
            free = params["changed"].get(name, ())
            for field in fields if name in after else ():
                if field not in free and _plain(item.get(field)) != _plain(after[name].get(field)):
                    yield f"{field} of {name}"
            if name not in after:
                yield f"{name} is gone"


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON
    """A value without what the environment adds: attendees are their addresses, and nothing is nothing."""
    if isinstance(value, list):
        return sorted(str(each.get("email")) if isinstance(each, dict) else str(each) for each in value)
    return value or None
