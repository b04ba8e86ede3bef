"""`python -m lab.fuzz MINUTES [SERVICE…]`: tests each service against its OpenAPI document for so long, for 5xx
answers.

Schemathesis tries each operation alone, at and beyond the bounds of its schema, then generated requests, then sequences
of operations.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from lab.fuzz.services import SERVICES
from lab.fuzz.survival import survives
from tests.kit.redis_servers import shared_server

LOGS = Path("output/fuzz")
"""The folder of the services' logs, a file each."""


def main() -> int:
    """Reads the arguments and fuzzes one service after the other. Returns 1 if a service failed."""
    parser = argparse.ArgumentParser("lab.fuzz", description=__doc__)
    parser.add_argument("minutes", type=float, metavar="MINUTES", help="of each service")
    parser.add_argument("services", nargs="*", metavar="SERVICE", help=f"of {', '.join(SERVICES)}; all without any")
    arguments = parser.parse_args()
    if unknown := set(arguments.services) - set(SERVICES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    LOGS.mkdir(parents=True, exist_ok=True)
    failed = []
    console = Console()
    for name in arguments.services or SERVICES:
        console.rule(name)
        with (
            tempfile.TemporaryDirectory() as folder,
            shared_server(Path(folder)) as redis_url,
            SERVICES[name](redis_url, LOGS) as service,
        ):
            if not survives(service, 60 * arguments.minutes, Path(folder)):
                failed.append(name)
    console.print(f"failed: {', '.join(failed)}; their logs are in {LOGS}" if failed else "no service failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
