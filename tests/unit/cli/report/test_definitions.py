"""Every metric that Concord computes has a sentence that says what it is."""

from concord_cli.report.definitions import definition_of
from concord_evaluator.metrics import measure, metric_ids
from tests.unit.evaluator.graphs import graph_of, mesh


def test_every_metric_has_a_definition_to_read() -> None:
    measured = measure(graph_of(mesh(4)))

    assert {record.id for record in measured} == set(metric_ids())
    assert [record.definition_id for record in measured if definition_of(record.definition_id) is None] == []
