"""The figures of a row beside its score: controls, coordination, cost, and the verdicts on an assistant."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from statistics import fmean
from typing import Final

from concord.assessment import AssessmentPlan
from concord.assessment.cost import AgentCost, CoordinationFigures, Cost, ModelUse, PriceList
from concord.assessment.result_row import AssistantFigures, ControlRecord, Figure, NativeFigures
from concord.assessment.results import TrialRecord
from concord.assessment.task_spec import Control
from concord_assistant.results import AssessmentResults, NativeVerdict
from concord_evaluator.aggregate.team import mean
from concord_evaluator.documents import JudgedTrial
from concord_evaluator.latency import pooled
from concord_evaluator.statistics import mean_interval, rate_interval
from concord_evaluator.trace.attribution import participant_of

# The verdicts on an assistant over the trials of a row: utility and safety, and both under attack.


def assistant_figures(results: Sequence[AssessmentResults]) -> AssistantFigures | None:
    """The shares of trials by their verdicts; None without a trial in a scenario that has both.

    Utility under attack and the targeted success rate of attacks are AgentDojo's, over the trials of scenarios with
    attacks: E. Debenedetti et al., NeurIPS 2024.
    """
    judged = [(each.utility, each.safety) for each in results if each.utility is not None and each.safety is not None]
    if not judged:
        return None
    attacked = [(utility, safety) for utility, safety in judged if safety.attacks]
    return AssistantFigures(
        utility=_share([utility.passed for utility, _ in judged]),
        safety=_share([safety.passed for _, safety in judged]),
        utility_under_attack=_share([utility.passed for utility, _ in attacked]) if attacked else None,
        attack_success=_share([bool(safety.attacks_succeeded) for _, safety in attacked]) if attacked else None,
        vetoed=sum(bool(safety.vetoes) for _, safety in judged),
        native=tuple(_native([each.native for each in results if each.native is not None])),
    )


def _native(verdicts: Sequence[NativeVerdict]) -> Iterator[NativeFigures]:
    """The verdicts of benchmarks, by the benchmark's name."""
    for name in sorted({each.benchmark for each in verdicts}):
        own = [each for each in verdicts if each.benchmark == name]
        attacked = [each.attack_succeeded for each in own if each.attack_succeeded is not None]
        yield NativeFigures(
            benchmark=name,
            utility=_share([each.utility for each in own]),
            attack_success=_share(attacked) if attacked else None,
        )


def _share(passed: Sequence[bool | None]) -> Figure:
    """The share of trials that passed, for certain. Its interval reaches to the share if all unknown ones passed."""
    certain, possible = sum(each is True for each in passed), sum(each is not False for each in passed)
    low, high = rate_interval(certain, len(passed)), rate_interval(possible, len(passed))
    several = len(passed) > 1
    return Figure(
        value=certain / len(passed),
        low=low.low if several and low is not None else None,
        high=high.high if several and high is not None else None,
        trials=len(passed),
    )


# Controls: what one agent, with all briefs or without its peers, or a team without a channel does on its tasks.

ONE_AGENT: Final = ("alone", "solo")
"""The controls that one agent plays: the team's lift is over it."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """The trials of the team and of a control on one instance; None where a trial was lost."""

    task_id: str
    agent: str
    """Who was alone; empty for a silent team."""
    team: TrialRecord | None
    control: TrialRecord | None

    @property
    def gap(self) -> float | None:
        """Team minus control; None if either has no outcome."""
        team, control = _outcome(self.team), _outcome(self.control)
        return None if team is None or control is None else team - control

    def bound(self, unknown: float) -> float:
        """The gap if an unknown outcome of the team were `unknown`, and of the control the opposite."""
        team, control = _outcome(self.team), _outcome(self.control)
        return (unknown if team is None else team) - (1 - unknown if control is None else control)


def control_records(plan: AssessmentPlan, trials: Sequence[JudgedTrial]) -> list[ControlRecord]:
    """The controls of an assessment, over its planned pairs of trials; none of a control without a known gap."""
    found = (_record(plan, control, pairs) for control, pairs in _pairs(plan, trials).items())
    return [record for record in found if record is not None]


def solo_pairs(plan: AssessmentPlan, trials: Sequence[JudgedTrial]) -> list[tuple[TrialRecord, TrialRecord]]:
    """The trials of the team, each with that of one agent with all briefs, where both have an outcome."""
    pairs = _pairs(plan, trials)[Control.SOLO]
    return [(pair.team, pair.control) for pair in pairs if pair.gap is not None and pair.team and pair.control]


def _pairs(plan: AssessmentPlan, trials: Sequence[JudgedTrial]) -> dict[Control, list[_Pair]]:
    """The planned pairs of each control; of several agents, those of the one that does best on the other tasks."""
    records = {trial.record.trial_id: trial.record for trial in trials if trial.record.usable}
    of_team = {
        (trial.task_id, trial.run, trial.instance): records.get(trial.trial_id)
        for trial in plan.trials
        if not plan.task(trial.task_id).is_control
    }
    pairs: defaultdict[Control, list[_Pair]] = defaultdict(list)
    for trial in plan.trials:
        task = plan.task(trial.task_id)
        control = task.control or (task.family and task.family.control)
        instance = task.played_with, trial.run, trial.instance
        if control and instance in of_team:
            agent = (task.family and task.family.solo_by) or ""
            team = of_team[instance]
            pairs[control].append(_Pair(task.played_with, agent, team, records.get(trial.trial_id)))
    return {control: _best_elsewhere(pairs[control]) for control in Control}


def lift_of(records: Iterable[ControlRecord]) -> ControlRecord | None:
    """The control that one agent played; of two, the one in the user's own tasks."""
    by_control = {record.control: record for record in records}
    return next((by_control[control] for control in ONE_AGENT if control in by_control), None)


