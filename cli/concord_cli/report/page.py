"""The content of the page: the view of the row, drawings and trials beside it, and how far to trust the result."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from concord.assessment.result_row import AgentRecord, ResultRow
from concord.assessment.results import TraceIntegrity
from concord_cli.display_text import named, on_one_line, visible
from concord_cli.number_text import NONE, percent
from concord_cli.report.calls import StepLink, links_to
from concord_cli.report.day import DayView, days_of
from concord_cli.report.graph import CallMatrix, Drawing, call_matrix, draw
from concord_cli.report.trials import TrialsView, trials_of
from concord_cli.row_view.assistant import scenario_results
from concord_cli.row_view.flows import REMEDY, fully_observed, unobserved_text
from concord_cli.row_view.metrics import Definitions, no_definitions
from concord_cli.row_view.scope import Scope
from concord_cli.row_view.table import Column, Table, table_of
from concord_cli.row_view.verdict import failure_text
from concord_cli.row_view.view import RowView, view_of

_PROVENANCE = {
    "observed": "the gateway made or carried the call",
    "corroborated": "both ends reported it",
    "reported": "one end reported it, or it is inferred from times",
}
_INTEGRITY = {
    "contradicted": "claimed by an agent, and not observed by the gateway",
    "conflicting": "reported in different versions; not part of the graph",
    "duplicate": "reported again without a change; counted once",
    "late": "arrived after the trial was closed; not stored",
    "dropped": "lost before they were stored",
}
_SEEN = {"full": "its calls", "partly": "calls to it, not its own", "none": "nothing"}
_HARMLESS = frozenset({"duplicate"})


@dataclass(frozen=True, slots=True)
class Share:
    """The share of calls with one provenance, as a segment of a bar."""

    kind: str
    count: int
    meaning: str
    x: str
    width: str


@dataclass(frozen=True, slots=True)
class Count:
    """A number of steps and its meaning; `doubtful`: it makes the result less certain."""

    name: str
    count: int
    meaning: str
    doubtful: bool


@dataclass(frozen=True, slots=True)
class TrustView:
    """Provenance, observability, integrity, and infrastructure failures.

    `unseen`: the participants whose calls could not be observed, None if there are none; `seen`: each participant with
    what could be observed of it.
    """

    unseen: str | None
    remedy: tuple[str, ...]
    seen: list[tuple[str, str]]
    provenance: list[Share]
    counts: list[Count]
    completeness: str | None
    infrastructure: list[str]


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
    roster: Table
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
    agents = row.detail.agents
    graph = draw([agent.id for agent in agents], view.flows)
    return Page(
        view=view,
        graph=graph,
        matrix=call_matrix(graph.chosen.agents, graph.chosen.flows),
        fully_observed=fully_observed(scope.part.trace_integrity),
        declared={agent.id for agent in agents if agent.declared},
        bottlenecks={agent for each in scope.part.findings if each.id == "bottleneck" for agent in each.agents},
        roster=_roster(agents),
        trials=trials_of(scope),
        trust=trust_of(scope),
        days=days_of(scenario_results(row.detail, trial_id)),
        unread_results=_pretty(row) if view.assistant is None else None,
    )


def _pretty(row: ResultRow) -> str | None:
    results = row.detail.assessment_results
    return None if results is None else visible(json.dumps(results, indent=2, ensure_ascii=False))


def _roster(agents: Sequence[AgentRecord]) -> Table:
    columns = Column("Agent"), Column("Function"), Column("On the roster"), Column("Address", "id")
    rows = (
        (
            on_one_line(agent.id),
            ", ".join(map(on_one_line, agent.functions)) or NONE,
            "yes" if agent.declared else "no",
            NONE if agent.url is None else on_one_line(agent.url),
        )
        for agent in agents
    )
    return table_of("The agents", columns, rows)


def trust_of(scope: Scope) -> TrustView:
    """The view for a scope."""
    integrity = scope.part.trace_integrity
    failures = [
        f"{on_one_line(failure.trial_id) if failure.trial_id is not None else 'Assessment'}: "
        f"{on_one_line(failure_text(failure))}"
        for failure in scope.row.detail.infrastructure
        if scope.trial is None or scope.trial.trial_id == failure.trial_id
    ]
    unseen = unobserved_text(integrity)
    return TrustView(
        unseen=None if unseen is None else on_one_line(unseen),
        remedy=REMEDY,
        seen=[(on_one_line(each.agent), _SEEN[each.observability]) for each in integrity.participants],
        provenance=_shares(integrity),
        counts=[_count(kind, getattr(integrity, kind), meaning) for kind, meaning in _INTEGRITY.items()],
        completeness=None if integrity.completeness is None else percent(round(integrity.completeness, 3)),
        infrastructure=failures,
    )


def _shares(integrity: TraceIntegrity) -> list[Share]:
    counts = {kind: max(0, getattr(integrity, kind)) for kind in _PROVENANCE}
    total = sum(counts.values()) or 1
    shares, x = [], 0.0
    for kind, meaning in _PROVENANCE.items():
        share = counts[kind] / total
        if counts[kind]:
            shares.append(Share(kind, counts[kind], meaning, percent(x), percent(share)))
        x += share
    return shares


def _count(kind: str, count: int, meaning: str) -> Count:
    return Count(named(kind), count, meaning, doubtful=count > 0 and kind not in _HARMLESS)
