"""Assessments of the teams in `scenarios/`, whose members run in the test's own event loop."""

from pathlib import Path

from concord.assessment.result_row import ResultRow
from concord_cli.assessment_client import assess
from concord_cli.scenario.scenario_file import read_scenario
from tests.integration.purple_agents import free_urls, running_agents

SCENARIOS = Path(__file__).parents[2] / "scenarios"


async def row_of(team: str, gateway: str) -> ResultRow:
    """The row of a shipped scenario, whose team knows its peers from the gateway alone."""
    scenario = read_scenario(SCENARIOS / f"{team}.toml")
    agents = {each.role: {"function": each.function, "team": scenario.team.wiring} for each in scenario.participants}
    urls = free_urls(list(agents))
    async with running_agents(agents, urls, peers={}):
        [row] = await assess(gateway, urls, scenario.config, lambda _: None)
    return ResultRow.model_validate(row)
