"""`python -m tests.affected FILE…`: prints the unit tests that mirror the files' folders, for `make check`."""

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
UNIT = Path("tests/unit")


def tests_of(file: Path) -> Path:
    """The deepest folder of `tests/unit` that mirrors the folder of a file (paths relative to the repository).

    A test is its own test. Raises LookupError for a file that no folder mirrors.
    """
    if file.parts[0] == "tests":
        return file
    for mirrored in _mirrors(file):
        if (ROOT / mirrored).is_dir():
            return mirrored
    raise LookupError(f"no folder of {UNIT} mirrors {file}")


def _mirrors(file: Path) -> Iterator[Path]:
    """`services/x/concord_x/a/b.py` is tested in `tests/unit/x/a` or `tests/unit/x`; a client with its service."""
    parts = [part for part in file.parts if part != "services"]
    member, *rest = parts
    member = member.removesuffix("_client")
    inner = [part for part in rest[1:] if not part.endswith(".py")]
    for depth in range(len(inner), -1, -1):
        yield UNIT.joinpath(member, *inner[:depth])


def main() -> None:
    """Prints a path per argument, each once."""
    try:
        found = dict.fromkeys(tests_of(Path(argument)) for argument in sys.argv[1:])
    except LookupError as error:
        sys.exit(str(error))
    print(*found)  # noqa: T201 - its output is the result


if __name__ == "__main__":
    main()
