"""Redaction: takes tokens out of whatever is to be kept, shown or logged."""

import re
from typing import Final, overload

TOKEN_PREFIX: Final = "concord_"  # noqa: S105 - no secret
"""What every token starts with, so that it can be told from all other text, and from other people's tokens."""

REDACTED: Final = "-"
"""What stands in a token's place. A proxy's URL with it still names the callee, and leads nowhere."""

_TOKEN: Final = re.compile(TOKEN_PREFIX + r"eyJ[\w-]*(?:\.[\w-]*){0,2}", re.ASCII)
_TOKEN_BYTES: Final = re.compile(_TOKEN.pattern.encode())


@overload
def redact(text: str) -> str: ...
@overload
def redact(text: bytes) -> bytes: ...
def redact(text: str | bytes) -> str | bytes:
    """The text with `REDACTED` in the place of every token in it."""
    if isinstance(text, bytes):
        return _TOKEN_BYTES.sub(REDACTED.encode(), text)
    return _TOKEN.sub(REDACTED, text)
