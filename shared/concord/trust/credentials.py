"""Credentials that agents ask of their callers, by the origin to which each is sent."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from concord.trust.redaction import learn_secret

MIN_LENGTH: Final = 8
"""Characters of a secret: a shorter one cannot be kept out of records, as it may be part of any text."""

_PORTS: Final = {"http": 80, "https": 443}
_FORMS: Final = '"Authorization: Bearer TOKEN", "X-API-Key: KEY" or, in the query, "?key=KEY"'


class Origin(NamedTuple):
    """Scheme, host and port of a URL (RFC 6454)."""

    scheme: str
    host: str
    port: int


def origin_of(url: str) -> Origin:
    """The origin of a URL. Raises ValueError for one without a host, or with another scheme than HTTP's."""
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError(f"{url!r} is no HTTP address")
    return Origin(parts.scheme, parts.hostname.lower(), parts.port or _PORTS[parts.scheme])


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
