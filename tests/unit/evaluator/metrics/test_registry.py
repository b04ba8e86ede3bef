"""The metric registry: built-in metrics, those of installed packages, and their choice and parameters by config."""

from importlib.metadata import EntryPoint

import pytest
from pydantic import ValidationError

from concord.assessment import AssessmentConfig
from concord.assessment.results import MetricStatus
from concord_evaluator.graph import AgentGraph
from concord_evaluator.metrics import (
    BUILT_IN_METRICS,
    METRICS,
    Measured,
    Parameter,
    measure,
    metric,
)
from concord_evaluator.plugins import METRIC_GROUP, BrokenPluginError
from tests.kit.graphs import graph_of, mesh, star
from tests.kit.packages import installed_packages


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    """The installed entry points, for a test to fill."""
    return installed_packages(monkeypatch, METRICS)


@metric("doubled", definition_id="doubled", parameters={"times": Parameter(2, 1, 3)})
def _doubled(graph: AgentGraph, times: float) -> list[Measured]:
    """The number of agents, doubled by default."""
    return [Measured(times * len(graph.agents), 1)]


@metric("failing", definition_id="failing")
def _failing(_: AgentGraph) -> list[Measured]:
    """Always fails."""
    return [Measured(1 / 0, 1)]


@metric("infinite", definition_id="infinite")
def _infinite(_: AgentGraph) -> list[Measured]:
    """A value that no row can hold."""
    return [Measured(float("inf"), 1)]


@metric("density", definition_id="density/theirs")
def _density(_: AgentGraph) -> list[Measured]:
    """Has the name of a built-in metric."""
    return [Measured(1, 1)]


TAKEN = (_density,)
ONE, SAME, OTHERS, NONE = _doubled, (_doubled, _doubled), (_failing, _infinite), "a string"


def entry(name: str) -> EntryPoint:
    return EntryPoint(name.lower(), f"{__name__}:{name}", METRIC_GROUP)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("NONE", "is not a sequence of Metric"),
        ("MISSING", "cannot be loaded: module .* has no attribute"),
        ("SAME", "another metric is also called 'doubled'"),
        ("TAKEN", "another metric is also called 'density'"),
    ],
)
def test_invalid_metrics_of_a_package_are_refused(packages: list[EntryPoint], name: str, reason: str) -> None:
    packages.append(entry(name))
    with pytest.raises(BrokenPluginError, match=reason):
        _ = METRICS.installed


def test_without_packages_there_are_the_built_in_metrics(packages: list[EntryPoint]) -> None:
    assert packages == []
    assert list(METRICS.installed) == sorted(metric.id for metric in BUILT_IN_METRICS)


def test_a_metric_without_a_definition_is_refused() -> None:
    with pytest.raises(ValueError, match="'nameless' has no definition"):
        metric("nameless", definition_id="x")(lambda _: [])


@pytest.mark.parametrize("metric_id", ["failing", "infinite"])
def test_a_failing_metric_is_undefined_and_affects_no_other(packages: list[EntryPoint], metric_id: str) -> None:
    packages += [entry("OTHERS"), entry("ONE")]
    records = {record.id: record for record in measure(graph_of(mesh(3)))}
    assert (records[metric_id].value, records[metric_id].status) == (None, MetricStatus.UNDEFINED)
    assert (records[metric_id].reason or "").startswith("the metric failed: ")
    assert records["doubled"].value == 6


def test_a_parameter_has_its_default_unless_it_is_given(packages: list[EntryPoint]) -> None:
    packages.append(entry("ONE"))
    graph = graph_of(mesh(3))
    (default,), (given,) = measure(graph, {"doubled": {}}), measure(graph, {"doubled": {"times": 3}})
    assert (default.value, default.params[0].value) == (6.0, "2")
    assert (given.value, given.params[0].value) == (9.0, "3")


@pytest.mark.parametrize(
    ("params", "reason"), [({"times": 4.0}, "times must be from 1 to 3"), ({"size": 1.0}, "it has no parameter 'size'")]
)
def test_an_invalid_parameter_makes_a_metric_undefined(
    packages: list[EntryPoint], params: dict[str, float], reason: str
) -> None:
    packages.append(entry("ONE"))
    (record,) = measure(graph_of(mesh(3)), {"doubled": params})
    assert (record.value, record.status, record.reason) == (None, MetricStatus.UNDEFINED, reason)


def test_a_parameter_changes_the_value_of_a_built_in_metric() -> None:
    near, far = (
        {record.agent: record.value for record in measure(graph_of(star(5)), {"pagerank": {"damping": damping}})}
        for damping in (0.1, 0.95)
    )
    assert (near["a00"] or 0) < (far["a00"] or 0)


def test_every_metric_has_its_own_definition() -> None:
    metrics = METRICS.installed.values()
    assert (
        len({metric.definition_id for metric in metrics})
        == len({metric.definition for metric in metrics})
        == len(metrics)
    )


class TestChoice:
    KNOWN = ("a", "b", "c")

    def chosen(self, metrics: object) -> dict[str, dict[str, float]]:
        return AssessmentConfig.model_validate({"metrics": metrics}).chosen_metrics(self.KNOWN)

    def test_all_metrics_are_measured_unless_there_is_a_list(self) -> None:
        assert list(self.chosen(None)) == ["a", "b", "c"]
        assert self.chosen([]) == {}

    def test_listed_metrics_are_measured_with_their_parameters(self) -> None:
        assert self.chosen(["b", {"id": "x", "params": {"k": 2}}]) == {"b": {}, "x": {"k": 2.0}}

    def test_a_list_of_only_disabled_metrics_leaves_all_others(self) -> None:
        assert list(self.chosen([{"id": "b", "enabled": False}])) == ["a", "c"]

    def test_a_disabled_metric_is_left_out(self) -> None:
        assert list(self.chosen(["a", "b", {"id": "b", "enabled": False}])) == ["a"]

    @pytest.mark.parametrize("bad", [{"id": ""}, {"id": "a", "params": {"k": float("nan")}}, {"id": "a", "more": 1}])
    def test_an_invalid_choice_is_refused(self, bad: object) -> None:
        with pytest.raises(ValidationError):
            self.chosen([bad])
