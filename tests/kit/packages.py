"""Packages that extend evaluations at their entry points, as if they were installed."""

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import pytest

from concord_evaluator import plugins
from concord_evaluator.formats.registry import FORMATS
from concord_evaluator.plugins import Extensions

EXAMPLE = Path(__file__).parents[2] / "examples/concord-research"


def installed_packages(monkeypatch: pytest.MonkeyPatch, kind: Extensions[Any]) -> list[EntryPoint]:
    """The installed entry points, for a test to fill before extensions of that kind are first looked for."""
    installed: list[EntryPoint] = []
    monkeypatch.setattr(plugins, "entry_points", lambda group: EntryPoints(installed).select(group=group))
    monkeypatch.setitem(vars(kind), "installed", {})
    del vars(kind)["installed"]
    return installed


@contextmanager
def research_formats() -> Iterator[None]:
    """The formats of `examples/concord-research`, as if it were installed."""
    with (EXAMPLE / "pyproject.toml").open("rb") as file:
        offered = tomllib.load(file)["project"]["entry-points"][plugins.FORMAT_GROUP]
    with pytest.MonkeyPatch.context() as patch:
        installed_packages(patch, FORMATS).extend(
            EntryPoint(name, value, plugins.FORMAT_GROUP) for name, value in offered.items()
        )
        yield