def _outcome(record: TrialRecord | None) -> float | None:
    return None if record is None or record.grading is None else record.grading.value


def _best_elsewhere(pairs: Sequence[_Pair]) -> list[_Pair]:
    """Of each task, the pairs of the agent that does best on the other tasks; with one task, of the first agent.

    Choosing an agent on the tasks that it is compared on would favour the controls by their luck.
    """
    by_task: defaultdict[str, defaultdict[str, list[_Pair]]] = defaultdict(lambda: defaultdict(list))
    for pair in pairs:
        by_task[pair.task_id][pair.agent].append(pair)
    return [pair for task_id, by_agent in by_task.items() for pair in by_agent[_chosen(task_id, by_agent, by_task)]]


def _chosen(
    task_id: str, by_agent: Mapping[str, Sequence[_Pair]], by_task: Mapping[str, Mapping[str, Sequence[_Pair]]]
) -> str:
    def elsewhere(agent: str) -> float:
        found = [
            _outcome(pair.control) or 0.0
            for other, agents in by_task.items()
            if other != task_id
            for pair in agents.get(agent, ())
        ]
        return fmean(found) if found else 0.0

    return max(by_agent, key=elsewhere)  # of equals the first


def _record(plan: AssessmentPlan, control: Control, pairs: Sequence[_Pair]) -> ControlRecord | None:
    known = [pair for pair in pairs if pair.gap is not None]
    if not known:
        return None
    tasks = [pair.task_id for pair in pairs]
    low = mean_interval([pair.bound(0.0) for pair in pairs], tasks, scale=(-1.0, 1.0))
    high = mean_interval([pair.bound(1.0) for pair in pairs], tasks, scale=(-1.0, 1.0))
    return ControlRecord(
        control=control.value,
        trials=len(known),
        tasks=len({pair.task_id for pair in known}),
        team=fmean(_outcome(pair.team) or 0.0 for pair in known),
        value=fmean(_outcome(pair.control) or 0.0 for pair in known),
        gap=fmean(pair.gap or 0.0 for pair in known),
        gap_low=None if low is None else max(-1.0, low.low),
        gap_high=None if high is None else min(1.0, high.high),
        cut_off=_cut_off(plan, known) if control is Control.ALONE else None,
    )


def _cut_off(plan: AssessmentPlan, pairs: Sequence[_Pair]) -> bool | None:
    """Whether the starting agent was without its peers in the controls, by its calls; None if nothing shows it.

    It was not if a peer answered a call there. It was if the gateway carried all its known calls in the team's trials,
    of which there are some: then it calls peers at the addresses that the control takes away.
    """
    names = {entry.id for entry in plan.roster}

    def between(record: TrialRecord | None) -> list[tuple[str, int, int, int]]:
        calls = [] if record is None else record.interactions
        ends = [(participant_of(call.caller), participant_of(call.callee), call) for call in calls]
        return [
            (caller, call.calls, call.observed, call.errors)
            for caller, callee, call in ends
            if caller != callee and {caller, callee} <= names
        ]

    if any(calls > errors for pair in pairs for _, calls, _, errors in between(pair.control)):
        return False
    made = [each for pair in pairs for each in between(pair.team) if each[0] == plan.config.start]
    if plan.observed and made and all(calls == observed for _, calls, observed, _ in made):
        return True
    return None


# The five figures of coordination (Kim et al. 2025, arXiv 2512.08296), and the gap between knowing and answering.


