"""The content of the page: the view of the row, and drawings and trials beside it."""

import json
from collections.abc import Collection
from dataclasses import dataclass

from concord.assessment.result_row import ResultRow
from concord_cli.display_text import visible
from concord_cli.report.assistant import DayView, days_of
from concord_cli.report.calls import StepLink, links_to
from concord_cli.report.flows import FlowTable, table_of
from concord_cli.report.graph import CallMatrix, Drawing, call_matrix, draw
from concord_cli.report.trials import TrialsView, trials_of
from concord_cli.report.trust import TrustView, trust_of
from concord_cli.row_view.assistant_results import scenario_results
from concord_cli.row_view.interactions import fully_observed
from concord_cli.row_view.metrics import Definitions, no_definitions
from concord_cli.row_view.view import RowView, view_of


@dataclass(frozen=True, slots=True)
class Page:
    """One report: the view of the row, and what only a page has room for.

    `matrix`: the calls of a large team. `fully_observed`: whether all calls were observable. `days`: the trials in
    scenarios turn by turn; `unread_results`: results of scenarios in an unknown form, as JSON.
    """

    view: RowView
    graph: Drawing
    matrix: CallMatrix | None
    fully_observed: bool
    declared: set[str]
    bottlenecks: set[str]
    flows: FlowTable
    trials: TrialsView
    trust: TrustView
    days: list[DayView]
    unread_results: str | None

    def links(self, steps: Collection[str]) -> tuple[list[StepLink], int]:
        """Links to those of the steps that are among the calls on the page, and how many are not."""
        links = links_to(steps, self.trials.listing)
        return links, len(set(steps)) - len(links)


def page_of(row: ResultRow, trial_id: str | None = None, define: Definitions = no_definitions) -> Page:
    """The page on a row, or on one of its trials; `define` maps definition ids to texts.

    Raises UsageError for a trial that is not in the row.
    """
    view = view_of(row, trial_id, define)
    scope = view.scope
    graph = draw([agent.id for agent in scope.agents], view.flows)
    return Page(
        view=view,
        graph=graph,
        matrix=call_matrix(graph.chosen.agents, graph.chosen.flows),
        fully_observed=fully_observed(scope.integrity),
        declared={agent.id for agent in scope.agents if agent.declared},
        bottlenecks={agent for each in scope.findings if each.id == "bottleneck" for agent in each.agents},
        flows=table_of(view.flows),
        trials=trials_of(scope.trials),
        trust=trust_of(scope),
        days=days_of(scenario_results(row.detail, trial_id)),
        unread_results=_pretty(row) if view.assistant is None else None,
    )


def _pretty(row: ResultRow) -> str | None:
    results = row.detail.assessment_results
    return None if results is None else visible(json.dumps(results, indent=2, ensure_ascii=False))
