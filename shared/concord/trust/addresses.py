"""IP addresses and networks."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final

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
