"""Checks the results files of a leaderboard: `python check_results.py [--results results] [--query query.sql]`.

Every file must be JSON with the `participants` and the `results` that the platform writes, with each shard of one
assessment once. With `--query`, the query must run over all of them together, and the leaderboard is printed; only this
needs duckdb. Exit code 1, with one line per fault, otherwise.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

MAX_BYTES: Final = 16 * 1024 * 1024
"""The longest document that the query's reader accepts."""

MAX_SHARDS: Final = 20
"""The most that the platform starts."""


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
    if not isinstance(participants, dict) or not any(participants.values()):
        yield f"{path}: no participant has an id, so nobody would be credited"
    if not isinstance(results, list) or not results:
        yield f"{path}: no results"
    elif not all(isinstance(row, dict) for row in results):
        yield f"{path}: a result is not an object, which turns the other rows' numbers into text"
    elif any(_at(row, "detail", "shard") for row in results):
        yield from (f"{path}: {fault}" for fault in shard_faults(results))
    elif (status := document.get("status", "completed")) != "completed":
        yield f"{path}: its status is {status!r}, so shards are missing"


def shard_faults(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Why rows that state their shards are not each shard of one assessment, once."""
    indices = Counter(_number(row, "detail", "shard", "shard_index") for row in rows)
    numbers = {_number(row, "detail", "shard", "num_shards") for row in rows}
    plans = {str(_at(row, "detail", "shard", "plan_sha256")) for row in rows}
    secrets = {str(secret) for row in rows if (secret := _at(row, "detail", "task_secret_sha256"))}
    if len(secrets) > 1:
        yield "its shards follow from different task secrets: set the secret TASK_SECRET"
    if len(plans) > 1 or len(numbers) > 1:
        yield "its rows are of several assessments: submit each in a file of its own, with all of its shards"
        return
    [number] = numbers
    yield from (f"shard {index} occurs {times} times" for index, times in indices.items() if times > 1)
    if missing := [str(index) for index in range(min(number, MAX_SHARDS)) if index not in indices]:
        yield f"{len(missing)} of {number} shards are missing, so it has no rank: {', '.join(missing)}"


def _number(row: dict[str, Any], *path: str) -> int:
    """The number at a path of keys, whole as A2A does not keep it; -1 if there is none."""
    found = _at(row, *path)
    return int(found) if isinstance(found, int | float) and found >= 0 and found < sys.maxsize else -1


def _at(value: object, *path: str) -> object:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def main() -> int:
    """Checks the files and runs the query. Returns the exit code."""
    parser = argparse.ArgumentParser(description="Check the results files of a leaderboard.")
    parser.add_argument("--query", type=Path, help="prints the leaderboard by this query; needs duckdb")
    parser.add_argument("--results", type=Path, default=Path("results"))
    arguments = parser.parse_args()
    paths = sorted(arguments.results.glob("*.json"))
    found = [fault for path in paths for fault in faults(path)] or ([] if paths else ["no results files"])
    if not found and arguments.query is not None:
        found = leaderboard(arguments.results, arguments.query)
    if found:
        print("\n".join(f"check_results: {fault}" for fault in found), file=sys.stderr)
        return 1
    print(f"Results files without a fault: {len(paths)}")
    return 0


def leaderboard(results: Path, query: Path) -> list[str]:
    """Prints the leaderboard. Returns what is wrong with the query."""
    try:
        import duckdb  # seventeen times as large as what else the kit needs
    except ModuleNotFoundError:
        return [f"the query needs duckdb: {sys.executable} -m pip install duckdb"]
    try:
        with duckdb.connect() as connection:
            connection.read_json(f"{results}/*.json").create_view("results")
            print(connection.sql(query.read_text(encoding="utf-8")))
    except (OSError, duckdb.Error) as error:
        return [f"{query}: {str(error).splitlines()[0]}"]
    return []


if __name__ == "__main__":
    sys.exit(main())
