"""The stack under attack: its addresses, and its inside where it is local."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from tests.kit.stack import everything_in


@dataclass(frozen=True, slots=True)
class Inside:
    """The parts of a local stack that the network does not show."""

    redis_url: str
    folder: Path
    """The folder with the stack's logs and output."""

    def redis(self) -> bytes:
        """Everything in Redis."""
        return everything_in(self.redis_url)

    def files(self) -> bytes:
        """Everything that the services logged or wrote, without Redis's own files."""
        written = (path for path in self.folder.rglob("*") if path.is_file() and path.parent.name != "redis")
        return b"\n".join(path.read_bytes() for path in written)

    def logs(self) -> str:
        """The logs of all programs but Redis."""
        logs = (path for path in self.folder.glob("*.log") if path.stem != "redis")
        return "\n".join(path.read_text(errors="replace") for path in logs)


@dataclass(frozen=True, slots=True)
class Target:
    """A gateway and its collector, by base URLs without a trailing slash."""

    gateway: str
    collector: str
    host: str
    """This machine's address, as the stack reaches the servers that attack it."""
    key: str | None = field(default=None, repr=False)
    """An API key of the gateway, if it requires one."""
    inside: Inside | None = None

    def processes(self) -> dict[str, int]:
        """The process ids of a local gateway and collector: a process that died and was restarted has another id."""
        if self.inside is None:
            return {}
        return {name: process_at(url) for name, url in (("gateway", self.gateway), ("collector", self.collector))}

    def resident_mib(self) -> int | None:
        """The resident memory of a local gateway in MiB; None for a stack elsewhere."""
        if self.inside is None:
            return None
        pages = int(Path(f"/proc/{process_at(self.gateway)}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") // 2**20


def process_at(url: str) -> int:
    """The id of the service process that listens at this URL's port on this machine, apart from its supervisor; 0
    without one."""
    port = url.rpartition(":")[2]
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_text(errors="replace").split("\0")
            except OSError:
                continue
            if words[1:2] == ["-m"] and "--port" in words and words[words.index("--port") + 1] == port:
                return int(entry.name)
    return 0
