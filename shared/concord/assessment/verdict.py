"""The verdict on an assessment: whether it passed, what cost points, what to change, and what is unknown."""

from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import Field

from concord.assessment.table import Record

MAX_CAUSES: Final = 20
"""Causes that a verdict lists, those that cost the most first."""

MAX_NAMED: Final = 20
"""Agents, tasks, trials and steps that a cause names."""

MAX_EVIDENCE: Final = 5
"""Pieces of evidence that a cause shows."""

Points = Annotated[float, Field(ge=0, le=100)]

Certainty = Literal["proven", "observed", "judged"]
"""`proven`: follows from the task's key and from messages that the gateway carried; `observed`: stands in messages,
calls or a file, and its part in the loss is not proven; `judged`: a language model says so."""


class CauseKind(StrEnum):
    """What cost points. The first ones are those of `concord.assessment.team_results.PartFailure`."""

    NOT_SENT = "not_sent"
    MISDIRECTED = "misdirected"
    UNDELIVERED = "undelivered"
    NOT_PASSED_ON = "not_passed_on"
    CHANGED = "changed"
    CONTRADICTED = "contradicted"
    INVENTED = "invented"
    TRUNCATED = "truncated"
    TOO_LATE = "too_late"
    ANSWERED_EARLY = "answered_early"
    NOT_USED = "not_used"
    UNREADABLE = "unreadable"
    NO_ANSWER = "no_answer"
    AGENT_FAILED = "agent_failed"
    UNPROVEN = "unproven"
    """A part of the answer is right, and no message told its seat what it follows from."""
    EMPTY_ANSWER = "empty_answer"
    NEVER_ASKED = "never_asked"
    DISAGREED = "disagreed"
    """Agents stated different values for the same thing."""
    WRONG_VALUE = "wrong_value"
    """An agent was the first to state the wrong value of the final answer."""
    LOST_VALUE = "lost_value"
    """An agent was told the right value, and neither passed it on nor answered with it."""
    CLASHING_EDITS = "clashing_edits"
    """Agents with copies of their own changed the same lines, and their parts could not be merged."""
    CALLS_FAILED = "calls_failed"
    RUN_FAILED = "run_failed"
    """The run in a trace from a file ended with an error. So do the next six stand in such traces only."""
    STEP_FAILED = "step_failed"
    TOOL_FAILED = "tool_failed"
    MODEL_FAILED = "model_failed"
    REFUSED = "refused"
    """A model, or a filter of its provider, refused to answer."""
    GUARDRAIL = "guardrail"
    EXCEPTION = "exception"
    """An exception was recorded in work that did not fail."""
    CRITERION = "criterion"
    """An assistant did not meet a criterion."""
    VETO = "veto"
    """An assistant did harm for which a trial gets no points."""
    UNEXPLAINED = "unexplained"
    """An answer is not right, and no cause could be shown."""


KINDS_OF_PARTS: Final = tuple(CauseKind)[: tuple(CauseKind).index(CauseKind.UNPROVEN)]
"""The kinds of causes of wrong parts of team tasks."""

WITHOUT_FACTS: Final = frozenset(
    {
        CauseKind.NOT_USED,
        CauseKind.UNREADABLE,
        CauseKind.NO_ANSWER,
        CauseKind.AGENT_FAILED,
        CauseKind.CONTRADICTED,
        CauseKind.INVENTED,
    }
)
"""The causes in team tasks that no list of facts explains."""


class Evidence(Record):
    """A piece of evidence: a lost fact, a quote, an error, or the explanation of a grade."""

    text: str
    agent: str | None = None
    """Who said or did it, unless the cause says so."""
    step_id: str | None = None


class Cause(Record):
    """Something that cost points, over all trials in which the same cost some."""

    kind: CauseKind
    agents: tuple[str, ...] = ()
    """Where it lies; several where nothing tells which of them, none where no cause could be shown."""
    part: str | None = None
    """The criterion that lost points, what a veto is about, the task of unexplained wrong answers, or the tool or model
    that failed."""
    certainty: Certainty
    points: Points | None = None
    """The points of the score that it cost; null where they cannot be told. Each lost point counts in one cause."""
    count: Annotated[int, Field(ge=1)] = 1
    """Wrong parts, wrong answers, or failed calls."""
    tasks: tuple[str, ...] = ()
    trials: tuple[str, ...] = ()
    """As tasks and steps at most `MAX_NAMED`; `trials_count` counts all."""
    trials_count: int = 1
    steps: tuple[str, ...] = ()
    """The messages and calls that show it."""
    evidence: tuple[Evidence, ...] = ()
    """At most `MAX_EVIDENCE`, each once; the rest is counted as omitted."""
    evidence_omitted: int = 0

    @property
    def step_id(self) -> str | None:
        """The first of the steps that show it, if one does."""
        return self.steps[0] if self.steps else None


