"""`python -m lab.attacks [ATTACK…]`: attacks a stack, its own or the one at --gateway and --collector, and prints what
held.

The exit code is 1 if an attack succeeded. CONCORD_API_KEY is the API key for the gateway.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from time import monotonic

from rich.table import Table

from concord_cli.errors import AssessmentError, UsageError
from concord_cli.exits import FAILED, INTERRUPTED, USAGE
from concord_cli.scenario.scenario_file import ScenarioFile
from concord_cli.stack.local import free_stack_ports, local_stack
from concord_cli.terminal import ProgressLog
from lab.attacks.attack import Attack, Outcome, Verdict
from lab.attacks.catalogue import ATTACKS
from lab.attacks.runner import run_attack
from lab.attacks.target import Inside, Target

_STYLES = {Verdict.HELD: "green", Verdict.NOT_HELD: "bold red", Verdict.NOT_TRIED: "dim"}


def main() -> int:
    """Reads the arguments, makes the attacks one after the other, and prints a table of the outcomes."""
    parser = argparse.ArgumentParser("lab.attacks", description=__doc__)
    parser.add_argument("attacks", nargs="*", metavar="ATTACK", help="by name; all without any")
    parser.add_argument("--gateway", metavar="URL", help="of a stack that runs; with --collector")
    parser.add_argument("--collector", metavar="URL")
    parser.add_argument("--host", default="127.0.0.1", help="this machine's address, as that stack reaches it")
    parser.add_argument("--list", action="store_true", help="say what each attack does, and make none")
    arguments = parser.parse_args()
    if (arguments.gateway is None) != (arguments.collector is None):
        parser.error("give both --gateway and --collector, or neither")
    if unknown := set(arguments.attacks) - {each.name for each in ATTACKS}:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    chosen = [each for each in ATTACKS if not arguments.attacks or each.name in arguments.attacks]
    with ProgressLog() as progress:
        if arguments.list:
            progress.print(_listed(chosen))
            return 0
        try:
            return asyncio.run(_attack(chosen, arguments, progress))
        except (AssessmentError, UsageError) as error:
            progress.log(str(error))
            return USAGE
        except KeyboardInterrupt:
            return INTERRUPTED


async def _attack(chosen: Sequence[Attack], arguments: argparse.Namespace, progress: ProgressLog) -> int:
    began, outcomes = monotonic(), []
    async with _target(arguments, progress) as target:
        for number, attack in enumerate(chosen, start=1):
            progress.status(f"{number} of {len(chosen)}: {attack.name}")
            outcomes.append(outcome := await run_attack(attack, target))
            progress.log(f"{attack.name}: {outcome.verdict}: {outcome.seen}", _STYLES[outcome.verdict])
    progress.clear_status()
    progress.print(_table(outcomes))
    counts = {verdict: sum(each.verdict is verdict for each in outcomes) for verdict in Verdict}
    summary = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    progress.log(f"{len(outcomes)} attacks in {monotonic() - began:.0f} s: {summary}")
    return FAILED if counts[Verdict.NOT_HELD] else 0


@asynccontextmanager
async def _target(arguments: argparse.Namespace, progress: ProgressLog) -> AsyncIterator[Target]:
    """The stack at the given URLs, or a local one that ends with the attacks."""
    if arguments.gateway is not None:
        key = os.environ.get("CONCORD_API_KEY")
        yield Target(arguments.gateway.rstrip("/"), arguments.collector.rstrip("/"), arguments.host, key)
        return
    scenario = ScenarioFile()
    async with local_stack(scenario, free_stack_ports(scenario), progress) as stack:
        inside = Inside(stack.redis_url, stack.folder.path)
        urls = stack.plan.gateway_url.rstrip("/"), stack.plan.collector_url.rstrip("/")
        # The local gateway reads its keys from this process's environment.
        key = os.environ.get("CONCORD_API_KEYS", "").partition(",")[0] or None
        yield Target(*urls, arguments.host, key, inside)


def _listed(attacks: Sequence[Attack]) -> Table:
    table = Table("Attack", "What is done")
    for each in attacks:
        table.add_row(each.name, each.how)
    return table


def _table(outcomes: Sequence[Outcome]) -> Table:
    table = Table("Attack", "Held", "What was seen")
    for each in outcomes:
        table.add_row(each.attack.name, each.verdict, each.seen, style=_STYLES[each.verdict])
    return table


if __name__ == "__main__":
    sys.exit(main())
