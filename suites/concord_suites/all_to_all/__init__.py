"""All to all: what one seat holds matters only together with what several others hold."""

from typing import Final

from concord_suites.family import TextFamily

FAMILIES: Final[tuple[TextFamily, ...]] = ()

__all__ = ["FAMILIES"]
