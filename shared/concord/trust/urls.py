"""Checks for URLs from untrusted sources, against server-side request forgery.

The rules are pure; `PeerUrls` adds the resolver. A URL that passes is pinned to the address that was checked, because
its name may resolve to another address the next time.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import SplitResult, unquote, urlsplit

from concord.trust.addresses import Address, Network, embedded, is_link_local_or_metadata
from concord.trust.declared_hosts import AllowedHosts, DeclaredHosts
from concord.wire.roster import normalise_url

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Resolves a host name. Raises OSError if it has no address."""

MAX_LENGTH: Final = 2048
"""The longest URL (characters) that a step or a roster entry can hold."""

_PORTS: Final = {"http": 80, "https": 443}
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
    if parts.scheme.lower() not in _PORTS:
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
        exact: AllowedHosts = AllowedHosts(),  # noqa: B008 - it is frozen
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
    return parts.hostname or "", parts.port or _PORTS[parts.scheme.lower()]


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
