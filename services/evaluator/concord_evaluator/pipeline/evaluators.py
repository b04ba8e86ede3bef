"""Evaluators: functions of a trial with an id and dependencies, built in or installed, and how they run."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from typing import Final, Literal

from concord.assessment import AssessmentConfig
from concord.assessment.results import (
    MAX_CALLS,
    CallRecord,
    Finding,
    LatencySummary,
    MetricRecord,
    MetricStatus,
    ParticipantObservability,
)
from concord.trace.report import Report, ReportBatch
from concord.trace.stored_step import CalledAgent
from concord.wire.roster import Roster
from concord_evaluator.findings import METRICS_NEEDED, Shape, find, shown_findings, structural
from concord_evaluator.graph import AgentGraph, CallTally, build_graph
from concord_evaluator.latency import CalleeLatencies, latencies_of, summarise
from concord_evaluator.messages import CallTexts, Sent, texts_of_calls
from concord_evaluator.metrics import LEFT_OUT, METRICS, Parameter, measure, parameter_error
from concord_evaluator.plugins import EVALUATOR_GROUP, BrokenPluginError, Extensions
from concord_evaluator.scoring import TeamStructure, structure_of
from concord_evaluator.trace import Call, Projection, team_observability, unseen_participants
from concord_evaluator.trace.columns import NEVER
from concord_evaluator.trace.reading import MAX_TEXT, text_of

# The interface of evaluators: functions of a trial, with an id, a tier, dependencies and parameters.

Tier = Literal[1, 2, 3]
"""1: the structure of the graph; 2: latency and the judge; 3: evaluators that have no part in the score."""


@dataclass(frozen=True, slots=True)
class TrialInput:
    """What every evaluator sees of a trial.

    `task`: the text that the team was given, empty without one. `completed`: whether the team completed the task; None
    if nobody knows. `shape`: whose choice it was who exchanges messages with whom.
    `participants`: how much of each participant's calls could have been seen; empty where there was nothing to observe.
    `reports`: returns all reports, read anew at each call. That is costly for a long trace, so it is meant for
    evaluators that need more than the projection. `time_is_up`: whether to skip all optional work from now on.
    """

    projection: Projection
    roster: Roster
    config: AssessmentConfig
    task: str = ""
    completed: bool | None = None
    shape: Shape = Shape.CHOSEN
    participants: tuple[ParticipantObservability, ...] = ()
    reports: Callable[[], Iterable[Report]] = tuple
    time_is_up: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class Contribution:
    """The contribution of one evaluator to a trial: metrics, findings and warnings, with ids of its own. The other
    fields are for the built-in evaluators, because the score and the row's own keys follow from them."""

    metrics: tuple[MetricRecord, ...] = ()
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    structure: TeamStructure | None = None
    call_tally: CallTally | None = None
    calls: tuple[CallRecord, ...] = ()
    latency: LatencySummary | None = None
    latencies: tuple[CalleeLatencies, ...] = ()


Evaluate = Callable[..., Contribution]
"""Gets the `TrialInput`, the contributions of the evaluators in `needs` by their ids, and each parameter by name."""


@dataclass(frozen=True, slots=True)
class Evaluator:
    """An evaluator. `needs`: ids of evaluators that run before it. `definitions`: of its metrics, by definition id."""

    id: str
    evaluate: Evaluate
    tier: Tier = 3
    needs: frozenset[str] = frozenset()
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    definitions: Mapping[str, str] = field(default_factory=dict)


def evaluator(
    evaluator_id: str,
    *,
    tier: Tier = 3,
    needs: Collection[str] = (),
    parameters: Mapping[str, Parameter] | None = None,
    definitions: Mapping[str, str] | None = None,
) -> Callable[[Evaluate], Evaluator]:
    """Makes an evaluator from a function."""

    def made(evaluate: Evaluate) -> Evaluator:
        return Evaluator(evaluator_id, evaluate, tier, frozenset(needs), parameters or {}, definitions or {})

    return made


# The built-in evaluators: `graph` and `latency`.


@evaluator("graph", tier=1)
def evaluate_graph(trial: TrialInput, _: Mapping[str, Contribution]) -> Contribution:
    """Measures the agent graph: metrics, findings, structure and calls.

    Computes the metrics that the configuration asks for and those that the findings need; shows only the former.
    """
    unseen = unseen_participants(trial.participants)
    graph = build_graph(trial.projection, completed=trial.completed, unseen=unseen)
    seen = team_observability(trial.participants) != "none"
    shown = trial.config.chosen_metrics(METRICS.installed)
    needed: dict[str, dict[str, float]] = {metric_id: {} for metric_id in METRICS_NEEDED}
    measured = measure(graph, needed | shown, time_is_up=trial.time_is_up)
    findings = find(graph, measured, trial.config.thresholds)
    return Contribution(
        metrics=tuple(record if seen else _unknown(record) for record in measured if record.id in shown),
        findings=tuple(shown_findings(findings, trial.shape)),
        structure=structure_of(graph, structural(findings, trial.shape), seen=seen),
        call_tally=graph.tally,
        calls=tuple(call_records(graph)),
    )


