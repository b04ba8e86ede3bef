"""Rows of all kinds, each with the verdict that is right. To add one, add a `Right` to a list below."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from concord.assessment import AssessmentPlan, Mode
from concord.assessment.result_row import InfrastructureFailure, ResultRow
from concord.assessment.results import GradedAnswer, Grading, TrialOutcome, TrialRecord
from concord.assessment.team_results import PartFailure, UnprovenPart
from concord.assessment.verdict import Cause, CauseKind, Evidence
from concord_evaluator.aggregate import make_row
from concord_evaluator.documents import JudgedTrial
from concord_evaluator.judge import judge_by_rules
from concord_evaluator.pipeline import verdict_on
from concord_evaluator.verdict import verdict_of
from tests.kit.assistant_rows import (
    assistant_in_two_trials,
    criterion,
    lone_assistant,
    results_of,
    row_with,
    troubled_day,
)
from tests.kit.graphs import Team, agents, chain, mesh, star, with_isolated
from tests.kit.team_rows import (
    Call,
    by_nobody,
    ground_truth,
    half_judged,
    lone_participant,
    recorded,
    row_of,
    scheduled,
    star_of_five,
    trial_of,
    troubled_six,
    unjudged_and_unseen,
    unseen,
)
from tests.kit.team_task_rows import (
    clean_team,
    failure,
    flow_of,
    seat_names,
    team_by_calls,
    team_of_twenty,
    team_task,
    trial_with,
    withholding_team,
)
from tests.kit.trials import batches_of, evaluated, judged, outcome, plan

SPREAD, SEATS, TEAMWORK = "spread", "not_isolated", "teamwork"


@dataclass(frozen=True, slots=True)
class Right:
    """A row, and its right verdict.

    `causes`: `agent/2 told nobody: 100`, in their order, with the points if they are known; `unknown`: kinds.
    """

    name: str
    make: Callable[[], ResultRow]
    passed: bool | None
    causes: Sequence[str] = ()
    unknown: Collection[str] = ()


def with_row(row: ResultRow, scoring: dict[str, Any] | None = None, **detail: object) -> ResultRow:
    """The row with changed fields of its detail and its scoring, and the verdict that follows."""
    changes = {**detail, "scoring": row.detail.scoring.model_copy(update=scoring or {})}
    changed = row.model_copy(update={"detail": row.detail.model_copy(update=changes)})
    return changed.model_copy(update={"detail": changed.detail.model_copy(update={"verdict": verdict_of(changed)})})


# Rows of team tasks.


def team(*failures: PartFailure, outcome: float = 0.0, seats: int = 5, **record: object) -> ResultRow:
    """One trial of seats that failed so."""
    played = team_task(flow_of(seats), failures, **record)
    return row_of(seat_names(seats), trial_with(played, outcome=outcome))


def trials_with(n: int, *failures: PartFailure) -> ResultRow:
    """So many trials of the same task that all failed so."""
    return row_of(seat_names(5), *(trial_with(team_task(flow_of(), failures), trial_id=f"trial-{k}") for k in range(n)))


def lost_in(share: float, seat: str, **changes: object) -> PartFailure:
    """A failure of a seat that cost this share of the outcome."""
    return failure(seat, lost=share, part=f"part of {seat}", **changes)


def guessing() -> ResultRow:
    """Right answers that no message told, half of them."""
    unproven = [UnprovenPart(part="agent/1", seat="agent/1", facts=["reading of agent/2"], lost=0.5)]
    return team(outcome=0.5, unproven=unproven, credited=0.5)


def with_failing_control() -> ResultRow:
    """A perfect team beside a control that failed."""
    control = trial_with(team_task(None, [failure()], control="silent"), trial_id="trial-2", task_id="control")
    team_trial = clean_team().detail.trials[0]
    row = row_of(seat_names(5), team_trial)
    return with_row(row, trials=[team_trial, control])


TEAM_TASKS = [
    Right("a team that tells everything", clean_team, True, (), (SPREAD, SEATS)),
    Right("a seat that withholds", withholding_team, False, ["agent/2 told nobody: 100"], (SPREAD, SEATS)),
    Right("the same of twenty seats", team_of_twenty, False, ["agent/2 told nobody: 100"], (SPREAD, SEATS)),
    Right("the same by calls", team_by_calls, False, ["agent/2 told nobody: 100"], (SPREAD, SEATS)),
    Right("three seats", lambda: team(failure(), seats=3), False, ["agent/2 told nobody: 100"], (SPREAD, SEATS)),
    Right(
        "a seat that tells something else",
        lambda: team(lost_in(0.2, "agent/3", cause=CauseKind.CHANGED), outcome=0.8),
        True,
        ["agent/3 changed, and told others something else: 20"],
        (SPREAD, SEATS),
    ),
    Right(
        "24 trials of unreadable replies",
        lambda: trials_with(24, failure("agent/1", cause=CauseKind.UNREADABLE, lost=1.0)),
        False,
        ["agent/1 replied in a form that cannot be read: 100"],
        (SPREAD, SEATS),
    ),
    Right(
        "more failures than a row lists",
        lambda: team(lost_in(0.4, "agent/1", cause=CauseKind.UNREADABLE), failures_omitted=796, outcome=0.0),
        False,
        ["review: the answer is not right, and no cause could be shown: 60", "agent/1 replied in a form that cannot "
         "be read: 40"],
        (SPREAD, SEATS),
    ),
    Right(
        "a seat that crashed",
        lambda: team(lost_in(1.0, "agent/4", cause=CauseKind.AGENT_FAILED)),
        False,
        ["agent/4 failed: 100"],
        (SPREAD, SEATS),
    ),
    Right(
        "a seat that told too late, and one that did not wait",
        lambda: team(lost_in(0.5, "agent/4", cause=CauseKind.TOO_LATE),
                     lost_in(0.25, "agent/1", cause=CauseKind.ANSWERED_EARLY), outcome=0.25),
        False,
        ["agent/4 told too late: 50", "agent/1 answered before it could know: 25"],
        (SPREAD, SEATS),
    ),
    Right(
        "one of two seats",
        lambda: team(lost_in(1.0, "agent/2").model_copy(update={"seats": ["agent/2", "agent/3"]})),
        False,
        ["agent/2 or agent/3 told nobody: 100"],
        (SPREAD, SEATS),
    ),
    Right(
        "two causes of one part",
        lambda: team(failure("agent/2"), failure("agent/3", cause=CauseKind.CHANGED)),
        False,
        ["agent/2 told nobody: 50", "agent/3 changed, and told others something else: 50"],
        (SPREAD, SEATS),
    ),
    Right("right answers without a receipt", guessing, False, ["agent/1 answered right, and no message told it: 50"],
          (SPREAD, SEATS)),
    Right("a seat that gives no answer", lambda: team(lost_in(1.0, "agent/1", cause=CauseKind.NO_ANSWER)), False,
          ["agent/1 gave no answer: 100"], (SPREAD, SEATS)),
    Right("a control that fails", with_failing_control, True, (), (SPREAD, SEATS)),
]  # fmt: skip


# Rows of the user's own tasks.


def own(
    *values: float | None,
    causes: Sequence[Cause] = (),
    names: Sequence[str] = ("ann", "bob"),
    **scoring: Any,  # noqa: ANN401 - fields
) -> ResultRow:
    """Trials of tasks of the user's own with these outcomes (None: unjudged), the first with these causes."""
    trials = [_own_trial(names, number, value) for number, value in enumerate(values, 1)]
    trials[0] = trials[0].model_copy(update={"causes": list(causes)})
    return with_row(row_of(names, *trials), {"basis": "outcome_only", **scoring})


