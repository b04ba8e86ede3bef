"""Keys: those that an agent's clients show, and those that agents ask of their callers."""

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from pydantic import SecretStr

from concord.trust.redaction import learn_secret
from concord.wire.roster import DEFAULT_PORTS

# API keys of an agent's clients.

MIN_KEY_LENGTH: Final = 16
KEY_HEADER: Final = "x-api-key"

_BEARER: Final = "bearer"


class ApiKeys:
    """The keys that a service accepts. Without any, all callers are anonymous."""

    def __init__(self, configured: SecretStr) -> None:
        """`configured` is comma-separated. Raises ValueError for a key that is too short."""
        keys = [key for part in configured.get_secret_value().split(",") if (key := part.strip())]
        if any(len(key) < MIN_KEY_LENGTH for key in keys):
            raise ValueError(f"an API key must have at least {MIN_KEY_LENGTH} characters")
        for key in keys:
            learn_secret(key)
        self._owners = [owner_of(key) for key in keys]

    def __bool__(self) -> bool:
        """Whether callers need a key."""
        return bool(self._owners)

    @property
    def several(self) -> bool:
        """Whether there is more than one."""
        return len(self._owners) > 1

    def owner(self, headers: Mapping[str, str]) -> str | None:
        """The digest of the accepted key in a request, or None.

        Clients send `Authorization: Bearer KEY` or `X-API-Key: KEY`. Digests are compared in constant time, so response
        times reveal nothing about a key.
        """
        known = [owner for owner in self._owners if shows(headers, owner)]
        return known[0] if known else None


def owner_of(key: str) -> str:
    """The digest that stands for the holder of a key."""
    return blake2b(key.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def shows(headers: Mapping[str, str], owner: str) -> bool:
    """Whether a request shows the key of an owner. The comparison takes constant time."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    shown = (key if scheme.lower() == _BEARER else "", headers.get(KEY_HEADER, ""))
    return any(hmac.compare_digest(owner, owner_of(each.strip())) for each in shown)


# Credentials that agents ask of their callers, by the origin to which each is sent.

MIN_LENGTH: Final = 8
"""Characters of a secret: a shorter one cannot be kept out of records, as it may be part of any text."""

_FORMS: Final = '"Authorization: Bearer TOKEN", "X-API-Key: KEY" or, in the query, "?key=KEY"'


class Origin(NamedTuple):
    """Scheme, host and port of a URL (RFC 6454)."""

    scheme: str
    host: str
    port: int


def origin_of(url: str) -> Origin:
    """The origin of a URL. Raises ValueError for one without a host, or with another scheme than HTTP's."""
    parts = urlsplit(url)
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
        raise ValueError(f"{url!r} is no HTTP address")
    return Origin(parts.scheme, parts.hostname.lower(), parts.port or DEFAULT_PORTS[parts.scheme])


@dataclass(frozen=True, slots=True, repr=False)
class Credential:
    """What a request shows: a header, or a parameter of the query."""

    name: str
    value: str
    in_query: bool = False

    @classmethod
    def parse(cls, text: str) -> "Credential":
        """Reads one of `_FORMS`. Raises ValueError, which does not quote the text."""
        in_query = text.startswith("?")
        name, mark, value = text.removeprefix("?").partition("=" if in_query else ":")
        name, value = name.strip(), value.strip()
        if not (mark and name.isascii() and name.replace("-", "").replace("_", "").isalnum() and value.isprintable()):
            raise ValueError(f"is none of the forms {_FORMS}")
        credential = cls(name, value, in_query)
        if len(credential.secret) < MIN_LENGTH or not value.isascii():
            raise ValueError(f"has no secret of at least {MIN_LENGTH} ASCII characters")
        return credential

    @property
    def secret(self) -> str:
        """The token or the key alone."""
        return self.value.split()[-1] if self.value.split() else ""


@dataclass(frozen=True, slots=True, repr=False)
class Credentials:
    """The credentials by origin. Nothing is sent to another origin, whatever an agent's card says."""

    by_origin: Mapping[Origin, Credential] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> "Credentials":
        """Reads a JSON object of origins and credentials. Raises ValueError, which quotes no secret."""
        try:
            document = json.loads(text or "{}")
        except ValueError:
            document = None
        if not isinstance(document, dict) or not all(isinstance(value, str) for value in document.values()):
            raise ValueError(f"is not a JSON object of origins and credentials, each {_FORMS}")
        found = {}
        for origin, credential in document.items():
            try:
                found[origin_of(origin)] = Credential.parse(credential)
            except ValueError as error:
                raise ValueError(f"{origin}: {error}") from None
        return cls(found)

    def learn(self) -> "Credentials":
        """Has the redactor of this process know the secrets; returns these credentials."""
        for credential in self.by_origin.values():
            learn_secret(credential.secret)
        return self

    def of(self, url: str) -> Credential | None:
        """The credential for requests to a URL."""
        try:
            return self.by_origin.get(origin_of(url)) if self.by_origin else None
        except ValueError:
            return None


def bearer(url: str, token: str) -> Credentials:
    """The credentials that send a bearer token to the origin of a URL; none without a token. Raises ValueError."""
    return Credentials({origin_of(url): Credential.parse(f"Authorization: Bearer {token}")} if token else {})
