"""Checks the results files of a leaderboard: `python check_results.py [--query query.sql] [--results results]`.

Every file must be JSON with the `participants` and the `results` that the platform writes, and the query must run over
all of them together. Prints the leaderboard. Exit code 1, with one line per fault, otherwise.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import duckdb

ROLE: Final = "agent"
"""The role that the query credits."""

MAX_BYTES: Final = 16 * 1024 * 1024
"""The longest document that the query's reader accepts."""


def faults(path: Path) -> Iterator[str]:
    """What is wrong with a results file."""
    if path.stat().st_size > MAX_BYTES:
        yield f"{path}: larger than {MAX_BYTES} bytes"
        return
    try:
        document = json.loads(path.read_bytes())
    except ValueError as error:
        yield f"{path}: not JSON: {error}"
        return
    if not isinstance(document, dict):
        yield f"{path}: not an object"
        return
    participants, results = document.get("participants"), document.get("results")
    if not isinstance(participants, dict) or not participants.get(ROLE):
        yield f"{path}: participants.{ROLE} has no id, so nobody would be credited"
    if not isinstance(results, list) or not results:
        yield f"{path}: no results"
    elif not all(isinstance(row, dict) for row in results):
        yield f"{path}: a result is not an object, which turns the other rows' numbers into text"


def main() -> int:
    """Checks the files and runs the query. Returns the exit code."""
    parser = argparse.ArgumentParser(description="Check the results files of a leaderboard.")
    parser.add_argument("--query", type=Path, default=Path("query.sql"))
    parser.add_argument("--results", type=Path, default=Path("results"))
    arguments = parser.parse_args()
    paths = sorted(arguments.results.glob("*.json"))
    found = [fault for path in paths for fault in faults(path)] or ([] if paths else ["no results files"])
    if found:
        print("\n".join(f"check_results: {fault}" for fault in found), file=sys.stderr)
        return 1
    with duckdb.connect() as connection:
        view = "CREATE VIEW results AS SELECT * FROM read_json_auto($1)"
        connection.execute(view.replace("$1", "'" + str(arguments.results).replace("'", "''") + "/*.json'"))
        print(connection.sql(arguments.query.read_text(encoding="utf-8")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