def _own_trial(names: Sequence[str], number: int, value: float | None) -> TrialRecord:
    asks = Call(names[0], 60, [[Call(name, 40)] for name in names[1:]])
    trial = trial_of(names, scheduled(asks), number=number, score=value or 0.0)
    return by_nobody(trial) if value is None else trial


def said(kind: CauseKind, *who: str, points: float | None = 100, text: str = "16:35") -> Cause:
    """A cause that messages show."""
    return Cause(
        kind=kind,
        agents=who,
        certainty="observed",
        points=points,
        evidence=(Evidence(text=text, step_id="0000000000000765"),),
    )


def judged_by_model() -> ResultRow:
    """An answer that a model finds half done."""
    trial = _own_trial(["ann"], 1, 0.5)
    answers = [GradedAnswer(agent="ann", value=0.5, explanation="The model finds the task done in part.")]
    grading = Grading(value=0.5, source="model", scorer="model", reason=None, answers=answers)
    row = row_of(["ann"], trial.model_copy(update={"grading": grading}))
    return with_row(row, {"basis": "outcome_only"})


def near_the_mark() -> ResultRow:
    """A score whose interval contains the mark."""
    row = own(0.5, 1.0)
    return with_row(row, statistics=row.detail.statistics.model_copy(update={"score_low": 40.0, "score_high": 100.0}))


