"""Permissions: `resource:action`, with `*` for one part, or at the end for all that follows."""

from collections.abc import Iterable
from typing import Annotated, Final

from pydantic import Field

PATTERN: Final = r"^(\*|[a-z][a-z_-]*)(:(\*|[a-z][a-z_-]*)){0,3}$"

Permission = Annotated[str, Field(pattern=PATTERN, max_length=100)]
"""A permission, or a pattern of permissions."""

ALL: Final = "*"


def grants(pattern: str, permission: str) -> bool:
    """Whether a pattern grants a permission, or all that another pattern does."""
    granted, asked = pattern.split(":"), permission.split(":")
    for place, part in enumerate(granted):
        if part == ALL and place == len(granted) - 1:
            return len(asked) > place
        if place >= len(asked) or part not in (ALL, asked[place]):
            return False
    return len(granted) == len(asked)


def any_grants(patterns: Iterable[str], permission: str) -> bool:
    """Whether one of the patterns grants a permission."""
    return any(grants(pattern, permission) for pattern in patterns)
