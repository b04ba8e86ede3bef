"""The data set in `data/ground_truth.json`: the patterns with their expected figures."""

import json
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from tests.kit.ground_truth.independent import Expected, expected_of
from tests.kit.ground_truth.patterns import PATTERNS, Pattern

PATH: Final = Path(__file__).parents[3] / "data/ground_truth.json"

VERSION: Final = 1


def dataset() -> dict[str, Any]:
    return {"version": VERSION, "scenarios": [_scenario(pattern) for pattern in PATTERNS]}


def _scenario(pattern: Pattern) -> dict[str, Any]:
    return {
        "id": pattern.id,
        "kind": pattern.kind,
        "description": pattern.description,
        "interaction_pattern": {
            "agents": list(pattern.agents),
            "edges": [{"from": caller, "to": callee} for caller, callee in pattern.edges],
        },
        "expected_metrics": _figures(expected_of(pattern)),
    }


def _figures(expected: Expected) -> dict[str, Any]:
    figures = asdict(expected)
    exact = {name: str(value) for name, value in figures.items() if isinstance(value, Fraction)}
    plain = {name: float(value) if isinstance(value, Fraction) else value for name, value in figures.items()}
    return plain | {"has_bottleneck": bool(expected.bottlenecks), "exact": exact}


def written() -> str:
    """The document as the text of the file, with a line for each part of a scenario."""
    scenarios = [
        ",\n".join(f"      {json.dumps(name)}: {json.dumps(value)}" for name, value in scenario.items())
        for scenario in dataset()["scenarios"]
    ]
    listed = ",\n".join(f"    {{\n{scenario}\n    }}" for scenario in scenarios)
    return f'{{\n  "version": {VERSION},\n  "scenarios": [\n{listed}\n  ]\n}}\n'
