"""What is drawn of a team: all of it up to a size, the strongest flows beyond."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from concord.assessment.roster import GREEN_AGENT
from concord_cli.report.flows import Flow

MAX_AGENTS: Final = 60
"""More names than this cannot be read around one ring."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The agents that spoke, those that did not, and the flows between the former; the rest is only counted."""

    agents: tuple[str, ...]
    isolated: tuple[str, ...]
    flows: tuple[Flow, ...]
    agents_left_out: int = 0
    isolated_left_out: int = 0
    calls_left_out: int = 0


def select(agents: Iterable[str], flows: Sequence[Flow]) -> Selection:
    """Chooses what of a team is drawn. Agents keep the order given, those not among them come last."""
    between = [flow for flow in flows if flow.caller != flow.callee]
    ends = (end for flow in between for end in (flow.caller, flow.callee))
    everyone = dict.fromkeys(agent for agent in (*agents, *ends) if agent != GREEN_AGENT)
    speaking = {end for flow in between for end in (flow.caller, flow.callee)}
    isolated = [agent for agent in everyone if agent not in speaking]
    chosen = speaking if len(speaking) <= MAX_AGENTS else _ends_of_strongest(between)
    shown = tuple(flow for flow in between if {flow.caller, flow.callee} <= chosen)
    return Selection(
        agents=tuple(agent for agent in everyone if agent in chosen),
        isolated=tuple(isolated[:MAX_AGENTS]),
        flows=shown,
        agents_left_out=len(speaking) - len(chosen),
        isolated_left_out=max(0, len(isolated) - MAX_AGENTS),
        calls_left_out=sum(flow.calls for flow in between) - sum(flow.calls for flow in shown),
    )


def _ends_of_strongest(flows: Iterable[Flow]) -> set[str]:
    """The ends of the strongest flows, as many as there is room for."""
    chosen: set[str] = set()
    for flow in sorted(flows, key=lambda flow: (-flow.calls, flow.caller, flow.callee)):
        wanted = chosen | {flow.caller, flow.callee}
        if len(wanted) <= MAX_AGENTS:
            chosen = wanted
    return chosen


def messages_by_agent(flows: Iterable[Flow]) -> Counter[str]:
    """Calls that each agent made or received."""
    messages: Counter[str] = Counter()
    for flow in flows:
        messages[flow.caller] += flow.calls
        messages[flow.callee] += flow.calls
    return messages
