"""`python -m lab.benchmarks.traces.one_evaluation FILE AGENTS`: the cost of one evaluation and its row, as JSON.

It imports no stage of an evaluation, so that it can measure other versions of the packages too.
"""

import argparse
import json
import pickle
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from concord.assessment import AssessmentConfig, AssessmentPlan, Mode, TaskSpec, TrialSpec
from concord.assessment.results import TrialOutcome
from concord.trace.report import ReportBatch
from concord_evaluator.documents import TrialEvaluation
from concord_evaluator.pipeline import verdict_on, without_garbage_collection
from concord_evaluator.settings import EvaluationLimits
from concord_evaluator.worker.pool_functions import evaluation_of, row_of
from tests.kit.synthetic_traces import TRACE_ID, roster, stored_batches

UNBOUNDED: Final = EvaluationLimits(steps=10**9, seconds=10**9)
"""No limits, since the benchmark measures whole evaluations."""

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


def read_batches(file: Path) -> Iterator[ReportBatch]:
    """The batches of a file of `write`."""
    with file.open("rb") as written:
        while True:
            try:
                yield pickle.load(written)  # noqa: S301 - this benchmark's own
            except EOFError:
                return


def _whole(batches: list[ReportBatch], agents: int) -> dict[str, float]:
    """Evaluates stored batches to JSON, and makes the row of that, as a worker does."""
    started, cpu = time.perf_counter(), time.process_time()
    evaluated = evaluation_of(plan(agents), outcome(), batches, {}, UNBOUNDED)
    taken = {
        "seconds": time.perf_counter() - started,
        "cpu_s": time.process_time() - cpu,
        "peak_mib": _peak_mib(),
        "json_bytes": len(evaluated),
    }
    cpu = time.process_time()
    row = _row(evaluated, agents)
    return taken | {"row_cpu_s": time.process_time() - cpu, "row_bytes": len(row)}


def _row(evaluated: str, agents: int) -> str:
    """The row of a stored evaluation, by way of a stored verdict without a judge."""
    planned = plan(agents)
    with without_garbage_collection():
        evaluation = TrialEvaluation.model_validate_json(evaluated)
    verdict = verdict_on(planned, evaluation, None)
    return row_of(planned, [(verdict.model_dump_json(), 0)], [])


def _peak_mib() -> float:
    """The peak memory of this program alone. (`ru_maxrss` would include the parent's memory before `exec`.)"""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1024


def main() -> None:
    """Parses the arguments, runs the evaluation, and prints its cost."""
    arguments = parsed("lab.benchmarks.traces.one_evaluation", __doc__)
    print(json.dumps(_whole(list(read_batches(arguments.file)), arguments.agents)))


def parsed(name: str, description: str | None) -> argparse.Namespace:
    """The arguments of a program that evaluates a file of `write`."""
    parser = argparse.ArgumentParser(name, description=description)
    parser.add_argument("file", type=Path)
    parser.add_argument("agents", type=int)
    return parser.parse_args()


if __name__ == "__main__":
    main()
