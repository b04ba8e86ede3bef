"""The model endpoints that an operator names for seats in containers, and the server that a TLS connection names."""

import re
import ssl
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from concord.loopback import LOOPBACK
from concord.trust.urls import is_loopback

_PORTS: Final = {"http": 80, "https": 443}
_HOST: Final = re.compile(r"[a-z0-9:][a-z0-9._:-]*")
_NO_SERVER: Final = "is not the URL of a server, such as https://api.openai.com"


@dataclass(frozen=True, slots=True)
class ModelEndpoint:
    """A server that seats may reach: `scheme://host[:port]`."""

    host: str
    port: int
    tls: bool

    @classmethod
    def parse(cls, url: str) -> "ModelEndpoint":
        """Reads a URL. Raises ValueError for one with a path, and for an address that no host name stands for."""
        try:
            parts = urlsplit(url)
            port = parts.port or _PORTS.get(parts.scheme, 0)
        except ValueError:
            raise ValueError(f"{url} {_NO_SERVER}") from None
        if parts.scheme not in _PORTS or not _HOST.fullmatch(parts.hostname or "") or parts.username is not None:
            raise ValueError(f"{url} {_NO_SERVER}")
        if parts.path not in {"", "/"} or parts.query or parts.fragment:
            raise ValueError(f"{url}: name the server alone, without a path: every path of it can be reached")
        host = (parts.hostname or "").lower()
        if _is_address(host) and host != LOOPBACK:
            raise ValueError(f"{url}: name the server by a host name, for example one in /etc/hosts")
        return cls(host, port, parts.scheme == "https")

    @property
    def on_this_machine(self) -> bool:
        """Whether it is a server on the loopback interface, such as a local model's."""
        return is_loopback(self.host)

    @property
    def url(self) -> str:
        """The URL as the row states it."""
        scheme = "https" if self.tls else "http"
        return f"{scheme}://{self.host}" + ("" if self.port == _PORTS[scheme] else f":{self.port}")


class NoServerNameError(Exception):
    """A connection does not begin with a TLS handshake that names a server."""


def server_name(received: bytes) -> str | None:
    """The server that a client's first bytes of a TLS connection name (SNI); None if more bytes are needed.

    Raises NoServerNameError.
    """
    names: list[str | None] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.sni_callback = lambda _tls, name, _context: names.append(name)
    incoming = ssl.MemoryBIO()
    incoming.write(received)
    try:
        context.wrap_bio(incoming, ssl.MemoryBIO(), server_side=True).do_handshake()
    except ssl.SSLWantReadError:
        if not names:
            return None
    except ssl.SSLError:
        pass  # without a certificate, no handshake goes further than the name
    if not names or not names[0]:
        raise NoServerNameError
    return names[0].lower()


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