OWN_TASKS = [
    Right("a right answer", lambda: own(1.0), True, (), (SPREAD, TEAMWORK)),
    Right("a wrong answer that nothing explains", lambda: own(0.0), False,
          ["review: the answer is not right, and no cause could be shown: 100"], (SPREAD, TEAMWORK)),
    Right("a helper that is wrong", lambda: own(0.0, causes=[said(CauseKind.WRONG_VALUE, "bob")]), False,
          ["bob was the first to say the wrong value: 100"], (SPREAD, TEAMWORK)),
    Right("a coordinator that drops what it was told", lambda: own(0.0, causes=[said(CauseKind.LOST_VALUE, "ann")]),
          False, ["ann was told the right value, and lost it: 100"], (SPREAD, TEAMWORK)),
    Right("an agent that is down", lambda: own(0.0, causes=[said(CauseKind.AGENT_FAILED, "bob")]), False,
          ["bob failed: 100"], (SPREAD, TEAMWORK)),
    Right("agents that contradict each other", lambda: own(0.0, causes=[said(CauseKind.DISAGREED, "ann", "bob")]),
          False, ["ann and bob stated different values: 100"], (SPREAD, TEAMWORK)),
    Right("an agent that nobody asked, which explains nothing for certain",
          lambda: own(0.5, causes=[said(CauseKind.NEVER_ASKED, "bob", points=None)]), False,
          ["review: the answer is not right, and no cause could be shown: 50", "bob got no call"],
          (SPREAD, TEAMWORK)),
    Right("three agents", lambda: own(1.0, names=["ann", "bob", "cy"]), True, (), (SPREAD, TEAMWORK)),
    Right("a lone participant", lambda: with_row(lone_participant(), {"basis": "outcome_only"}), True,
          ["review: the answer is not right, and no cause could be shown: 30"], (SPREAD,)),
    Right("unjudged", lambda: own(None), None, (), ("not_judged", TEAMWORK)),
    Right("some unjudged, on which it depends", half_judged, None,
          ["review: the answer is not right, and no cause could be shown: 20"],
          ("not_judged", "rests_on_model", SPREAD)),
    Right("some unjudged, which change nothing", lambda: own(0.0, 0.0, 0.0, None, score_high=25.0), False,
          ["review: the answer is not right, and no cause could be shown: 75"], ("not_judged", SPREAD, TEAMWORK)),
    Right("unobserved and judged", lambda: with_row(unseen(), {"basis": "outcome_only"}), False,
          ["review: the answer is not right, and no cause could be shown: 50"], ("not_observed", SPREAD, TEAMWORK)),
    Right("unobserved and unjudged", unjudged_and_unseen, None, (), ("not_judged", "not_observed")),
    Right("judged by a model", judged_by_model, False,
          ["review: the answer is not right, and no cause could be shown: 50"], ("rests_on_model", SPREAD)),
    Right("near the mark", near_the_mark, True,
          ["review: the answer is not right, and no cause could be shown: 25"], ("near_mark", TEAMWORK)),
    Right("a hub that does well", star_of_five, False,
          ["review: the answer is not right, and no cause could be shown: 43"], (SPREAD,)),
    Right("failed calls and a trial that timed out", troubled_six, False,
          ["review: the answer is not right, and no cause could be shown: 80", "researcher_2 failed when it was called",
           "reviewer failed when it was called", "synthesizer failed when it was called"],
          (SPREAD,)),
    Right("steps that came too late", lambda: with_row(own(1.0), trials=[
        each.model_copy(update={"trace_integrity": each.trace_integrity.model_copy(update={"late": 3})})
        for each in own(1.0).detail.trials]), True, (), ("steps_lost", SPREAD, TEAMWORK)),
]  # fmt: skip


