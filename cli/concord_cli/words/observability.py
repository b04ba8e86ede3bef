"""Participants whose calls could not be seen, what helps, and what silence then means."""

from collections.abc import Sequence
from typing import Final

from concord.assessment.results import TraceIntegrity

MAX_NAMES: Final = 10
"""Participants named; the others are counted."""

REMEDY: Final = (
    "Have a participant take its peers' addresses from /peers: what it calls then passes the gateway and is seen.",
    "Or have it report its calls to the collector: see docs/reporting.md.",
)


def unseen(integrity: TraceIntegrity) -> list[str]:
    """The participants whose own calls could not be seen, if they made any."""
    return [each.agent for each in integrity.participants if each.observability != "full"]


def unseen_in_words(integrity: TraceIntegrity) -> str | None:
    """Whose calls could not be seen; None where everybody's could."""
    if not (hidden := unseen(integrity)):
        return None
    unheard = [each.agent for each in integrity.participants if each.observability == "none"]
    text = f"Calls that these participants made, if any, could not be seen: {_names(hidden)}."
    if not unheard:
        return text
    return f"{text} Calls to {'them' if unheard == hidden else _names(unheard)} were not seen either."


def all_seen(integrity: TraceIntegrity) -> bool:
    """Whether calls that are not there were not made; else they may have been made unseen."""
    return integrity.observability in (None, "full")


def silence(integrity: TraceIntegrity) -> str:
    """What is said where there are no calls between agents."""
    return "Nobody called anybody." if all_seen(integrity) else "No call between agents was seen."


def _names(agents: Sequence[str]) -> str:
    shown = ", ".join(agents[:MAX_NAMES])
    return shown if len(agents) <= MAX_NAMES else f"{shown} and {len(agents) - MAX_NAMES} more"
