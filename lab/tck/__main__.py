"""Runs copies of the A2A compatibility kit (TCK) against Concord's A2A server and the bare SDK, and compares them.

    python -m lab.tck FOLDER [FOLDER...]

Each FOLDER is a copy of https://github.com/a2aproject/a2a-tck, of its main branch for A2A 1.0 or of a release for 0.3,
with its packages installed in `.venv` there. Exits with 1 if Concord fails a test that the SDK passes, and with 2 for a
folder without the kit.
"""

import argparse
import asyncio
from pathlib import Path

from rich.console import Console

from lab.tck.kit import BINDINGS, Kit, NoKitError, figures, worse
from lab.tck.servers import concords_server, sdks_server


async def compare(kits: list[Kit], console: Console) -> list[str]:
    """Prints the figures of each kit and binding, and returns the tests that only the SDK passes. Raises NoKitError."""
    found: list[str] = []
    async with concords_server() as ours, sdks_server() as theirs:
        for kit in kits:
            for binding in BINDINGS[kit.version]:
                here, there = await kit.outcomes(ours, binding), await kit.outcomes(theirs, binding)
                console.print(f"{kit.version} {binding:<8}  Concord: {figures(here)}")
                console.print(f"{'':<12}  SDK:     {figures(there)}")
                lost = [f"{kit.version} {binding} {name}" for name in worse(here, there)]
                for each in lost:
                    console.print(f"  only the SDK passes {each}")
                found += lost
    return found


def main() -> int:
    """Reads the arguments; returns the exit code."""
    parser = argparse.ArgumentParser("lab.tck", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    console = Console(highlight=False, markup=False, soft_wrap=True)
    try:
        kits = [Kit.of(folder.resolve()) for folder in parser.parse_args().folders]
        return 1 if asyncio.run(compare(kits, console)) else 0
    except NoKitError as error:
        console.print(str(error))
        return 2


if __name__ == "__main__":
    raise SystemExit(main())
