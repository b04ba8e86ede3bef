"""`concord`, and `python -m concord_cli`: the command line, or a line that says how to install it."""

import atexit
import gc
import sys
from typing import Final

from concord_cli.extras import lacking

_GARBAGE: Final = 50_000
"""Objects after which garbage is collected. Imports make many that stay, and to look through them after every 700 takes
a tenth of a start."""


def main() -> None:
    """Runs the command line. Exit code 2 if its packages are not installed: an agent's author needs none."""
    gc.set_threshold(_GARBAGE)
    atexit.register(gc.freeze)  # a last search for garbage takes a sixth of a short command, and all ends with it
    try:
        from concord_cli.main import app
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("concord"):
            raise
        sys.stderr.write(lacking("concord", error.name, "cli") + "\n")
        sys.exit(2)
    app()


if __name__ == "__main__":
    main()
