"""The environments of the peers: from `NAME.txt` in this folder, which `locks/compile` resolves from `NAME.in`."""

import subprocess
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
ROOT: Final = FOLDER.parents[2]
LIMIT_S: Final = 300
"""An environment that takes longer to install is left out."""


class NotInstalledError(Exception):
    """A peer that cannot be measured here, and why."""


def python_of(name: str) -> Path:
    """The interpreter of a peer's environment, which is created or brought up to date. Raises NotInstalledError."""
    folder = Path(".venv-peers") / name
    lock = (FOLDER / f"{name}.txt").relative_to(ROOT)
    try:
        subprocess.run(
            [ROOT / "locks" / "install", str(folder / "ready"), str(lock)],
            cwd=ROOT,
            timeout=LIMIT_S,
            check=True,
            capture_output=True,
        )
    except subprocess.TimeoutExpired as error:
        raise NotInstalledError(f"not installed within {LIMIT_S} s") from error
    except subprocess.CalledProcessError as error:
        raise NotInstalledError("its packages cannot be installed") from error
    return ROOT / folder / "bin" / "python"
