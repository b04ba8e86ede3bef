"""Starts of the stack, and a whole run."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from lab.benchmarks import usage
from lab.benchmarks.comparison.trees import Tree
from tests.kit.ports import row_of_free_ports

IDLE_S: Final = 3.0
"""How long after its start a stack's memory is measured."""


def stacks(tree: Tree, _: Path) -> Iterator[tuple[str, float]]:
    """`concord up` with the sample team, and `concord green`."""
    gateway, collector, agents, *_rest = row_of_free_ports(8)
    ports = ("--port", str(gateway), "--collector-port", str(collector), "--agents-port", str(agents))
    yield from _started(tree, "Press Ctrl-C", "up", *ports)
    yield from _started(tree, "is ready at", "green", "--port", str(gateway))


def _started(tree: Tree, ready: str, *arguments: str) -> Iterator[tuple[str, float]]:
    """Starts a stack, measures it, and stops it. Raises RuntimeError if it ends before it is ready."""
    name = f"concord {arguments[0]}"
    began = time.perf_counter()
    with tree.running(["concord_cli", *arguments], {"CONCORD_LOG_LEVEL": "INFO"}, piped=True) as process:
        if process.stdout is None or not any(ready in line for line in process.stdout):
            raise RuntimeError(f"`{name}` of {tree.path} ended before it was ready")
        yield f"{name}: ready (s)", time.perf_counter() - began
        yield f"{name}: CPU until ready (s)", usage.cpu_s(process.pid)
        time.sleep(IDLE_S)
        yield f"{name}: memory, idle (MiB, PSS)", usage.pss_mib(process.pid)


def whole_run(tree: Tree, _: Path) -> Iterator[tuple[str, float]]:
    """`concord run`, which waits for all of its processes. Raises RuntimeError if it fails."""
    with TemporaryDirectory() as folder:
        try:
            cost = tree.cost("concord_cli", "run", "-o", f"{folder}/results.json")
        except subprocess.SubprocessError as error:
            raise RuntimeError(f"`concord run` of {tree.path} failed") from error
    yield "concord run (s)", cost.seconds
    yield "concord run: CPU (s)", cost.cpu_s
