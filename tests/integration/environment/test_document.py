"""`docs/environment.md`: its Python examples run as written."""

import ast
import re
from collections.abc import Coroutine
from pathlib import Path
from types import FunctionType
from typing import Any

from concord_environment.app import create_app
from concord_environment.environment import Environment
from concord_environment.modalities.email.state import EmailState
from concord_environment.settings import EnvironmentSettings
from concord_environment_client import AsyncUESClient, operations
from concord_environment_client.endpoints import S
from concord_environment_client.modalities.email import EmailCalls
from tests.integration.environment.conftest import ADMIN_KEY
from tests.kit.serving import served

DOCUMENT = (Path(__file__).parents[3] / "docs" / "environment.md").read_text(encoding="utf-8")
PYTHON_BLOCKS = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)


async def test_the_python_example_sends_a_mail_and_reads_the_state(environment: Environment) -> None:
    code = compile(PYTHON_BLOCKS[0], "docs/environment.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    async with served(create_app(environment, EnvironmentSettings())) as url:
        async with AsyncUESClient(url, ADMIN_KEY) as controller:
            await controller.simulation.start()
        names: dict[str, Any] = {"url": url, "api_key": ADMIN_KEY}
        running: Coroutine[Any, Any, None] = FunctionType(code, names)()
        await running
    assert [email.to_addresses for email in environment.simulation.world[EmailState].emails.rows()] == [
        ("bob@example.com",)
    ]
    assert names["state"].total_email_count == 1


def test_the_example_of_a_declaration_is_that_of_the_service() -> None:
    names: dict[str, Any] = {**vars(operations), "S": S}
    FunctionType(compile(PYTHON_BLOCKS[1], "docs/environment.md", "exec"), names)()
    assert names["EmailCalls"].star == EmailCalls.star