# Rows that the evaluator makes from the traces of live teams.

DOWN, LATE, EMPTY = {"state": "failed", "answer": None}, {"state": "timeout", "answer": None}, {"answer": ""}


def played(shape: Team, *endings: dict[str, Any], model_failed: bool = False, **planned: Any) -> ResultRow:  # noqa: ANN401 - as `plan` takes them
    """The row of trials that ended so, in which every pair of a team is one call."""
    asked = plan(shape[0], trials=max(1, len(endings)), **planned)
    verdicts = [
        _judged(asked, shape, outcome(f"trial-{number}", **ending), model_failed=model_failed)
        for number, ending in enumerate(endings or [{}], 1)
    ]
    return make_row(asked, verdicts, [])


def _judged(asked: AssessmentPlan, shape: Team, ended: TrialOutcome, *, model_failed: bool) -> JudgedTrial:
    evaluation = evaluated(asked, batches_of(shape, latency=10), ended)
    reason = "the model's endpoint answered 503" if model_failed else "AGENTBEATS_LLM_API_KEY is not set"
    judgment = judge_by_rules(evaluation, Mode.LIVE, reason).model_copy(update={"model_failed": model_failed})
    return verdict_on(asked, evaluation, judgment)


@cache
def thousand_trials() -> ResultRow:
    """A thousand trials of twenty tasks, one of which went wrong."""
    asked = plan(agents(3), trials=1000, tasks=20)
    right, wrong = (judged(asked, mesh(3), outcome("trial-1", answer=answer)) for answer in ("done", "undone"))
    verdicts = [_renamed(wrong if number == 500 else right, asked, number) for number in range(1, 1001)]
    return make_row(asked, verdicts, [])


def _renamed(verdict: JudgedTrial, asked: AssessmentPlan, number: int) -> JudgedTrial:
    spec = asked.trial(f"trial-{number}")
    return verdict.model_copy(
        update={"record": verdict.record.model_copy(update={"trial_id": spec.trial_id, "task_id": spec.task_id})}
    )


def lost_trial() -> ResultRow:
    """Two trials, of which one has no evaluation."""
    asked = plan(agents(3), trials=2)
    return make_row(asked, [judged(asked, mesh(3))], [])


def unreached() -> ResultRow:
    """A team that was assessed without a participant that could not be reached."""
    asked = plan(agents(3))
    failure = InfrastructureFailure(trial_id=None, stage="contact", message="a02 cannot be reached: connection refused")
    return make_row(asked, [judged(asked, mesh(3))], [failure])


