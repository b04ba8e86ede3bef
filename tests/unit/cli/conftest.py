"""A run's folder, for tests of the programs that run in it."""

from collections.abc import AsyncIterator

import pytest

from concord_cli.stack.stack_folder import StackFolder, stack_folder


@pytest.fixture
async def folder() -> AsyncIterator[StackFolder]:
    async with stack_folder() as made:
        yield made
