"""The evaluation of an own task says who made its answer wrong, with what was said and in which step."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.assessment.observations import ObservationKind
from concord.assessment.results import TrialRecord
from concord.assessment.verdict import CauseKind
from concord_evaluator.pipeline import evaluate_trial, verdict_on
from tests.kit.own_tasks.faults import Planted
from tests.kit.own_tasks.measures import plan_of
from tests.kit.own_tasks.teams import CrashError, Recording, played

TEAM = ("first", "helper", "other")
TASK = "When does the last train leave?"


def record(said: dict[str, str | None], answer: str, target: str = "17:20", scorer: object = "includes") -> TrialRecord:
    """The trial of a team whose first agent asks others, which say something (None: they fail), and then answers."""

    def fail() -> str:
        raise CrashError("KeyError: 'train'")

    def work(recording: Recording) -> str:
        for agent, text in said.items():
            try:
                recording.call("first", agent, TASK, fail if text is None else lambda text=text: text)  # type: ignore[misc]
            except CrashError:
                continue
        return answer

    outcome, batches = played("first", TASK, work)
    chosen = {"name": scorer} if isinstance(scorer, str) else scorer
    assert isinstance(chosen, dict)
    plan = plan_of(Planted(TEAM, TASK, chosen, target, frozenset(), outcome, batches))
    return verdict_on(plan, evaluate_trial(plan, outcome, batches), None).record


def blamed(trial: TrialRecord) -> list[tuple[CauseKind, tuple[str, ...]]]:
    return [(cause.kind, cause.agents) for cause in trial.causes]


def test_a_wrong_value_is_followed_to_who_said_it_first_with_the_words_and_the_step() -> None:
    trial = record({"helper": "Hello. The last train leaves at 16:35.", "other": "No idea."}, "At 16:35.")
    [cause] = trial.causes
    assert (cause.kind, cause.agents, cause.certainty) == (CauseKind.WRONG_VALUE, ("helper",), "observed")
    assert [(each.agent, each.text) for each in cause.evidence] == [("helper", "The last train leaves at 16:35.")]
    assert cause.steps == tuple(each.step_id for each in cause.evidence) != ()
    assert cause.points == 100


def test_a_right_value_is_followed_to_where_it_was_lost() -> None:
    trial = record({"helper": "The last train leaves at 17:20.", "other": "No idea."}, "I could not find out.")
    assert blamed(trial) == [(CauseKind.LOST_VALUE, ("first",))]


def test_a_right_answer_has_no_causes_whatever_failed_on_the_way() -> None:
    assert blamed(record({"helper": None, "other": "At 17:20."}, "At 17:20.")) == []


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ({"helper": None, "other": "No idea."}, (CauseKind.AGENT_FAILED, ("helper",))),
        ({"helper": "  ", "other": "No idea."}, (CauseKind.EMPTY_ANSWER, ("helper",))),
        ({"other": "No idea."}, (CauseKind.NEVER_ASKED, ("helper",))),
        (
            {"helper": "Train KX-4471 leaves at 16:35.", "other": "Train KX-4471 leaves at 18:05."},
            (CauseKind.DISAGREED, ("helper", "other")),
        ),
    ],
)
def test_what_the_calls_show_by_themselves_is_named(
    said: dict[str, str | None], cause: tuple[CauseKind, tuple[str, ...]]
) -> None:
    assert blamed(record(said, "I could not find out.")) == [cause]


def test_a_failed_call_that_explains_the_loss_is_tied_to_its_cause_and_any_other_is_not() -> None:
    explained = record({"helper": None, "other": "No idea."}, "I could not find out.")
    assert [(each.kind, each.about, each.cause) for each in explained.observations] == [
        ("unrepaired_failure", "helper", CauseKind.AGENT_FAILED)
    ]
    beside = record({"helper": None, "other": "The last train leaves at 16:35."}, "At 16:35.")
    assert blamed(beside) == [(CauseKind.WRONG_VALUE, ("other",))]
    assert [(each.about, each.cause) for each in beside.observations] == [("helper", None)]


def test_a_right_answer_has_no_observations_and_only_a_wrong_one_without_a_cause_an_order_to_read_in() -> None:
    right = record({"helper": None, "other": "At 17:20."}, "At 17:20.")
    assert (right.observations, right.reading) == ([], [])
    assert record({"helper": None, "other": "No idea."}, "I could not find out.").reading == []
    unexplained = record({"helper": "Ask at the station.", "other": "No idea at all."}, "No train leaves.")
    assert (unexplained.causes, bool(unexplained.reading)) == ([], True)


def test_nobody_is_named_where_no_call_was_seen() -> None:
    assert blamed(record({}, "At 16:35.")) == []


@pytest.mark.parametrize("said", ["Line 1 at 16:35, line 2 at 17:20.", "It is 17:20, some say 16:35."])
def test_nobody_is_named_where_one_message_states_both_values(said: str) -> None:
    assert blamed(record({"helper": said, "other": "No idea."}, "At 16:35.")) == []


def test_nobody_is_named_for_a_value_that_the_task_states() -> None:
    trial = record({"helper": "It is the last train.", "other": "No idea."}, "last train")
    assert CauseKind.WRONG_VALUE not in [kind for kind, _ in blamed(trial)]


def test_the_wrong_values_of_an_answer_in_json_are_followed_one_by_one() -> None:
    scorer = {"name": "json", "values": {"/leaves": "17:20", "/train": "KX-44718"}}
    said: dict[str, str | None] = {"helper": "It leaves at 16:35.", "other": "The train is KX-44718."}
    trial = record(said, '{"leaves": "16:35", "train": "KX-44718"}', target="", scorer=scorer)
    [cause] = trial.causes
    assert (cause.kind, cause.agents, cause.points) == (CauseKind.WRONG_VALUE, ("helper",), 50)


SCORERS = st.sampled_from(
    [
        ("includes", "17:20"),
        ("exact", "KX-44718"),
        ("numeric", "521"),
        ("match", "Bergen"),
        ({"name": "json", "values": {"/at": "17:20", "/n": 521}}, ""),
    ]
)


@given(SCORERS, st.text(max_size=80), st.text(max_size=80), st.text(max_size=80))
def test_any_texts_of_agents_can_be_read(scored: tuple[object, str], one: str, other: str, answer: str) -> None:
    scorer, target = scored
    for cause in record({"helper": one, "other": other}, answer, target, scorer).causes:
        assert set(cause.agents) <= set(TEAM)
        assert cause.points is not None


@pytest.mark.parametrize(
    ("said", "answer", "observed", "cause"),
    [
        (None, "I could not find out.", ObservationKind.UNREPAIRED_FAILURE, CauseKind.AGENT_FAILED),
        (
            "The departure time is 17:20.",
            "The departure time is 16:35.",
            ObservationKind.CHANGED_VALUE,
            CauseKind.LOST_VALUE,
        ),
    ],
)
def test_what_was_observed_in_the_steps_of_a_cause_is_tied_to_it(
    said: str | None, answer: str, observed: ObservationKind, cause: CauseKind
) -> None:
    trial = record({"helper": said, "other": "No idea."}, answer)
    assert [(each.kind, each.cause) for each in trial.observations] == [(observed, cause)]
