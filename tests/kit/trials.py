"""Plans, trials and their verdicts for tests, with only the fields that a test needs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from concord.assessment import AssessmentConfig, AssessmentPlan, Mode, TaskSpec, TrialSpec
from concord.assessment.results import AgentAnswer, TrialOutcome
from concord.assessment.scorers import ExactScorer
from concord.trace.report import Report, ReportBatch, StepBatch, pack
from concord.wire.roster import GREEN_AGENT, RosterEntry
from concord_evaluator.documents import JudgedTrial, TrialEvaluation
from concord_evaluator.judge import judge_by_rules
from concord_evaluator.pipeline import evaluate_trial, verdict_on
from tests.kit.graphs import Team
from tests.kit.traces import RECEIVED_AT, TRACE_ID, call, model_of, observed, url_of

State = Literal["completed", "failed", "timeout"]

EXACT = ExactScorer()


def plan(
    agents: Iterable[str],
    *,
    trials: int = 1,
    tasks: int = 1,
    config: Mapping[str, object] | None = None,
    graded: bool = True,
    reports: bool = False,
) -> AssessmentPlan:
    """A plan of `trials` trials over `tasks` tasks in turn; the answer "done" is right.

    `reports`: whether the participants declare that they report. Only then can they be found silent.
    """
    specs = [
        TaskSpec(
            id=f"task-{number}", text="work", target=["done"] if graded else None, scorer=EXACT if graded else None
        )
        for number in range(tasks)
    ]
    return AssessmentPlan(
        assessment_id="assessment",
        mode=Mode.LIVE,
        config=AssessmentConfig.model_validate(config or {}),
        tasks=specs,
        roster=[RosterEntry(id=agent, url=url_of(agent), functions=("reviewer",), reports=reports) for agent in agents],
        trials=[
            TrialSpec(
                trial_id=f"trial-{number + 1}", task_id=specs[number % tasks].id, run=1, seed=number, trace_id=TRACE_ID
            )
            for number in range(trials)
        ],
    )


def outcome(
    trial_id: str = "trial-1",
    *,
    state: State = "completed",
    error: str | None = None,
    answer: str | None = "done",
    time_used: float = 2.0,
    closed_after: int | None = None,
) -> TrialOutcome:
    return TrialOutcome(
        trial_id=trial_id,
        state=state,
        error=error,
        answer=answer,
        time_used=time_used,
        closed_after=closed_after,
    )


def batch(number: int, reports: Sequence[Report], *, dropped: int = 0) -> ReportBatch:
    """Reports of one reporter as a stored batch."""
    first = reports[0]
    steps = StepBatch(trace_id=TRACE_ID, reporter=first.reporter, steps=list(map(model_of, reports)))
    return ReportBatch(
        batch_id=str(number),
        trace_id=TRACE_ID,
        reporter=first.reporter,
        authenticated=first.authenticated,
        channel=first.channel,
        received_at=RECEIVED_AT,
        n_steps=len(reports),
        dropped=dropped,
        body=pack(steps.model_dump_json(exclude_none=True).encode()),
    )


def evaluated(
    plan: AssessmentPlan,
    batches: Sequence[ReportBatch],
    ended: TrialOutcome | None = None,
    *,
    closed_after: int | None = None,
) -> TrialEvaluation:
    ended = answered_by_all(plan, ended or outcome())
    return evaluate_trial(plan, ended.model_copy(update={"closed_after": closed_after}), batches)


def answered_by_all(plan: AssessmentPlan, ended: TrialOutcome) -> TrialOutcome:
    """The outcome with the trial's answer for every recipient of the task, unless it has answers already."""
    if ended.answers:
        return ended
    answers = [
        AgentAnswer(agent=entry.id, state=ended.state, text=ended.answer, error=ended.error)
        for entry in plan.recipients
    ]
    return ended.model_copy(update={"answers": answers})


def carried(number: int, caller: str, callee: str, **step: Any) -> list[Report]:  # noqa: ANN401 - as `call` takes it
    """A call that the gateway carried; without a `request`, its text is a word that no other call has."""
    request = step.pop("request", None) or f"topic{''.join(chr(97 + int(digit)) for digit in f'{number:04}')}"
    attributes = {"agent_name": caller} | dict(step.pop("attributes", {}))
    return observed(GREEN_AGENT, call(f"{number:04}", callee, request=request, attributes=attributes, **step))


def batches_of(team: Team, *, latency: int | None = None, error: str | None = None) -> list[ReportBatch]:
    """The batches of a team in which every pair is one call that the gateway carried."""
    return [batch(number, carried(number, a, b, latency=latency, error=error)) for number, (a, b) in enumerate(team[1])]


def judged(plan: AssessmentPlan, team: Team, ended: TrialOutcome | None = None, *, latency: int = 10) -> JudgedTrial:
    """The verdict on a trial in which every pair of the team is one call."""
    evaluation = evaluated(plan, batches_of(team, latency=latency), ended)
    return verdict_on(plan, evaluation, judge_by_rules(evaluation, plan.mode, "no model here"))