def _unknown(record: MetricRecord) -> MetricRecord:
    """The metric without a value, which nobody could have observed."""
    reason = "no participant's calls could be observed"
    return record.model_copy(update={"value": None, "status": MetricStatus.UNDEFINED, "reason": reason})


def call_records(graph: AgentGraph) -> Iterator[CallRecord]:
    """The first `MAX_CALLS` call attempts in causal order, including the assessor's. Parents come first."""
    starts = graph.calls.steps.columns.started_us[graph.calls.row]
    earliest, critical = int(starts[starts != NEVER].min(initial=2**63 - 1)), graph.critical_path.calls
    for index, call in enumerate(graph.calls[:MAX_CALLS]):
        record = call.record
        yield CallRecord(
            step_id=call.step_id,
            parent_step_id=None if call.parent is None else graph.calls[call.parent].step_id,
            caller=call.caller,
            callee=call.callee,
            start_ms=None if record.started_us is None else (record.started_us - earliest) / 1000,
            duration_ms=record.latency_ms,
            error=record.error,
            provenance=call.provenance.value,
            on_critical_path=index in critical and graph.critical_path.timed > 0,
        )


@evaluator("latency", tier=2)
def evaluate_latency(trial: TrialInput, _: Mapping[str, Contribution]) -> Contribution:
    """Summarises the latencies of all calls to agents, the assessor's included."""
    latencies = latencies_of(trial.projection.all_links)
    return Contribution(latency=summarise(latencies, trial.roster), latencies=tuple(latencies))


# Running evaluators: the chosen ones and their dependencies, in topological order.

Choice = Mapping[str, Mapping[str, float]]
"""The ids of evaluators, each with the parameters that differ from their defaults."""


def run_evaluators(
    evaluators: Mapping[str, Evaluator], trial: TrialInput, choice: Choice | None = None
) -> dict[str, Contribution]:
    """Runs the chosen evaluators (None: all) and their dependencies, each after its dependencies.

    Unknown ids are ignored. An evaluator of tier 3 that fails, or that comes when time is up, contributes only a
    warning. Errors of the other tiers are raised, because the score depends on them. Raises KeyError and CycleError as
    `in_order` does.
    """
    chosen: Choice = {evaluator_id: {} for evaluator_id in evaluators} if choice is None else choice
    done: dict[str, Contribution] = {}
    for evaluator_id in in_order(evaluators, evaluators.keys() & chosen.keys()):
        each = evaluators[evaluator_id]
        done[evaluator_id] = _contribution(
            each, trial, {need: done[need] for need in each.needs}, chosen.get(each.id, {})
        )
    return done


def in_order(evaluators: Mapping[str, Evaluator], ids: Collection[str]) -> list[str]:
    """The ids and those of all their dependencies in topological order, which is deterministic.

    Raises KeyError for an unknown dependency, graphlib.CycleError for a cycle of dependencies.
    """
    pending, needs = set(ids), dict[str, frozenset[str]]()
    while pending:
        evaluator_id = min(pending)
        needs[evaluator_id] = evaluators[evaluator_id].needs
        pending = (pending | needs[evaluator_id]) - needs.keys()
    return list(TopologicalSorter(dict(sorted(needs.items()))).static_order())


def _contribution(
    evaluator: Evaluator, trial: TrialInput, needed: Mapping[str, Contribution], given: Mapping[str, float]
) -> Contribution:
    params = {name: parameter.default for name, parameter in evaluator.parameters.items()}
    objection = parameter_error(evaluator.parameters, given)
    if evaluator.tier == 3 and trial.time_is_up():
        return Contribution(warnings=(f"the evaluator {evaluator.id} is {LEFT_OUT}",))
    try:
        made: Contribution = evaluator.evaluate(trial, needed, **(params if objection else params | dict(given)))
        if evaluator.tier == 3:
            # A tier 3 evaluator must not change what the score is made from.
            made = Contribution(metrics=made.metrics, findings=made.findings, warnings=made.warnings)
    except Exception as error:
        if evaluator.tier != 3:
            raise
        return Contribution(warnings=(f"the evaluator {evaluator.id} failed: {type(error).__name__}",))
    if objection is None:
        return made
    return replace(made, warnings=(*made.warnings, f"the evaluator {evaluator.id} uses its defaults: {objection}"))


# Which evaluators there are: the built-in ones and those of installed packages.

BUILT_IN_EVALUATORS: Final[tuple[Evaluator, ...]] = (evaluate_graph, evaluate_latency)

JUDGE: Final = "judge"
"""The id of the judge. It reads what the evaluators found and waits for a model, so it has a later job."""


def _read(_: str, offered: object) -> Iterator[tuple[str, Evaluator]]:
    if not isinstance(offered, Evaluator):
        raise TypeError("it is not an Evaluator")
    yield offered.id, offered


def _check_order(evaluators: Mapping[str, Evaluator]) -> None:
    try:
        in_order(evaluators, evaluators)
    except KeyError as error:
        raise BrokenPluginError(f"an evaluator needs {error}, which is not installed") from error
    except CycleError as error:
        raise BrokenPluginError(f"evaluators depend on each other in a cycle: {', '.join(error.args[1])}") from error


