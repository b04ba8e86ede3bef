"""The diagnosis of a trace: what the graders tie to a lost part is a cause, all else is observed or to be read."""

from typing import Any

import pytest

from concord.assessment import AssessmentConfig
from concord.assessment.verdict import CauseKind
from concord.wire.roster import Roster
from concord_evaluator.diagnosis import diagnose
from concord_evaluator.formats import Trace, TraceBuilder
from concord_evaluator.formats.trace import Origin
from concord_evaluator.observations import acts_of, observe
from concord_evaluator.offline import evaluate_trace
from tests.kit.failed_runs import COOPERBENCH_FILES as FILES
from tests.kit.failed_runs import MINE, YOURS
from tests.unit.evaluator.formats.test_cooperbench_folder import run_in

pytestmark = pytest.mark.usefixtures("research_formats")


def run(*, alone: tuple[bool | None, bool | None] = (True, True), passed: bool = False, **files: str) -> Trace:
    """A run of two agents whose patches clash, graded together and, where known, alone."""
    evaluation: dict[str, Any] = {"both_passed": passed, "merge": {"status": "clean" if passed else "conflicts"}}
    for number, by_itself in enumerate(alone, 1):
        evaluation[f"feature{number}"] = {"feature_id": number, "passed": passed}
        if by_itself is not None:
            evaluation[f"feature{number}_independent"] = {"passed": by_itself}
    patches = {"agent1.patch": MINE, "agent2.patch": YOURS}
    return run_in({**FILES, **patches, "eval.json": evaluation, **files})


@pytest.mark.parametrize(
    ("alone", "certainty", "points"),
    [
        ((True, True), "proven", 100),
        ((None, None), "observed", 100),
        ((True, False), "proven", 50),
        ((False, True), "proven", 50),
    ],
)
def test_edits_that_clash_are_the_cause_of_the_parts_that_pass_alone(
    alone: tuple[bool | None, bool | None], certainty: str, points: float
) -> None:
    found = diagnose(run(alone=alone))
    [cause] = found.causes
    assert (cause.kind, cause.agents, cause.certainty) == (CauseKind.CLASHING_EDITS, ("agent1", "agent2"), certainty)
    assert cause.points == points
    assert [each.cause for each in found.observations] == [CauseKind.CLASHING_EDITS]
    assert found.reading == []


def test_edits_that_clash_are_no_cause_where_both_parts_fail_alone() -> None:
    found = diagnose(run(alone=(False, False)))
    assert (found.causes, [each.cause for each in found.observations]) == ([], [None])
    assert found.reading


def test_a_run_that_succeeded_has_observations_and_no_cause() -> None:
    found = diagnose(run(passed=True))
    assert (found.causes, found.reading) == ([], [])
    assert [each.kind for each in found.observations] == ["clashing_edits"]


def test_observations_do_not_depend_on_the_outcome_and_the_grades() -> None:
    traces = [
        run(),
        run(passed=True),
        run(alone=(None, None)),
        run_in({**FILES, "agent2.patch": YOURS, "agent1.patch": MINE}),
    ]
    [first, *others] = [observe(acts_of(trace.reports(), Roster(trace.roster))) for trace in traces]
    assert all(each == first for each in others)


def test_the_row_of_a_failed_run_has_the_cause_with_its_points_and_its_evidence() -> None:
    row = evaluate_trace(run(alone=(True, False)), AssessmentConfig())
    assert row.detail.verdict is not None
    causes = {each.kind: each.points for each in row.detail.verdict.causes}
    assert causes == {CauseKind.CLASHING_EDITS: 50, CauseKind.UNEXPLAINED: 50}
    [trial] = row.detail.trials
    assert [(each.kind, each.cause) for each in trial.observations] == [("clashing_edits", "clashing_edits")]
    assert "+mine" in trial.observations[0].evidence[0].text


@pytest.mark.parametrize("outcome", [1.0, None])
def test_the_row_of_a_run_that_is_not_known_to_have_failed_has_neither(outcome: float | None) -> None:
    builder = TraceBuilder("t", Origin("f"))
    builder.task_success = outcome
    builder.add_work("1", "A", error="timeout")
    [trial] = evaluate_trace(builder.build(), AssessmentConfig()).detail.trials
    assert (trial.observations, trial.reading) == ([], [])


def test_a_failed_run_without_a_cause_says_what_to_read_first_and_why() -> None:
    builder = TraceBuilder("t", Origin("f"))
    builder.task, builder.task_success = "How many people live in the county of Lane, in all its towns together?", 0.0
    builder.add_message("1", "A", "B", builder.task)
    builder.add_message("2", "B", "A", "The census counts 382067 inhabitants, mostly around Eugene and Springfield.")
    builder.add_message("3", "A", "B", "Thanks!")
    [trial] = evaluate_trace(builder.build(), AssessmentConfig()).detail.trials
    assert [(each.step_id, each.reason) for each in trial.reading] == [
        ("2", "is the first to say 382067"),
        ("1", "follows in time"),
        ("3", "follows in time"),
    ]
