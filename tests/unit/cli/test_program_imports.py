"""What the start of a program must not import: what only some assessments need, and what other programs need."""

import json
import subprocess
import sys
from importlib.util import find_spec

import pytest

pytestmark = pytest.mark.programs

HEAVY = (
    "concord_assistant",  # of the first trial with a scenario
    "concord_environment",
    "concord_purple",
    "concord_suites",
    "google.genai",
    "jinja2",
    "jsonschema",
    "matplotlib",
    "mcp",
    "networkx",  # of the pool's processes
    "numpy",
    "openai",
    "pandas",
    "rustworkx",
    "scipy",
    "typer",
)
"""Packages that no start needs."""

STARTS = {
    "the one program": ("concord_cli.program.__main__", "concord_cli.program.parts", "concord_evaluator.work"),
    "the gateway": ("concord_gateway.__main__",),
    "the collector": ("concord_collector.__main__",),
    "the evaluator": ("concord_evaluator.__main__",),
}


def imported(*modules: str) -> set[str]:
    """The names of all modules that a new interpreter has after it imported these, and looked for broken plug-ins."""
    code = f"""
import importlib, json, sys
for each in {modules!r}:
    importlib.import_module(each)
if work := sys.modules.get("concord_evaluator.work"):
    assert work.broken_plugin() is None
print(json.dumps(sorted(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_a_client_comes_without_any_server() -> None:
    servers = {"a2a.server", "concord.a2a.server", "concord_gateway", "fastapi", "sse_starlette", "uvicorn"}
    assert not imported("concord_cli.assessing", "concord_cli.assessment_client") & servers


def test_a_module_of_the_library_comes_without_the_names_that_the_library_offers() -> None:
    assert not imported("concord.loopback") & {"concord.agent", "concord.trace", "httpx", "pydantic"}


def test_evaluations_that_compute_no_graph_come_without_networkx() -> None:
    assert "networkx" not in imported("concord_evaluator.worker.jobs", "concord_evaluator.metrics")


@pytest.mark.parametrize("modules", STARTS.values(), ids=STARTS)
def test_a_start_imports_nothing_that_only_some_assessments_need(modules: tuple[str, ...]) -> None:
    assert imported(*modules) & set(HEAVY) == set()


def test_httpx_comes_without_its_command_line() -> None:
    assert not imported("concord", "httpx") & {"click", "rich", "pygments"}


def test_a_process_of_the_pool_starts_with_the_standard_library_alone() -> None:
    path = find_spec("concord.processes.program").origin  # type: ignore[union-attr]  # it is a module
    code = f"import runpy, sys; runpy.run_path({path!r}); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True).stdout
    assert {name.partition(".")[0] for name in loaded.split()} <= {"__main__", *sys.stdlib_module_names}


def test_the_evaluation_of_a_file_comes_without_that_of_scenarios() -> None:
    assert not {
        each for each in imported("concord_evaluator.offline") if each.startswith("concord_assistant.evaluation")
    }
