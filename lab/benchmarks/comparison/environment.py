"""The environment's time for a call over HTTP."""

from collections.abc import Iterator
from pathlib import Path

from lab.benchmarks import usage
from lab.benchmarks.comparison.trees import Tree
from lab.benchmarks.environment import rates
from tests.kit.ports import free_port


def environment(tree: Tree, _: Path) -> Iterator[tuple[str, float]]:
    """Each kind of call, by one caller who waits for every answer."""
    for measured, mails, mail in (
        (rates.CALLS, rates.MAILS, rates.MAIL),
        (rates.STATES, rates.STATE_MAILS, rates.LONG_MAIL),
    ):
        port = free_port()
        with tree.running(["concord_environment", "--port", str(port)], rates.SETTINGS) as process:
            rates.fill(port, mails, mail)
            for name, calls, count in measured:
                before = usage.cpu_s(process.pid)
                took_s = rates.seconds_a_call(port, calls, count)
                yield f"environment, {name} (ms)", 1000 * took_s
                yield f"environment, {name}: CPU (ms)", 1000 * (usage.cpu_s(process.pid) - before) / count
