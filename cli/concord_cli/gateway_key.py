"""The API key that the command line shows a gateway."""

from typing import Final
from urllib.parse import urlsplit

from concord.secret_files import SecretFileSettings
from concord.trust.urls import is_loopback

KEY_VARIABLE: Final = "CONCORD_API_KEY"


class _Keys(SecretFileSettings):
    """The key that a client shows, and those that a gateway of the same operator accepts; "" for none."""

    concord_api_key: str = ""
    concord_api_keys: str = ""


def shown_key(url: str) -> str:
    """The key for the gateway at a URL; "" for none.

    A gateway on this machine, or on a container network of its own, was started with the same keys: the first of them
    serves where no key is set. Another gateway is never shown these.
    """
    keys, host = _Keys(), urlsplit(url).hostname or ""
    if keys.concord_api_key.strip():
        return keys.concord_api_key.strip()
    own = keys.concord_api_keys if is_loopback(host) or "." not in host else ""
    return next(filter(None, map(str.strip, own.split(","))), "")
