"""Addresses of hosts, and the networks that they are in."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_NAT64: Final = IPv6Network("64:ff9b::/96")
_METADATA: Final = frozenset({IPv4Address("100.100.100.200"), IPv6Address("fd00:ec2::254")})


def embedded(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for, where it does."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def tells_of_machines(address: Address) -> bool:
    """Whether it is a link-local address or another at which clouds tell a machine its secrets: no agent is there."""
    return address.is_link_local or address in _METADATA
