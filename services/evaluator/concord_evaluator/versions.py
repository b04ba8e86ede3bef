"""The versions of the software that a row depends on."""

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from concord_evaluator.scoring import SCORING_VERSION

_PACKAGES: Final = ("concord-evaluator", "concord-shared", "concord-suites", "networkx", "numpy", "rustworkx")


def software_versions() -> dict[str, str]:
    """Versions by name: of the scoring rules, of Python, and of the packages that compute. Only installed ones."""
    found = {"python": platform.python_version(), "scoring": SCORING_VERSION}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
