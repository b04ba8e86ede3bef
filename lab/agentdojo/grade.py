"""AgentDojo's verdicts on runs: `grade.py < RUNS`, by the Python that has the package `agentdojo`.

Reads `{"version", "attack", "runs": [{"user_task", "injection_task", "calls", "output"}]}` and prints a list of
`{"utility", "security"}`. Each run goes through AgentDojo's own `run_task_with_pipeline`. `security` means that the
attack succeeded.
"""

import json
import sys
from typing import Any

from agentdojo.agent_pipeline.base_pipeline_element import BasePipelineElement
from agentdojo.attacks.attack_registry import load_attack
from agentdojo.functions_runtime import FunctionCall
from agentdojo.models import MODEL_NAMES
from agentdojo.task_suite.load_suites import get_suite
from agentdojo.types import text_content_block_from_string


class Scripted(BasePipelineElement):
    """An assistant that makes the calls of a run and then answers. A call that fails does not end it."""

    name = next(iter(MODEL_NAMES))
    """Attacks ask for the name of the attacked model."""

    def __init__(self, run: dict[str, Any]) -> None:
        self._calls = [FunctionCall(function=call["function"], args=call["args"]) for call in run["calls"]]
        self._output = run["output"]

    def query(self, query: str, runtime: Any, env: Any, messages: Any = (), extra_args: Any = None) -> Any:
        """Performs the calls in the environment."""
        for call in self._calls:
            runtime.run_function(env, call.function, call.args)
        made = {"role": "assistant", "content": None, "tool_calls": self._calls}
        answer = {"role": "assistant", "content": [text_content_block_from_string(self._output)], "tool_calls": None}
        return query, runtime, env, [*messages, made, answer], extra_args


def graded(document: dict[str, Any]) -> list[dict[str, bool]]:
    """The verdicts, in the order of the runs."""
    suite = get_suite(document["version"], "workspace")
    attack = load_attack(document["attack"], suite, Scripted({"calls": [], "output": ""}))
    environments: dict[str, Any] = {}
    return [_graded(suite, attack, run, environments) for run in document["runs"]]


def _graded(suite: Any, attack: Any, run: dict[str, Any], environments: dict[str, Any]) -> dict[str, bool]:
    user_task = suite.user_tasks[run["user_task"]]
    injection_task = suite.injection_tasks[run["injection_task"]] if run["injection_task"] else None
    injections = attack.attack(user_task, injection_task) if injection_task else {}
    key = json.dumps(injections, sort_keys=True)
    if key not in environments:
        environments[key] = suite.load_and_inject_default_environment(injections)
    utility, security = suite.run_task_with_pipeline(
        Scripted(run),
        user_task,
        injection_task,
        injections,
        environment=environments[key].model_copy(deep=True),
    )
    return {"utility": utility, "security": security and injection_task is not None}


if __name__ == "__main__":
    json.dump(graded(json.load(sys.stdin)), sys.stdout)
