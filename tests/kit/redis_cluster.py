"""A real Redis Cluster for tests: three primaries on the loopback, each with a third of the slots."""

import subprocess
import time
from contextlib import suppress
from pathlib import Path

import redis

from concord_cli.stack.redis import choose_redis
from tests.kit.ports import free_port
from tests.kit.redis_servers import READY_S, wait_until_up

NODES = 3
_SLOTS = 16_384
_CONFIGURATION = """\
bind 127.0.0.1
port {port}
cluster-port {bus}
cluster-enabled yes
cluster-node-timeout 2000
dir "{folder}"
appendonly yes
appendfsync always
save ""
"""


class Cluster:
    """Three primaries, which can be killed and restarted with all data that they acknowledged."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        choice = choose_redis({}, folder / "choice", free_port())
        assert choice.program is not None
        self._ports = [free_port() for _ in range(NODES)]
        self._bus_ports = [free_port() for _ in range(NODES)]
        self._commands: list[tuple[str, str]] = []
        for port, bus in zip(self._ports, self._bus_ports, strict=True):
            home = folder / str(port)
            home.mkdir()
            (home / "redis.conf").write_text(_CONFIGURATION.format(port=port, bus=bus, folder=home))
            self._commands.append((choice.program.command[0], str(home / "redis.conf")))
        self._processes: list[subprocess.Popen[bytes]] = []
        self.node_urls = [f"redis://127.0.0.1:{port}" for port in self._ports]
        self.url = "redis+cluster://" + ",".join(f"127.0.0.1:{port}" for port in self._ports)

    def start(self) -> None:
        """Starts the nodes, joins them the first time, and waits until they serve all slots."""
        first = not self._processes
        self._processes = [
            subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for command in self._commands
        ]
        for url in self.node_urls:
            wait_until_up(url)
        if first:
            self._join()
        self._wait_until_all_agree()

    def kill(self) -> None:
        """Sends SIGKILL to all nodes."""
        for process in self._processes:
            process.kill()
            process.wait()

    def flush(self) -> None:
        """Deletes all keys."""
        for url in self.node_urls:
            with redis.Redis.from_url(url) as node:
                node.flushall()

    def keys(self) -> dict[str, list[str]]:
        """The names of all keys, by the node that has them."""
        found = {}
        for url in self.node_urls:
            with redis.Redis.from_url(url, decode_responses=True) as node:
                found[url] = sorted(node.scan_iter())
        return found

    def _join(self) -> None:
        share = -(-_SLOTS // NODES)
        for number, url in enumerate(self.node_urls):
            with redis.Redis.from_url(url) as node:
                node.execute_command("CLUSTER", "ADDSLOTSRANGE", number * share, min((number + 1) * share, _SLOTS) - 1)
                node.execute_command("CLUSTER", "MEET", "127.0.0.1", self._ports[0], self._bus_ports[0])

    def _wait_until_all_agree(self) -> None:
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline:
            with suppress(redis.RedisError):
                if all(self._is_whole(url) for url in self.node_urls):
                    return
            time.sleep(0.05)
        raise TimeoutError(f"the cluster does not serve all slots after {READY_S} s")

    def _is_whole(self, url: str) -> bool:
        with redis.Redis.from_url(url, decode_responses=True) as node:
            info = node.execute_command("CLUSTER INFO")
            peers = node.execute_command("CLUSTER SLOTS")
        state = info if isinstance(info, dict) else dict(line.split(":") for line in info.split())
        return state["cluster_state"] == "ok" and len(peers) == NODES
