"""`python -m benchmarks.traces.one_evaluation FILE AGENTS`: runs one evaluation here, and prints its cost as JSON.

With `--stages`, it runs the same work stage by stage and times each.
"""

import argparse
import gc
import json
import pickle
import re
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, TypeVar

from benchmarks.traces.synthetic_traces import TRACE_ID, roster, stored_batches
from concord.assessment import AssessmentConfig, AssessmentPlan, Mode, TaskSpec, Thresholds, TrialSpec
from concord.assessment.results import TrialOutcome
from concord.trace.decoding import StoredReports, read
from concord.trace.report import ReportBatch, unpack
from concord.wire.roster import Roster
from concord_evaluator.findings import find
from concord_evaluator.graph import build_graph
from concord_evaluator.latency import latencies_of, summarise
from concord_evaluator.limits import EvaluationLimits
from concord_evaluator.metrics import measure
from concord_evaluator.trace import project
from concord_evaluator.trace.fold import fold
from concord_evaluator.worker.pool_functions import evaluation_of

Made = TypeVar("Made")

UNBOUNDED: Final = EvaluationLimits(steps=10**9, seconds=10**9)
"""No limits, since the benchmark measures whole evaluations."""

YARDSTICK: Final = "json.loads of the same bodies"
"""Not part of an evaluation, but its unit: parsing the same JSON into dictionaries on this machine."""

TRIAL_ID: Final = "trial-1"
TASK: Final = TaskSpec(id="task", text="Plan, and check the plan.")


def plan(agents: int) -> AssessmentPlan:
    """An assessment of this number of agents with one trial."""
    return AssessmentPlan(
        assessment_id=TRACE_ID,
        mode=Mode.LIVE,
        config=AssessmentConfig(),
        tasks=[TASK],
        roster=roster(agents),
        trials=[TrialSpec(trial_id=TRIAL_ID, task_id=TASK.id, run=1, seed=0, trace_id=TRACE_ID)],
        observed=True,
    )


def outcome() -> TrialOutcome:
    """The outcome of the trial."""
    return TrialOutcome(trial_id=TRIAL_ID, state="completed", error=None, answer="Done.", time_used=60)


def write(file: Path, agents: int, steps: int) -> None:
    """Writes the batches of a trace to a file."""
    with file.open("wb") as written:
        for batch in stored_batches(agents, steps):
            pickle.dump(batch, written)


def _read(file: Path) -> Iterator[ReportBatch]:
    with file.open("rb") as written:
        while True:
            try:
                yield pickle.load(written)  # noqa: S301 - this benchmark's own
            except EOFError:
                return


def _whole(batches: list[ReportBatch], agents: int) -> dict[str, float]:
    """Evaluates stored batches to JSON, as a worker's process does."""
    started, cpu = time.perf_counter(), time.process_time()
    size = len(evaluation_of(plan(agents), outcome(), batches, {}, UNBOUNDED))
    return {
        "seconds": time.perf_counter() - started,
        "cpu_s": time.process_time() - cpu,
        "peak_mib": _peak_mib(),
        "json_bytes": size,
    }


def _peak_mib() -> float:
    """The peak memory of this program alone. (`ru_maxrss` would include the parent's memory before `exec`.)"""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1024


def _stages(batches: list[ReportBatch], agents: int) -> dict[str, float]:
    """CPU seconds by stage, with the garbage collector off, as in an evaluation."""
    gc.disable()
    team = Roster(roster(agents))
    cumulative = {
        "decompressing": _cpu(lambda: _drain(unpack(batch.body) for batch in batches))[0],
        "reading": _cpu(lambda: _drain(read(unpack(batch.body)) for batch in batches))[0],
        "folding": _cpu(lambda: fold(StoredReports(batches)))[0],
    }
    cumulative["projecting"], projection = _cpu(lambda: project(StoredReports(batches), team))
    seconds = list(cumulative.values())
    took = {name: after - before for name, after, before in zip(cumulative, seconds, [0.0, *seconds], strict=False)}
    took["building the graph"], graph = _cpu(lambda: build_graph(projection))
    took["critical path"], _ = _cpu(lambda: graph.critical_path)
    took["other metrics"], metrics = _cpu(lambda: measure(graph))
    took["findings"], _ = _cpu(lambda: find(graph, metrics, Thresholds()))
    took["latency"], _ = _cpu(lambda: summarise(latencies_of(projection.all_links), team))
    took[YARDSTICK], _ = _cpu(lambda: _drain(json.loads(unpack(batch.body)) for batch in batches))
    return took


def _cpu(work: Callable[[], Made]) -> tuple[float, Made]:
    started = time.process_time()
    made = work()
    return time.process_time() - started, made


def _drain(things: Iterable[object]) -> None:
    for _ in things:
        pass


def main() -> None:
    """Parses the arguments, runs the evaluation, and prints its cost."""
    parser = argparse.ArgumentParser("benchmarks.traces.one_evaluation", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("agents", type=int)
    parser.add_argument("--stages", action="store_true")
    arguments = parser.parse_args()
    work = _stages if arguments.stages else _whole
    print(json.dumps(work(list(_read(arguments.file)), arguments.agents)))  # noqa: T201 - the command's answer


if __name__ == "__main__":
    main()
