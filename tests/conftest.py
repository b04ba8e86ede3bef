"""The kit's settings and fixtures, and the order of the tests."""

import atexit
import gc
from itertools import chain, groupby
from pathlib import Path

import pytest

from tests.kit.fixtures import (
    anyio_backend,
    private_redis,
    pytest_configure,
    pytest_pyfunc_call,
    pytest_report_header,
    redis_server,
    redis_url,
)

__all__ = [
    "anyio_backend",
    "private_redis",
    "pytest_configure",
    "pytest_pyfunc_call",
    "pytest_report_header",
    "redis_server",
    "redis_url",
]

UNIT = Path(__file__).parent / "unit"
WITH_PROGRAMS = {Path(__file__).parent / "e2e", Path(__file__).parent / "faults"}


def pytest_collection() -> None:
    """Thousands of tests and all imported modules stay until the end: no garbage collection need traverse them."""
    gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that start whole programs. Spreads the files of unit tests evenly among the others: unit tests
    compute while tests of services wait."""
    for item in items:
        if item.path.parent in WITH_PROGRAMS:
            item.add_marker("programs")
    files = [list(file) for _, file in groupby(items, lambda item: item.path)]
    kinds = [[file for file in files if (UNIT in file[0].path.parents) is unit] for unit in (True, False)]
    places = {id(file): (place + 0.5) / len(kind) for kind in kinds for place, file in enumerate(kind)}
    items[:] = chain.from_iterable(sorted(files, key=lambda file: places[id(file)]))


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
    atexit.register(gc.unfreeze)  # libraries report their objects as leaks unless the interpreter collects them
