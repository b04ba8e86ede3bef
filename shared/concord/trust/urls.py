"""Checks for URLs from untrusted sources, against server-side request forgery."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, Final, Self
from urllib.parse import SplitResult, unquote, urlsplit

from concord.wire.roster import DEFAULT_PORTS, normalise_url

# IP addresses and networks.

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_NAT64: Final = IPv6Network("64:ff9b::/96")
_LOCAL_NAT64: Final = IPv6Network("64:ff9b:1::/48")
"""For translators of one site (RFC 8215). How they embed IPv4 addresses is theirs to choose, so none can be checked."""

_METADATA: Final = frozenset(
    {
        IPv4Address("100.100.100.200"),  # Alibaba Cloud
        IPv4Address("168.63.129.16"),  # Azure's WireServer
        IPv4Address("192.0.0.192"),  # Oracle Cloud
        IPv6Address("fd00:ec2::254"),  # AWS
        IPv6Address("fd20:ce::254"),  # Google Cloud
    }
)


def embedded(address: Address) -> Address:
    """The IPv4 address embedded in an IPv6 address, or the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def is_link_local_or_metadata(address: Address) -> bool:
    """Whether this is a link-local address, a cloud's metadata endpoint or perhaps a translation of one.

    No agent runs there.
    """
    return address.is_link_local or address in _METADATA or address in _LOCAL_NAT64


# Rules for the hosts of participants that clients declare. Pure: `PeerUrls` resolves the names.

_OWN_PORTS: Final = {**DEFAULT_PORTS, "redis": 6379, "rediss": 6379}

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
        port = parts.port or _OWN_PORTS.get(parts.scheme.lower())
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


# The rules are pure; `PeerUrls` adds the resolver. A URL that passes is pinned to the address that was checked,
# because its name may resolve to another address the next time.

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Resolves a host name. Raises OSError if it has no address."""

MAX_LENGTH: Final = 2048
"""The longest URL (characters) that a step or a roster entry can hold."""

_RESOLVE_S: Final = 3.0
_TRY_S: Final = 2.0


class UrlRefusedError(Exception):
    """The URL must not be followed or passed on; the message says why, without the URL."""


class NoAddressError(UrlRefusedError):
    """The URL's host has no address at present, or none was found in time."""


@dataclass(frozen=True, slots=True)
class PinnedUrl:
    """A URL with the one address that it may be fetched from."""

    url: str
    host: str
    port: int
    address: Address

    def request(self, path: str) -> dict[str, Any]:
        """Arguments for httpx to fetch a path below the URL from the pinned address.

        The host name goes into the Host header and the TLS handshake. The caller must refuse redirects.
        """
        return self._request(f"{urlsplit(self.url).path.rstrip('/')}{path}")

    def exact_request(self) -> dict[str, Any]:
        """As `request`, for the URL itself, with its query."""
        parts = urlsplit(self.url)
        return self._request(f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}")

    def _request(self, target: str) -> dict[str, Any]:
        parts = urlsplit(self.url)
        address = f"[{self.address}]" if self.address.version == 6 else str(self.address)
        return {
            "url": f"{parts.scheme.lower()}://{address}:{self.port}{target}",
            "headers": {"host": parts.netloc.rpartition("@")[2]},
            "extensions": {"sni_hostname": self.host},
        }


def check_form(url: str) -> SplitResult:
    """Parses an http or https URL with a host and without credentials. Raises UrlRefusedError."""
    if len(url) > MAX_LENGTH:
        raise UrlRefusedError("it is too long")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UrlRefusedError("it is not a URL") from error
    if parts.scheme.lower() not in DEFAULT_PORTS:
        raise UrlRefusedError("it is not http or https")
    if not parts.hostname or port == 0:
        raise UrlRefusedError("it has no host")
    if parts.username is not None or parts.password is not None:
        raise UrlRefusedError("it contains credentials")
    return parts


def lies_under(url: str, declared: str) -> bool:
    """Whether a URL equals a declared one or lies below it. The client vouches for such URLs."""
    here, base = normalise_url(url), normalise_url(declared)
    inside = here == base or here.startswith(f"{base}/")
    return inside and ".." not in unquote(urlsplit(here).path).split("/")


