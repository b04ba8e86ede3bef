"""One view of a row, or of one of its trials: what terminal and page show, as texts and tables."""

from dataclasses import dataclass

from concord.assessment.result_row import ResultRow
from concord_cli.display_text import on_one_line
from concord_cli.row_view.assistant import AssistantSection, assistant_of, is_lone_assistant, scenario_results
from concord_cli.row_view.flows import Flow, LatencyView, flow_table, flows_of, latency_of, no_calls_text
from concord_cli.row_view.head import Head, head_of
from concord_cli.row_view.metrics import Definitions, Metrics, metrics_of, no_definitions
from concord_cli.row_view.scope import Scope, scope_of
from concord_cli.row_view.table import Table
from concord_cli.row_view.team_tasks import ControlView, TeamSection, controls_of, section_of
from concord_cli.row_view.verdict import (
    FindingView,
    JudgeView,
    VerdictView,
    findings_of,
    judge_of,
    verdict_of,
    warning_lines,
)


@dataclass(frozen=True, slots=True)
class RowView:
    """What a row says. Sections that have nothing to say are None or empty.

    `verdict` is None for a row of an earlier version. `assistant`: on the trials in scenarios; `lone_assistant`:
    whether only one agent took part, so that there is no graph and no metrics of a team. `of_structure`: whether the
    score rates the structure of a given pattern. `no_calls_text`: in place of `calls`, the table of flows, if there are
    none.
    """

    scope: Scope
    head: Head
    verdict: VerdictView | None
    team: TeamSection | None
    controls: list[ControlView]
    assistant: AssistantSection | None
    lone_assistant: bool
    of_structure: bool
    findings: list[FindingView]
    flows: list[Flow]
    calls: Table | None
    no_calls_text: str
    metrics: Metrics
    latency: LatencyView | None
    judge: JudgeView | None
    warnings: list[str]


def view_of(row: ResultRow, trial_id: str | None = None, define: Definitions = no_definitions) -> RowView:
    """The view of a row, or of one of its trials; `define` maps definition ids to texts.

    Raises UsageError for a trial that is not in the row.
    """
    scope, detail = scope_of(row, trial_id), row.detail
    flows = flows_of(trial for trial in scope.trials if trial_id is not None or not trial.is_control)
    return RowView(
        scope=scope,
        head=head_of(scope),
        verdict=None if detail.verdict is None else verdict_of(detail.verdict, trial_id),
        team=section_of(scope.trials, detail.seat_containers),
        controls=controls_of(detail.controls if trial_id is None else ()),
        assistant=assistant_of(scenario_results(detail, trial_id)),
        lone_assistant=is_lone_assistant(detail),
        of_structure=detail.scoring.basis == "structure",
        findings=findings_of(scope.part.findings, len(scope.trials)),
        flows=flows,
        calls=flow_table(flows),
        no_calls_text=no_calls_text(scope.part.trace_integrity),
        metrics=metrics_of(scope.part.metrics, define),
        latency=latency_of(scope.latency),
        judge=judge_of(scope.part.judge),
        warnings=list(map(on_one_line, warning_lines(detail))),
    )
