"""Which differences between two versions a number of runs can show: the shipped manifests, with scripted teams."""

from collections.abc import Iterator, Sequence
from statistics import fmean, stdev
from typing import Final

from concord.assessment import AssessmentConfig, AssessmentPlan, Mode, plan_trials
from concord.assessment.suite_tasks import instance_of, requested_tasks
from concord.suite import Draw, Fact, SuiteTask, installed_manifests
from concord.wire.roster import RosterEntry
from concord_evaluator.statistics import POWER, detectable_difference
from concord_suites import FAMILIES
from lab.benchmarks.tables import ResultTable
from tests.kit.players.minds import Mind
from tests.kit.players.plans import plan_of
from tests.kit.players.play import play
from tests.kit.players.teams import Forgetting, ScriptedTeam, Telling

RUNS: Final = 20
"""Of each task of a manifest."""

RATES: Final = (0.01, 0.05, 0.1)
"""How often a seat leaves a fact out of a message."""

SHOWN: Final = (1, 2, 6, 12)
"""Runs for which the table says what they show."""


class _Version(Forgetting):
    """A version of a team: it forgets as often as the other one, and not the same."""

    def __init__(self, task: SuiteTask, rate: float, name: str) -> None:
        super().__init__(task, rate)
        self.name = name

    def happens(self, telling: Telling, fact: Fact) -> bool:
        """Decides by the fact, the message and the version."""
        text = f"{self.name} {self.task.question} {telling.sender} {telling.receiver} {fact.id} {telling.round}"
        return Draw(text.encode()).chance(self.rate)


def measure(*, soak_s: float) -> list[ResultTable]:  # noqa: ARG001 - see `sections.Measure`
    """The table. The puzzles and what is forgotten are the same in every run."""
    rows = []
    for name in sorted(installed_manifests()):
        instances = list(_instances(name))
        for rate in RATES:
            score, spread = _score_and_spread(instances, rate)
            shown = (detectable_difference(spread, runs * len(instances) // RUNS) for runs in SHOWN)
            figures = ("none" if each is None else f"{100 * each:.0f}" for each in shown)
            rows.append([name, f"{rate:.0%}", f"{100 * score:.0f}", f"{spread:.2f}", *figures])
    return [
        ResultTable(
            "Detectable differences",
            "Measured by `python -m lab.benchmarks detectable`: two equal versions of a scripted team play the same "
            f"{RUNS} puzzles of each task, and each forgets a part of what it should tell, but not the same. The "
            "spread is the standard deviation of the paired differences. The last columns have the difference in "
            f"points that so many runs of the manifest show in {POWER:.0%} of cases (paired t test, 95 %).",
            ("manifest", "forgotten", "score", "spread", *(f"{runs} run{'s' if runs > 1 else ''}" for runs in SHOWN)),
            rows,
        )
    ]


def _score_and_spread(instances: Sequence[Mind], rate: float) -> tuple[float, float]:
    """The mean score of both versions, and the standard deviation of their paired differences."""
    pairs = [(_score(mind, rate, "old"), _score(mind, rate, "new")) for mind in instances]
    return fmean(score for pair in pairs for score in pair), stdev(new - old for old, new in pairs)


def _instances(manifest: str) -> Iterator[Mind]:
    config = AssessmentConfig(suite=[manifest], num_runs=RUNS)
    tasks = requested_tasks(config)
    plan = AssessmentPlan(
        assessment_id="detectable",
        mode=Mode.LIVE,
        config=config,
        tasks=tasks,
        roster=[RosterEntry(id="agent", url="http://agent")],
        trials=plan_trials(config, tasks),
        task_secret="0" * 64,
    )
    families = {family.name: family for family in FAMILIES}
    for trial in plan.trials:
        task = instance_of(plan, trial)
        yield Mind(families[task.family], task)


def _score(mind: Mind, rate: float, version: str) -> float:
    draw = Draw(f"{version} {mind.task.question}".encode())
    team = ScriptedTeam(mind, plan_of(mind.task), draw, _Version(mind.task, rate, version))
    return play(mind.family, mind.task, team).credit().outcome
