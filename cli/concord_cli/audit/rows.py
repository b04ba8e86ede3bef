"""Attacks on the making of the row, under the rules of a config: what lost trials and empty answers are worth."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from concord.assessment import AssessmentConfig, TaskSpec
from concord.assessment.result_row import ResultRow
from concord.assessment.scorers import ExactScorer
from concord.assessment.task_spec import Control
from concord_cli.audit import flaws
from concord_cli.audit.flaws import Shown, Status, Tried, not_applicable, played
from concord_cli.audit.own_tasks import OwnTask
from concord_cli.audit.plans import plan_of
from concord_evaluator.aggregate import make_row
from concord_evaluator.documents import JudgedTrial
from concord_evaluator.pipeline import evaluate_trial, verdict_on

SUBJECT: Final = "row"

RIGHT: Final = "done"

STAND_INS: Final = tuple(
    TaskSpec(id=f"stand-in-{number}", text="Say done.", target=[RIGHT], scorer=ExactScorer()) for number in (1, 2)
)
"""Two tasks of known outcomes, in the place of those that are audited."""


def attacked(config: AssessmentConfig, tasks: Sequence[TaskSpec], participants: Mapping[str, str]) -> Iterator[Tried]:
    """The attacks, on the rows of two trials under the config's rules."""
    empty = _row(config, participants, ["", ""])
    yield played(flaws.NULL, SUBJECT, empty.pass_rate or 0.0, "two empty answers: the percentage that passes")
    wrong, lost = (_row(config, participants, answers) for answers in ([RIGHT, "no"], [RIGHT, None]))
    gained = max((lost.score or 0.0) - (wrong.score or 0.0), (lost.pass_rate or 0.0) - (wrong.pass_rate or 0.0), 0.0)
    shown = f"a right answer beside a lost trial scores {lost.score:.0f}, beside a wrong one {wrong.score:.0f}"
    yield played(flaws.LOST_TRIAL, SUBJECT, gained, shown)
    if any(task.is_own for task in tasks):
        basis = wrong.detail.scoring.basis
        claimed = 0.0 if basis == "outcome_only" else 100.0
        shown = f"a right answer without a message: the row's basis is {basis}, which claims no teamwork"
        yield played(flaws.SHARED_MEMORY, SUBJECT, claimed, shown)
        reason = (
            "the tasks are fixed: an agent that has seen the right answers can send them again, and no ranking takes it"
        )
        yield not_applicable(flaws.RESUBMISSION, SUBJECT, reason)


def seen(config: AssessmentConfig, tasks: Sequence[TaskSpec]) -> Iterator[Shown]:
    """What the config asks for beside the score."""
    trials = config.num_runs * len(tasks)
    some = Status.MET if len(tasks) > 1 else Status.NOT_MET
    yield Shown("R.10", SUBJECT, some, f"an interval over {len(tasks)} tasks and {trials} trials")
    controls = sorted(each.value for each in config.controls)
    has = Status.MET if Control.SOLO in config.controls or Control.ALONE in config.controls else Status.NOT_MET
    yield Shown("R.12", SUBJECT, has, f"controls: {', '.join(controls) or 'none'}")
    if any(task.is_own for task in tasks):
        for item in ("R.3", "R.4"):
            yield Shown(item, SUBJECT, Status.NOT_MET, "tasks of your own are fixed texts")


def _row(config: AssessmentConfig, participants: Mapping[str, str], answers: Sequence[str | None]) -> ResultRow:
    """The row of two trials with these answers; None for a trial that was lost."""
    plan = plan_of(config, STAND_INS, participants)
    verdicts = list[JudgedTrial]()
    for task, answer in zip(STAND_INS, answers, strict=True):
        if answer is not None:
            evaluation = evaluate_trial(plan, OwnTask(plan, task).outcome(answer), [])
            verdicts.append(verdict_on(plan, evaluation, None))
    return make_row(plan, verdicts, [])
