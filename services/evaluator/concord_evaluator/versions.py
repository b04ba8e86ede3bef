"""The versions of the software that a row depends on."""

import platform
from importlib.metadata import version
from typing import Final

from concord.version import VERSION
from concord_evaluator.scoring import SCORING_VERSION

_PACKAGES: Final = ("networkx", "numpy", "rustworkx")


def software_versions() -> dict[str, str]:
    """Versions by name: of Concord, of the scoring rules, of Python, and of the packages that compute."""
    found = {"concord": VERSION, "python": platform.python_version(), "scoring": SCORING_VERSION}
    return found | {name: version(name) for name in _PACKAGES}
