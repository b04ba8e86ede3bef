"""The rooms of the product: each public class of the library, the services and the suites has a name of its own."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("shared/concord", "services/collector", "services/evaluator", "services/gateway", "services/purple", "suites")
NAMED_BY_OTHERS = ("shared/concord/trace/otlp", "services/evaluator/concord_evaluator/formats")
"""Readers of formats, whose classes have the names of what they read."""


def test_no_public_class_has_the_name_of_another() -> None:
    places = defaultdict(list)
    for path in (path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        module = path.relative_to(ROOT).as_posix()
        if not module.startswith(NAMED_BY_OTHERS):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places[node.name].append(module)
    assert {name: modules for name, modules in places.items() if len(modules) > 1} == {}
