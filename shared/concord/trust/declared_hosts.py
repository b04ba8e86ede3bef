"""Rules for the hosts of participants that clients declare. Pure: `PeerUrls` resolves the names."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final, Self
from urllib.parse import urlsplit

from concord.trust.addresses import Address, Network, embedded, is_link_local_or_metadata

_PORTS: Final = {"http": 80, "https": 443, "redis": 6379, "rediss": 6379}

HostAndPort = tuple[str, int]


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """The networks and the exact hosts with ports in `CONCORD_ALLOWED_HOSTS`."""

    networks: tuple[Network, ...] = ()
    exact: frozenset[HostAndPort] = frozenset()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parses, for example, `10.0.0.0/8, agent:9001, [::1]:9002`. Raises ValueError."""
        networks: list[Network] = []
        exact: set[HostAndPort] = set()
        for part in filter(None, map(str.strip, text.split(","))):
            try:
                networks.append(ip_network(part))
            except ValueError:
                exact.add(_host_and_port(part))
        return cls(tuple(networks), frozenset(exact))

    def names(self, host: str, port: int, address: Address) -> bool:
        """Whether a host is listed exactly, by name or address."""
        named = (host.lower(), port) in self.exact or (str(address), port) in self.exact
        return named and not is_link_local_or_metadata(address)


@dataclass(frozen=True, slots=True)
class DeclaredHosts:
    """`own` are the assessor's hosts and ports. `on_loopback` says whether the gateway is bound to loopback only."""

    allowed: AllowedHosts
    own: frozenset[HostAndPort] = frozenset()
    on_loopback: bool = False

    def refusal(self, host: str, port: int, address: Address, own: Sequence[Address]) -> str | None:
        """Why a participant must not be at this address of its host, or None.

        `own` are the addresses of the assessor's hosts that use this port.
        """
        meant = embedded(address)
        if is_link_local_or_metadata(meant):
            return "its host is at a link-local address, or at one where a cloud tells of its machines"
        if self.allowed.names(host, port, meant):
            return None
        here = meant.is_loopback or meant.is_unspecified
        # A server on one address of this machine can often be reached through the others.
        if meant in own or (here and any(own_port == port for _, own_port in self.own)):
            return "it is one of the assessor's own addresses"
        if any(meant in network for network in self.allowed.networks):
            return None
        if here:
            return None if self.on_loopback else "its host is at a loopback address, and the gateway serves others too"
        if meant.is_multicast or (meant.is_reserved and not meant.is_global):
            return "its host is at no address of a host"
        if not meant.is_global and (self.allowed.networks or self.allowed.exact):
            return "its host is not in an allowed network (CONCORD_ALLOWED_HOSTS)"
        return None


def host_and_port(url: str) -> HostAndPort | None:
    """Host and port of a URL, or None."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme.lower())
    except ValueError:
        return None
    return (parts.hostname, port) if parts.hostname and port else None


def is_loopback(host: str) -> bool:
    """Whether a server that listens on this host is reachable from this machine only."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_every_interface(host: str) -> bool:
    """Whether a server on this host listens on every interface. Its clients then need another address."""
    try:
        return ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return False


def _host_and_port(text: str) -> HostAndPort:
    place = urlsplit(f"//{text}")
    if not place.hostname or place.port is None or place.path or place.username is not None:
        raise ValueError(f"neither a network nor host:port: {text!r}")
    host = place.hostname
    return (str(IPv6Address(host)) if ":" in host else host), place.port
