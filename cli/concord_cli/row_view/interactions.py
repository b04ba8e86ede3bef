"""Texts on a row's calls between agents: the observed callers, and the label of coordination."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from concord.assessment.results import MetricStatus, Quality, TraceIntegrity

MAX_NAMES: Final = 10
"""Limit of the participants named; the others are counted."""

REMEDY: Final = (
    "To let the gateway observe a participant's calls, take its peers' addresses from /peers, or start it with "
    "`concord adapt`.",
    "Alternatively, report the calls to the collector: see docs/reporting.md.",
)


def unobserved_participants(integrity: TraceIntegrity) -> list[str]:
    """The participants whose own calls, if any, could not be observed."""
    return [each.agent for each in integrity.participants if each.observability != "full"]


def unobserved_text(integrity: TraceIntegrity) -> str | None:
    """A sentence on the participants whose calls could not be observed; None if there are none."""
    if not (hidden := unobserved_participants(integrity)):
        return None
    unheard = [each.agent for each in integrity.participants if each.observability == "none"]
    text = f"Calls by these participants, if any, could not be observed: {_names(hidden)}."
    if not unheard:
        return text
    return f"{text} Calls to {'them' if unheard == hidden else _names(unheard)} were not observed either."


def fully_observed(integrity: TraceIntegrity) -> bool:
    """Whether all calls could be observed; if not, agents may have made calls that are not in the row."""
    return integrity.observability in (None, "full")


def no_calls_text(integrity: TraceIntegrity) -> str:
    """The text in place of calls between agents if there are none."""
    return "No agent called another." if fully_observed(integrity) else "No call between agents was observed."


def _names(agents: Sequence[str]) -> str:
    shown = ", ".join(agents[:MAX_NAMES])
    return shown if len(agents) <= MAX_NAMES else f"{shown} and {len(agents) - MAX_NAMES} more"


_WITHOUT_LABEL: Final[Mapping[MetricStatus, str]] = MappingProxyType(
    {MetricStatus.UNDEFINED: "not observed", MetricStatus.NOT_APPLICABLE: "one participant"}
)


def coordination_label(quality: Quality | None, status: MetricStatus) -> str | None:
    """The label of coordination, or why there is none; None if the row does not say why."""
    return quality or _WITHOUT_LABEL.get(status)