EVALUATORS: Final = Extensions(
    EVALUATOR_GROUP, "evaluator", _read, {each.id: each for each in BUILT_IN_EVALUATORS}, {JUDGE}, _check_order
)
"""A package adds an evaluator by an entry point in `EVALUATOR_GROUP`: `name = "module:EVALUATOR"`, an `Evaluator`."""


# Quoted calls: the requests and responses of a trial's calls as text, for evaluators that read texts.

MAX_QUOTED_CALLS: Final = 500
"""Calls whose texts are read. A trace may have any number of calls."""

MAX_STEPS: Final = 50_000
"""Steps up to which a trace is read a second time, which takes as long as the rest of the evaluation."""


@dataclass(frozen=True, slots=True)
class QuotedCall:
    """The texts of one call, at most `MAX_TEXT` characters each; empty where no report has them."""

    caller: str
    callee: str
    step_id: str
    request: str
    response: str


def quoted_calls(trial: TrialInput, limit: int = MAX_QUOTED_CALLS) -> list[QuotedCall]:
    """The texts of the trial's calls in causal order, including the assessor's; of too many calls, an even selection.

    Where several reports have texts of a call, the order of preference is: observed by the gateway, reported by the
    caller, authenticated, longest. So no other reporter can replace a caller's text. Reads the whole trace again; a
    trace of more than `MAX_STEPS` steps has no quoted calls. The result does not depend on the order of reports.
    """
    if trial.projection.integrity.steps > MAX_STEPS:
        return []
    calls = _spread(trial.projection.calls, limit)
    texts = texts_of_calls(trial.reports(), calls, _quote)
    quoted = [(call, texts.get((call.step_id, call.caller), CallTexts("", ""))) for call in calls]
    return [QuotedCall(call.caller, call.callee, call.step_id, each.request, each.response) for call, each in quoted]


def _quote(request: Sent, call: CalledAgent) -> CallTexts:
    answered = "" if request.answer is None else request.answer.text
    return CallTexts(text_of(call.requests or {}), answered[:MAX_TEXT])


def _spread(calls: Sequence[Call], limit: int) -> list[Call]:
    if len(calls) <= limit:
        return list(calls)
    return [calls[number * len(calls) // limit] for number in range(limit)]


# The budget of an evaluation: how many steps it reads, shared fairly among reporters, and how long it may take.

MAX_NAMED: Final = 10
"""Reporters that warnings name, those with most steps first."""

NONE_REFUSED: Final[Mapping[str, int]] = {}


@dataclass(frozen=True, slots=True)
class Budget:
    """`steps`: how many reported steps are read (None: all). `time_is_up`: whether to skip all optional work."""

    steps: int | None = None
    time_is_up: Callable[[], bool] = field(default=lambda: False)


@dataclass(frozen=True, slots=True)
class Selection:
    """The batches to read, in their order, and by account the number of steps in the omitted batches."""

    batches: Sequence[ReportBatch]
    omitted: Mapping[str, int]


def select_batches(batches: Sequence[ReportBatch], steps: int | None) -> Selection:
    """Selects the batches of a trace that fit into a budget of steps.

    The gateway's batches are always included. All other accounts get equal shares; what an account does not use goes
    to the others. Of an account with more than its share, the first batches are included. So no account's reports
    displace those of another.
    """
    sizes: defaultdict[str, int] = defaultdict(int)
    for batch in batches:
        if not batch.is_observed:
            sizes[batch.account] += _size(batch)
    if steps is None or sum(sizes.values()) <= steps:
        return Selection(batches, {})
    share = _fair_share(sizes.values(), steps)
    room = dict.fromkeys(sizes, share)
    omitted: Counter[str] = Counter()
    kept: list[ReportBatch] = []
    for batch in batches:
        account = batch.account
        if batch.is_observed:
            kept.append(batch)
        elif _size(batch) <= room[account]:
            room[account] -= _size(batch)
            kept.append(batch)
        else:
            room[account] = 0
            omitted[account] += batch.n_steps
    return Selection(kept, omitted)


def excess_warnings(omitted: Mapping[str, int], refused: Mapping[str, int]) -> Iterable[str]:
    """A warning for each account whose steps exceeded what is stored or read, the largest excess first."""
    excess = Counter(omitted) + Counter(refused)
    for account, steps in sorted(excess.items(), key=lambda each: (-each[1], each[0]))[:MAX_NAMED]:
        yield f"{steps} steps of {account or 'reporters without a token'} exceeded the limit and count as dropped"


def _size(batch: ReportBatch) -> int:
    """The steps of a batch, at least 1: reading an empty batch takes time as well."""
    return max(1, batch.n_steps + batch.n_nested)


def _fair_share(sizes: Iterable[int], total: int) -> int:
    """The largest share so that the sum of `min(size, share)` over all sizes is at most `total`."""
    ascending = sorted(sizes)
    for index, steps in enumerate(ascending):
        share = total // (len(ascending) - index)
        if steps > share:
            return share
        total -= steps
    return ascending[-1]
