"""The versions of the software that a row depends on."""

import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from types import MappingProxyType
from typing import Final

from concord.version import VERSION
from concord_evaluator.scoring import SCORING_VERSION

_PACKAGES: Final = ("networkx", "numpy", "rustworkx")


@cache
def software_versions() -> Mapping[str, str]:
    """Versions by name: of Concord, of the scoring rules, of Python, and of the packages that compute.

    Read once: to look into the packages' metadata takes longer than to make a short row.
    """
    found = {"concord": VERSION, "python": platform.python_version(), "scoring": SCORING_VERSION}
    return MappingProxyType(found | {name: version(name) for name in _PACKAGES})
