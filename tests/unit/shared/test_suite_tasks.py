"""Tasks of families in a request, and the seats that participants take."""

from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from concord.assessment import plan_trials
from concord.assessment.plan import seats_of, shared_processes
from concord.assessment.request import AssessmentConfig
from concord.assessment.suite_tasks import requested_tasks
from concord.assessment.task_spec import Control, Exchange, TaskSpec
from concord.suite import Topology
from concord.trust.proxy_urls import proxy_url
from concord.wire.roster import Roster, RosterEntry


def entry(name: str, url: str = "") -> RosterEntry:
    """A participant."""
    return RosterEntry(id=name, url=url or f"http://{name}:9009/")


class TestSeats:
    """A lone participant takes several seats, several participants take one each."""

    @pytest.mark.parametrize(("configured", "of_task", "count"), [(None, None, 5), (None, 7, 7), (3, 7, 3)])
    def test_a_lone_participant_takes_as_many_as_the_config_else_the_task_says(
        self, configured: int | None, of_task: int | None, count: int
    ) -> None:
        seats = seats_of([entry("agent")], configured, of_task)
        assert [seat.id for seat in seats] == [f"agent/{number}" for number in range(1, count + 1)]
        assert shared_processes(seats)

    def test_several_participants_take_one_each_under_their_own_names(self) -> None:
        seats = seats_of([entry("a"), entry("b")], None, 7)
        assert [seat.id for seat in seats] == ["a", "b"]
        assert not shared_processes(seats)

    def test_the_config_gives_some_participants_more(self) -> None:
        assert [seat.id for seat in seats_of([entry("a"), entry("b")], {"b": 2})] == ["a", "b/1", "b/2"]

    def test_seats_that_share_an_address_are_told_apart_by_name(self) -> None:
        seats = seats_of([entry("agent")], 3)
        roster = Roster(seats)
        assert [roster.resolve(seat.url, seat.id) for seat in seats] == [seat.id for seat in seats]

    def test_a_seats_address_at_the_proxy_is_its_own_and_other_aliases_are_the_participants(self) -> None:
        proxied = proxy_url("http://gateway:9009", "agent")
        alone = RosterEntry(id="agent", url="http://agent:9009/", aliases=("http://other/", proxied))
        roster = Roster(seats_of([alone], 3))
        assert roster.resolve(proxy_url("http://gateway:9009", "agent/2"), "") == "agent/2"
        assert roster.resolve("http://other/") == "url:http://other"


