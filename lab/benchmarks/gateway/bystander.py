"""How long an assessment takes beside others: beside an honest one, and beside a participant and a client that take all
they may."""

import asyncio
import json
import time
from statistics import median
from typing import Final

from concord_cli.scenario.scenario_file import ScenarioFile
from concord_cli.stack.local import free_stack_ports, local_stack
from concord_cli.terminal import ProgressLog
from lab.attacks.client import Client, client_of
from lab.attacks.target import Target
from lab.benchmarks.processes import served
from lab.benchmarks.tables import ResultTable
from tests.kit.assessing import PATTERN

REPEATS: Final = 7
HONEST: Final = {"suite": "maximum", "seats": 5, "exchange": "rounds", "max_rounds": 4, "num_runs": 2}
MOST_SEATS: Final = {"suite": "maximum", "seats": 100, "exchange": "rounds", "num_runs": 1}
MOST_TRIALS: Final = {"tasks": [{"id": f"p{number}", "interaction_pattern": PATTERN} for number in range(1000)]}
LEAD_S: Final = 0.5
"""How long a neighbour runs before the bystander begins."""


def measure(*, soak_s: float) -> list[ResultTable]:  # noqa: ARG001 - see `sections.Measure`
    """Measures all neighbours in one run, on one stack."""
    return [asyncio.run(_measured())]


async def _measured() -> ResultTable:
    scenario = ScenarioFile()
    with ProgressLog() as progress, served("quiet_agent", "") as quiet, served("flooding_agent", "") as flooding:
        async with (
            local_stack(scenario, free_stack_ports(scenario), progress) as stack,
            client_of(Target(stack.plan.gateway_url.rstrip("/"), stack.plan.collector_url.rstrip("/"), "")) as client,
        ):
            bystander = _request(HONEST, quiet.url)
            neighbours = {
                "none": None,
                "an honest assessment": bystander,
                "a participant that floods a hundred seats": _request(MOST_SEATS, flooding.url),
                "a client with a thousand trials": json.dumps({"config": MOST_TRIALS}),
            }
            times: dict[str, list[float]] = {name: [] for name in neighbours}
            for number in range(REPEATS + 1):
                progress.log(f"pass {number} of {REPEATS}")
                for name, each in neighbours.items():
                    taken = await _beside(client, each, bystander)
                    if number:  # the first pass makes the caches
                        times[name].append(taken)
    medians = {name: median(each) for name, each in times.items()}
    honest = medians["an honest assessment"]
    return ResultTable(
        "A bystander's assessment",
        f"The median of {REPEATS} assessments of {HONEST['num_runs']} trials with {HONEST['seats']} seats, beside a "
        "neighbour whose assessment begins anew whenever it ends. The neighbours take turns. Promised is at most twice "
        "the time that it takes beside an honest neighbour.",
        ("beside", "seconds", "of the time beside an honest one"),
        [(name, f"{taken:.2f}", f"{taken / honest:.2f}") for name, taken in medians.items()],
    )


def _request(config: dict[str, object], url: str) -> str:
    return json.dumps({"participants": {"agent": url}, "config": config})


async def _beside(client: Client, neighbour: str | None, text: str) -> float:
    """The time of an assessment beside a neighbour (seconds)."""
    beside = None if neighbour is None else asyncio.create_task(_again_and_again(client, neighbour))
    try:
        await asyncio.sleep(LEAD_S)
        began = time.perf_counter()
        ended = await client.assess_with(text, within_s=600)
        taken = time.perf_counter() - began
        assert ended.state == "completed", ended.text
    finally:
        if beside is not None:
            beside.cancel()
            await asyncio.gather(beside, return_exceptions=True)
    return taken


async def _again_and_again(client: Client, text: str) -> None:
    while True:
        task_id = await client.begin_with(text)
        try:
            await client.end_of(task_id, 600)
        except asyncio.CancelledError:
            await client.called("tasks/cancel", id=task_id)
            raise
