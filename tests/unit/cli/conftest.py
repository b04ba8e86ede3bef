"""A run's folder, for tests of the programs that run in it."""

from collections.abc import AsyncIterator

import pytest

from concord_cli.stack.run_folder import RunFolder, run_folder


@pytest.fixture
async def folder() -> AsyncIterator[RunFolder]:
    async with run_folder() as made:
        yield made
