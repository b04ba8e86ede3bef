"""`python -m benchmarks.trials OLD`: the gateway's time and CPU for a trial, here and in another working tree.

OLD has its own `.venv`. The two take turns, so that other work on the machine meets both. With `--write`, updates the
table of docs/benchmarks.md.
"""

import argparse
import asyncio
import os
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx
from rich.console import Console

from benchmarks.__main__ import DOCUMENT
from benchmarks.assessments import send
from benchmarks.processes import redis_server, served, wait_for
from benchmarks.tables import ResultTable, write_section
from tests.ports import free_port

HERE: Final = Path(__file__).parents[1]
MANY: Final = 40
"""Trials of the long assessment: the start and the end of an assessment then hardly count."""

SHORT, LONG = "one trial: until the row is there, p50 (ms)", f"{MANY} trials: CPU of the gateway, per trial (ms)"


@dataclass(slots=True)
class Tree:
    """The stack of a working tree: its gateway's URL and process, and what was measured of it."""

    url: str
    gateway: int
    figures: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))


def main() -> None:
    """Measures both trees in turns, and prints medians and ratios."""
    parser = argparse.ArgumentParser("benchmarks.trials", description=__doc__)
    parser.add_argument("old", type=Path, metavar="OLD", help="the other working tree, with its .venv")
    parser.add_argument("--rounds", type=int, default=10, help="measurements of each tree")
    parser.add_argument("--write", action="store_true", help=f"put the table into docs/{DOCUMENT.name}")
    arguments = parser.parse_args()
    table = asyncio.run(_measured(arguments.old.resolve(), arguments.rounds))
    Console().print(table.rich())
    if arguments.write:
        write_section(DOCUMENT, "trials", [table])


async def _measured(old: Path, rounds: int) -> ResultTable:
    with ExitStack() as stack:
        agent = stack.enter_context(served("plain_agent", "")).url + "/"
        trees = [stack.enter_context(_stack(tree)) for tree in (old, HERE)]
        async with httpx.AsyncClient(timeout=600) as http:
            for tree in trees:
                await send(http, tree.url, {"task": "Answer."}, {"agent": agent})  # imports, and fills its caches
            for _ in range(rounds):
                for tree in trees:
                    await _measure(http, tree, agent)
    then, now = ({name: median(values) for name, values in tree.figures.items()} for tree in trees)
    return _table(then, now, rounds)


async def _measure(http: httpx.AsyncClient, tree: Tree, agent: str) -> None:
    began = time.perf_counter()
    await send(http, tree.url, {"task": "Answer."}, {"agent": agent})
    tree.figures[SHORT].append(1000 * (time.perf_counter() - began))
    before = _cpu_s(tree.gateway)
    tasks: list[dict[str, Any]] = [{"id": f"task-{number}", "text": "Answer."} for number in range(MANY)]
    await send(http, tree.url, {"tasks": tasks}, {"agent": agent})
    tree.figures[LONG].append(1000 * (_cpu_s(tree.gateway) - before) / MANY)


def _table(then: Mapping[str, float], now: Mapping[str, float], rounds: int) -> ResultTable:
    return ResultTable(
        "A trial of an agent that does not report, old and new",
        f"Medians of {rounds} rounds, in which the trees take turns. The agent answers at once. One gateway and one "
        f"worker per queue share {os.cpu_count()} cores with Redis and the agent.",
        ("", "old", "new", "ratio"),
        [(name, f"{then[name]:.3g}", f"{now[name]:.3g}", f"{now[name] / then[name]:.2f}") for name in (SHORT, LONG)],
    )


@contextmanager
def _stack(tree: Path) -> Iterator[Tree]:
    """A gateway with its workers from a working tree, with a Redis of their own."""
    port = free_port()
    with TemporaryDirectory() as folder, redis_server(Path(folder) / "redis") as redis_url, ExitStack() as running:
        environment = os.environ | {
            "REDIS_URL": redis_url,
            "CONCORD_OUTPUT_DIR": f"{folder}/output",
            "CONCORD_LOG_LEVEL": "ERROR",
        }
        commands = (
            ("benchmarks.servers", "gateway", str(port), redis_url),
            ("concord_evaluator", "--queue", "fast"),
            ("concord_evaluator", "--queue", "llm"),
        )
        started = []
        for words in commands:
            python = str(tree / ".venv" / "bin" / "python")
            process = subprocess.Popen([python, "-m", *words], cwd=tree, env=environment)  # noqa: S603 - our own programs
            running.callback(process.wait)
            running.callback(process.terminate)
            started.append(process.pid)
        url = f"http://127.0.0.1:{port}/"
        wait_for(lambda: httpx.get(f"{url}usage").is_success)
        yield Tree(url, started[0])


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
