"""The kit's settings and fixtures, and the order of the tests."""

import atexit
import gc
from collections.abc import Iterator
from itertools import chain, groupby, pairwise
from pathlib import Path
from typing import Any

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


@pytest.fixture(scope="module")
def research_formats() -> Iterator[None]:
    """The formats of `examples/concord-research`, as if it were installed."""
    from tests.kit import packages

    with packages.research_formats():
        yield


UNIT = Path(__file__).parent / "unit"
WITH_PROGRAMS = {Path(__file__).parent / "e2e", Path(__file__).parent / "faults"}


class UncollectedFile(pytest.Item):
    """A file of tests, which a process of pytest-xdist collects only when it runs it."""

    def __init__(self, *, module: pytest.Module, **arguments: Any) -> None:  # noqa: ANN401 - pytest's
        super().__init__(nodeid=module.nodeid, path=module.path, **arguments)
        self._module = module
        self.next_item: pytest.Item | None = None

    def runtest(self) -> None:
        """Collects the tests and runs those that the command line selects."""
        items = self._collected()
        place = self.session.items.index(self)
        try:
            for item, following in pairwise([*items, self.next_item]):
                assert item is not None
                self.session.items[place] = item  # where pytest-xdist looks for the test of a report
                self.ihook.pytest_runtest_protocol(item=item, nextitem=following)
                if self.session.shouldfail or self.session.shouldstop:
                    break
            if not items:  # the fixtures of the file before end here, not at the next file's first test
                self.session._setupstate.teardown_exact(self.next_item)
        finally:
            self.session.items[place] = self

    def _collected(self) -> list[pytest.Item]:
        gc.collect()  # what the tests of the file before left: frozen, it would never be collected
        gc.disable()
        items = list(self.session.genitems(self._module))
        self.ihook.pytest_collection_modifyitems(session=self.session, config=self.config, items=items)
        _keep_collected()
        return items


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Item | None:
    """Puts off the collection of a file in a process of pytest-xdist, unless tests are chosen by their names."""
    if not hasattr(parent.config, "workerinput") or any("::" in argument for argument in parent.config.args):
        return None
    module: pytest.Module = pytest.Module.from_parent(parent, path=module_path)
    file: pytest.Item = UncollectedFile.from_parent(parent, name=module_path.name, module=module)
    return file


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    if not isinstance(item, UncollectedFile):
        return None
    item.next_item = nextitem
    item.runtest()
    return True


def pytest_collection() -> None:
    """Thousands of tests and all imported modules stay until the end: no garbage collection need traverse them."""
    gc.disable()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Marks the tests that start whole programs. Spreads the files of unit tests evenly among the others: unit tests
    compute while tests of services wait. No option deselects a file that is not collected yet."""
    for item in items:
        if item.path.parent in WITH_PROGRAMS:
            item.add_marker("programs")
    files = [list(file) for _, file in groupby(items, lambda item: item.path)]
    kinds = [[file for file in files if (UNIT in file[0].path.parents) is unit] for unit in (True, False)]
    places = {id(file): (place + 0.5) / len(kind) for kind in kinds for place, file in enumerate(kind)}
    spread = list(chain.from_iterable(sorted(files, key=lambda file: places[id(file)])))
    items[:] = [item for item in spread if not isinstance(item, UncollectedFile)]
    yield
    items += [item for item in spread if isinstance(item, UncollectedFile)]


def pytest_collection_finish() -> None:
    _keep_collected()
    atexit.register(gc.unfreeze)  # libraries report their objects as leaks unless the interpreter collects them


def _keep_collected() -> None:
    gc.freeze()
    gc.enable()
