"""Observations: checked facts of a trace that may explain a failure. They name no culprit: see `docs/diagnosis.md`."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from concord.assessment.table import Record
from concord.assessment.verdict import CauseKind, Evidence

MAX_OBSERVATIONS: Final = 20
"""Observations of a trial that are listed."""

MAX_READING: Final = 10
"""Steps of a reading order that are listed."""


class ObservationKind(StrEnum):
    """What was observed."""

    CLASHING_EDITS = "clashing_edits"
    """Two agents, each in a copy of its own, changed the same lines differently."""
    UNDONE_EDIT = "undone_edit"
    DELIVERED_NOTHING = "delivered_nothing"
    CLAIMED_UNFINISHED = "claimed_unfinished"
    DELIVERED_FAILING = "delivered_failing"
    """Delivered after the last check failed."""
    WORK_AFTER_END = "work_after_end"
    UNREPAIRED_FAILURE = "unrepaired_failure"
    """A failed call that nobody repaired."""
    TIMED_OUT = "timed_out"
    TURN_LIMIT = "turn_limit"
    TO_AND_FRO = "to_and_fro"
    """The same text between two agents, each way at least twice."""
    SAME_CALL = "same_call"
    """The same tool with the same arguments again."""
    UNBROUGHT_VALUE = "unbrought_value"
    """A member answered nothing, and the team's answer states a value that nobody brought."""
    REPEATED_ERROR = "repeated_error"
    """The same call with the same error again, unchanged."""
    RETRY_STORM = "retry_storm"
    SAME_WORK_TWICE = "same_work_twice"
    IGNORED_CORRECTION = "ignored_correction"
    CHANGED_VALUE = "changed_value"


DEEDS: Final[Mapping[ObservationKind, str]] = {
    ObservationKind.CLASHING_EDITS: "changed the same lines differently, each in its own copy",
    ObservationKind.UNDONE_EDIT: "undid an edit",
    ObservationKind.DELIVERED_NOTHING: "delivered nothing",
    ObservationKind.CLAIMED_UNFINISHED: "took this on, and nobody finished it",
    ObservationKind.DELIVERED_FAILING: "delivered after the last check had failed",
    ObservationKind.WORK_AFTER_END: "went on after its work had ended",
    ObservationKind.UNREPAIRED_FAILURE: "made a call that failed, and nobody repaired it",
    ObservationKind.TIMED_OUT: "waited for what did not come in time",
    ObservationKind.TURN_LIMIT: "went on until its limit of turns",
    ObservationKind.TO_AND_FRO: "passed the same task to and fro",
    ObservationKind.SAME_CALL: "used a tool again with the same arguments",
    ObservationKind.UNBROUGHT_VALUE: "answered nothing, and the answer has a value that stands nowhere",
    ObservationKind.REPEATED_ERROR: "repeated a call unchanged and got the same error",
    ObservationKind.RETRY_STORM: "made many calls in a row that all failed",
    ObservationKind.SAME_WORK_TWICE: "did the same work twice",
    ObservationKind.IGNORED_CORRECTION: "was told a correction and stayed with the old value",
    ObservationKind.CHANGED_VALUE: "was told one value and passed on another",
}
"""What the agents of an observation did."""


class Observation(Record):
    """One checked fact of a trial."""

    kind: ObservationKind
    agents: list[str]
    about: str = ""
    """The artifact, the tool, the callee, or the name of the value."""
    count: Annotated[int, Field(ge=1)] = 1
    """How often: pairs of edits, attempts, edits."""
    steps: list[str]
    """At most `MAX_NAMED`."""
    evidence: list[Evidence]
    """Quotes from the steps, at most `MAX_EVIDENCE`."""
    cause: CauseKind | None = None
    """The kind of the cause that the grader ties it to; null for an observation alone."""


class ReadStep(Record):
    """A step that a person should read, and why."""

    step_id: str
    agent: str
    reason: str


def observation_text(found: Observation) -> str:
    """An observation on one line: `coder, tester changed the same lines …: app.py (3 times)`."""
    about = f": {found.about}" if found.about else ""
    times = f" ({found.count:,} times)" if found.count > 1 else ""
    return f"{', '.join(found.agents)} {DEEDS[found.kind]}{about}{times}"
