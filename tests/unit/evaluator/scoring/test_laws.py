"""Laws of scoring over whole trials and rows: which changes may raise a score, and which never do."""

from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from concord.assessment import AssessmentPlan
from concord.assessment.result_row import ResultRow
from concord.assessment.results import Grading, MetricStatus
from concord_evaluator.aggregate import make_row
from concord_evaluator.scoring import score_outcome
from tests.unit.evaluator.scoring.played import (
    NAMES,
    TARGETS,
    TeamTrial,
    planned,
    row,
    team_trials,
)

TRIALS = team_trials()
RENAMED = dict(zip(NAMES, ("vic", "wes", "xia", "yan", "zoe"), strict=True))


FEW = settings(max_examples=12)
"""Each example evaluates up to seven trials."""


class TestOnlyTheOutcomeCounts:
    """Of the user's own tasks, the score is the outcome: calls and participants describe it."""

    @FEW
    @given(team_trials(least=1), st.data())
    def test_the_score_is_the_outcome_whoever_took_part_and_called(self, trial: TeamTrial, data: st.DataObject) -> None:
        first, *others = trial.agents
        team = (first, *data.draw(st.permutations(others)))
        assert replace(trial, agents=team).score == trial.found / len(TARGETS)

    @FEW
    @given(TRIALS)
    def test_a_lost_judgment_never_raises_the_score_of_the_row(self, trial: TeamTrial) -> None:
        known, lost = row([trial, trial]), row([trial, replace(trial, judged=False)])
        self._never_higher_row(known, lost)
        assert row([replace(trial, judged=False)]).score is None

    @FEW
    @given(st.lists(TRIALS, min_size=1, max_size=3))
    def test_a_lost_evaluation_never_raises_the_score_of_the_row(self, team_trials: list[TeamTrial]) -> None:
        team_trials = [replace(trial, agents=NAMES) for trial in team_trials]
        plan = planned(team_trials)
        verdicts = [trial.verdict(number, plan) for number, trial in enumerate(team_trials, 1)]
        whole = make_row(plan, verdicts, [])
        for lost in range(len(verdicts)):
            self._never_higher_row(whole, make_row(plan, verdicts[:lost] + verdicts[lost + 1 :], []))

    @staticmethod
    def _never_higher_row(before: ResultRow, after: ResultRow) -> None:
        assert before.score is not None
        assert after.score is None or after.score <= before.score + 1e-9
        assert after.pass_rate is None or before.pass_rate is None or after.pass_rate <= before.pass_rate


@dataclass(frozen=True)
class Declared:
    """What a client and its participants say of themselves. It changes no answer."""

    listed: int
    """How many of the participants the client lists; the first got the task."""
    reporting: frozenset[str]
    """Who declares that it reports its calls."""
    proxied: bool
    """Whether the gateway gives participants addresses through which it sees their calls."""

    def of(self, plan: AssessmentPlan) -> AssessmentPlan:
        roster = [
            entry.model_copy(update={"reports": entry.id in self.reporting}) for entry in plan.roster[: self.listed]
        ]
        return plan.model_copy(update={"roster": roster, "observed": self.proxied})


DECLARED = st.builds(Declared, st.integers(1, len(NAMES)), st.frozensets(st.sampled_from(NAMES)), st.booleans())


def figures(plan: AssessmentPlan, trial: TeamTrial) -> tuple[object, ...]:
    """All figures of a row by which a team passes or is ranked."""
    made = make_row(plan, [trial.verdict(1, plan)], [])
    scoring = made.detail.scoring
    scores = [each.overall_score for each in made.detail.trials]
    return made.score, made.pass_rate, scores, made.detail.statistics, scoring.score_high, scoring.ranking_kind


class TestInvariance:
    """Without receipts, the same answers have the same score, whatever was declared and could be seen."""

    @FEW
    @given(TRIALS, DECLARED, DECLARED, st.booleans())
    def test_declarations_and_unseen_calls_change_no_figure(
        self, trial: TeamTrial, one: Declared, other: Declared, seen: bool
    ) -> None:
        trial = replace(trial, agents=NAMES)
        plan = planned([trial])
        same = replace(trial, calls=trial.calls if seen else ())
        assert figures(one.of(plan), trial) == figures(other.of(plan), same)

    @FEW
    @given(TRIALS, st.permutations(sorted(RENAMED)))
    def test_names_and_their_order_change_no_figure(self, trial: TeamTrial, order: list[str]) -> None:
        trial = replace(trial, agents=NAMES)
        others = dict(zip(NAMES, (RENAMED[name] for name in order), strict=True))
        calls = [replace(each, caller=others[each.caller], callee=others[each.callee]) for each in trial.calls]
        renamed = replace(trial, agents=tuple(others.values()), calls=tuple(calls))
        assert figures(planned([renamed]), renamed) == figures(planned([trial]), trial)

    @FEW
    @given(TRIALS)
    def test_a_team_of_which_nobody_could_see_a_call_is_unknown_in_words_and_not_low(self, trial: TeamTrial) -> None:
        trial = replace(trial, agents=NAMES, calls=())
        plan = Declared(len(NAMES), frozenset(), proxied=True).of(planned([trial]))
        made = make_row(plan, [trial.verdict(1, plan)], []).detail
        assert (made.coordination_status, made.coordination_quality) == (MetricStatus.UNDEFINED, None)
        assert [warning for warning in made.warnings if "could" in warning or "/peers" in warning]


@FEW
@given(st.lists(TRIALS, min_size=1, max_size=3), TRIALS)
def test_a_further_trial_changes_the_score_of_no_other(played: list[TeamTrial], more: TeamTrial) -> None:
    played = [replace(trial, agents=NAMES) for trial in played]
    alone, together = row(played), row([*played, replace(more, agents=NAMES)])
    scores = [trial.overall_score for trial in alone.detail.trials]
    assert [trial.overall_score for trial in together.detail.trials][:-1] == scores


class TestThePassMark:
    @FEW
    @given(TRIALS)
    def test_a_trial_passes_from_the_mark_on(self, trial: TeamTrial) -> None:
        score = trial.found / len(TARGETS)
        for mark in (0, 0.25, 0.5, 0.75, 1):
            passed = trial.verdict(plan=planned([trial], {"thresholds": {"pass": mark}})).record.passed
            assert passed is (score >= mark)


class TestTheProvenOutcome:
    @given(st.none() | st.floats(0, 1), st.floats(0, 1))
    def test_a_team_task_scores_what_of_its_outcome_is_proven_if_anybody_graded_it(
        self, outcome: float | None, proven: float
    ) -> None:
        grading = Grading(value=outcome, source="code", scorer=None, reason=None)
        assert score_outcome(grading, proven).overall == (None if outcome is None else proven)

    @given(st.none() | st.floats(0, 1))
    def test_without_receipts_the_outcome_is_the_score(self, outcome: float | None) -> None:
        assert score_outcome(Grading(value=outcome, source="code", scorer=None, reason=None)).overall == outcome
