"""Intake: a client's message is an assessment, or is refused with the reason."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.a2a import IncomingMessage
from concord.assessment import AssessmentRequest
from concord.assessment.plan import AssessmentPlan
from concord.assessment.request import unread_keys
from concord.assessment.suite_tasks import instance_of
from concord.wire.roster import RosterEntry
from concord_gateway.assistants import Scenarios
from concord_gateway.intake import MissingInputError, NotAnAssessmentError, Work, plan_work, read_request, request_text

STANDARD = {"suite": "standard-1"}


def message(*texts: str, data: tuple[object, ...] = (), others: int = 0) -> IncomingMessage:
    return IncomingMessage(
        text="\n".join(texts),
        text_parts=texts,
        data_parts=data,  # type: ignore[arg-type]
        other_parts=others,
        metadata={},
        message_id="m",
        task_id="t",
        context_id="c",
        follow_up=False,
    )


def test_the_platforms_message_is_an_assessment() -> None:
    sent = json.dumps({"participants": {"agent": "http://agent:9009/"}, "config": {"num_runs": 3, "seed": 7}})
    request = read_request(message(sent))
    assert {name: str(url) for name, url in request.participants.items()} == {"agent": "http://agent:9009/"}
    assert (request.config.num_runs, request.config.seed) == (3, 7)


@pytest.mark.parametrize(
    ("words", "participants"),
    [
        ("assess these agents: http://a:1, http://b:2.", {"agent_1": "http://a:1/", "agent_2": "http://b:2/"}),
        ("Please assess http://a:1 (the writer)", {"agent_1": "http://a:1/"}),
        ("writer: http://a:1\ncritic = http://b:2/x", {"writer": "http://a:1/", "critic": "http://b:2/x"}),
        ("agent: http://a:1 agent: http://b:2", {"agent_1": "http://a:1/", "agent_2": "http://b:2/"}),
        ("http://a:1 http://a:1", {"agent_1": "http://a:1/"}),
        ("2 agents: http://a:1 and http://b:2", {"agent_1": "http://a:1/", "agent_2": "http://b:2/"}),
        ("See <https://a.test/agents/1>", {"agent_1": "https://a.test/agents/1"}),
    ],
)
def test_words_that_name_the_urls_of_agents_are_an_assessment(words: str, participants: dict[str, str]) -> None:
    request = read_request(message(words))
    assert {name: str(url) for name, url in request.participants.items()} == participants
    assert AssessmentRequest.model_validate_json(request_text(message(words))) == request


PATTERN = {"agents": ["a", "b"], "edges": [{"from": "a", "to": "b"}]}
AGENT = {"participants": {"agent": "http://agent:9009"}}


@pytest.mark.parametrize(
    ("sent", "task"),
    [
        (AGENT | {"task": {"description": "Count."}}, ("task", "Count.", None)),
        (AGENT | {"task": "Count."}, ("task", "Count.", None)),
        (AGENT | {"config": {"task": {"description": "Count."}, "num_runs": 2}}, ("task", "Count.", None)),
        ({"task": {"description": "Count.", "interaction_pattern": PATTERN}}, ("pattern", "Count.", PATTERN)),
        ({"task": {"interaction_pattern": PATTERN}}, ("pattern", "", PATTERN)),
    ],
    ids=["description", "text", "in the config", "pattern", "pattern alone"],
)
def test_a_task_may_be_an_object_and_stand_beside_the_config(sent: dict[str, object], task: tuple[object, ...]) -> None:
    [planned] = plan_work(read_request(message(json.dumps(sent))), Scenarios(())).tasks
    pattern = planned.interaction_pattern
    found = None if pattern is None else pattern.model_dump(by_alias=True, exclude_none=True)
    assert (planned.id, planned.text, found) == task


@pytest.mark.parametrize("words", ["Hello", "", "what can you do?", "assess my agents on port 9009", "null and void"])
def test_words_without_a_url_are_asked_for_the_agents(words: str) -> None:
    with pytest.raises(MissingInputError, match="Which agents shall I assess"):
        read_request(message(words))


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (message("{'participants': {}}"), "not JSON"),
        (message(), "exactly one text part"),
        (message("{}", "{}"), "exactly one text part"),
        (message("{}", data=({},)), "exactly one text part"),
        (message("{}", others=1), "exactly one text part"),
        (message("[1]"), "must be an object"),
        (message("3"), "must be an object"),
        (message("{}"), "needs at least one"),
        (message('{"participants": {}}'), "needs at least one"),
        (message('{"task": {"description": "Go."}}'), 'as in {"participants": {"agent": "http'),
        (message('{"task": {}}'), "`task` is a text, {description}, or {description, interaction_pattern: {agents"),
        (message('{"task": {"description": "Go.", "expected_metrics": {}}}'), "`task` is a text, {description}, or"),
        (message('{"task": "Go.", "config": {"task": "Stay."}}'), "`task` is given twice"),
        (message('{"task": "Go.", "config": {"suite": "quick"}}'), "give only one of `tasks`, `task`"),
        (message('{"interaction_pattern": {"agents": ["a"]}}'), "`interaction_pattern` stands in `config`"),
        (message('{"participants": ["http://a"]}'), "participants"),
        (message('{"participants": {"a": "no url"}}'), "participants.a"),
        (message('{"participants": {"a": "http://a"}, "config": {"num_runs": "many"}}'), "config.num_runs"),
        (message("[" * 100_000), "not JSON"),
        (message('{"participants": {"a": "http://a", "a": "http://b"}}'), "the key 'a' stands twice"),
        (message('{"participants": {"a": "http://x", "b": "http://x/"}}'), "'a' and 'b' have the same address"),
        (
            message('{"participants": {"a": "http://a"}, "config": {"tasks": [{"id": "t", "txt": "Go"}]}}'),
            "config.tasks.0.txt: unknown key; did you mean `text`",
        ),
        (message('{"participants": {"ann": "http://a"}, "config": {"start": "an"}}'), "did you mean `ann`"),
        (
            message('{"participants": {"a": "http://a"}, "config": {"num_run": 3, "strict": true}}'),
            "num_run; did you mean `num_runs`",
        ),
    ],
)
def test_any_other_message_is_refused_with_the_reason(wrong: IncomingMessage, reason: str) -> None:
    with pytest.raises(NotAnAssessmentError) as refused:
        read_request(wrong)
    assert reason in str(refused.value)


def work(config: dict[str, object], participants: int = 1) -> tuple[AssessmentRequest, Work]:
    names = {f"agent{number}": f"http://agent{number}:9009/" for number in range(participants)}
    request = AssessmentRequest.model_validate({"participants": names, "config": config})
    return request, plan_work(request, Scenarios(()))


@pytest.mark.parametrize("config", [{}, {"num_runs": 2, "seed": 7}, {"start": "agent0"}])
def test_a_request_that_names_no_tasks_gets_the_24_of_the_standard_manifest(config: dict[str, object]) -> None:
    _, planned = work(config)
    standard = plan_work(
        AssessmentRequest.model_validate({"participants": {"a": "http://a"}, "config": STANDARD}), Scenarios(())
    )
    assert len(standard.tasks) == 24
    assert planned.tasks == standard.tasks


@pytest.mark.parametrize(
    ("config", "tasks"),
    [
        ({"task": "Count."}, ["task"]),
        ({"tasks": [{"id": "t", "text": "Count."}]}, ["t"]),
        ({"suite": "maximum"}, ["maximum"]),
        ({"interaction_pattern": {"agents": ["a"]}}, ["pattern"]),
    ],
)
def test_a_request_that_names_tasks_gets_these_alone(config: dict[str, object], tasks: list[str]) -> None:
    assert [task.id for task in work(config)[1].tasks] == tasks


@pytest.mark.parametrize("participants", [1, 2, 3, 12])
def test_a_team_of_any_size_can_be_given_every_standard_task_in_time(participants: int) -> None:
    """An agent that takes 20 s a turn has time for a round more than the fewest, in all 24 trials."""
    request, planned = work({}, participants)
    plan = AssessmentPlan(
        assessment_id="a",
        mode=request.mode,
        config=request.config,
        tasks=planned.tasks,
        roster=[RosterEntry(id=name, url=str(url)) for name, url in request.participants.items()],
        trials=planned.trials,
        task_secret="5e" * 32,
    )
    assert planned.limits.trial_s * len(planned.trials) <= planned.limits.assessment_s <= 300 * 60
    for trial in planned.trials:
        task = instance_of(plan, trial)
        assert len(task.seats) == (participants if participants > 1 else _manifest_seats(planned, trial.task_id))
        assert (task.fewest_rounds.value + 1) * 20 <= planned.limits.trial_s


def _manifest_seats(planned: Work, task_id: str) -> int | None:
    [family] = [task.family for task in planned.tasks if task.id == task_id]
    return None if family is None else family.seats


def test_many_errors_are_shortened() -> None:
    many = json.dumps({"participants": {f"a{i}": "no url" for i in range(20)}})
    with pytest.raises(NotAnAssessmentError, match=r"\(and 15 more\)"):
        read_request(message(many))


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


def with_config(config: object) -> str:
    return json.dumps({"participants": {}, "config": config})


@given(st.text() | json_values.map(json.dumps) | json_values.map(with_config))
def test_any_text_is_a_request_or_refused_or_asked_for_more(text: str) -> None:
    with suppress(NotAnAssessmentError, MissingInputError):
        read_request(message(text))


def test_a_misspelt_scorer_is_refused_and_one_that_may_be_installed_elsewhere_is_not() -> None:
    def planned(scorer: str) -> Work:
        return work({"tasks": [{"id": "t", "text": "Go.", "target": "x", "scorer": scorer}]})[1]

    with pytest.raises(NotAnAssessmentError, match=r"config\.tasks\.0\.scorer: .* did you mean `includes`"):
        planned("include")
    assert planned("phrases_of_ours").trials


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"task": "Go.", "num_run": 3}, ["config.num_run: unknown key; did you mean `num_runs`?"]),
        ({"task": "Go.", "seats": 3}, ["config.seats has no effect: none of the tasks is of a family (`suite`)"]),
        ({"suite": "quick", "seats": 3}, []),
        ({"suite": "quick", "max_turns": 3}, ["config.max_turns has no effect: none of the tasks is a `scenario`"]),
        ({"task": "Go."}, []),
    ],
)
def test_each_key_that_nothing_reads_is_told_with_the_reason(config: dict[str, object], said: list[str]) -> None:
    request, planned = work(config)
    assert unread_keys(request.config, planned.tasks) == said
