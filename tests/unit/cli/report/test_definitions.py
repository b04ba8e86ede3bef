"""The words for metrics come from the evaluator, and a page does without them where there is none."""

import sys

import pytest

from concord_cli.report.definitions import installed_definitions
from concord_evaluator.metrics import measure, metric_ids
from tests.unit.evaluator.graphs import graph_of, mesh


def test_every_metric_has_a_definition_to_read() -> None:
    define, measured = installed_definitions(), measure(graph_of(mesh(4)))

    assert {record.id for record in measured} == set(metric_ids())
    assert [record.definition_id for record in measured if not define(record.definition_id)] == []


def test_what_nobody_installed_defines_has_none() -> None:
    assert installed_definitions()("acme/zeal") is None


def test_without_the_evaluator_there_are_no_definitions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "concord_evaluator.metrics", None)

    assert installed_definitions()("density/messages") is None
