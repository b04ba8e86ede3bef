"""The environment process of a green agent: started, healthy, and gone in every ending."""

import asyncio
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import httpx
import pytest

from concord_assistant.environment.server import UESServerError, UESServerManager
from tests.kit.environment_stand_in import STAND_IN
from tests.kit.workers import alive, children, gone

NOISY_ENVIRONMENT = """
import runpy, sys

sys.stdout.write("x" * 1_000_000)
runpy.run_module("concord_environment", run_name="__main__")
"""

OWNER = f"""
import asyncio, sys
from concord_assistant.environment.server import UESServerManager

async def main():
    server = UESServerManager(command=(sys.executable, "-c", {STAND_IN!r}))
    await server.start()
    print(server.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def processes(server: UESServerManager) -> list[int]:
    """The guard and the environment process."""
    assert server.pid is not None
    return [server.pid, *children(server.pid)]


def variables_of(pid: int) -> bytes:
    """The environment variables of a process."""
    return Path(f"/proc/{pid}/environ").read_bytes()


@pytest.mark.smoke
async def test_an_environment_has_a_key_and_no_other_secret_and_is_gone_after_a_stop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("REDIS_URL", "CONCORD_API_KEYS", "AGENTBEATS_LLM_API_KEY"):
        monkeypatch.setenv(name, "redis://:secret@host/0")
    server = UESServerManager(command=(sys.executable, "-c", NOISY_ENVIRONMENT))
    await server.start()
    found = processes(server)
    assert len(found) == 2
    assert await server.is_healthy()
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as http:
        assert (await http.get("/simulation/status", headers={"x-api-key": server.admin_key})).status_code == 200
        assert (await http.get("/simulation/status", headers={"x-api-key": "0" * 64})).status_code == 401
    assert re.fullmatch("[0-9a-f]{64}", server.admin_key)
    assert server.admin_key.encode() in variables_of(found[1])
    assert b"secret" not in variables_of(found[1])
    await server.stop()
    assert alive(found) == []
    assert server.failure is None
    assert not await server.is_healthy()


@pytest.mark.parametrize("killed", ["environment", "guard"])
async def test_a_killed_process_is_reported_and_leaves_no_other(killed: str) -> None:
    server = UESServerManager(command=(sys.executable, "-c", STAND_IN))
    await server.start()
    found = processes(server)
    try:
        os.kill(found[1] if killed == "environment" else found[0], signal.SIGKILL)
        async with asyncio.timeout(60):
            assert "was ended by SIGKILL" in await server.ended()
        assert server.failure is not None
        await gone(found)
    finally:
        await server.stop()


async def test_an_environment_ends_when_the_process_that_started_it_is_killed() -> None:
    owner = await asyncio.create_subprocess_exec(sys.executable, "-c", OWNER, stdout=PIPE)
    try:
        assert owner.stdout is not None
        guard = int(await owner.stdout.readline())
        found = [guard, *children(guard)]
        assert len(alive(found)) == 2
    finally:
        owner.kill()
        await owner.communicate()
    await gone(found)


async def test_a_command_that_fails_is_reported_with_its_output() -> None:
    command = (sys.executable, "-c", "import sys; sys.exit('no environment here')")
    with pytest.raises(UESServerError, match=r"ended with exit code 1\. Its last output: no environment here"):
        await UESServerManager(command=command).start()


async def test_a_command_that_serves_nothing_is_ended_after_the_timeout() -> None:
    server = UESServerManager(command=(sys.executable, "-c", "import time; time.sleep(100)"))
    with pytest.raises(UESServerError, match=r"was not ready after 0\.5 s"):
        await server.start(timeout_s=0.5)
    assert server.pid is None
