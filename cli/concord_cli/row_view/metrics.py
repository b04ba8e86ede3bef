"""Metrics as tables: one for the team, one for its agents; and the definitions of metrics."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from concord.assessment.results import MetricRecord, MetricStatus
from concord_cli.display_text import named, on_one_line
from concord_cli.number_text import NONE, figure

Definitions = Callable[[str], str | None]
"""Maps a definition id to its text; to None if the id is unknown."""


def no_definitions(_: str) -> str | None:
    """Definitions without any entry, so that the page shows ids alone."""
    return None


def installed_definitions() -> Definitions:
    """The definitions of all installed metrics; none without the evaluator, or if a plugin is broken."""
    try:
        from concord_evaluator.metrics import METRICS
        from concord_evaluator.plugins import EVALUATOR_GROUP, has_plugins
    except ModuleNotFoundError:
        return no_definitions
    of_evaluators = list[Mapping[str, str]]()
    fault = METRICS.fault
    if has_plugins(EVALUATOR_GROUP):  # the built-in evaluators define nothing, and take long to import
        from concord_evaluator.pipeline import EVALUATORS

        fault = fault or EVALUATORS.fault
        of_evaluators += () if fault else [evaluator.definitions for evaluator in EVALUATORS.installed.values()]
    if fault:
        return no_definitions
    of_metrics = {metric.definition_id: metric.definition for metric in METRICS.installed.values()}
    return {words_id: words for each in (*of_evaluators, of_metrics) for words_id, words in each.items()}.get


MAX_AGENTS: Final = 200
"""Limit of the agents with a row: those with the largest values of the first metric."""


@dataclass(frozen=True, slots=True)
class TeamMetric:
    """A metric of the whole team. `definition`: its text, if known."""

    title: str
    value: str
    status: str
    sound: bool
    reason: str | None
    n: str
    definition: str | None
    definition_id: str
    engine: str
    params: str


@dataclass(frozen=True, slots=True)
class AgentCell:
    """An agent's value of a metric; `note`: its status and reason, unless that is OK."""

    value: str
    note: str | None


@dataclass(frozen=True, slots=True)
class AgentRow:
    """An agent's values, in the order of the columns."""

    agent: str
    cells: list[AgentCell]


@dataclass(frozen=True, slots=True)
class AgentColumn:
    """A metric with a value for each agent."""

    title: str
    definition: str | None
    definition_id: str
    n: str
    engine: str
    params: str


@dataclass(frozen=True, slots=True)
class AgentTable:
    """Agents by metrics; `left_out` counts agents that have no row."""

    columns: list[AgentColumn]
    rows: list[AgentRow]
    left_out: int


@dataclass(frozen=True, slots=True)
class Metrics:
    """All metrics of a page. `shared`: the parameters that all of them share."""

    team: list[TeamMetric]
    agents: AgentTable | None
    shared: str


def metrics_of(records: Sequence[MetricRecord], define: Definitions) -> Metrics:
    """The metrics as tables, with the definitions of `define`."""
    settings = [{(each.name, each.value) for each in record.params} for record in records]
    shared = set.intersection(*settings) if settings else set()
    own = [
        record.model_copy(update={"params": [each for each in record.params if (each.name, each.value) not in shared]})
        for record in records
    ]
    return Metrics(
        team=_team_metrics(own, define),
        agents=_agent_metrics(own, define),
        shared=", ".join(on_one_line(f"{name} = {value}") for name, value in sorted(shared)),
    )


def _team_metrics(records: Iterable[MetricRecord], define: Definitions) -> list[TeamMetric]:
    """The metrics of the whole team."""
    return [
        TeamMetric(
            title=named(record.id),
            value=figure(record.value),
            status=record.status.value.replace("_", " "),
            sound=record.status is MetricStatus.OK,
            reason=None if record.reason is None else on_one_line(record.reason),
            n=figure(record.n),
            definition=_definition(record, define),
            definition_id=on_one_line(record.definition_id),
            engine=on_one_line(record.engine),
            params=_params(record),
        )
        for record in records
        if record.agent is None
    ]


def _agent_metrics(records: Iterable[MetricRecord], define: Definitions) -> AgentTable | None:
    """The metrics of agents as one table; None if there are none."""
    by_metric: dict[str, dict[str, MetricRecord]] = {}
    for record in records:
        if record.agent is not None:
            by_metric.setdefault(record.id, {})[record.agent] = record
    agents = list(dict.fromkeys(agent for values in by_metric.values() for agent in values))
    if not agents:
        return None
    columns = list(by_metric.values())
    agents.sort(key=lambda agent: _value(columns[0].get(agent)), reverse=True)
    return AgentTable(
        columns=[_column(list(values.values()), define) for values in columns],
        rows=[
            AgentRow(on_one_line(agent), [_cell(values.get(agent)) for values in columns])
            for agent in agents[:MAX_AGENTS]
        ],
        left_out=max(0, len(agents) - MAX_AGENTS),
    )


def _value(record: MetricRecord | None) -> float:
    return float("-inf") if record is None or record.value is None else record.value


def _column(records: Sequence[MetricRecord], define: Definitions) -> AgentColumn:
    first, sizes = records[0], [record.n for record in records]
    return AgentColumn(
        title=named(first.id),
        definition=_definition(first, define),
        params=_params(first),
        definition_id=on_one_line(first.definition_id),
        n=figure(min(sizes)) if min(sizes) == max(sizes) else f"{figure(min(sizes))} to {figure(max(sizes))}",
        engine=on_one_line(first.engine),
    )


def _cell(record: MetricRecord | None) -> AgentCell:
    if record is None or record.status is MetricStatus.OK:
        return AgentCell(NONE if record is None else figure(record.value), None)
    reason = "" if record.reason is None else f": {on_one_line(record.reason)}"
    return AgentCell(figure(record.value), record.status.value.replace("_", " ") + reason)


def _definition(record: MetricRecord, define: Definitions) -> str | None:
    words = define(record.definition_id)
    return None if words is None else on_one_line(words)


def _params(record: MetricRecord) -> str:
    return ", ".join(on_one_line(f"{each.name} = {each.value}") for each in record.params)
