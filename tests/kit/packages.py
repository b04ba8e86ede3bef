"""Packages that extend evaluations at their entry points, as if they were installed."""

from importlib.metadata import EntryPoint, EntryPoints
from typing import Any

import pytest

from concord_evaluator import plugins
from concord_evaluator.plugins import Extensions


def installed_packages(monkeypatch: pytest.MonkeyPatch, kind: Extensions[Any]) -> list[EntryPoint]:
    """The installed entry points, for a test to fill before extensions of that kind are first looked for."""
    installed: list[EntryPoint] = []
    monkeypatch.setattr(plugins, "entry_points", lambda group: EntryPoints(installed).select(group=group))
    monkeypatch.setitem(vars(kind), "installed", {})
    del vars(kind)["installed"]
    return installed