PLAYED = [
    Right("a mesh whose answer is right", lambda: played(mesh(3)), True, (), (SPREAD, TEAMWORK)),
    Right("a chain whose answer is right", lambda: played(chain(4)), True, (), ("not_observed", SPREAD, TEAMWORK)),
    Right("a star with an isolated agent whose answer is right", lambda: played(with_isolated(star(5))), True, (),
          ("not_observed", SPREAD, TEAMWORK)),
    Right("a first agent that crashed", lambda: played(mesh(1), DOWN), False, ["a00 failed: 100"], (SPREAD,)),
    Right("a first agent that timed out", lambda: played(mesh(1), LATE), False, ["a00 gave no answer: 100"], (SPREAD,)),
    Right("an empty answer", lambda: played(mesh(1), EMPTY), False, ["a00 gave an empty answer: 100"], (SPREAD,)),
    Right("no scorer and no key", lambda: played(mesh(3), graded=False), None, (), ("not_judged", TEAMWORK)),
    Right("a configured judge that is down", lambda: played(mesh(3), graded=False, model_failed=True), None, (),
          ("model_failed", TEAMWORK)),
    Right("a judge that is down, where code judges", lambda: played(mesh(3), model_failed=True), True, (),
          ("model_failed", SPREAD, TEAMWORK)),
    Right("a thousand trials", thousand_trials, True,
          ["task-19: the answer is not right, and no cause could be shown: 0"], (TEAMWORK,)),
    Right("a lost trial, on which it depends", lost_trial, None, (), ("lost", SPREAD, TEAMWORK)),
    Right("a participant that could not be reached", unreached, True, (), ("unreached", SPREAD, TEAMWORK)),
]  # fmt: skip


# Patterns, recorded traces and assistants.


def recorded_failure() -> ResultRow:
    """A recorded trace of a failed task, in which a call failed."""
    row = recorded()
    asks = scheduled(Call("coordinator", 60, [[Call("reviewer", 90, error="down")]]))
    grading = Grading(value=0.0, source="recorded", scorer=None, reason=None)
    trial = trial_of(["coordinator", "reviewer"], asks, score=0.0).model_copy(update={"grading": grading})
    return with_row(row.model_copy(update={"score": 0.0}), {"score_high": 0.0, "passed_trials": 0}, trials=[trial])


def recorded_without_outcome() -> ResultRow:
    """A recorded trace whose outcome nobody knows."""
    row = recorded()
    trials = [by_nobody(trial) for trial in row.detail.trials]
    return with_row(
        row.model_copy(update={"score": None}), {"judged_by_record": 0, "unjudged": 1, "score_high": None},
        trials=trials,
    )  # fmt: skip


def with_lift() -> ResultRow:
    """A team with the control of its starting agent alone."""
    control = withholding_team().detail.controls[0].model_copy(update={"control": "alone", "cut_off": True})
    return with_row(own(1.0), {"lift": control}, controls=(control,))


OTHERS = [
    Right("a given pattern", ground_truth, None, (), ("structure_only",)),
    Right("a recorded success", recorded, True, (), (SPREAD,)),
    Right("a recorded failure", recorded_failure, False,
          ["review: the answer is not right, and no cause could be shown: 100",
           "reviewer failed when it was called"], (SPREAD,)),
    Right("a recorded trace without an outcome", recorded_without_outcome, None, (), ("not_judged",)),
    Right("a team tried against one agent alone", with_lift, True, (), (SPREAD,)),
    Right("an assistant that lost points", lone_assistant, True,
          ["Nobody else is written to: not met: 20", "The meeting is entered: not met: 12"],
          ("unchecked", "people_failed", SPREAD)),
    Right("an assistant in two trials", assistant_in_two_trials, True,
          ["Nobody else is written to: not met: 10", "The meeting is entered: not met: 6"],
          ("unchecked", "people_failed", SPREAD)),
    Right("a perfect assistant", lambda: row_with(results_of([criterion("All", 10)])), True, (), (SPREAD,)),
    Right("an assistant whose model-judged criterion failed",
          lambda: row_with(results_of([criterion("Kind", 2, method="model"), criterion("Right", 10)])), False,
          ["Kind: not met: 40"], (SPREAD,)),
    Right("an assistant that failed every criterion", lambda: row_with(results_of([criterion("All", 0)])), False,
          ["All: not met: 100"], (SPREAD,)),
    Right("an assistant in a team", lambda: row_with(troubled_day(), team=("assistant", "colleague")), True,
          ["Nobody else is written to: not met: 20", "The meeting is entered: not met: 12"],
          ("unchecked", "people_failed", SPREAD)),
]  # fmt: skip

RIGHT = [*TEAM_TASKS, *OWN_TASKS, *PLAYED, *OTHERS]
