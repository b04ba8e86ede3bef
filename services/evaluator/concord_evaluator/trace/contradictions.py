"""Contradictions: claims of calls that what the gateway saw refutes, by who made them."""

from bisect import insort
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from concord.assessment.roster import GREEN_AGENT
from concord_evaluator.trace.names import participant_of
from concord_evaluator.trace.records import StepRecord

MAX_KINDS: Final = 1000
"""Different claims that are told apart; all are counted."""

MAX_STEP_IDS: Final = 20


class Claim(NamedTuple):
    """What a participant told: that one agent called another."""

    teller: str
    caller: str
    callee: str


@dataclass(slots=True)
class Contradictions:
    """Refuted claims, counted; `step_ids`: the first of the steps that make each."""

    total: int = 0
    counts: dict[Claim, int] = field(default_factory=dict)
    step_ids: dict[Claim, list[str]] = field(default_factory=dict)

    def add(self, record: StepRecord, caller: str, callee: str) -> None:
        """Counts a claim that a call took place."""
        self.total += 1
        tellers = sorted(telling.reporter for telling in record.tellings if telling.reporter != GREEN_AGENT)
        claim = Claim(participant_of(tellers[0]) if tellers else participant_of(caller), caller, callee)
        if claim not in self.counts and len(self.counts) >= MAX_KINDS:
            return
        self.counts[claim] = self.counts.get(claim, 0) + 1
        steps = self.step_ids.setdefault(claim, [])
        insort(steps, record.step_id)
        del steps[MAX_STEP_IDS:]
