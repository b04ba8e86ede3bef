"""A cause that was found in one trial of an own task."""

from dataclasses import dataclass

from concord.assessment.verdict import Cause, CauseKind, Evidence
from concord_evaluator.own_tasks.exchange import Told, quote


@dataclass(frozen=True, slots=True)
class Quoted:
    """What an agent said, or how its call ended, and the step that shows it."""

    agent: str
    step_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """A cause: what happened, at which agents, and what shows it. All of it was observed.

    `share`: the part of what the trial lost that it stands for.
    """

    kind: CauseKind
    agents: tuple[str, ...]
    quotes: tuple[Quoted, ...] = ()
    share: float = 1.0

    def cause(self) -> Cause:
        """The cause as rows have it. Its points are of a trial that lost all 100."""
        return Cause(
            kind=self.kind,
            agents=list(self.agents),
            certainty="observed",
            points=100 * self.share,
            steps=list(dict.fromkeys(each.step_id for each in self.quotes if each.step_id)),
            evidence=[
                Evidence(text=each.text, agent=each.agent, step_id=each.step_id or None)
                for each in self.quotes
                if each.text
            ],
        )


def quoted(told: Told, *around: str) -> Quoted:
    """The sentence of a message in which a value stands."""
    said = told.message.said
    return Quoted(told.sender, told.message.step_id, quote(said.text or said.words, around))
