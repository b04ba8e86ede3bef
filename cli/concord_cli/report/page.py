"""The content of the page, as texts and shapes computed from the row."""

import json
from dataclasses import dataclass

from concord.assessment.result_row import Basis, ResultRow
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
from concord_cli.report.team import TeamSection, section_of
from concord_cli.report.trials import TrialsView, trials_of
from concord_cli.report.trust import TrustView, trust_of
from concord_cli.row_text.assistant_results import is_lone_assistant, scenario_results
from concord_cli.row_text.interactions import MORE_ON_STRUCTURE, STRUCTURE_AND_SUCCESS, fully_observed, no_calls_text
from concord_cli.row_text.problems import Problem, wrong_answers


@dataclass(frozen=True, slots=True)
class JudgeView:
    """The judge's reasoning, or that of the rules in its place."""

    reasoning: str
    source: str
    verdict: str
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

    `unfinished`: trials that did not complete, and why; `wrong`: why answers are wrong, except those to team tasks.
    `matrix`: the calls of a large team. `assistant`: on the trials in scenarios; `lone_assistant`: whether only one
    agent took part, so that the page has no graph and no metrics of a team. `unread_results`: results of scenarios in
    an unknown form, as JSON. `no_calls_text`: the text in place of calls, if there are none; `fully_observed`: whether
    all calls were observable.
    """

    head: Headline
    unfinished: list[str]
    wrong: list[Problem]
    team: TeamSection | None
    findings: list[FindingView]
    graph: Drawing
    matrix: CallMatrix | None
    structure: str
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
    unread_results: str | None


_SOURCES = {"rules": "Written by rules, without a language model", "llm": "Written by a language model"}


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
        unfinished=_unfinished(scope),
        wrong=[] if assistant is not None else wrong_answers(played),
        team=section_of(
            scope.trials,
            row.detail.controls if trial_id is None else (),
            trials.listing.calls,
            row.detail.seat_containers,
        ),
        findings=findings_of(scope.findings, trials.listing, len(scope.trials)),
        graph=graph,
        matrix=call_matrix(graph.chosen.agents, graph.chosen.flows),
        structure=f"{STRUCTURE_AND_SUCCESS} See {MORE_ON_STRUCTURE}.",
        no_calls_text=no_calls_text(scope.integrity),
        fully_observed=fully_observed(scope.integrity),
        declared={agent.id for agent in scope.agents if agent.declared},
        bottlenecks={agent for each in scope.findings if each.id == "bottleneck" for agent in each.agents},
        flows=table_of(flows),
        metrics=metrics_of(scope.metrics, define),
        roster=_roster(scope),
        latency=latency_of(scope.latency),
        judge=None if lone and scope.judge is None else _judge(scope),
        trials=trials,
        trust=trust_of(scope),
        assistant=assistant,
        lone_assistant=lone,
        unread_results=_pretty(row) if assistant is None else None,
    )


def _unfinished(scope: Scope) -> list[str]:
    return [
        on_one_line(f"{trial.trial_id}: {trial.state}" + (f": {trial.error}" if trial.error else ""))
        for trial in scope.trials
        if trial.state != "completed"
    ]


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


def _judge(scope: Scope) -> JudgeView | None:
    reasoning = visible(scope.reasoning).strip()
    if scope.judge is None and not (reasoning or scope.strengths or scope.weaknesses):
        return None
    advice = {finding.advice for finding in scope.findings}
    return JudgeView(
        reasoning=reasoning,
        source="" if scope.judge is None else _source(scope.judge),
        verdict="" if scope.judge is None else _verdict(scope.judge, scope.row.detail.scoring.basis),
        strengths=[on_one_line(line) for line in scope.strengths],
        weaknesses=[on_one_line(line) for line in scope.weaknesses if line not in advice],
    )


def _source(judge: Judgment) -> str:
    return _SOURCES[judge.source] + (f": {on_one_line(judge.reason)}" if judge.reason else "")


def _verdict(judge: Judgment, basis: Basis) -> str:
    """The judge's own figures, which are not part of the score.

    The rules' overall figure measures structure, and each trial shows its own outcome. So neither appears beside a
    score that rests on the outcome.
    """
    figures = []
    if judge.coordination_quality is not None:
        figures.append(f"coordination {judge.coordination_quality}")
    if judge.overall_score is not None and (basis == "structure" or judge.source == "llm"):
        figures.append(f"overall {judge.overall_score:.2f}")
    if judge.task_success is not None and basis == "structure":
        figures.append(f"task success {judge.task_success:.2f}")
    return ", ".join(figures)


def _pretty(row: ResultRow) -> str | None:
    results = row.detail.assessment_results
    return None if results is None else visible(json.dumps(results, indent=2, ensure_ascii=False))
