"""The lift of a team over its starting agent alone, and what is said where an outcome is not known."""

from collections.abc import Mapping, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from concord.assessment import AssessmentPlan, TrialSpec
from concord.assessment.result_row import ControlRecord
from concord.assessment.task_spec import Control
from concord_evaluator.aggregate import make_row
from concord_evaluator.documents import JudgedTrial
from tests.kit.graphs import Team
from tests.kit.traces import TRACE_ID
from tests.kit.trials import judged, outcome, plan

LEAD, HELPER = "lead", "helper"
ASKING: Team = ([LEAD, HELPER], [(LEAD, HELPER)])
SILENT: Team = ([LEAD, HELPER], [])

Outcomes = Sequence[tuple[bool | None, bool | None]]
"""By task, whether the team and the agent alone were right; None for a lost trial."""


def planned(tasks: int) -> AssessmentPlan:
    """One trial of each task, each followed by its control."""
    of_team = plan([LEAD, HELPER], tasks=tasks, config={"start": LEAD})
    controls = [
        task.model_copy(update={"id": f"{task.id}.alone", "control": Control.ALONE, "paired_with": task.id})
        for task in of_team.tasks
    ]
    both = [each for pair in zip(of_team.tasks, controls, strict=True) for each in pair]
    trials = [
        TrialSpec(trial_id=f"trial-{number}", task_id=task.id, run=1, seed=number, trace_id=TRACE_ID)
        for number, task in enumerate(both, 1)
    ]
    return of_team.model_copy(update={"tasks": both, "trials": trials, "observed": True})


def lift(outcomes: Outcomes, teams: Mapping[int, Team] | None = None) -> ControlRecord | None:
    """The lift in the row of these outcomes. `teams`: by number of the trial, other calls than the usual ones."""
    whole = planned(len(outcomes))
    verdicts: list[JudgedTrial] = []
    for number, right in enumerate((each for pair in outcomes for each in pair), 1):
        if right is not None:
            team = (teams or {}).get(number, ASKING if number % 2 else SILENT)
            verdicts.append(judged(whole, team, outcome(f"trial-{number}", answer="done" if right else "wrong")))
    return make_row(whole, verdicts, []).detail.scoring.lift


def known(outcomes: Outcomes, teams: Mapping[int, Team] | None = None) -> ControlRecord:
    found = lift(outcomes, teams)
    assert found is not None
    return found


def test_it_is_the_mean_difference_over_pairs() -> None:
    found = known([(True, False), (True, True), (True, False), (False, False)])
    assert (found.team, found.value, found.gap, found.trials, found.tasks) == (0.75, 0.25, 0.5, 4, 4)
    assert found.gap_low is not None
    assert found.gap_high is not None
    assert found.gap_low < 0.5 < found.gap_high


def test_without_a_pair_there_is_none() -> None:
    assert lift([(True, None), (None, False)]) is None


rights = st.booleans()


@settings(max_examples=8)
@given(st.lists(st.tuples(rights, rights), min_size=2, max_size=4), st.data())
def test_a_lost_trial_never_narrows_the_interval(outcomes: list[tuple[bool, bool]], data: st.DataObject) -> None:
    """So nobody gains by losing a bad trial of the team, or a good one of the control."""
    lost = data.draw(st.integers(1, len(outcomes) - 1))
    of_team = data.draw(st.booleans())
    censored: Outcomes = [
        pair if number != lost else ((None, pair[1]) if of_team else (pair[0], None))
        for number, pair in enumerate(outcomes)
    ]
    whole, less = known(outcomes), known(censored)
    means = [sum(a - b for a, b in outcomes) / len(outcomes)]
    assert whole.gap_low is not None
    assert less.gap_low is not None
    assert less.gap_high is not None
    assert less.gap_low <= means[0] + 1e-9
    assert less.gap_high >= means[0] - 1e-9


def test_an_agent_whose_calls_the_gateway_carried_was_cut_off() -> None:
    assert known([(True, False)]).cut_off is True


def test_an_agent_whose_calls_nobody_saw_may_not_have_been() -> None:
    assert known([(True, False)], {1: SILENT}).cut_off is None


def test_an_agent_that_a_peer_answered_was_not() -> None:
    assert known([(True, False)], {2: ASKING}).cut_off is False
