"""Prints AgentDojo's workspace suite as JSON: `export_suite.py BENCHMARK_VERSION ATTACK`.

Run by the Python of the environment that has the package `agentdojo`, so it imports nothing of Concord. `suite.py` has
the form of the document. The cloud drive is not in it, because the environment has no files.
"""

import json
import sys
from importlib.metadata import distribution
from typing import Any

from agentdojo.agent_pipeline.ground_truth_pipeline import GroundTruthPipeline
from agentdojo.attacks.attack_registry import load_attack
from agentdojo.models import MODEL_NAMES
from agentdojo.task_suite.load_suites import get_suite

ITEMS = {"emails": ("inbox", "emails"), "events": ("calendar", "events")}


def exported(version: str, attack_name: str) -> dict[str, Any]:
    """The document."""
    suite = get_suite(version, "workspace")
    # Attacks ask for the name of the attacked model, which no payload of the attacks that Concord imports contains.
    pipeline = GroundTruthPipeline(None)
    pipeline.name = next(iter(MODEL_NAMES))
    attack = load_attack(attack_name, suite, pipeline)
    default = suite.load_and_inject_default_environment({})
    places = _places(suite.load_and_inject_default_environment(attack.canary_injections), attack.canary_injections)
    user_task = next(iter(suite.user_tasks.values()))
    return {
        "package_version": distribution("agentdojo").version,
        "licence": _licence(),
        "benchmark_version": version,
        "attack": attack_name,
        "environment": {
            "account_email": default.inbox.account_email,
            "current_day": default.calendar.current_day.isoformat(),
            **{kind: list(_items(default, kind).values()) for kind in ITEMS},
        },
        "user_tasks": {
            name: {
                "prompt": task.PROMPT,
                "output": task.GROUND_TRUTH_OUTPUT,
                "difficulty": task.DIFFICULTY.name.lower(),
                "calls": _calls(task, default),
                "injected_items": _seen(attack.get_injection_candidates(task), places),
            }
            for name, task in suite.user_tasks.items()
        },
        "injection_tasks": {
            name: {
                "goal": task.GOAL,
                "calls": _calls(task, default),
                "items": _injected(suite, attack, user_task, task, places),
            }
            for name, task in suite.injection_tasks.items()
        },
    }


def _licence() -> str:
    files = distribution("agentdojo").files or []
    return next(file.read_text() for file in files if file.name == "LICENSE")


def _items(environment: Any, kind: str) -> dict[str, Any]:  # noqa: ANN401 - AgentDojo's environment
    container, name = ITEMS[kind]
    items = getattr(getattr(environment, container), name)
    return {key: item.model_dump(mode="json") for key, item in items.items()}


def _places(environment: Any, canaries: dict[str, str]) -> dict[str, tuple[str, str]]:  # noqa: ANN401
    """The place of each injection vector in emails and events: `emails` or `events`, and the item's id."""
    return {
        vector: (kind, key)
        for kind in ITEMS
        for key, item in _items(environment, kind).items()
        for vector, canary in canaries.items()
        if canary in json.dumps(item)
    }


def _seen(vectors: list[str], places: dict[str, tuple[str, str]]) -> dict[str, list[str]]:
    found = sorted({places[vector] for vector in vectors if vector in places})
    return {kind: [key for each, key in found if each == kind] for kind in ITEMS}


def _calls(task: Any, environment: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    calls = task.ground_truth(environment.model_copy(deep=True))
    return [{"function": call.function, "args": dict(call.args)} for call in calls]


def _injected(suite: Any, attack: Any, user_task: Any, task: Any, places: dict[str, tuple[str, str]]) -> Any:  # noqa: ANN401
    """All items that have a vector, with the attack's payload in place of the vector, as AgentDojo loads its files. The
    payload of an imported attack is the same for every user task."""
    [payload] = set(attack.attack(user_task, task).values())
    environment = suite.load_and_inject_default_environment(dict.fromkeys(attack.canary_injections, payload))
    found = {kind: _items(environment, kind) for kind in ITEMS}
    return {kind: {key: found[kind][key] for each, key in sorted(places.values()) if each == kind} for kind in ITEMS}


if __name__ == "__main__":
    json.dump(exported(*sys.argv[1:]), sys.stdout)
