"""The points of a verdict: each lost point counts once, in a cause, in what is left out, or in what is unknown."""

from collections.abc import Sequence
from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.assessment.result_row import ResultRow
from concord.assessment.results import TrialRecord
from concord.assessment.team_results import PartFailure, TeamTaskRecord, UnprovenPart
from concord.assessment.verdict import MAX_CAUSES, Cause, CauseKind, Verdict
from concord_evaluator.verdict import verdict_of
from tests.kit.team_rows import by_nobody, row_of
from tests.kit.team_task_rows import failure, seat_names, team_task, trial_with

SEATS = seat_names(30)
KINDS: Sequence[PartFailure] = [
    failure(cause=kind) for kind in (CauseKind.NOT_SENT, CauseKind.UNREADABLE, CauseKind.NOT_USED)
]


@st.composite
def _records(draw: st.DrawFn) -> TeamTaskRecord:
    """A record of some parts, of which each is right, unproven, or wrong for one or two causes."""
    n = draw(st.integers(1, 12))
    failures, unproven = list[PartFailure](), list[UnprovenPart]()
    credited = 0.0
    for part in range(n):
        worth = draw(st.sampled_from([0.0, 0.25, 0.5, 1.0]))
        proven = draw(st.sampled_from([0.0, 0.5, 1.0]))
        credited += worth * proven / n
        causes = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=2)) if worth < 1 else []
        failures += [
            each.model_copy(
                update={
                    "part": f"p{part}",
                    "seats": [draw(st.sampled_from(SEATS))],
                    "lost": (1 - worth) / n / len(causes),
                }
            )
            for each in causes
        ]
        if worth and proven < 1:
            seat = draw(st.sampled_from(SEATS))
            unproven.append(UnprovenPart(part=f"p{part}", seat=seat, facts=["f"], lost=worth * (1 - proven) / n))
    return team_task(None, failures, unproven=unproven, credited=min(1.0, credited))


def _trial(record: TeamTaskRecord, number: int, *, judged: bool) -> TrialRecord:
    trial = trial_with(record, outcome=record.credited or 0.0, trial_id=f"trial-{number}", task_id=f"task-{number % 3}")
    return trial if judged else by_nobody(trial)


@given(st.lists(st.tuples(_records(), st.booleans()), min_size=1, max_size=6))
def test_score_and_points_of_causes_and_unknowns_make_100(played: list[tuple[TeamTaskRecord, bool]]) -> None:
    row = row_of(SEATS, *(_trial(record, n, judged=judged) for n, (record, judged) in enumerate(played, 1)))
    verdict = verdict_of(row)

    if verdict.score is not None:
        assert _all_points(verdict) == pytest.approx(100)
        assert len(verdict.causes) <= MAX_CAUSES
        costs = [cause.points or 0.0 for cause in verdict.causes]
        assert costs == sorted(costs, reverse=True)
    assert len({(cause.kind, *cause.agents, cause.part) for cause in verdict.causes}) == len(verdict.causes)


def _all_points(verdict: Verdict) -> float:
    assert verdict.score is not None
    causes = fsum(cause.points or 0.0 for cause in verdict.causes)
    return verdict.score.value + causes + verdict.points_left_out + fsum(each.points or 0 for each in verdict.unknown)


def _own(score: float, number: int = 1, *causes: Cause) -> TrialRecord:
    record = trial_with(team_task(None), outcome=score)
    return record.model_copy(update={"team_task": None, "causes": list(causes), "trial_id": f"trial-{number}"})


def test_what_no_cause_explains_is_unexplained_with_what_the_grade_says() -> None:
    [cause] = verdict_of(row_of(["ann"], _own(0.5))).causes

    assert (cause.kind, cause.agents, cause.points) == (CauseKind.UNEXPLAINED, (), 50.0)
    assert [each.agent for each in cause.evidence] == [SEATS[0]]


def test_causes_that_claim_more_than_was_lost_are_scaled_down() -> None:
    greedy = Cause(kind=CauseKind.WRONG_VALUE, agents=("bob",), certainty="observed", points=90)
    row: ResultRow = row_of(["ann"], _own(0.5, 1, greedy, greedy.model_copy(update={"agents": ("cy",)})))
    verdict = verdict_of(row)

    assert [cause.points for cause in verdict.causes] == [25.0, 25.0]
    assert _all_points(verdict) == pytest.approx(100)


def test_equal_causes_of_several_trials_are_one_with_a_count() -> None:
    told_wrong = Cause(kind=CauseKind.WRONG_VALUE, agents=("bob",), certainty="observed", points=100)
    [cause] = verdict_of(row_of(["ann"], _own(0, 1, told_wrong), _own(0, 2, told_wrong))).causes

    assert (cause.count, cause.trials, cause.trials_count, cause.points) == (2, ("trial-1", "trial-2"), 2, 100.0)
