"""The stack under attack: where it is, and what is known of its inside where it is our own."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from tests.security.stack import everything_in


@dataclass(frozen=True, slots=True)
class Inside:
    """What the network does not show of a stack."""

    redis_url: str
    folder: Path
    """Its logs, and below them what it writes."""

    def redis(self) -> bytes:
        """Everything in its Redis."""
        return everything_in(self.redis_url)

    def files(self) -> bytes:
        """All that its services logged or wrote, but for what Redis writes."""
        written = (path for path in self.folder.rglob("*") if path.is_file() and path.parent.name != "redis")
        return b"\n".join(path.read_bytes() for path in written)

    def log(self, service: str) -> str:
        """What a service logged."""
        return (self.folder / f"{service}.log").read_text(errors="replace")


@dataclass(frozen=True, slots=True)
class Target:
    """A gateway and its collector, by base URLs without a trailing slash."""

    gateway: str
    collector: str
    host: str
    """This machine's address, as the stack reaches the servers that attack it."""
    key: str | None = field(default=None, repr=False)
    """An API key of the gateway, where it wants one."""
    inside: Inside | None = None

    def processes(self) -> dict[str, int]:
        """The process ids of gateway and collector, where these are our own: one that died has another."""
        if self.inside is None:
            return {}
        return {name: process_at(url) for name, url in (("gateway", self.gateway), ("collector", self.collector))}

    def resident_mib(self) -> int | None:
        """The gateway's resident memory in MiB, where it is our own."""
        if self.inside is None:
            return None
        pages = int(Path(f"/proc/{process_at(self.gateway)}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") // 2**20


def process_at(url: str) -> int:
    """The id of the service's process that listens at a port of this machine, its leash aside; 0 without one."""
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
