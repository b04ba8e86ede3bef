"""Requests and plans: valid requests become plans, and invalid ones are refused with the reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from concord.assessment import (
    MAX_TRIALS,
    AssessmentConfig,
    AssessmentPlan,
    AssessmentRequest,
    Mode,
    TaskSpec,
    plan_trials,
    time_limits,
)
from concord.assessment.results import MOST_ROUNDS, RoundsRecord
from concord.wire.roster import RosterEntry

PATTERN = {"agents": ["a", "b"], "edges": [{"from": "a", "to": "b"}]}
TEXT_TASK = {"id": "t", "text": "x"}


def request(config: dict[str, object], participants: dict[str, str] | None = None) -> AssessmentRequest:
    return AssessmentRequest.model_validate({"participants": participants or {}, "config": config})


def test_the_platforms_bare_request_is_a_live_assessment() -> None:
    bare = AssessmentRequest.model_validate({"participants": {"agent": "http://agent:9009"}})
    assert bare.mode is Mode.LIVE
    assert (bare.config.num_runs, bare.config.start, bare.config.timeout_s) == (1, "all", None)


def test_a_pattern_needs_no_participants() -> None:
    assert request({"interaction_pattern": PATTERN}).mode is Mode.GROUND_TRUTH
    without_key = AssessmentRequest.model_validate({"config": {"interaction_pattern": PATTERN}})
    assert (without_key.mode, without_key.participants) == (Mode.GROUND_TRUTH, {})
    assert request({"tasks": [{"id": "p", "interaction_pattern": PATTERN}]}).mode is Mode.GROUND_TRUTH


@pytest.mark.parametrize(
    ("config", "participants", "complaint"),
    [
        ({}, {}, "needs at least one"),
        ({}, {"a": "ftp://a"}, "scheme"),
        ({}, {"a/b": "http://a"}, "pattern"),
        ({}, {"green-agent": "http://a"}, "reserved"),
        ({"start": "b"}, {"a": "http://a"}, "is not a participant"),
        ({"num_runs": 0}, {"a": "http://a"}, "num_runs"),
        ({"num_runs": "many"}, {"a": "http://a"}, "num_runs"),
        ({"task": "x", "tasks": [{"id": "t", "text": "x"}]}, {"a": "http://a"}, "only one of"),
        ({"tasks": [{"id": "t"}]}, {"a": "http://a"}, "needs a `text`"),
        ({"tasks": [TEXT_TASK, TEXT_TASK]}, {"a": "http://a"}, "distinct"),
        (
            {"tasks": [{"id": "t", "text": "x"}, {"id": "p", "interaction_pattern": PATTERN}]},
            {"a": "http://a"},
            "either all tasks or none must have",
        ),
        ({"interaction_pattern": {"agents": ["a"], "edges": [{"from": "a", "to": "z"}]}}, {}, "not in `agents`"),
        ({"interaction_pattern": {"agents": ["a", "a"]}}, {}, "distinct"),
        ({"shard_index": 2, "num_shards": 2}, {"a": "http://a"}, "shard_index"),
        ({"strict": True, "colour": "red"}, {"a": "http://a"}, "unknown keys"),
        ({"weights": {"charm": 1}}, {"a": "http://a"}, "weights"),
        ({"tasks": [TEXT_TASK | {"target": "42"}]}, {"a": "http://a"}, "needs a `scorer`"),
        ({"tasks": [TEXT_TASK | {"scorer": "exact"}]}, {"a": "http://a"}, "needs a `target`"),
        (
            {"tasks": [TEXT_TASK | {"target": "42", "scorer": {"name": "includes", "maxlength": 3}}]},
            {"a": "http://a"},
            "maxlength",
        ),
        ({"tasks": [{"id": "p", "interaction_pattern": PATTERN, "scorer": "model"}]}, {}, "has no answer"),
        ({"answer_from": "b"}, {"a": "http://a"}, "do not get the task: b"),
        ({"start": "a", "answer_from": ["a", "b"]}, {"a": "http://a", "b": "http://b"}, "do not get the task: b"),
        ({"tasks": [TEXT_TASK | {"answer_from": "b"}]}, {"a": "http://a"}, "do not get the task: b"),
    ],
)
def test_an_invalid_request_is_refused_with_the_reason(
    config: dict[str, object], participants: dict[str, str], complaint: str
) -> None:
    with pytest.raises(ValidationError, match=complaint):
        request(config, participants)


def test_unknown_keys_are_listed_without_strict() -> None:
    assert request({"colour": "red", "brand": 1}, {"a": "http://a"}).config.unknown_keys == ["brand", "colour"]


def test_a_config_holds_the_tasks_that_it_lists_and_none_of_a_suite() -> None:
    assert [task.text for task in AssessmentConfig(task="mine").chosen_tasks()] == ["mine"]
    assert AssessmentConfig().chosen_tasks() == AssessmentConfig(suite=["pool"]).chosen_tasks() == []


@given(st.integers(1, 40), st.integers(1, 20))
def test_the_shards_of_an_assessment_partition_its_trials(n_tasks: int, num_shards: int) -> None:
    tasks = [TaskSpec(id=str(i), text="x") for i in range(n_tasks)]
    whole = plan_trials(AssessmentConfig(num_runs=2), tasks)
    shards = [
        trial
        for index in range(num_shards)
        for trial in plan_trials(AssessmentConfig(num_runs=2, shard_index=index, num_shards=num_shards), tasks)
    ]
    expected = [(trial.trial_id, trial.task_id, trial.run, trial.seed) for trial in whole]
    assert sorted((trial.trial_id, trial.task_id, trial.run, trial.seed) for trial in shards) == sorted(expected)


@given(st.integers(1, 5), st.integers(1, 5), st.integers())
def test_trials_are_one_per_task_and_run_with_reproducible_seeds(n_tasks: int, num_runs: int, seed: int) -> None:
    tasks = [TaskSpec(id=str(i), text="x") for i in range(n_tasks)]
    config = AssessmentConfig(num_runs=num_runs, seed=seed)
    trials = plan_trials(config, tasks)
    assert len({(trial.task_id, trial.run) for trial in trials}) == len(trials) == n_tasks * num_runs
    assert len({trial.trace_id for trial in trials}) == len({trial.trial_id for trial in trials}) == len(trials)
    assert [trial.seed for trial in trials] == [trial.seed for trial in plan_trials(config, tasks)]


@pytest.mark.parametrize("config", [{"task": "x"}, {"tasks": [TEXT_TASK]}, {"interaction_pattern": PATTERN}])
def test_a_plan_survives_serialisation(config: dict[str, object]) -> None:
    given = request({**config, "weights": {"task": 0.5}, "colour": "red"}, {"a": "http://a"})
    tasks = given.config.chosen_tasks()
    plan = AssessmentPlan(
        assessment_id="a1",
        mode=given.mode,
        config=given.config,
        tasks=tasks,
        roster=[RosterEntry(id="a", url="http://a")],
        trials=plan_trials(given.config, tasks),
    )
    restored = AssessmentPlan.model_validate_json(plan.model_dump_json(by_alias=True))
    assert restored == plan
    assert restored.config.unknown_keys == ["colour"]


@given(st.integers(1, 7), st.integers(1, 50))
def test_num_instances_sets_the_number_of_trials_over_the_tasks_in_turn(n_tasks: int, num_instances: int) -> None:
    tasks = [TaskSpec(id=str(i), text="x") for i in range(n_tasks)]
    trials = plan_trials(AssessmentConfig(num_runs=3, num_instances=num_instances), tasks)
    assert [(trial.task_id, trial.run) for trial in trials] == [
        (str(number % n_tasks), number // n_tasks + 1) for number in range(num_instances)
    ]


def test_chosen_trials_are_those_of_the_whole_plan_in_the_order_that_is_asked_for() -> None:
    tasks = [TaskSpec(id=name, text="x") for name in "ab"]
    whole = {(trial.task_id, trial.run): trial for trial in plan_trials(AssessmentConfig(num_runs=3), tasks)}
    chosen = [("b", 3), ("a", 1), ("b", 1)]
    trials = plan_trials(AssessmentConfig(num_runs=3, trials=chosen), tasks)
    assert [(trial.task_id, trial.run) for trial in trials] == chosen
    assert [(each.trial_id, each.seed) for each in trials] == [(whole[one].trial_id, whole[one].seed) for one in chosen]
    for wrong, reason in (([("a", 4)], "not planned: a 4"), ([("a", 1), ("a", 1)], "twice")):
        with pytest.raises(ValueError, match=reason):
            plan_trials(AssessmentConfig(num_runs=3, trials=wrong), tasks)


def test_too_many_trials_are_refused_with_their_number() -> None:
    tasks = [TaskSpec(id=str(i), text="x") for i in range(11)]
    with pytest.raises(ValueError, match=f"1100 trials exceed the limit of {MAX_TRIALS}"):
        plan_trials(AssessmentConfig(num_runs=100), tasks)


class TestTimeLimits:
    def test_the_time_limits_of_the_platforms_sample_fit(self) -> None:
        limits = time_limits(AssessmentConfig(num_runs=3), 6)
        assert limits.trial_s == 300
        assert limits.assessment_s == pytest.approx(2000)

    @given(st.integers(0, MAX_TRIALS))
    def test_default_limits_fit_into_the_platforms_limit(self, n_trials: int) -> None:
        limits = time_limits(AssessmentConfig(), n_trials)
        assert 0 < limits.trial_s <= 300
        assert n_trials * limits.trial_s <= limits.assessment_s + 1e-6
        assert limits.assessment_s <= 300 * 60

    @given(st.integers(1, MAX_TRIALS), st.floats(1, 18000))
    def test_a_total_limit_is_shared_evenly_by_the_trials(self, n_trials: int, total: float) -> None:
        limits = time_limits(AssessmentConfig(timeout_s=total), n_trials)
        assert limits.assessment_s == total
        assert n_trials * limits.trial_s <= total

    @pytest.mark.parametrize(
        ("config", "n_trials", "arithmetic"),
        [
            ({"timeout_s": 60, "trial_timeout_s": 30}, 3, "3 trials x `trial_timeout_s` 30 s = 90 s do not fit"),
            ({"trial_timeout_s": 30, "turn_timeout_s": 31}, 1, "`turn_timeout_s` 31 s does not fit"),
            ({"trial_timeout_s": 300}, 100, "30000 s are more than the 18000 s"),
        ],
    )
    def test_contradictory_limits_are_refused_with_the_arithmetic(
        self, config: dict[str, float], n_trials: int, arithmetic: str
    ) -> None:
        with pytest.raises(ValueError, match=arithmetic):
            time_limits(AssessmentConfig.model_validate(config), n_trials)


@pytest.mark.parametrize("rounds", [-1, MOST_ROUNDS + 1, 2**70])
def test_no_document_states_more_rounds_than_an_evaluation_can_look_at(rounds: int) -> None:
    with pytest.raises(ValidationError, match="rounds"):
        RoundsRecord(rounds=rounds, max_rounds=4, answered_in={}, turns=[])
