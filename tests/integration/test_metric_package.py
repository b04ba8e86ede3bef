"""A package that nobody here knows of adds a metric by being installed."""

import json
import subprocess
import sys
from pathlib import Path

from concord_evaluator.metrics import METRICS

PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "talkative"
version = "1"

[project.entry-points."concord.metrics"]
talkative = "talkative:METRICS"

[tool.hatch.build.targets.wheel]
packages = ["talkative"]
"""

PACKAGE = '''
"""A third party's metric."""

from concord_evaluator.graph import AgentGraph
from concord_evaluator.metrics import Measured, Parameter, metric


@metric("calls_per_agent", definition_id="calls/agents", parameters={"scale": Parameter(1, 0, 100)})
def calls_per_agent(graph: AgentGraph, scale: float) -> list[Measured]:
    """The calls between agents for each of them."""
    return [Measured(scale * len(graph.interactions) / len(graph.agents), len(graph.agents))]


METRICS = (calls_per_agent,)
'''

PROGRAM = """
import json
from concord_evaluator.metrics import METRICS, measure
from tests.kit.graphs import graph_of, ring
(record,) = measure(graph_of(ring(4)), {"calls_per_agent": {"scale": 10}})
print(json.dumps([record.model_dump(), METRICS.installed["calls_per_agent"].definition, len(METRICS.installed)]))
"""


def test_a_package_adds_a_metric_by_being_installed(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "talkative").mkdir(parents=True)
    (source / "pyproject.toml").write_text(PYPROJECT)
    (source / "talkative" / "__init__.py").write_text(PACKAGE)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-index"]
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", "--target", target, source], check=True)
    environment = {"PYTHONPATH": f"{target}:{Path.cwd()}"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, check=True, capture_output=True)
    record, definition, known = json.loads(done.stdout)
    assert (record["value"], record["n"], record["definition_id"]) == (10.0, 4, "calls/agents")
    assert record["params"] == [{"name": "scale", "value": "10"}]
    assert definition == "The calls between agents for each of them."
    assert known == len(METRICS.installed) + 1
