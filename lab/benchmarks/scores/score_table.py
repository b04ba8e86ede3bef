"""`python -m lab.benchmarks.scores.score_table`: writes the scores of example teams and of cheats into a page."""

import argparse
import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from concord.assessment.result_row import ResultRow
from concord.wire.roster import GREEN_AGENT
from concord_cli.terminal import ProgressLog
from examples.teams.catalogue import TEAMS, TOTAL
from lab.benchmarks.scores.alone import alone_table
from lab.benchmarks.scores.pretending_teams import SECRET, hiding_table, team_task_table
from lab.benchmarks.tables import ResultTable, write_section
from tests.kit.llm_server import Asked, FakeModel, evidence_in, fake_model, honest_judge
from tests.kit.serving import reserved, url_of
from tests.kit.team_runs import CODE, NO_MODEL, Setting, row_of, running_team, stack_for

DOCUMENT: Final = Path(__file__).parents[3] / "docs" / "scoring.md"
SECTION: Final = "score table"
COLUMNS: Final = (
    "team",
    "code scorer",
    "fake model",
    "model down",
    "calls observed / failed",
    "observability",
    "label",
    "first finding",
    "infrastructure",
)

Rows = Mapping[str, ResultRow]
"""A team's row by the name of the setting."""

_AT_ONCE: Final = 2
"""Teams that run at the same time: one starts while another is assessed."""

_SEEN: Final = {"full": "all seen", "partly": "partly seen", "none": "none seen", None: "-"}


def main() -> None:
    """Runs every team, logs the progress, and writes the tables. `--teams`: prints those of the first teams."""
    parser = argparse.ArgumentParser("lab.benchmarks.scores.score_table", description=__doc__)
    parser.add_argument("--teams", type=int, metavar="N", help="only the first example teams; write nothing")
    arguments = parser.parse_args()
    # Each setting has a Redis of its own, so that its workers do not take another setting's jobs.
    os.environ.pop("REDIS_URL", None)
    with ProgressLog() as progress:
        if arguments.teams is not None:
            progress.log(table_of(asyncio.run(_teams(progress, list(TEAMS)[: arguments.teams]))).markdown())
            return
        tables = asyncio.run(_measured(progress))
        write_section(DOCUMENT, SECTION, tables)
        progress.log(f"The tables are in docs/{DOCUMENT.name}")


def table_of(teams: Mapping[str, Rows]) -> ResultTable:
    """The table: a row for each team."""
    return ResultTable(
        "Teams of `examples/teams`",
        "Measured by `make score-table`: each team's agents, the services and Redis are processes, and each setting "
        f"has one trial. Code scorer: the task has the scorer `numeric` and its target, {TOTAL}; there is no model. "
        "Fake model: the task has no scorer, and in the place of a language model stands an endpoint of our own, a "
        f"fake that finds `task_success` met where {TOTAL} is in the answer, and not met elsewhere. It says nothing of "
        "how well a real model judges. Model down: the same, with an endpoint that refuses connections. All other "
        "columns are the same in the three settings. Infrastructure: failures that are not the team's.",
        COLUMNS,
        [[team, *_line(rows)] for team, rows in teams.items()],
    )


def _line(rows: Rows) -> list[str]:
    return [*map(_score, rows.values()), *_same([_beside(row) for row in rows.values()])]


def _score(row: ResultRow) -> str:
    if row.score is not None:
        return f"{row.score:.1f}"
    return f"- ({row.detail.scoring.unjudged} unjudged)"


def _beside(row: ResultRow) -> list[str]:
    """The columns that do not depend on the judge."""
    observed = [each for each in row.detail.trials[0].interactions if each.caller != GREEN_AGENT and each.observed]
    return [
        f"{sum(each.observed for each in observed)} / {sum(each.errors for each in observed)}",
        _SEEN[row.detail.trace_integrity.observability],
        row.detail.coordination_quality or "-",
        row.detail.findings[0].id if row.detail.findings else "none",
        str(len(row.detail.infrastructure)),
    ]


def _same(values_by_setting: Sequence[Sequence[str]]) -> list[str]:
    """The values of all settings; where settings differ, each value."""
    return [" or ".join(dict.fromkeys(values)) for values in zip(*values_by_setting, strict=True)]


async def _measured(progress: ProgressLog) -> list[ResultTable]:
    teams, others = await asyncio.gather(_teams(progress, list(TEAMS)), _others(progress))
    return [table_of(teams), *others]


async def _others(progress: ProgressLog) -> list[ResultTable]:
    """The tables of teams in this process, which are assessed while those with processes of their own start."""
    async with stack_for(Setting(CODE.name, by_code=True, model=NO_MODEL | SECRET), progress) as gateway:
        return [await each(gateway, progress) for each in (team_task_table, hiding_table, alone_table)]


async def _teams(progress: ProgressLog, teams: Sequence[str]) -> dict[str, Rows]:
    async with _stacks(progress) as gateways:
        free = asyncio.Semaphore(_AT_ONCE)

        async def measured(team: str) -> Rows:
            async with free, running_team(team, progress.log) as urls:
                rows = {}
                for setting, gateway in gateways:
                    rows[setting.name] = row = await row_of(gateway, urls, setting)
                    progress.log(f"{team}, {setting.name}: {_score(row)}")
                return rows

        progress.status(f"Assessing {len(teams)} teams in {len(gateways)} settings")
        return dict(zip(teams, await asyncio.gather(*map(measured, teams)), strict=True))


@asynccontextmanager
async def _stacks(progress: ProgressLog) -> AsyncIterator[list[tuple[Setting, str]]]:
    """Starts a stack for each setting, and yields the URL of each gateway."""
    async with fake_model(FakeModel(_looks_for_the_total)) as endpoint, AsyncExitStack() as open_:
        refusing = open_.enter_context(reserved())
        settings = [
            CODE,
            Setting("fake model", by_code=False, model=_model_at(endpoint.base_url)),
            Setting("model down", by_code=False, model=_model_at(f"{url_of(refusing)}/v1")),
        ]
        yield [(setting, await open_.enter_async_context(stack_for(setting, progress))) for setting in settings]


def _model_at(url: str) -> dict[str, str]:
    return {
        **NO_MODEL,
        "AGENTBEATS_LLM_API_KEY": "sk-fake",
        "AGENTBEATS_LLM_BASE_URL": url,
        "AGENTBEATS_LLM_MODEL": "fake",
    }


def _looks_for_the_total(asked: Asked) -> str:
    right = any(str(TOTAL) in answer["text"] for answer in evidence_in(asked)["final_answers"])
    return honest_judge(task_success="met" if right else "not_met")(asked)


if __name__ == "__main__":
    main()
