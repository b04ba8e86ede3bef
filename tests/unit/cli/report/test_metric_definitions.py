"""The definitions of metrics come from the evaluator; without it, a page has none."""

import subprocess
import sys
from collections.abc import Mapping

import pytest

from concord_cli.row_view.metrics import installed_definitions
from concord_evaluator.metrics import METRICS, measure
from concord_evaluator.pipeline import EVALUATORS, Contribution, TrialInput, evaluator
from concord_evaluator.pipeline.evaluators import BUILT_IN_EVALUATORS
from tests.kit.graphs import graph_of, mesh


def test_every_metric_has_a_definition_to_read() -> None:
    define, measured = installed_definitions(), measure(graph_of(mesh(4)))

    assert {record.id for record in measured} == set(METRICS.installed)
    assert [record.definition_id for record in measured if not define(record.definition_id)] == []


def test_a_metric_of_an_installed_evaluator_has_the_evaluators_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    @evaluator("zeal", definitions={"acme/zeal": "How eager the agents are."})
    def evaluate(_trial: TrialInput, _needed: Mapping[str, Contribution]) -> Contribution:
        return Contribution()

    monkeypatch.setattr("concord_evaluator.plugins.has_plugins", lambda *_: True)
    monkeypatch.setitem(vars(EVALUATORS), "installed", {"zeal": evaluate})
    assert installed_definitions()("acme/zeal") == "How eager the agents are."


def test_the_built_in_evaluators_define_nothing_so_a_page_needs_none_of_them() -> None:
    assert [each.id for each in BUILT_IN_EVALUATORS if each.definitions] == []


def test_a_page_reads_the_definitions_without_the_packages_that_compute_metrics() -> None:
    program = (
        "import sys, concord_cli.report.command; from concord_cli.row_view.metrics import installed_definitions;"
        "assert installed_definitions()('density/messages');"
        "print(*{'numpy', 'rustworkx', 'concord_evaluator.trace', 'concord_cli.scenario'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_an_unknown_metric_has_no_definition() -> None:
    assert installed_definitions()("acme/zeal") is None


def test_without_the_evaluator_there_are_no_definitions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "concord_evaluator.metrics", None)

    assert installed_definitions()("density/messages") is None
