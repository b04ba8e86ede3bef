"""Restarts: a process that is killed in the middle of an assessment goes on from its last snapshot."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import httpx
from concord_environment_client import UESClient

from tests.integration.environment.conftest import ADMIN_KEY, AGENT_PERMISSIONS
from tests.redis_servers import free_port


@contextmanager
def environment_process(snapshot: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A process that serves an environment, and its URL. It is killed at the end, if it lives."""
    port = free_port()
    settings = {"UES_ADMIN_KEY": ADMIN_KEY, "CONCORD_SNAPSHOT_FILE": str(snapshot), "CONCORD_LOG_LEVEL": "ERROR"}
    command = [sys.executable, "-m", "concord_environment", "--port", str(port)]
    with subprocess.Popen(command, env={**os.environ, **settings}) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            _await_health(process, url)
            yield process, url
        finally:
            process.kill()


def _await_health(process: subprocess.Popen[bytes], url: str, limit_s: float = 60) -> None:
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        assert process.poll() is None
        try:
            if httpx.get(f"{url}/health").is_success:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise AssertionError("it does not serve")


def head(proctor: UESClient) -> str:
    return proctor.simulation.status().chain_head


def turn(proctor: UESClient, url: str, secret: str) -> list[Callable[[], object]]:
    """The calls of one turn of an assessment: the agent writes, time moves."""

    def write() -> None:
        with UESClient(url, secret) as agent:
            agent.email.send(to_addresses=["bob@example.com"], subject="On it")

    return [write, lambda: proctor.time.advance(seconds=1800)]


def test_a_process_that_is_killed_goes_on_from_its_last_snapshot_as_if_it_lived(tmp_path: Path) -> None:
    snapshot = tmp_path / "snapshot.json"
    with environment_process(snapshot) as (process, url), UESClient(url, ADMIN_KEY) as proctor:
        proctor.simulation.start()
        secret = proctor.keys.create(name="agent", permissions=AGENT_PERMISSIONS).secret
        mail = {"operation": "receive", "from_address": "bob@example.com", "to_addresses": ["user@example.com"]}
        now = proctor.time.get_state().current_time
        due = [now + timedelta(minutes=minutes) for minutes in (10, 40, 70, 100)]
        proctor.events.create_batch(events=[{"modality": "email", "data": mail, "scheduled_time": at} for at in due])
        for call in turn(proctor, url, secret):
            call()
        heads = [proctor.simulation.snapshot()["chain_head"]]
        for call in turn(proctor, url, secret):
            call()
            heads.append(head(proctor))
        process.kill()
        process.wait()

    with environment_process(snapshot) as (_, url), UESClient(url, ADMIN_KEY) as proctor:
        assert proctor.simulation.status().is_running
        # It also writes snapshots by itself: the last one may be later than the one that was asked for.
        for call in turn(proctor, url, secret)[heads.index(head(proctor)) :]:
            call()
        assert head(proctor) == heads[-1]
        mails = proctor.email.get_state()
        assert (mails.total_email_count, len(mails.folders["sent"])) == (4, 2)
        assert proctor.time.advance(seconds=3600).events_executed == 2
