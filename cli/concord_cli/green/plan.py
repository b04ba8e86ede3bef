"""The program of the green agent. Pure."""

from dataclasses import dataclass

from concord.loopback import LOOPBACK
from concord.trust.urls import is_every_interface
from concord_cli.stack.plan import services_program
from concord_cli.stack.supervisor import Program


@dataclass(frozen=True, slots=True)
class Address:
    """Where the green agent listens, and the URL at which others reach it; None if that is not known."""

    host: str
    port: int
    card_url: str | None

    @property
    def local_url(self) -> str:
        """The base URL for a caller on this machine, without a trailing slash."""
        host = LOOPBACK if is_every_interface(self.host) else self.host
        return f"http://{host}:{self.port}"


def green_program(address: Address, redis_url: str) -> Program:
    """The program beside Redis: gateway and collector on one port, and the workers."""
    card = ("--card-url", address.card_url) if address.card_url is not None else ()
    return services_program(address.host, address.port, {"REDIS_URL": redis_url}, *card)
