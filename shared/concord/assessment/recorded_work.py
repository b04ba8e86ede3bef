"""What a trace tells of the work in it, from a file or of a trial: what was said, what was used, what failed."""

from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import Field

from concord.assessment.table import Record

MAX_SAID: Final = 300
"""Steps whose texts a trial's record has."""

MAX_USES: Final = 100
"""Pairs of an agent and its tool or model that a trial's record lists."""

MAX_FAILURES: Final = 50
"""Different failures that a trial's record lists."""


class Redaction(StrEnum):
    """What becomes of texts: they are dropped, or become digests by which equal texts are still equal."""

    DROP = "drop"
    HASH = "hash"


Nature = Literal["error", "timeout", "refusal", "exception", "cancelled", "guardrail"]
"""`refusal`: a model, or a filter of its provider, refused to answer. `exception`: one was recorded in a step that did
not fail."""


class RecordedFailure(Record):
    """Failures at one place that say the same."""

    where: Literal["run", "agent", "call", "tool", "model", "step"]
    """Where it was raised. `run`: in work outside of any call, by which the run ended; `step`: in other own work;
    `agent`, in older rows: in that of an agent that somebody outside of the team asked."""
    nature: Nature
    agent: str
    """Who failed, or whose tool, model or own work did. Of a call, the callee."""
    name: str | None
    """The tool, the model or the guardrail; of a call, the caller."""
    error: str
    count: Annotated[int, Field(ge=1)]
    step_ids: list[str]
    """At most `concord.assessment.results.MAX_STEP_IDS`."""
    handled: bool = False
    """Whether an answer, another attempt, other work or another exception followed. It is no failure of the run."""
    ended_run: bool = False


class RecordedUse(Record):
    """The uses of one tool or model by one agent."""

    agent: str
    kind: Literal["tool", "model"]
    name: str
    calls: int
    failed: int
    repeated: int | None
    """Those of the calls that had the same arguments, or messages, as an earlier one; null if no call tells them."""
    tokens: int | None
    """Null if no call tells them."""
    time_ms: float | None
    """The sum of all known durations. Null if none is known."""


class SaidStep(Record):
    """The texts of one call of an agent, or use of a tool or a model; "" where the trace does not tell them."""

    step_id: str
    kind: Literal["call", "tool", "model"]
    agent: str
    """The caller, or who used the tool or the model."""
    name: str
    """The callee, the tool or the model."""
    start_ms: float | None
    """From the earliest known start of any step."""
    duration_ms: float | None
    tokens: int | None
    input: str
    output: str
    error: str | None


class RecordedWork(Record):
    """The work that a trace tells of, from a file or of a trial that was played. Its texts have the budget of
    those that a judge is sent; the bundle of an assessment has them whole.
    """

    task: str
    said: list[SaidStep]
    """By their start; of too many the failed ones, and equally many from the start and the end."""
    said_omitted: int
    shortened: bool
    """Whether texts lost their middle."""
    uses: list[RecordedUse]
    """Most calls first."""
    failures: list[RecordedFailure]
    """Each failure at its origin. The one that ended the run comes first, then those that nothing handled, and the most
    frequent before the others. Empty for a played trial: its causes tell what failed."""
    failures_omitted: int
    failed: int
    """All failures that nothing handled."""

    @property
    def repeated(self) -> int | None:
        """The repetitions of uses of tools; None if no trace tells the arguments of any."""
        known = [use.repeated for use in self.uses if use.kind == "tool" and use.repeated is not None]
        return sum(known) if known else None
