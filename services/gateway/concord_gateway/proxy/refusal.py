"""What a caller gets where its callee's own answer cannot be passed on, or not to its end."""

from collections.abc import Mapping


class Refusal(Exception):  # noqa: N818 - an answer, not an error of ours
    """The proxy's own answer. Its text never holds a token or an address."""

    def __init__(self, status: int, reason: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.headers = headers or {}


class BrokenOffError(Exception):
    """The callee's answer broke off after a part of it had been passed on: all that is left is to break off as well."""