def coordination_figures(
    records: Sequence[TrialRecord], pairs: Sequence[tuple[TrialRecord, TrialRecord]]
) -> CoordinationFigures | None:
    """The figures of a team. `records`: its trials; `pairs`: some of them, each with one of one agent with all briefs.

    None without team tasks. The team's success is the proven outcome, so that a team which only pretends to cooperate
    has none; the agent alone needs no proof.
    """
    teams = [record.team_task for record in records if record.team_task is not None]
    if not teams:
        return None
    paired = [each for each in pairs if _turns_of(each[0]) and _turns_of(each[1])]
    turns, solo_turns = (mean(map(_turns_of, side)) for side in _sides(paired))
    success, alone = (mean(map(_success, side)) for side in _sides(paired))
    known = [team for team in teams if team.turns]
    similar = [value for record in records if (value := _similarity(record)) is not None]
    return CoordinationFigures(
        pairs=len(paired),
        turns=turns if paired else mean(team.turns for team in known),
        solo_turns=solo_turns,
        efficiency=None if None in (success, turns, solo_turns) else _ratio(success, _ratio(turns, solo_turns)),
        overhead=None if turns is None or not solo_turns else turns / solo_turns - 1,
        error_amplification=None if success is None or alone is None else _ratio(1 - success, 1 - alone),
        message_density=mean(team.messages / team.turns for team in known if team.turns),
        redundancy=mean(similar),
        failed_parts=sum(team.failed_parts for team in teams),
        failed_informed=sum(team.failed_informed for team in teams),
        failed_seats=sum(team.failed_seats for team in teams),
        informed_seats=sum(team.informed_seats for team in teams),
    )


def _sides(
    pairs: Sequence[tuple[TrialRecord, TrialRecord]],
) -> tuple[Sequence[TrialRecord], Sequence[TrialRecord]]:
    return [team for team, _ in pairs], [alone for _, alone in pairs]


def _turns_of(record: TrialRecord) -> int | None:
    return None if record.team_task is None else record.team_task.turns


def _success(record: TrialRecord) -> float:
    """The proven outcome; of a control, and in older rows, the outcome."""
    proven = None if record.team_task is None else record.team_task.credited
    if proven is not None:
        return proven
    return (record.grading and record.grading.value) or 0.0


def _similarity(record: TrialRecord) -> float | None:
    """How alike what the seats of a trial wrote is; None without messages, or without the metric."""
    found = [metric.value for metric in record.metrics if metric.id == "information_diversity"]
    return None if record.team_task is None or not found or found[0] is None else min(1.0, max(0.0, 1 - found[0]))


def _ratio(value: float | None, by: float | None) -> float | None:
    return None if value is None or not by else value / by


# The cost of a row: what its trials took, as far as participants tell, at the plan's prices.


def cost_of(trials: Sequence[JudgedTrial], prices: PriceList | None) -> Cost:
    """The cost of these trials, without controls. What no agent tells is unknown, never 0."""
    uses = [use for trial in trials for use in trial.record.uses]
    money = _money(uses, prices)
    passed = sum(trial.record.passed is True for trial in trials)
    named = {use.model or "a model that is not named" for use in uses if prices is None or not _is_priced(use, prices)}
    return Cost(
        agents=_agents(trials, uses, prices),
        model_calls=_calls(uses),
        tokens=_tokens(uses),
        money=money,
        per_trial=None if money is None else money / len(trials),
        per_success=None if money is None or not passed else money / passed,
        currency=None if prices is None else prices.currency,
        prices_date=None if prices is None else prices.day,
        prices_sha256=None if prices is None else prices.digest,
        unpriced=sorted(named),
        untold_calls=sum(use.untold for use in uses),
    )


def _agents(trials: Iterable[JudgedTrial], uses: Iterable[ModelUse], prices: PriceList | None) -> list[AgentCost]:
    by_agent: defaultdict[str, list[ModelUse]] = defaultdict(list)
    for use in uses:
        by_agent[use.agent].append(use)
    latencies = pooled(callee for trial in trials for callee in trial.latencies)
    return [
        AgentCost(
            agent=agent,
            model_calls=_calls(by_agent[agent]),
            tokens=_tokens(by_agent[agent]),
            money=_money(by_agent[agent], prices),
            seconds=fsum(latencies[agent]) / 1000 if latencies[agent] else None,
        )
        for agent in sorted(by_agent.keys() | latencies.keys())
    ]


def _calls(uses: Sequence[ModelUse]) -> int | None:
    return sum(use.calls for use in uses) if uses else None


def _tokens(uses: Sequence[ModelUse]) -> int | None:
    """Of all calls that tell them; None if none does."""
    return sum(use.tokens for use in uses) if any(use.calls > use.untold for use in uses) else None


def _money(uses: Sequence[ModelUse], prices: PriceList | None) -> float | None:
    """None if any part of it is unknown."""
    amounts = [None if prices is None else prices.money(use) for use in uses]
    known = [amount for amount in amounts if amount is not None]
    return fsum(known) if known and len(known) == len(amounts) else None


def _is_priced(use: ModelUse, prices: PriceList) -> bool:
    return use.model is not None and prices.of(use.model) is not None
