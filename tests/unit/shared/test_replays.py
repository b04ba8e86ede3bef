"""Which trials are played again: lost ones once, a team's with its controls, and always on the same task as these."""

from collections.abc import Collection
from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from concord.assessment import AssessmentConfig, AssessmentPlan, Mode, TrialSpec, plan_trials
from concord.assessment.suite_tasks import instance_of, requested_tasks
from concord.wire.roster import RosterEntry
from concord_gateway.assessment_record import MAX_ATTEMPTS, with_replays

CONFIG = AssessmentConfig.model_validate(
    {"suite": ["maximum", "count"], "controls": ["solo", "silent"], "num_runs": 2, "seats": 3}
)
TASKS = requested_tasks(CONFIG, ["agent"])
PLAN = AssessmentPlan(
    assessment_id="assessment",
    mode=Mode.LIVE,
    config=CONFIG.model_copy(update={"tasks": None}),
    tasks=TASKS,
    roster=[RosterEntry(id="agent", url="http://agent:9009/")],
    trials=plan_trials(CONFIG, TASKS),
    task_secret="0" * 64,
)
LOST = st.sets(st.sampled_from([trial.trial_id for trial in PLAN.trials]))


def is_control(trial: TrialSpec) -> bool:
    return PLAN.task(trial.task_id).is_control


def pair_of(trial: TrialSpec) -> tuple[str, int]:
    return PLAN.task(trial.task_id).played_with, trial.run


def replayed(plan: AssessmentPlan) -> set[str]:
    return {trial.trial_id for trial in plan.trials if trial.attempt > 1}


def with_controls(lost: Collection[str]) -> set[str]:
    """The lost trials, and the controls of the lost trials of teams."""
    teams = {pair_of(trial) for trial in PLAN.trials if trial.trial_id in lost and not is_control(trial)}
    return {*lost, *(trial.trial_id for trial in PLAN.trials if pair_of(trial) in teams)}


@given(LOST)
def test_lost_trials_are_played_again_and_a_teams_with_its_controls(lost: set[str]) -> None:
    assert replayed(with_replays(PLAN, lost)) == with_controls(lost)


@given(LOST)
def test_a_team_and_its_controls_are_always_on_the_same_instance(lost: set[str]) -> None:
    pairs = sorted(with_replays(PLAN, lost).trials, key=pair_of)
    assert all(len({trial.instance for trial in pair}) == 1 for _, pair in groupby(pairs, key=pair_of))


@given(LOST)
def test_a_team_gets_another_task_and_a_control_alone_that_of_its_team(lost: set[str]) -> None:
    plan = with_replays(PLAN, lost)
    teams = {pair_of(trial) for trial in PLAN.trials if trial.trial_id in lost and not is_control(trial)}
    for before, after in zip(PLAN.trials, plan.trials, strict=True):
        changed = instance_of(plan, after).briefs != instance_of(PLAN, before).briefs
        assert changed == (pair_of(before) in teams)


@given(LOST)
def test_what_is_played_again_gets_a_new_trace_and_place_in_storage_and_all_else_stays(lost: set[str]) -> None:
    again = with_replays(PLAN, lost)
    for before, after in zip(PLAN.trials, again.trials, strict=True):
        if before.trial_id in with_controls(lost):
            assert (after.trace_id != before.trace_id, after.key != before.key, after.seed) == (True, True, before.seed)
        else:
            assert after == before


@given(LOST, LOST)
def test_no_trial_is_played_more_than_twice(first: set[str], second: set[str]) -> None:
    once = with_replays(PLAN, first)
    twice = with_replays(once, second)
    assert max(trial.attempt for trial in twice.trials) <= MAX_ATTEMPTS
    thrice = with_replays(twice, first | second)
    assert thrice == twice
