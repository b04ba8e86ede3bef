"""A request says what is to be assessed; what cannot be assessed is refused with the reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from concord.assessment import AssessmentConfig, AssessmentPlan, AssessmentRequest, Mode, TaskSpec, plan_trials
from concord.identity import RosterEntry

PATTERN = {"agents": ["a", "b"], "edges": [{"from": "a", "to": "b"}]}
TEXT_TASK = {"id": "t", "text": "x"}


def request(config: dict[str, object], participants: dict[str, str] | None = None) -> AssessmentRequest:
    return AssessmentRequest.model_validate({"participants": participants or {}, "config": config})


def test_the_platforms_bare_request_is_a_live_assessment() -> None:
    bare = AssessmentRequest.model_validate({"participants": {"agent": "http://agent:9009"}})
    assert bare.mode is Mode.LIVE
    assert (bare.config.num_runs, bare.config.start, bare.config.timeout_s) == (1, "all", 300)


def test_a_pattern_needs_no_participants() -> None:
    assert request({"interaction_pattern": PATTERN}).mode is Mode.GROUND_TRUTH
    assert request({"tasks": [{"id": "p", "interaction_pattern": PATTERN}]}).mode is Mode.GROUND_TRUTH


@pytest.mark.parametrize(
    ("config", "participants", "complaint"),
    [
        ({}, {}, "needs at least one"),
        ({}, {"a": "ftp://a"}, "scheme"),
        ({}, {"a/b": "http://a"}, "pattern"),
        ({}, {"green-agent": "http://a"}, "reserved"),
        ({"start": "b"}, {"a": "http://a"}, "names no participant"),
        ({"num_runs": 0}, {"a": "http://a"}, "num_runs"),
        ({"num_runs": "many"}, {"a": "http://a"}, "num_runs"),
        ({"task": "x", "tasks": [{"id": "t", "text": "x"}]}, {"a": "http://a"}, "only one of"),
        ({"tasks": [{"id": "t"}]}, {"a": "http://a"}, "needs a `text`"),
        ({"tasks": [TEXT_TASK, TEXT_TASK]}, {"a": "http://a"}, "distinct"),
        (
            {"tasks": [{"id": "t", "text": "x"}, {"id": "p", "interaction_pattern": PATTERN}]},
            {"a": "http://a"},
            "all have",
        ),
        ({"interaction_pattern": {"agents": ["a"], "edges": [{"from": "a", "to": "z"}]}}, {}, "not in `agents`"),
        ({"interaction_pattern": {"agents": ["a", "a"]}}, {}, "distinct"),
        ({"shard_index": 2, "num_shards": 2}, {"a": "http://a"}, "shard_index"),
        ({"strict": True, "colour": "red"}, {"a": "http://a"}, "unknown keys"),
        ({"weights": {"charm": 1}}, {"a": "http://a"}, "weights"),
    ],
)
def test_what_cannot_be_assessed_is_refused(
    config: dict[str, object], participants: dict[str, str], complaint: str
) -> None:
    with pytest.raises(ValidationError, match=complaint):
        request(config, participants)


def test_unknown_keys_are_kept_aside_without_strict() -> None:
    assert request({"colour": "red", "brand": 1}, {"a": "http://a"}).config.unknown_keys == ["brand", "colour"]


def test_without_tasks_the_default_ones_are_used() -> None:
    default = [TaskSpec(id="d", text="do")]
    assert AssessmentConfig().chosen_tasks(default) == default
    assert [task.text for task in AssessmentConfig(task="mine").chosen_tasks(default)] == ["mine"]


@given(st.integers(1, 40), st.integers(1, 20))
def test_shards_share_the_tasks_out_without_gap_or_overlap(n_tasks: int, num_shards: int) -> None:
    tasks = [TaskSpec(id=str(i), text="x") for i in range(n_tasks)]
    shards = [
        AssessmentConfig(tasks=tasks, shard_index=index, num_shards=num_shards).chosen_tasks([])
        for index in range(num_shards)
    ]
    assert sorted((task.id for shard in shards for task in shard), key=int) == [task.id for task in tasks]


@given(st.integers(1, 5), st.integers(1, 5), st.integers())
def test_trials_are_one_per_task_and_run_with_reproducible_seeds(n_tasks: int, num_runs: int, seed: int) -> None:
    tasks = [TaskSpec(id=str(i), text="x") for i in range(n_tasks)]
    trials = plan_trials(tasks, num_runs, seed)
    assert len({(trial.task_id, trial.run) for trial in trials}) == len(trials) == n_tasks * num_runs
    assert len({trial.trace_id for trial in trials}) == len({trial.trial_id for trial in trials}) == len(trials)
    assert [trial.seed for trial in trials] == [trial.seed for trial in plan_trials(tasks, num_runs, seed)]


@pytest.mark.parametrize("config", [{}, {"task": "x"}, {"tasks": [TEXT_TASK]}, {"interaction_pattern": PATTERN}])
def test_a_plan_survives_being_stored(config: dict[str, object]) -> None:
    given = request({**config, "weights": {"task": 0.5}, "colour": "red"}, {"a": "http://a"})
    tasks = given.config.chosen_tasks([TaskSpec(id="d", text="do")])
    plan = AssessmentPlan(
        assessment_id="a1",
        mode=given.mode,
        config=given.config,
        tasks=tasks,
        roster=[RosterEntry(id="a", url="http://a")],
        trials=plan_trials(tasks, 2, 0),
    )
    again = AssessmentPlan.model_validate_json(plan.model_dump_json(by_alias=True))
    assert again == plan
    assert again.config.unknown_keys == ["colour"]
