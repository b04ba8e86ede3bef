"""Metrics: those of the team with their definitions, and a table of those of its agents."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from concord.assessment.results import MetricRecord, MetricStatus
from concord_cli.display_text import named, on_one_line
from concord_cli.number_text import NONE, figure
from concord_cli.row_view.table import Cell, Column, Table, not_listed, table_of

Definitions = Callable[[str], str | None]
"""Maps a definition id to its text; to None if the id is unknown."""

MAX_AGENTS: Final = 200
"""Limit of the agents with a row: those with the largest values of the first metric."""


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


@dataclass(frozen=True, slots=True)
class MetricView:
    """A metric. `value` and `doubt` (its status and reason, unless that is OK) are those of a team.

    `definition`: its text, if known; `source`: the id of the definition, the sample, the engine, and the parameters.
    """

    title: str
    value: str
    doubt: str
    definition: str | None
    source: str


@dataclass(frozen=True, slots=True)
class Metrics:
    """All metrics of a page. `of_agents`: what the columns of `agents` are; `shared`: parameters of all of them."""

    team: list[MetricView]
    agents: Table | None
    of_agents: list[MetricView]
    shared: str


def metrics_of(records: Sequence[MetricRecord], define: Definitions) -> Metrics:
    """The metrics, with the definitions of `define`."""
    settings = [{(each.name, each.value) for each in record.params} for record in records]
    shared = set.intersection(*settings) if settings else set()
    by_metric: dict[str, dict[str, MetricRecord]] = {}
    for record in records:
        if record.agent is not None:
            by_metric.setdefault(record.id, {})[record.agent] = record
    columns = list(by_metric.values())
    return Metrics(
        team=[_view([record], define, shared) for record in records if record.agent is None],
        agents=_agents(columns) if columns else None,
        of_agents=[_view(list(values.values()), define, shared) for values in columns],
        shared=_listed(sorted(shared)),
    )


def _view(records: Sequence[MetricRecord], define: Definitions, shared: set[tuple[str, str]]) -> MetricView:
    """The metric of these records: of the team's one, or of all agents'."""
    first, sizes = records[0], sorted(record.n for record in records)
    n = figure(sizes[0]) if sizes[0] == sizes[-1] else f"{figure(sizes[0])} to {figure(sizes[-1])}"
    own = [(each.name, each.value) for each in first.params if (each.name, each.value) not in shared]
    parts = [on_one_line(first.definition_id), f"n = {n}", f"by {on_one_line(first.engine)}"]
    remark = f": {on_one_line(first.reason)}" if first.reason is not None and not _doubt(first) else ""
    words = define(first.definition_id)
    return MetricView(
        title=named(first.id),
        value=figure(first.value),
        doubt=_doubt(first),
        definition=None if words is None else on_one_line(words),
        source=", ".join([*parts, *([_listed(own)] if own else [])]) + (remark if first.agent is None else ""),
    )


def _listed(params: Sequence[tuple[str, str]]) -> str:
    return ", ".join(on_one_line(f"{name} = {value}") for name, value in params)


def _agents(columns: Sequence[Mapping[str, MetricRecord]]) -> Table:
    """The metrics of agents, those with the largest values of the first metric first."""
    agents = list(dict.fromkeys(agent for values in columns for agent in values))
    agents.sort(key=lambda agent: _value(columns[0].get(agent)), reverse=True)
    heads = [Column(named(next(iter(values.values())).id), "number") for values in columns]
    rows: list[list[Cell | str]] = [
        [on_one_line(agent), *(_cell(values.get(agent)) for values in columns)] for agent in agents[:MAX_AGENTS]
    ]
    left_out = not_listed(len(agents) - MAX_AGENTS, "lower-ranked agent")
    columns_of = [Column("Agent", "head"), *heads]
    return table_of("Metrics of each agent", columns_of, rows, kind="by-agent", left_out=left_out)


def _value(record: MetricRecord | None) -> float:
    return float("-inf") if record is None or record.value is None else record.value


def _cell(record: MetricRecord | None) -> Cell:
    if record is None:
        return Cell(NONE)
    doubt = _doubt(record)
    return Cell(figure(record.value), aside=doubt, kind="doubted" if doubt else "")


def _doubt(record: MetricRecord) -> str:
    """The status and the reason of a value that is not OK."""
    if record.status is MetricStatus.OK:
        return ""
    reason = "" if record.reason is None else f": {on_one_line(record.reason)}"
    return record.status.value.replace("_", " ") + reason
