"""The content of the page, as texts and shapes computed from the row."""

import json
from dataclasses import dataclass

from concord.assessment.result_row import ResultRow
from concord.assessment.results import Judgment
from concord_cli.display_text import on_one_line, visible
from concord_cli.report.assistant import AssistantSection
from concord_cli.report.assistant import section_of as assistant_section_of
from concord_cli.report.findings import FindingView, findings_of
from concord_cli.report.flows import FlowTable, LatencyView, flows_of, latency_of, table_of
from concord_cli.report.graph import CallMatrix, Drawing, call_matrix, draw
from concord_cli.report.headline import Headline, headline_of
from concord_cli.report.metrics import Definitions, Metrics, metrics_of, no_definitions
from concord_cli.report.scope import Scope, scope_of
from concord_cli.report.trials import TrialsView, trials_of
from concord_cli.report.trust import TrustView, trust_of
from concord_cli.report.verdict import VerdictView, view_of
from concord_cli.row_view.assistant_results import is_lone_assistant, scenario_results
from concord_cli.row_view.interactions import fully_observed, no_calls_text
from concord_cli.row_view.team_tasks import TeamSection, section_of


@dataclass(frozen=True, slots=True)
class JudgeView:
    """The words of a language model on the work, and its own figures."""

    reasoning: str
    figures: str
    strengths: list[str]
    weaknesses: list[str]


@dataclass(frozen=True, slots=True)
class AgentLine:
    """An agent of the roster."""

    agent: str
    functions: str
    url: str | None
    agentbeats_id: str | None
    declared: bool


@dataclass(frozen=True, slots=True)
class Page:
    """One report.

    `verdict` is None for a row of an earlier version. `matrix`: the calls of a large team. `assistant`: on the trials
    in scenarios; `lone_assistant`: whether only one agent took part, so that the page has no graph and no metrics of a
    team. `of_structure`: whether the score rates the structure of a given pattern. `unread_results`: results of
    scenarios in an unknown form, as JSON. `no_calls_text`: the text in place of calls, if there are none;
    `fully_observed`: whether all calls were observable.
    """

    head: Headline
    verdict: VerdictView | None
    team: TeamSection | None
    findings: list[FindingView]
    graph: Drawing
    matrix: CallMatrix | None
    no_calls_text: str
    fully_observed: bool
    declared: set[str]
    bottlenecks: set[str]
    flows: FlowTable
    metrics: Metrics
    roster: list[AgentLine]
    latency: LatencyView | None
    judge: JudgeView | None
    trials: TrialsView
    trust: TrustView
    assistant: AssistantSection | None
    lone_assistant: bool
    of_structure: bool
    unread_results: str | None


def page_of(row: ResultRow, trial_id: str | None = None, define: Definitions = no_definitions) -> Page:
    """The page on a row, or on one of its trials; `define` maps definition ids to texts.

    Raises UsageError for a trial that is not in the row.
    """
    scope = scope_of(row, trial_id)
    played = [trial for trial in scope.trials if trial_id is not None or not trial.is_control]
    flows = flows_of(played)
    trials = trials_of(scope.trials)
    lone = is_lone_assistant(row.detail)
    assistant = assistant_section_of(scenario_results(row.detail, trial_id))
    graph = draw([agent.id for agent in scope.agents], flows)
    return Page(
        head=headline_of(scope),
        verdict=None if row.detail.verdict is None else view_of(row.detail.verdict, trials.listing, trial_id),
        team=section_of(scope.trials, row.detail.controls if trial_id is None else (), row.detail.seat_containers),
        findings=findings_of(scope.findings, trials.listing, len(scope.trials)),
        graph=graph,
        matrix=call_matrix(graph.chosen.agents, graph.chosen.flows),
        no_calls_text=no_calls_text(scope.integrity),
        fully_observed=fully_observed(scope.integrity),
        declared={agent.id for agent in scope.agents if agent.declared},
        bottlenecks={agent for each in scope.findings if each.id == "bottleneck" for agent in each.agents},
        flows=table_of(flows),
        metrics=metrics_of(scope.metrics, define),
        roster=_roster(scope),
        latency=latency_of(scope.latency),
        judge=_judge(scope.judge),
        trials=trials,
        trust=trust_of(scope),
        assistant=assistant,
        lone_assistant=lone,
        of_structure=row.detail.scoring.basis == "structure",
        unread_results=_pretty(row) if assistant is None else None,
    )


def _roster(scope: Scope) -> list[AgentLine]:
    return [
        AgentLine(
            agent=on_one_line(agent.id),
            functions=", ".join(map(on_one_line, agent.functions)),
            url=None if agent.url is None else on_one_line(agent.url),
            agentbeats_id=None if agent.agentbeats_id is None else on_one_line(agent.agentbeats_id),
            declared=agent.declared,
        )
        for agent in scope.agents
    ]


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


def _pretty(row: ResultRow) -> str | None:
    results = row.detail.assessment_results
    return None if results is None else visible(json.dumps(results, indent=2, ensure_ascii=False))
