"""Gateways in processes of their own, which tests can kill."""

import asyncio
import signal
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.kit.ports import free_port
from tests.kit.programs import await_answer, start

LEASE_S = 3
"""A busy machine may pause a process for a second or two."""


@dataclass(slots=True)
class Gateway:
    """A gateway process that listens at `url`."""

    url: str
    environment: dict[str, str]
    log: Path
    process: "subprocess.Popen[bytes] | None" = None

    async def start(self) -> None:
        """Starts the process and waits until the gateway answers."""
        port = self.url.rstrip("/").rpartition(":")[2]
        self.process = start("concord_gateway", "--port", port, log=self.log, environment=self.environment)
        await asyncio.to_thread(await_answer, self.process, f"{self.url}healthz")

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to the process, and waits for the process to end on SIGKILL and SIGTERM."""
        assert self.process is not None
        self.process.send_signal(number)
        if number in {signal.SIGKILL, signal.SIGTERM}:
            self.process.wait()


@asynccontextmanager
async def gateways(redis_url: str, folder: Path, count: int = 1, **environment: str) -> AsyncIterator[list[Gateway]]:
    """Running gateways that share a Redis. They are killed at the end."""
    settings = {
        "REDIS_URL": redis_url,
        "CONCORD_TOKEN_SECRET": "s" * 40,
        "CONCORD_OUTPUT_DIR": str(folder / "output"),
        "CONCORD_LEASE_S": str(LEASE_S),
        "CONCORD_OBSERVE": "false",
    }
    found = [
        Gateway(f"http://127.0.0.1:{free_port()}/", settings | environment, folder / f"gateway-{number}.log")
        for number in range(count)
    ]
    try:
        for each in found:
            await each.start()
        yield found
    finally:
        for each in found:
            if each.process is not None:
                each.process.kill()
                each.process.wait()


def contains(log: Path, text: str) -> bool:
    """Whether a log contains the text."""
    return text in log.read_text()


async def until(holds: Callable[[], bool]) -> None:
    """Waits until the condition holds."""
    async with asyncio.timeout(60):
        while not holds():
            await asyncio.sleep(0.05)
