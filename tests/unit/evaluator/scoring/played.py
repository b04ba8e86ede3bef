"""Trials for the laws of scoring, from the calls that the gateway carried to the scored row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from itertools import permutations
from typing import Final

from hypothesis import strategies as st

from concord.assessment import AssessmentConfig, AssessmentPlan, Mode, TaskSpec, TrialSpec
from concord.assessment.result_row import ResultRow
from concord.assessment.results import AgentAnswer, TrialOutcome, TrialRecord
from concord.assessment.scorers import IncludesScorer
from concord.trace.report import Report
from concord.wire.roster import GREEN_AGENT, RosterEntry
from concord_evaluator.aggregate import make_row
from concord_evaluator.documents import JudgedTrial
from concord_evaluator.pipeline import evaluate_trial, verdict_on
from tests.kit.traces import RECEIVED_AT, TRACE_ID, call, observed, url_of
from tests.kit.trials import batch

TARGETS: Final = ("oaks", "elms", "firs", "ashes")
TASK: Final = "Count the trees in the park: 12 plots."
WORDS: Final = ("maple", "pine", "birch", "willow", "cedar", "hello", "ping 7", "12", "99")
"""Words of calls: content words, courtesies, a figure of the task and a figure of no source."""


NO_METRICS: Final = ["none"]
"""No metric has this id. The scores do not follow from metrics, which take a third of an evaluation."""


@dataclass(frozen=True, slots=True)
class CarriedCall:
    """A call that the gateway carried; `request` and `answer` are its texts."""

    caller: str
    callee: str
    request: str = "maple"
    answer: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class TeamTrial:
    """A trial: its agents, the carried calls in order, and the number of targets found."""

    agents: tuple[str, ...]
    calls: tuple[CarriedCall, ...] = ()
    found: int = len(TARGETS)
    judged: bool = True

    def verdict(self, number: int = 1, plan: AssessmentPlan | None = None) -> JudgedTrial:
        """The verdict on this trial, as the `number`-th trial of a plan."""
        plan = plan or planned([self])
        answer = " ".join(TARGETS[: self.found]) or "nothing of the kind"
        (first, *_) = self.agents
        outcome = TrialOutcome(
            trial_id=f"trial-{number}",
            state="completed",
            error=None,
            answer=answer,
            answers=[AgentAnswer(agent=first, state="completed", text=answer, error=None)],
            time_used=1.0,
        )
        batches = [batch(place, each) for place, each in enumerate(self.reports_by_batch())]
        return verdict_on(plan, evaluate_trial(plan, outcome, batches), None)

    @property
    def record(self) -> TrialRecord:
        """The record of this trial; each access evaluates the trial anew."""
        return self.verdict().record

    @property
    def score(self) -> float | None:
        """The score of this trial; each access evaluates the trial anew."""
        return self.record.overall_score

    def with_call(self, place: int, added: CarriedCall) -> "TeamTrial":
        """The same trial with a further call at this place."""
        return replace(self, calls=(*self.calls[:place], added, *self.calls[place:]))

    def reports_by_batch(self) -> list[list[Report]]:
        """The reports in this trial's trace, by batch."""
        return [_carried(place, each) for place, each in enumerate(self.calls)]


def _carried(place: int, each: CarriedCall) -> list[Report]:
    began = RECEIVED_AT + timedelta(seconds=2 * place)
    attributes = {"agent_name": each.caller} | ({} if each.failed else {"response_text": each.answer})
    step = call(
        f"{place:04}",
        each.callee,
        request=each.request,
        attributes=attributes,
        error="it broke" if each.failed else None,
        start_time=began,
        end_time=began + timedelta(seconds=1),
    )
    return observed(GREEN_AGENT, step)


def planned(team_trials: Sequence[TeamTrial], config: Mapping[str, object] | None = None) -> AssessmentPlan:
    """One plan of these trials, each with a task of its own; the first agent receives the tasks."""
    agents = team_trials[0].agents
    tasks = [
        TaskSpec(
            id=f"task-{number}",
            text=TASK,
            target=list(TARGETS) if trial.judged else None,
            scorer=IncludesScorer(match_all=True) if trial.judged else None,
        )
        for number, trial in enumerate(team_trials, 1)
    ]
    return AssessmentPlan(
        assessment_id="assessment",
        mode=Mode.LIVE,
        config=AssessmentConfig.model_validate({"start": agents[0], "metrics": NO_METRICS, **(config or {})}),
        tasks=tasks,
        roster=[RosterEntry(id=agent, url=url_of(agent)) for agent in agents],
        trials=[
            TrialSpec(trial_id=f"trial-{number}", task_id=task.id, run=1, seed=number, trace_id=TRACE_ID)
            for number, task in enumerate(tasks, 1)
        ],
        observed=True,
    )


def row(team_trials: Sequence[TeamTrial]) -> ResultRow:
    """The row of these trials."""
    plan = planned(team_trials)
    return make_row(plan, [trial.verdict(number, plan) for number, trial in enumerate(team_trials, 1)], [])


NAMES: Final = ("ann", "bob", "cyn", "dee", "eve")


_TEXTS: Final = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)


@cache
def calls(agents: tuple[str, ...]) -> st.SearchStrategy[CarriedCall]:
    """Any call between two of the agents."""
    pairs = st.sampled_from(list(permutations(agents, 2)))
    return st.builds(lambda pair, *rest: CarriedCall(*pair, *rest), pairs, _TEXTS, _TEXTS, st.booleans())


@cache
def _trials_of(agents: tuple[str, ...], n_calls: int) -> st.SearchStrategy[TeamTrial]:
    made = st.lists(calls(agents), max_size=n_calls) if len(agents) > 1 else st.just([])
    return st.builds(TeamTrial, st.just(agents), made.map(tuple), st.integers(0, len(TARGETS)))


def team_trials(*, least: int = 2, most: int = len(NAMES), n_calls: int = 8) -> st.SearchStrategy[TeamTrial]:
    """Any trial of a team of `least` to `most` agents."""
    return st.one_of([_trials_of(NAMES[:size], n_calls) for size in range(least, most + 1)])
