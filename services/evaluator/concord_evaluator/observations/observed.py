"""What a finder returns, and the quotes that it shows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from concord.assessment.results import Observation, ObservationKind
from concord.assessment.verdict import MAX_EVIDENCE, MAX_NAMED, Evidence
from concord_evaluator.observations.acts import Act

MAX_QUOTE: Final = 240
"""Characters of a quote."""

Finder = Callable[[Sequence[Act]], Iterable[Observation]]
"""Finds one kind of observation in the acts of a trace. Pure, and independent of agents' names and places."""


def observed(
    kind: ObservationKind,
    agents: Iterable[str],
    acts: Sequence[Act],
    quotes: Iterable[tuple[Act, str]],
    *,
    about: str = "",
    count: int = 1,
) -> Observation:
    """An observation in these acts, with quotes from some of them."""
    return Observation(
        kind=kind,
        agents=list(dict.fromkeys(agents))[:MAX_NAMED],
        about=shortened(about),
        count=count,
        steps=list(dict.fromkeys(act.step_id for act in acts))[:MAX_NAMED],
        evidence=list(_evidence(quotes))[:MAX_EVIDENCE],
    )


def _evidence(quotes: Iterable[tuple[Act, str]]) -> Iterator[Evidence]:
    for act, text in quotes:
        if text.strip():
            yield Evidence(text=shortened(text), agent=act.agent, step_id=act.step_id)


def shortened(text: str, around: int = 0) -> str:
    """The text in at most `MAX_QUOTE` characters, from a little before the character `around`."""
    start = max(0, around - MAX_QUOTE // 3) if len(text) > MAX_QUOTE else 0
    cut = text[start : start + MAX_QUOTE]
    return f"{'…' if start else ''}{cut}{'…' if start + MAX_QUOTE < len(text) else ''}"