class Change(Record):
    """A change to make: what a cause calls for if the change is known to repair it, else a look at a step."""

    kind: CauseKind
    """Of the cause."""
    agents: list[str]
    step_id: str | None = None
    """Where to look."""
    repairs: bool
    """Whether tests show that the change repairs such a cause; else it is only known where to look."""


class UnknownKind(StrEnum):
    """What nobody knows after an assessment."""

    NOT_JUDGED = "not_judged"
    MODEL_FAILED = "model_failed"
    """A configured model gave no judgment."""
    LOST = "lost"
    """Trials without an evaluation."""
    UNREACHED = "unreached"
    """Participants that could not be contacted."""
    SERVER_FAILED = "server_failed"
    """What agents can do whose servers answered every message with an error of their own."""
    UNCHECKED = "unchecked"
    """Criteria whose checks failed."""
    PEOPLE_FAILED = "people_failed"
    """What an assistant reaches without the faults of simulated people, whose model may have failed."""
    NOT_OBSERVED = "not_observed"
    """Calls of participants, if any."""
    STEPS_LOST = "steps_lost"
    """Steps of the trace that came too late, were dropped, or contradict each other."""
    SPREAD = "spread"
    """How the score varies: there are fewer than two trials or tasks."""
    NEAR_MARK = "near_mark"
    """Whether it would pass again: the interval of the score contains the pass mark."""
    TEAMWORK = "teamwork"
    """What the team added: the tasks are the user's own, and nobody did them alone."""
    NOT_ALONE = "not_alone"
    """What the team added: the starting agent may have reached its peers when it did the tasks alone."""
    NOT_ISOLATED = "not_isolated"
    """What the seats shared beside their messages."""
    NO_RECEIPTS = "no_receipts"
    """Whether messages told what the answers rest on: the facts of the tasks are prose, which no rule can follow."""
    FAULTS_PLANTED = "faults_planted"
    """How the team does in a network without the faults that the request planted."""
    RESTS_ON_MODEL = "rests_on_model"
    """Whether answers are right: a language model graded them by its reading of the agents' own texts."""
    STRUCTURE_ONLY = "structure_only"
    """Whether any task would be done: a given pattern was not played."""


class Unknown(Record):
    """Something that is not known, and what it may be worth."""

    kind: UnknownKind
    agents: list[str] = []
    """At most `MAX_NAMED`; `count` counts all."""
    count: int = 1
    """Trials, agents, criteria or steps."""
    points: Points | None = None
    """The points of the score that it left out."""
    reasons: list[str] = []
    """At most `MAX_EVIDENCE`, each once; the rest is counted as omitted."""
    reasons_omitted: int = 0


class Estimate(Record):
    """A figure with its interval at 95 %, null if unknown."""

    value: float
    low: float | None = None
    high: float | None = None


class Lift(Estimate):
    """The team's raw outcome less a control's, from -1 to 1."""

    control: str


class Figures(Record):
    """The figures beside the score, from 0 to 1; latency of a call in milliseconds."""

    outcome: float | None = None
    utility: Estimate | None = None
    """Of an assistant in scenarios: the share of trials in which its task is done."""
    safety: Estimate | None = None
    """The share of these trials in which it does no harm. A trial passes with both."""
    information: Estimate | None = None
    economy: Estimate | None = None
    lift: list[Lift] = []
    latency_ms: float | None = None


class Known(Record):
    """What was seen of a live team whose outcome nobody judged. `figures.latency_ms` belongs to it."""

    agents: int
    calls: int
    """From one agent to another, `failed` of them with an error."""
    failed: int
    coordination: Literal["high", "medium", "low", "bottleneck"] | None
    density: float | None
    bottleneck: bool | None
    isolated: list[str] = []
    """At most `MAX_NAMED`."""
    findings: list[str] = []
    """Of coordination, in words, at most `MAX_EVIDENCE`."""


class Verdict(Record):
    """The verdict. Points: `score` + those of all causes, of the causes left out, and of all unknowns = 100."""

    passed: bool | None
    """Whether the score reaches the mark, and of an assistant in scenarios the share of passed trials too, whatever the
    trials that nobody judged were worth; null if that depends on them, if nothing was judged, or nothing was played."""
    score: Estimate | None
    """From 0 to 100; null if nobody judged any trial."""
    mark: Points
    trials: int
    """Planned trials, without controls."""
    trials_passed: int
    causes: Annotated[list[Cause], Field(max_length=MAX_CAUSES)]
    causes_left_out: int = 0
    points_left_out: float = 0.0
    """Those of the causes left out."""
    changes: list[Change]
    """For the causes that are listed, in their order."""
    unknown: list[Unknown]
    figures: Figures
    known: Known | None = None
    """Null if there is a score, for patterns and traces, and in rows of earlier versions."""
