"""URLs that strangers name: which of them our services may follow or hand on, so that nobody is reached through us.

The rules are pure; `PeerUrls` adds the resolver. A URL that passed is pinned to the address that was checked, since a
name may resolve to another one the next time.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any, Final
from urllib.parse import SplitResult, unquote, urlsplit

from concord.identity import normalise_url

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a host. Raises OSError where it has none."""

MAX_LENGTH: Final = 2048
"""Characters of a URL: what a step and a roster's entry can hold."""

_PORTS: Final = {"http": 80, "https": 443}
_NAT64: Final = IPv6Network("64:ff9b::/96")
_RESOLVE_S: Final = 3.0


class UrlRefusedError(Exception):
    """A URL that is not to be followed or handed on; the message says why, and does not hold the URL."""


@dataclass(frozen=True, slots=True)
class PinnedUrl:
    """A URL with the one address that it may be fetched from."""

    url: str
    host: str
    port: int
    address: Address

    def request(self, path: str) -> dict[str, Any]:
        """The arguments with which httpx fetches a path below the URL from the pinned address.

        The name goes where a server and its certificate look for it. Redirects are the caller's to refuse.
        """
        parts = urlsplit(self.url)
        address = f"[{self.address}]" if self.address.version == 6 else str(self.address)
        return {
            "url": f"{parts.scheme.lower()}://{address}:{self.port}{parts.path.rstrip('/')}{path}",
            "headers": {"host": parts.netloc.rpartition("@")[2]},
            "extensions": {"sni_hostname": self.host},
        }


def check_form(url: str) -> SplitResult:
    """The parts of a URL that is http or https, has a host, and no credentials. Raises UrlRefusedError."""
    if len(url) > MAX_LENGTH:
        raise UrlRefusedError("it is too long")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UrlRefusedError("it is no URL") from error
    if parts.scheme.lower() not in _PORTS:
        raise UrlRefusedError("it is not http or https")
    if not parts.hostname or port == 0:
        raise UrlRefusedError("it has no host")
    if parts.username is not None or parts.password is not None:
        raise UrlRefusedError("it holds credentials")
    return parts


def lies_under(url: str, declared: str) -> bool:
    """Whether a URL is a declared one or below it: whoever declared an agent's address vouches for these."""
    here, base = normalise_url(url), normalise_url(declared)
    inside = here == base or here.startswith(f"{base}/")
    return inside and ".." not in unquote(urlsplit(here).path).split("/")


def is_allowed(address: Address, networks: Sequence[Network]) -> bool:
    """Whether an address is in the open internet, or in one of these networks. What it embeds counts as itself."""
    meant = _embedded(address)
    if any(meant in network for network in networks):
        return True
    return meant.is_global and not (meant.is_multicast or meant.is_unspecified or meant.is_reserved)


class PeerUrls:
    """Checks URLs of agents. Private addresses pass where they lie in one of the allowed networks."""

    def __init__(self, networks: Sequence[Network], resolver: Resolver | None = None) -> None:
        self._networks = networks
        self._resolve = resolver or _resolve

    async def pin(self, url: str) -> PinnedUrl:
        """The URL and an address of its host. Every address of the host must be allowed. Raises UrlRefusedError."""
        parts = check_form(url)
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme.lower()]
        try:
            async with asyncio.timeout(_RESOLVE_S):
                addresses = [ip_address(each.partition("%")[0]) for each in await self._resolve(host, port)]
        except (OSError, TimeoutError, UnicodeError) as error:
            raise UrlRefusedError("its host has no address") from error
        if not addresses:
            raise UrlRefusedError("its host has no address")
        if not all(is_allowed(address, self._networks) for address in addresses):
            raise UrlRefusedError("its host is in no network that is allowed (ALLOWED_PEER_NETWORKS)")
        return PinnedUrl(url, host, port, addresses[0])


def _embedded(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for, where it does."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


async def _resolve(host: str, port: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(each[4][0]) for each in found]