def is_allowed(address: Address, networks: Sequence[Network]) -> bool:
    """Whether an address is global or in one of the networks. An embedded IPv4 address counts instead."""
    meant = embedded(address)
    if is_link_local_or_metadata(meant):
        return False
    if any(meant in network for network in networks):
        return True
    return meant.is_global and not (meant.is_multicast or meant.is_unspecified or meant.is_reserved)


class PeerUrls:
    """Checks URLs of agents. Private addresses pass if they are in one of the allowed networks.

    `exact` lists further allowed hosts. `declared` has the rules for agents that a client declared; without it, these
    are not checked. With `only_declared`, no agent is contacted at any other address.
    """

    def __init__(
        self,
        networks: Sequence[Network],
        resolver: Resolver | None = None,
        *,
        exact: AllowedHosts = AllowedHosts(),
        declared: DeclaredHosts | None = None,
        only_declared: bool = False,
    ) -> None:
        self._only_declared = only_declared
        self._networks = networks
        self._exact = exact
        self._declared = declared
        self._resolve = resolver or _resolve

    async def pin(self, url: str) -> PinnedUrl:
        """The URL with an address of its host. Every address of the host must be allowed. Raises UrlRefusedError."""
        if self._only_declared:
            raise UrlRefusedError("agents in containers are reached at their own addresses alone")
        host, port = _place(url)
        addresses = await self._addresses(host, port)
        self._check_listed(host, port, addresses)
        return PinnedUrl(url, host, port, addresses[0])

    async def pin_webhook(self, url: str) -> PinnedUrl:
        """As `pin`, for a URL that a client posts notifications to: it must not be one of the assessor's own either.

        A client chooses path and headers of these requests, so a private host must be listed. Raises UrlRefusedError.
        """
        host, port = _place(url)
        addresses = await self._addresses(host, port)
        self._check_listed(host, port, addresses)
        await self._check_declared(host, port, addresses)
        return PinnedUrl(url, host, port, addresses[0])

    async def pin_declared(self, url: str) -> PinnedUrl | None:
        """A declared agent's URL with the address to connect to, or None if declared agents are not checked.

        Of several addresses, the first that accepts a connection. Raises UrlRefusedError.
        """
        if self._declared is None:
            return None
        host, port = _place(url)
        addresses = await self._addresses(host, port)
        await self._check_declared(host, port, addresses)
        return PinnedUrl(url, host, port, await _first_open(addresses, port))

    def _check_listed(self, host: str, port: int, addresses: Sequence[Address]) -> None:
        if not all(
            is_allowed(address, self._networks) or self._exact.names(host, port, embedded(address))
            for address in addresses
        ):
            raise UrlRefusedError("its host is not in an allowed network (CONCORD_ALLOWED_HOSTS)")

    async def _check_declared(self, host: str, port: int, addresses: Sequence[Address]) -> None:
        if self._declared is None:
            return
        own = [
            address
            for own_host, own_port in self._declared.own
            if own_port == port
            for address in await self._addresses_of_own(own_host, port)
        ]
        for address in addresses:
            if (reason := self._declared.refusal(host, port, address, own)) is not None:
                raise UrlRefusedError(reason)

    async def _addresses_of_own(self, host: str, port: int) -> list[Address]:
        try:
            return [embedded(address) for address in await self._addresses(host, port)]
        except NoAddressError:
            return []

    async def _addresses(self, host: str, port: int) -> list[Address]:
        try:
            async with asyncio.timeout(_RESOLVE_S):
                addresses = [ip_address(each.partition("%")[0]) for each in await self._resolve(host, port)]
        except TimeoutError as error:
            raise NoAddressError(f"its host's address was not found within {_RESOLVE_S:g} s") from error
        except (OSError, UnicodeError) as error:
            raise NoAddressError("its host has no address") from error
        if not addresses:
            raise NoAddressError("its host has no address")
        return addresses


def _place(url: str) -> tuple[str, int]:
    parts = check_form(url)
    return parts.hostname or "", parts.port or DEFAULT_PORTS[parts.scheme.lower()]


async def _first_open(addresses: Sequence[Address], port: int) -> Address:
    for address in addresses if len(addresses) > 1 else ():
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(_TRY_S):
                _, writer = await asyncio.open_connection(str(address), port)
            writer.close()
            return address
    return addresses[0]


async def _resolve(host: str, port: int) -> list[str]:
    with suppress(ValueError):
        return [str(ip_address(host))]  # without a thread: asyncio has few, and simultaneous calls wait for them
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(each[4][0]) for each in found]