class TestSuite:
    """`suite` names families or groups; what the config says of all tasks goes before."""

    def test_a_family_is_one_task_and_a_group_all_of_its_families(self) -> None:
        assert [task.id for task in requested_tasks(AssessmentConfig(suite=["maximum"]))] == ["maximum"]
        assert "maximum" in [task.id for task in requested_tasks(AssessmentConfig(suite=["pool"]))]

    def test_the_config_sets_topology_and_difficulty_of_all_tasks(self) -> None:
        [task] = requested_tasks(AssessmentConfig(suite=["maximum"], topology=Topology.RING, difficulty=4))
        assert task.family is not None
        assert (task.family.topology, task.family.difficulty) == (Topology.RING, 4)

    @pytest.mark.parametrize(
        ("suite", "said", "exchange"),
        [
            ("maximum", None, Exchange.AUTO),
            ("maximum", "calls", Exchange.CALLS),
            ("quick", None, Exchange.ROUNDS),
            ("standard-1", None, Exchange.ROUNDS),
            ("quick", "calls", Exchange.CALLS),
        ],
    )
    def test_manifests_fix_rounds_unless_the_config_says_otherwise(
        self, suite: str, said: str | None, exchange: Exchange
    ) -> None:
        tasks = requested_tasks(AssessmentConfig.model_validate({"suite": suite, "exchange": said}))
        assert {task.family.exchange for task in tasks if task.family is not None} == {exchange}

    def test_controls_follow_their_task_and_share_its_instances(self) -> None:
        config = AssessmentConfig.model_validate({"suite": "maximum", "controls": ["solo", "silent"]})
        tasks = requested_tasks(config, ["a", "b"])
        assert [task.id for task in tasks] == ["maximum", "maximum.solo.a", "maximum.solo.b", "maximum.silent"]
        families = [task.family for task in tasks if task.family is not None]
        assert [family.paired_with for family in families] == [None, "maximum", "maximum", "maximum"]
        assert [family.solo_by for family in families] == [None, "a", "b", None]

    def test_seats_that_must_agree_have_no_solo_control(self) -> None:
        config = AssessmentConfig.model_validate({"suite": "consensus", "controls": "solo"})
        assert [task.id for task in requested_tasks(config, ["a"])] == ["consensus"]

    @pytest.mark.parametrize("name", ["My Agent", "12345", "agent-", "1st"])
    def test_a_name_that_texts_cannot_hold_is_refused_in_tasks_of_families_alone(self, name: str) -> None:
        with pytest.raises(ValueError, match="needs another name"):
            requested_tasks(AssessmentConfig(suite=["maximum"]), ["agent", name])
        own = AssessmentConfig.model_validate({"tasks": [{"id": "t", "text": "Count the trees."}]})
        assert [task.id for task in requested_tasks(own, ["agent", name])] == ["t"]

    def test_an_unknown_name_is_refused_with_what_there_is(self) -> None:
        with pytest.raises(ValueError, match=r"'maximun', which is no manifest .*no group .*and no family"):
            requested_tasks(AssessmentConfig(suite=["maximun"]))

    @pytest.mark.parametrize(
        ("more", "reason"),
        [
            ({"text": "x"}, "has no `text`"),
            ({"target": "x", "scorer": "exact"}, "is graded by it"),
            ({"answer_from": "a"}, "is graded by it"),
        ],
    )
    def test_a_task_of_a_family_says_nothing_else(self, more: dict[str, Any], reason: str) -> None:
        with pytest.raises(ValidationError, match=reason):
            TaskSpec.model_validate({"id": "t", "family": {"name": "maximum"}, **more})


class TestAlone:
    """The control `alone` follows each of the user's own tasks."""

    CONFIG: ClassVar[dict[str, object]] = {
        "tasks": [{"id": "t", "text": "x", "target": "y", "scorer": "exact"}],
        "controls": ["alone"],
    }

    def test_it_is_the_same_task_with_the_same_grading(self) -> None:
        task, alone = requested_tasks(AssessmentConfig.model_validate(self.CONFIG))
        assert (alone.id, alone.is_control, alone.played_with) == ("t.alone", True, task.played_with)
        changed = {"id": task.id, "control": None, "paired_with": None}
        assert alone.model_copy(update=changed) == task

    def test_a_single_task_has_it_too(self) -> None:
        config = AssessmentConfig(task="x", controls=[Control.ALONE])
        assert [task.id for task in requested_tasks(config)] == ["task", "task.alone"]

    @pytest.mark.parametrize(
        ("config", "reason"),
        [
            ({"suite": "maximum", "controls": ["alone"]}, "is for tasks of your own"),
            ({"task": "x", "controls": ["silent"]}, "is for tasks of families"),
            ({"tasks": [{"id": "t", "text": "x"}, {"id": "t.alone", "text": "x"}], "controls": "alone"}, "the id of"),
        ],
    )
    def test_a_control_that_no_task_can_have_is_refused(self, config: dict[str, object], reason: str) -> None:
        with pytest.raises(ValueError, match=reason):
            requested_tasks(AssessmentConfig.model_validate(config))


@given(st.integers(1, 6), st.integers(1, 3), st.integers(1, 5))
def test_every_control_is_in_the_shard_of_its_teams_trial(n_tasks: int, num_runs: int, num_shards: int) -> None:
    tasks = [{"id": str(n), "text": "x"} for n in range(n_tasks)]
    config = AssessmentConfig.model_validate({"tasks": tasks, "controls": "alone", "num_runs": num_runs})
    planned = requested_tasks(config)
    by_id = {task.id: task for task in planned}
    for index in range(num_shards):
        shard = config.model_copy(update={"shard_index": index, "num_shards": num_shards})
        played = [(trial.run, by_id[trial.task_id]) for trial in plan_trials(shard, planned)]
        of_team = {(run, task.id) for run, task in played if not task.is_control}
        assert {(run, task.played_with) for run, task in played if task.is_control} == of_team
