"""`python -m tests.kit.players.digests`: compares tasks of a public secret with the table of their digests.

The same secret has to give the same task on every version of Python. `--write` writes the table anew.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Final

from concord.suite import Draw, SuiteTask, Topology, instance_secret, neighbours_in
from concord_suites import FAMILIES

TABLE: Final = Path(__file__).with_name("digests.json")
MASTER: Final = bytes(range(32))
CASES: Final = (
    (2, 1, Topology.COMPLETE),
    (5, 3, Topology.SMALL_WORLD),
    (5, 5, Topology.TREE),
    (24, 4, Topology.SCALE_FREE),
)
"""Seats, difficulty and topology of the tasks of each family."""


def digests() -> Iterator[tuple[str, str]]:
    """Each task by family, seats, difficulty and topology, and its digest."""
    for family in FAMILIES:
        for seats, difficulty, topology in CASES:
            name = f"{family.name}, {seats} seats, difficulty {difficulty}, {topology}"
            secret = instance_secret(MASTER, family.name, name, 1)
            team = [f"agent/{place}" for place in range(1, seats + 1)]
            yield name, digest(family.generate(secret, neighbours_in(topology, team, Draw(secret)), difficulty))


def digest(task: SuiteTask) -> str:
    """The SHA-256 of a task as JSON (hex)."""
    return sha256(json.dumps(asdict(task)).encode()).hexdigest()


def main() -> int:
    """Compares or writes. Returns 1 if a task differs from the table."""
    found = dict(digests())
    if "--write" in sys.argv[1:]:
        TABLE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        return 0
    expected = json.loads(TABLE.read_text(encoding="utf-8"))
    wrong = sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))
    version = sys.version.split()[0]
    print(*wrong, f"Python {version}: {len(found)} tasks, {len(wrong)} differ", sep="\n")  # noqa: T201 - the result
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
