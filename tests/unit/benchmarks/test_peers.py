"""A peer that cannot be installed is named with the reason, and the others are measured."""

import subprocess

import pytest

from benchmarks.peers import section, stores
from benchmarks.peers.environments import NotInstalledError, python_of


def test_an_environment_that_takes_too_long_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(command: list[str], *, timeout: float, **_: object) -> None:
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", late)
    with pytest.raises(NotInstalledError, match="not installed within 300 s"):
        python_of("mlflow")


def test_a_store_that_is_missing_is_named_and_the_others_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def rate_of(store: stores.Store) -> float:
        if store is stores.PHOENIX:
            raise NotInstalledError("its packages cannot be installed")
        return 500.0

    monkeypatch.setattr(section, "collector_rate", lambda: 1000.0)
    monkeypatch.setattr(section, "rate_of", rate_of)
    assert section.stores_table().rows == [
        ("Concord's collector, with Redis", "1 k", "1.00"),
        ("mlflow", "500", "0.500"),
        ("phoenix", "not measured: its packages cannot be installed", ""),
    ]
