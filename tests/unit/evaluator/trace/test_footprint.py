"""Memory of a trace: a million steps and all that is derived from them fit into a gibibyte."""

import tracemalloc

from concord.trace.decoding import StoredReports, reports_of
from concord.wire.roster import Roster
from concord_evaluator.graph import build_graph
from concord_evaluator.trace import project
from tests.kit.synthetic_traces import roster, stored_batches

STEPS = 3_000
MAX_BYTES_A_STEP = 800


def test_a_step_takes_few_bytes() -> None:
    batches, team = list(stored_batches(20, STEPS)), Roster(roster(20))
    project(reports_of(batches[0]), team)  # allocates what is allocated only once
    tracemalloc.start()
    try:
        projection = project(StoredReports(batches), team)
        graph = build_graph(projection)
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert projection.integrity.steps == STEPS
    assert graph.n_messages > STEPS / 2
    assert taken / STEPS < MAX_BYTES_A_STEP
