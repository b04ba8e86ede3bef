"""One view of a row, or of one of its trials: what the terminal and the page show of it, as texts and numbers."""

from dataclasses import dataclass

from concord.assessment.result_row import ResultRow
from concord.assessment.results import Judgment
from concord_cli.display_text import on_one_line, visible
from concord_cli.row_view.assistant_results import is_lone_assistant, scenario_results
from concord_cli.row_view.assistant_section import AssistantSection, assistant_of
from concord_cli.row_view.findings import FindingView, findings_of
from concord_cli.row_view.flows import Flow, LatencyView, flows_of, latency_of
from concord_cli.row_view.head import Head, head_of
from concord_cli.row_view.interactions import no_calls_text
from concord_cli.row_view.metrics import Definitions, Metrics, metrics_of, no_definitions
from concord_cli.row_view.scope import Scope, scope_of
from concord_cli.row_view.team_tasks import ControlView, TeamSection, controls_of, section_of
from concord_cli.row_view.verdict import VerdictView, verdict_of
from concord_cli.row_view.warnings import warning_lines


@dataclass(frozen=True, slots=True)
class JudgeView:
    """The words of a language model on the work, and its own figures."""

    reasoning: str
    figures: str
    strengths: list[str]
    weaknesses: list[str]


@dataclass(frozen=True, slots=True)
class RowView:
    """What a row says. Sections that have nothing to say are None or empty.

    `verdict` is None for a row of an earlier version. `assistant`: on the trials in scenarios; `lone_assistant`:
    whether only one agent took part, so that there is no graph and no metrics of a team. `of_structure`: whether the
    score rates the structure of a given pattern. `no_calls_text`: in place of `flows`, if there are none.
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
    played = [trial for trial in scope.trials if trial_id is not None or not trial.is_control]
    controls = detail.controls if trial_id is None else ()
    return RowView(
        scope=scope,
        head=head_of(scope),
        verdict=None if detail.verdict is None else verdict_of(detail.verdict, trial_id),
        team=section_of(scope.trials, detail.seat_containers),
        controls=controls_of(controls),
        assistant=assistant_of(scenario_results(detail, trial_id)),
        lone_assistant=is_lone_assistant(detail),
        of_structure=detail.scoring.basis == "structure",
        findings=findings_of(scope.findings, len(scope.trials)),
        flows=flows_of(played),
        no_calls_text=no_calls_text(scope.integrity),
        metrics=metrics_of(scope.metrics, define),
        latency=latency_of(scope.latency),
        judge=_judge(scope.judge),
        warnings=list(map(on_one_line, warning_lines(detail))),
    )


def _judge(judge: Judgment | None) -> JudgeView | None:
    """What a model wrote. What the rules say in its place stands in the verdict."""
    if judge is None or judge.source != "llm":
        return None
    figures = []
    if judge.coordination_quality is not None:
        figures.append(f"coordination {judge.coordination_quality}")
    if judge.overall_score is not None:
        figures.append(f"overall {judge.overall_score:.2f}")
    return JudgeView(
        reasoning=visible(judge.reasoning).strip(),
        figures=", ".join(figures),
        strengths=[on_one_line(line) for line in judge.strengths],
        weaknesses=[on_one_line(line) for line in judge.weaknesses],
    )
