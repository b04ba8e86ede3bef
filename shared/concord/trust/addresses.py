"""IP addresses and networks."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_NAT64: Final = IPv6Network("64:ff9b::/96")
_METADATA: Final = frozenset({IPv4Address("100.100.100.200"), IPv6Address("fd00:ec2::254")})


def embedded(address: Address) -> Address:
    """The IPv4 address embedded in an IPv6 address, or the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def is_link_local_or_metadata(address: Address) -> bool:
    """Whether this is a link-local address or a cloud metadata endpoint. No agent runs there."""
    return address.is_link_local or address in _METADATA
