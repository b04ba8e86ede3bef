"""The evaluator: traces of up to a million steps, a profile, floods of calls, NetworkX compared, a slow judge."""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Final
from unittest.mock import patch

from concord.trace.decoding import StoredReports
from concord.wire.roster import Roster
from concord_evaluator.graph import AgentGraph, build_graph, engines
from concord_evaluator.trace import project
from lab.benchmarks.tables import Chart, ResultTable, count
from lab.benchmarks.traces.evaluation_stages import YARDSTICK
from lab.benchmarks.traces.one_evaluation import write
from lab.benchmarks.traces.slow_judge import limits
from tests.kit.synthetic_traces import CLAIMANTS, DEPTH, PARTNERS, roster, stored_batches

MILLION: Final = 1_000_000
PROMISED: Final = ((100, 10_000, "1 s"), (1_000, MILLION, "60 s, 1,024 MiB"))
"""Agents, steps, and the time and memory within which they are to be evaluated."""

STEPS: Final = (1_000, 10_000, 100_000, MILLION)
AGENTS: Final = (10, 100, 1_000, 10_000)
PROFILED: Final = (1_000, 100_000)

TEAMS: Final = (60, 250, 1_000)
"""Agents of the graphs on which the engines are compared."""

Usage = Mapping[str, float]


def measure(*, soak_s: float) -> list[ResultTable | Chart]:  # noqa: ARG001 - see `sections.Measure`
    """All figures of the evaluator."""
    with tempfile.TemporaryDirectory() as folder:
        traces = _Traces(Path(folder))
        by_steps = {steps: traces.evaluated(1_000, steps) for steps in STEPS}
        by_agents = {agents: traces.evaluated(agents, 100_000) for agents in AGENTS}
        profile = traces.evaluated(*PROFILED, program="evaluation_stages")
        return [
            _promised([traces.evaluated(agents, steps) for agents, steps, _ in PROMISED]),
            *_growth("steps", "1,000 agents", {count(steps): (steps, took) for steps, took in by_steps.items()}),
            *_growth("agents", "100 k steps", {count(agents): (100_000, took) for agents, took in by_agents.items()}),
            _profile(profile),
            _compared(),
            asyncio.run(limits(Path(folder))),
        ]


class _Traces:
    """Traces as files, each evaluated in a process of its own, once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._taken: dict[tuple[int, int, str], Usage] = {}

    def evaluated(self, agents: int, steps: int, program: str = "one_evaluation") -> Usage:
        """The cost of evaluating a trace."""
        if (agents, steps, program) not in self._taken:
            file = self._folder / f"{agents}-{steps}"
            if not file.exists():
                write(file, agents, steps)
            command = [sys.executable, "-m", f"lab.benchmarks.traces.{program}", str(file), str(agents)]
            reported = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            self._taken[agents, steps, program] = json.loads(reported)
        return self._taken[agents, steps, program]


def _promised(taken: Sequence[Usage]) -> ResultTable:
    return ResultTable(
        "From stored batches to an evaluation",
        "In a process of its own, with everything an evaluation has: reading, all metrics, findings, latency, critical "
        "path, and the result as JSON. Peak memory is of the whole process, the stored batches included. The gateway "
        f"observed all calls, nested up to {DEPTH} deep, some at once, with failures and retries; one of {CLAIMANTS} "
        f"agents claims its calls too. Each agent calls up to {PARTNERS} others. A third of the steps use models. "
        "The row is made after that, from the stored evaluation, by way of a verdict without a judge.",
        ("agents x steps", "promised", *_FIGURES),
        [
            (f"{agents:,} x {steps:,}", promise, *_figures(took, steps))
            for (agents, steps, promise), took in zip(PROMISED, taken, strict=True)
        ],
    )


_FIGURES: Final = ("seconds", "CPU, s", "µs of CPU a step", "peak, MiB", "JSON, kB", "its row: CPU, s", "row, kB")


def _figures(took: Usage, steps: int) -> Sequence[str]:
    return (
        f"{took['seconds']:.2f}",
        f"{took['cpu_s']:.2f}",
        f"{took['cpu_s'] / steps * 1e6:.1f}",
        f"{took['peak_mib']:,.0f}",
        f"{took['json_bytes'] / 1000:,.0f}",
        f"{took['row_cpu_s']:.2f}",
        f"{took['row_bytes'] / 1000:,.0f}",
    )


def _growth(what: str, fixed: str, taken: Mapping[str, tuple[int, Usage]]) -> list[ResultTable | Chart]:
    """A table and a chart; `taken`: the number of steps and the cost, by size."""
    title = f"Cost by number of {what}"
    return [
        ResultTable(
            title,
            f"{fixed}.".capitalize(),
            (what, *_FIGURES),
            [(size, *_figures(took, steps)) for size, (steps, took) in taken.items()],
        ),
        Chart(
            f"CPU by step, {fixed}",
            what,
            "µs",
            {size: took["cpu_s"] / steps * 1e6 for size, (steps, took) in taken.items()},
        ),
    ]


def _profile(took: Usage) -> ResultTable:
    agents, steps = PROFILED
    yardstick = took[YARDSTICK]
    stages = {name: cpu for name, cpu in took.items() if name != YARDSTICK}
    total = sum(stages.values())
    return ResultTable(
        "CPU by stage of an evaluation",
        f"CPU by stage, {agents:,} agents and {steps:,} steps. Ten seconds for a million steps are 10 µs a step; to "
        f"read the same JSON with `json.loads` and no more takes this machine {yardstick / steps * 1e6:.1f} µs.",
        ("stage", "µs a step", "share", "times json.loads"),
        [
            (name, f"{cpu / steps * 1e6:.1f}", f"{cpu / total:.0%}", f"{cpu / yardstick:.1f}")
            for name, cpu in (stages | {"all": total}).items()
        ],
    )


_MEASURES: Final[Mapping[str, Callable[[engines.Arcs], object]]] = {
    "betweenness": engines.betweenness,
    "closeness and distances": lambda graph: engines.closeness(graph, engines.distances(graph)),
    "PageRank": lambda graph: engines.pagerank(graph, 0.85),
}


def _compared() -> ResultTable:
    graphs = [_team(agents).message_arcs for agents in TEAMS]
    return ResultTable(
        "Engines against NetworkX",
        "Seconds of CPU for the same measures of the same graphs, by NetworkX and by the engine that Concord chooses.",
        ("measure", "agents", "edges", "NetworkX, s", "chosen, s", "times as fast"),
        [(name, *_compared_on(graph, compute)) for name, compute in _MEASURES.items() for graph in graphs],
    )


def _compared_on(graph: engines.Arcs, compute: Callable[[engines.Arcs], object]) -> Sequence[str]:
    plain = _cpu(compute, graph, networkx=True)
    chosen = min(_cpu(compute, graph, networkx=False) for _ in range(3))
    sizes = (f"{len(graph):,}", f"{graph.n_edges:,}")
    return *sizes, f"{plain:.3f}", f"{chosen:.3f}", f"{plain / chosen:.1f}"


def _team(agents: int) -> AgentGraph:
    reports = StoredReports(list(stored_batches(agents, 20 * agents)))
    return build_graph(project(reports, Roster(roster(agents))))


def _cpu(compute: Callable[[engines.Arcs], object], graph: engines.Arcs, *, networkx: bool) -> float:
    with patch.object(engines, "NETWORKX_UP_TO", len(graph)) if networkx else nullcontext():
        compute(_team(3).message_arcs)  # loads what is imported at first use
        started = time.process_time()
        compute(graph)
        return time.process_time() - started
