"""The environment's journal with real processes: kills, a full disk, and a damaged file at the start."""

import asyncio
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path

import httpx

from concord_environment.core.events import Submission
from concord_environment.environment import new_simulation
from concord_environment.modalities.email.state import EmailState
from concord_environment_client import UESClient
from tests.faults.environments import environment_process, started
from tests.integration.environment.conftest import ADMIN_KEY
from tests.integration.environment.test_journal import MAIL, last_segment, leave_files_with, recovered
from tests.kit.ports import free_port

WRITERS = 8


def serving(folder: Path) -> AbstractContextManager[tuple["subprocess.Popen[bytes]", str]]:
    """A process whose files and log are in the folder."""
    return environment_process(folder / "snapshot.json", folder / "log")


def write_until_killed(url: str, process: "subprocess.Popen[bytes]", begin: int, enough: int) -> set[str]:
    """Writes from several threads at once, and kills the process once `enough` writes were acknowledged. Returns the
    message ids of the acknowledged mails."""
    acknowledged: set[str] = set()
    numbers = iter(range(begin, begin + 10_000))

    def write() -> None:
        with httpx.Client(base_url=url, headers={"x-api-key": ADMIN_KEY}, timeout=60) as http:
            while len(acknowledged) < enough:
                name = f"m{next(numbers)}"
                try:
                    answer = http.post("/email/receive", json={**MAIL, "message_id": name})
                    if name.endswith("7"):
                        http.post("/simulation/snapshot")
                except httpx.TransportError:
                    return
                assert answer.is_success
                acknowledged.add(name)
            process.kill()

    with ThreadPoolExecutor(WRITERS) as pool:
        for done in [pool.submit(write) for _ in range(WRITERS)]:
            done.result()
    process.wait()
    return acknowledged


def test_acknowledged_writes_of_concurrent_writers_survive_kills(tmp_path: Path) -> None:
    acknowledged: set[str] = set()
    for round_, enough in enumerate((5, 60)):
        with serving(tmp_path) as (process, url):
            acknowledged |= write_until_killed(url, process, round_ * 10_000, enough)
        with recovered(tmp_path) as environment:
            assert acknowledged <= {name for name, _ in environment.simulation.world[EmailState].emails.items()}

    assert len(acknowledged) >= 65
    with recovered(tmp_path) as environment:
        again = new_simulation(environment.seed)
        for event in sorted(environment.simulation.events.rows(), key=lambda event: event.sequence):
            again.act(Submission(event.action, event.scheduled_time, event.agent_id, event.priority, event.metadata))
        assert again.position == environment.simulation.position


def test_undone_actions_keys_and_the_pace_survive_a_kill(tmp_path: Path) -> None:
    with (
        serving(tmp_path) as (process, url),
        UESClient(url, ADMIN_KEY) as controller,
    ):
        controller.simulation.start(auto_advance=True, time_scale=60.0)
        for number in range(5):
            controller.email.receive(**MAIL, message_id=f"m{number}")
        controller.time.pause()
        secret = controller.keys.create(name="agent", permissions=["email:*"]).secret
        while "m3" in controller.email.get_state().emails:
            controller.simulation.undo()
        before = controller.simulation.status()
        process.kill()
        process.wait()

    with (
        serving(tmp_path) as (_, url),
        UESClient(url, ADMIN_KEY) as controller,
    ):
        assert controller.simulation.status() == before
        with UESClient(url, secret) as agent:
            assert set(agent.email.get_state().emails) == {"m0", "m1", "m2"}


def test_a_process_whose_disk_is_full_refuses_the_write_and_exits_without_loss(tmp_path: Path) -> None:
    acknowledged, log = set(), tmp_path / "log"
    with environment_process(tmp_path / "snapshot.json", log, largest_file=40_000) as (process, url):
        with httpx.Client(base_url=url, headers={"x-api-key": ADMIN_KEY}, timeout=60) as http:
            for number in range(1_000):
                answer = http.post("/email/receive", json={**MAIL, "message_id": f"m{number}"})
                if not answer.is_success:
                    break
                acknowledged.add(f"m{number}")
        assert answer.status_code == 503
        assert "no further change can be written" in answer.json()["detail"]
        assert process.wait(timeout=60) == 1
    assert "File too large" in log.read_text()
    with (
        serving(tmp_path) as (_, url),
        UESClient(url, ADMIN_KEY) as controller,
    ):
        assert set(controller.email.get_state().emails) == acknowledged


async def test_a_process_does_not_start_with_damage_before_the_last_append_and_logs_where_it_is(
    tmp_path: Path,
) -> None:
    await leave_files_with(tmp_path, ["a", "b", "c"])
    segment = last_segment(tmp_path)
    content = bytearray(segment.read_bytes())
    content[len(content) // 2] ^= 1
    segment.write_bytes(content)
    log = tmp_path / "log"
    with started(tmp_path / "snapshot.json", free_port(), log) as process:
        assert await asyncio.to_thread(process.wait, 60) == 1
    assert f"{segment}: damaged at offset " in log.read_text()
    assert segment.read_bytes() == content
