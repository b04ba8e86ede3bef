"""`python -m lab.benchmarks.traces.evaluation_stages FILE AGENTS`: the CPU of one evaluation's stages, as JSON."""

import gc
import json
import time
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from concord.assessment import Thresholds
from concord.trace.decoding import StoredReports, read
from concord.trace.report import ReportBatch, unpack
from concord.wire.roster import Roster
from concord_evaluator.findings import find
from concord_evaluator.graph import build_graph
from concord_evaluator.latency import latencies_of, summarise
from concord_evaluator.metrics import measure
from concord_evaluator.trace import project
from concord_evaluator.trace.fold import fold
from concord_evaluator.worker.pool_functions import evaluation_of
from lab.benchmarks.traces.one_evaluation import UNBOUNDED, outcome, parsed, plan, read_batches
from tests.kit.synthetic_traces import roster

Made = TypeVar("Made")

YARDSTICK: Final = "json.loads of the same bodies"
"""Not part of an evaluation, but its unit: parsing the same JSON into dictionaries on this machine."""


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
    whole, _ = _cpu(lambda: evaluation_of(plan(agents), outcome(), batches, {}, UNBOUNDED))
    took["the rest: links, evidence, the result as JSON"] = whole - sum(took.values())
    bodies = [unpack(batch.body) for batch in batches]
    took[YARDSTICK], _ = _cpu(lambda: _drain(map(json.loads, bodies)))
    return took


def _cpu(work: Callable[[], Made]) -> tuple[float, Made]:
    started = time.process_time()
    made = work()
    return time.process_time() - started, made


def _drain(things: Iterable[object]) -> None:
    for _ in things:
        pass


def main() -> None:
    """Parses the arguments, runs the stages, and prints their cost."""
    arguments = parsed("lab.benchmarks.traces.evaluation_stages", __doc__)
    print(json.dumps(_stages(list(read_batches(arguments.file)), arguments.agents)))


if __name__ == "__main__":
    main()
