"""`concord gate` of the sample team: a regression, an equal version, and an improvement, each with its exit code."""

import json
import stat
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as Xml

from pydantic import SecretStr

from concord.assessment.result_row import ResultsDocument
from concord.assessment.suite_tasks import secret_file
from concord_cli.check.command import check
from concord_cli.check.pairs import Slot, played_in
from concord_cli.check.team import AssessedTeam, config_of, tasks_of
from concord_cli.commands.arguments import CheckArguments
from concord_cli.results_file import write_results
from concord_cli.scenario.scenario_file import ScenarioFile, read_scenario
from concord_cli.terminal import ProgressLog
from concord_suites.agent import create_app
from concord_suites.player import Habit
from tests.kit.serving import reserved, served, url_of
from tests.kit.stack import stack

SECRET = "5e" * 32
HABITS = "SAMPLE_HABITS"
SIX = ["maximum", "count", "median", "dedupe", "set-union", "top-k"]


@dataclass(frozen=True, slots=True)
class InThisProcess:
    """Starts the team of a scenario, and the services that assess it, in the test's event loop."""

    redis_url: str
    folder: Path

    @asynccontextmanager
    async def open(self, scenario: ScenarioFile, runs: int, task_secret: str | None) -> AsyncIterator[AssessedTeam]:
        """As `LocalTeams.open`."""
        secret = None if task_secret is None else SecretStr(task_secret)
        habits = dict(each.split("=") for each in scenario.participants[0].env.get(HABITS, "").split())
        holder = reserved()
        app = create_app(url_of(holder), {seat: Habit(habit) for seat, habit in habits.items()})
        output = self.folder / "gateway"
        async with served(app, holder) as agent, stack(self.redis_url, output, task_secret=secret) as services:
            yield AssessedTeam(services.gateway, {"agent": agent}, config_of(scenario, runs), output, lambda _: None)


def scenario(folder: Path, name: str, habits: Mapping[str, Habit], **config: object) -> Path:
    """The scenario file of a sample team with these faults."""
    settings = {"suite": SIX, "seats": 3, "quiet_s": 0.0, "closing_cap_s": 0.3, "metrics": [], **config}
    env = " ".join(f"{seat}={habit.value}" for seat, habit in habits.items())
    lines = [
        "[[participants]]",
        'name = "agent"',
        'cmd = "python -m concord_suites.agent"',
        f'env = {{ {HABITS} = "{env}" }}',
        "[config]",
        *(f"{key} = {json.dumps(value)}" for key, value in settings.items()),
    ]
    path = folder / f"{name}.toml"
    path.write_text("\n".join(lines))
    return path


def arguments(
    path: Path, *, baseline: Path | None = None, against: Path | None = None, **given: object
) -> CheckArguments:
    asked: dict[str, object] = {
        "margin": 40.0,
        "least_score": None,
        "most_pairs": 40,
        "output": path.with_suffix(".check") / "check.json",
        "report": path.with_suffix(".verdict.json"),
        "junit": path.with_suffix(".xml"),
        "markdown": path.with_suffix(".md"),
    }
    return CheckArguments(path, baseline, against, **{**asked, **given})  # type: ignore[arg-type]


def verdict_of(asked: CheckArguments) -> str:
    """What the outputs say, which must agree."""
    assert asked.report
    assert asked.junit
    assert asked.markdown
    document = json.loads(asked.report.read_text())
    suite = Xml.parse(asked.junit).getroot()  # noqa: S314 - our own
    assert (suite.get("failures") == "0") == (document["verdict"] in {"better", "not worse"})
    assert asked.markdown.read_text().startswith("### ")
    return str(document["verdict"])


async def baseline_of(teams: InThisProcess, path: Path, runs: int) -> Path:
    """A results file of a team with its secret beside it, as `concord run` leaves them."""
    described = read_scenario(path)
    results = path.with_suffix(".baseline") / "main.json"
    results.parent.mkdir()
    async with teams.open(described, runs, SECRET) as team:
        row = await team.play([Slot(task.id, run) for run in range(1, runs + 1) for task in tasks_of(described)])
        team.keep([row], results)
    write_results(results, {}, [row.model_dump(mode="json")])
    return results


GOOD: Mapping[str, Habit] = {}
BAD = {"agent/1": Habit.WITHHOLDING, "agent/2": Habit.WITHHOLDING, "agent/3": Habit.WITHHOLDING}


async def test_a_regression_an_equal_version_and_an_improvement(redis_url: str, tmp_path: Path) -> None:
    teams = InThisProcess(redis_url, tmp_path)
    good, bad = scenario(tmp_path, "good", GOOD), scenario(tmp_path, "bad", BAD)
    baseline = await baseline_of(teams, good, runs=2)

    with ProgressLog() as log:
        regression = arguments(bad, baseline=baseline)
        assert await check(regression, teams.open, log) == 5
        assert verdict_of(regression) == "worse"

        equal = arguments(good, baseline=baseline)
        assert await check(equal, teams.open, log) == 0
        assert verdict_of(equal) == "not worse"

        improvement = arguments(good, baseline=regression.output)
        assert await check(improvement, teams.open, log) == 0
        assert verdict_of(improvement) == "better"

    worse = json.loads((tmp_path / "bad.verdict.json").read_text())
    assert {cause["kind"] for cause in worse["causes"] if not cause["old"]} >= {"not_sent"}
    assert len(worse["pairs"]) < 12, "it stopped as soon as it was sure"
    rows = ResultsDocument.model_validate_json(regression.output.read_bytes()).results
    old = played_in(ResultsDocument.model_validate_json(baseline.read_bytes()).results)
    assert all(old[slot].instance == each.instance for slot, each in played_in(rows).items())
    kept = secret_file(regression.output.parent, rows[0].detail.assessment_id)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert (kept.parent / ".gitignore").read_text() == "*\n"
