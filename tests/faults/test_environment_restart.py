"""Restarts: a process that is killed during an assessment continues from its journal."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from concord_environment_client import UESClient
from tests.faults.environments import environment_process
from tests.integration.environment.conftest import ADMIN_KEY, AGENT_PERMISSIONS


def head(controller: UESClient) -> str:
    return controller.simulation.status().chain_head


def turn(controller: UESClient, url: str, secret: str) -> list[Callable[[], object]]:
    """The calls of one turn of an assessment: the agent writes a mail, then time advances."""

    def write() -> None:
        with UESClient(url, secret) as agent:
            agent.email.send(to_addresses=["bob@example.com"], subject="On it")

    return [write, lambda: controller.time.advance(seconds=1800)]


def test_a_restarted_process_continues_where_the_killed_one_was(tmp_path: Path) -> None:
    snapshot, log = tmp_path / "snapshot.json", tmp_path / "log"
    with environment_process(snapshot, log) as (process, url), UESClient(url, ADMIN_KEY) as controller:
        controller.simulation.start()
        secret = controller.keys.create(name="agent", permissions=AGENT_PERMISSIONS).secret
        mail = {"operation": "receive", "from_address": "bob@example.com", "to_addresses": ["user@example.com"]}
        now = controller.time.get_state().current_time
        due = [now + timedelta(minutes=minutes) for minutes in (10, 40, 70, 100)]
        controller.events.create_batch(events=[{"modality": "email", "data": mail, "scheduled_time": at} for at in due])
        for call in turn(controller, url, secret):
            call()
        controller.simulation.snapshot()
        for call in turn(controller, url, secret):
            call()
        before = head(controller)
        process.kill()
        process.wait()

    with environment_process(snapshot, log) as (_, url), UESClient(url, ADMIN_KEY) as controller:
        assert controller.simulation.status().is_running
        assert head(controller) == before
        mails = controller.email.get_state()
        assert (mails.total_email_count, len(mails.folders["sent"])) == (4, 2)
        assert controller.time.advance(seconds=3600).events_executed == 2
