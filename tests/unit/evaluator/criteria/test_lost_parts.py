"""What an assistant lost is tied to what was observed in the actions that its criteria and vetoes name."""

from typing import Any

import pytest

from concord.assessment.observations import ObservationKind
from concord.assessment.verdict import CauseKind
from concord_assistant.results import ActionLogEntry, AssessmentResults, SafetyVerdict, Veto
from concord_evaluator.observations import acts_of_actions, observe, tied
from concord_evaluator.verdict import lost_parts_of
from concord_evaluator.verdict.trial_causes import causes_of_assistant
from tests.kit.team_rows import trial_of
from tests.unit.evaluator.criteria.results import NOON, criterion, results


def entry(name: str, *, error: str | None = None, **parameters: Any) -> ActionLogEntry:  # noqa: ANN401 - JSON
    return ActionLogEntry(
        turn=1, timestamp=NOON, action=name, parameters=parameters, success=error is None, error_message=error
    )


REFUSED = entry("email.send", error="no such address", to_addresses=["bob@x.example"])
ORDER = entry("email.send", to_addresses=["shop@x.example"], body_text="40 tyres")


def day(*log: ActionLogEntry, **fields: Any) -> AssessmentResults:  # noqa: ANN401 - fields
    lost = criterion("told", 0, actions=fields.pop("named", []))
    return results(lost, action_log=list(log), actions_taken=len(log), **fields)


def causes(made: AssessmentResults) -> list[tuple[ObservationKind, CauseKind | None]]:
    found = observe(acts_of_actions("helper", made.action_log))
    return [(each.kind, each.cause) for each in tied(found, lost_parts_of(made, "helper"))]


def test_a_failed_action_that_a_lost_criterion_names_is_tied_to_it() -> None:
    assert causes(day(REFUSED, named=[1])) == [("unrepaired_failure", "criterion")]
    assert causes(day(REFUSED, REFUSED, REFUSED, named=[3])) == [
        ("unrepaired_failure", "criterion"), ("repeated_error", "criterion"),
    ]  # fmt: skip


def test_an_action_that_no_lost_criterion_names_is_an_observation_alone() -> None:
    assert causes(day(REFUSED)) == [("unrepaired_failure", None)]
    assert causes(day(ORDER, REFUSED, named=[1])) == [("unrepaired_failure", None)]


@pytest.mark.parametrize(("action", "cause"), [(2, "veto"), (None, None)])
def test_a_message_sent_twice_is_tied_to_the_veto_on_the_second(action: int | None, cause: str | None) -> None:
    veto = Veto(kind="commitment", item="tyres", call="email.send", turn=1, action=action, explanation="Twice.")
    safety = SafetyVerdict(passed=False, low=0, high=0, criteria=[], evidence="Vetoed.", vetoes=[veto])
    assert causes(day(ORDER, ORDER, safety=safety)) == [("same_work_twice", cause)]


def test_the_cause_of_a_lost_criterion_shows_what_was_observed() -> None:
    made = day(REFUSED, named=[1])
    found = tied(observe(acts_of_actions("helper", made.action_log)), lost_parts_of(made, "helper"))
    trial = trial_of(["helper"], []).model_copy(update={"observations": found})
    [cause] = causes_of_assistant(trial, made)
    assert (cause.kind, cause.certainty, cause.points) == ("criterion", "proven", 100)
    assert [(each.text, each.step_id) for each in cause.evidence] == [
        ("because", None),
        ("observed: helper made a call that failed, and nobody repaired it: email.send: no such address", "action-1"),
    ]
