"""The course of a check: what is played with which secret, when it stops, and what is refused. The teams are fakes."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import pytest
from typer.testing import CliRunner

from concord.assessment.result_row import RankingKind, ResultRow, ResultsDocument
from concord.assessment.suite_tasks import secret_file
from concord.suite import commitment
from concord_cli.check.command import check
from concord_cli.check.pairs import Slot
from concord_cli.check.team import AT_ONCE, config_of, tasks_of
from concord_cli.commands.arguments import CheckArguments
from concord_cli.errors import UsageError
from concord_cli.main import app
from concord_cli.scenario.scenario_file import ScenarioFile, read_scenario
from concord_cli.terminal import ProgressLog
from tests.kit.rows import scoring_of_one
from tests.unit.cli.check.test_pairs import KIND
from tests.unit.cli.rows import row, trial

SECRET = "5e" * 32
TASKS = ("maximum", "count", "median", "dedupe", "prefix-sums", "top-k")


@dataclass(frozen=True, slots=True)
class FakeTeam:
    """Scores the same in every trial."""

    score: float
    secret: str | None
    kind: RankingKind
    played: list[Slot]
    kept: list[ResultRow]

    async def play(self, slots: Sequence[Slot]) -> ResultRow:
        """A row of these trials."""
        self.played.extend(slots)
        trials = [
            trial(
                trial_id=f"trial-{number}",
                task_id=slot.task,
                run=slot.run,
                overall_score=self.score,
                instance_digest=f"{self.secret} {slot.task} {slot.run}",
            )
            for number, slot in enumerate(slots)
        ]
        scoring = scoring_of_one(self.score).model_copy(update={"ranking_parts": self.kind})
        told = None if self.secret is None else commitment(bytes.fromhex(self.secret))
        return row(trials=trials, scoring=scoring, task_secret_sha256=told)

    def keep(self, rows: Sequence[ResultRow], results: Path) -> None:
        """Notes the rows."""
        del results
        self.kept.extend(rows)


@dataclass(slots=True)
class FakeTeams:
    """Opens teams whose scores are in their scenarios, and notes what was opened and played."""

    kind: RankingKind = KIND
    secrets: list[str | None] = field(default_factory=list)
    played: dict[float, list[Slot]] = field(default_factory=dict)
    kept: list[ResultRow] = field(default_factory=list)

    @asynccontextmanager
    async def open(self, scenario: ScenarioFile, runs: int, task_secret: str | None) -> AsyncIterator[FakeTeam]:
        """A team for the time of the context."""
        del runs
        score = float(scenario.participants[0].env["SCORE"])
        self.secrets.append(task_secret)
        yield FakeTeam(score, task_secret, self.kind, self.played.setdefault(score, []), self.kept)


def scenario(
    folder: Path, score: float, config: str = 'suite = ["maximum", "count", "median", "dedupe", "prefix-sums", "top-k"]'
) -> Path:
    path = folder / f"{score}.toml"
    path.write_text(f'[[participants]]\nname = "a"\ncmd = "agent"\nenv = {{ SCORE = "{score}" }}\n[config]\n{config}\n')
    return path


async def baseline_of(folder: Path, score: float, runs: int, secret: str | None = SECRET) -> Path:
    team = FakeTeam(score, secret, KIND, [], [])
    played = await team.play([Slot(task, run) for run in range(1, runs + 1) for task in TASKS])
    path = folder / "main.json"
    path.write_text(ResultsDocument(participants={}, results=[played]).model_dump_json())
    if secret is not None:
        kept = secret_file(folder, played.detail.assessment_id)
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(secret)
        kept.chmod(0o600)
    return path


def arguments(path: Path, **given: object) -> CheckArguments:
    outputs = {"output": path.with_name("check.json"), "report": path.with_name("verdict.json")}
    rest = {"baseline": None, "against": None, "margin": 10.0, "least_score": None, "most_pairs": 90}
    return CheckArguments(path, **{**outputs, **rest, "junit": None, "markdown": None, **given})  # type: ignore[arg-type]


async def checked(asked: CheckArguments, teams: FakeTeams) -> tuple[int, dict[str, object]]:
    with ProgressLog() as log:
        code = await check(asked, teams.open, log)
    assert asked.report is not None
    return code, json.loads(asked.report.read_text())


async def test_the_puzzles_of_the_baseline_are_played_until_the_answer_is_sure(tmp_path: Path) -> None:
    teams, baseline = FakeTeams(), await baseline_of(tmp_path, 0.9, runs=15)
    code, verdict = await checked(arguments(scenario(tmp_path, 0.1), baseline=baseline), teams)
    assert (code, verdict["verdict"]) == (5, "worse")
    assert teams.secrets == [SECRET]
    assert 0 < len(teams.played[0.1]) < 90
    assert len(teams.played[0.1]) % AT_ONCE == 0
    assert teams.kept == ResultsDocument.model_validate_json(tmp_path.joinpath("check.json").read_bytes()).results


async def test_the_secret_may_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    teams, baseline = FakeTeams(), await baseline_of(tmp_path, 0.5, runs=30)
    [kept] = (tmp_path / "secrets").iterdir()
    kept.unlink()
    with pytest.raises(UsageError, match="neither CONCORD_TASK_SECRET nor"):
        await checked(arguments(scenario(tmp_path, 0.9), baseline=baseline), teams)
    monkeypatch.setenv("CONCORD_TASK_SECRET", SECRET)
    code, verdict = await checked(arguments(scenario(tmp_path, 0.9), baseline=baseline), teams)
    assert (code, verdict["verdict"]) == (0, "better")


async def test_tasks_without_a_secret_need_none(tmp_path: Path) -> None:
    teams, baseline = FakeTeams(), await baseline_of(tmp_path, 0.5, runs=30, secret=None)
    code, _ = await checked(arguments(scenario(tmp_path, 0.5), baseline=baseline), teams)
    assert (code, teams.secrets) == (0, [None])


async def test_used_up_puzzles_tell_nothing_and_say_how_many_would(tmp_path: Path) -> None:
    teams, baseline = FakeTeams(), await baseline_of(tmp_path, 0.5, runs=3)
    code, verdict = await checked(arguments(scenario(tmp_path, 0.5), baseline=baseline), teams)
    assert (code, verdict["verdict"]) == (3, "no difference shown")
    assert isinstance(verdict["pairs_needed"], int)
    assert verdict["pairs_needed"] > 18 == len(teams.played[0.5])


async def test_once_they_are_used_up_the_old_version_plays_fresh_ones_with_the_new_one(tmp_path: Path) -> None:
    teams, baseline = FakeTeams(), await baseline_of(tmp_path, 0.8, runs=2)
    asked = arguments(scenario(tmp_path, 0.9), baseline=baseline, against=scenario(tmp_path, 0.8))
    code, verdict = await checked(asked, teams)
    assert code == 0
    first, old, new = teams.secrets
    assert first == SECRET != old == new
    pairs = verdict["pairs"]
    assert isinstance(pairs, list)
    assert len(pairs) == len(teams.played[0.9]) == 12 + len(teams.played[0.8])


async def test_both_versions_play_the_same_fresh_puzzles(tmp_path: Path) -> None:
    teams = FakeTeams()
    code, _ = await checked(arguments(scenario(tmp_path, 0.2), against=scenario(tmp_path, 0.8)), teams)
    assert code == 5
    assert teams.played[0.2] == teams.played[0.8]


async def test_a_version_below_the_least_score_fails_even_if_it_is_better(tmp_path: Path) -> None:
    teams = FakeTeams()
    asked = arguments(scenario(tmp_path, 0.6), against=scenario(tmp_path, 0.1), least_score=70.0)
    assert (await checked(asked, teams))[0] == 5


async def test_other_tasks_are_refused_after_the_first_trials(tmp_path: Path) -> None:
    teams = FakeTeams(kind=KIND.model_copy(update={"difficulty": (3,)}))
    baseline = await baseline_of(tmp_path, 0.5, runs=9)
    with pytest.raises(UsageError, match=r"differ, by: difficulty \(2 before, 3 now\)"):
        await checked(arguments(scenario(tmp_path, 0.5), baseline=baseline), teams)
    assert len(teams.played[0.5]) == AT_ONCE


async def test_a_secret_that_others_can_read_is_refused(tmp_path: Path) -> None:
    baseline = await baseline_of(tmp_path, 0.5, runs=1)
    [kept] = (tmp_path / "secrets").iterdir()
    kept.chmod(0o640)
    with pytest.raises(UsageError, match="chmod 600"):
        await checked(arguments(scenario(tmp_path, 0.5), baseline=baseline), FakeTeams())


async def test_without_an_old_version_nothing_is_started(tmp_path: Path) -> None:
    teams = FakeTeams()
    with pytest.raises(UsageError, match="give --baseline RESULTS, --against"):
        await checked(arguments(scenario(tmp_path, 0.5)), teams)
    assert not teams.secrets


@pytest.mark.parametrize("code", [0, 3, 5])
def test_the_command_ends_with_the_exit_code_of_the_verdict(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def told(*_: object) -> int:
        return code

    monkeypatch.setattr("concord_cli.check.command.check", told)
    asked = ["check", str(scenario(tmp_path, 0.5)), "--baseline", "main.json"]
    assert CliRunner().invoke(app, asked).exit_code == code


def test_the_command_refuses_a_margin_that_is_none(tmp_path: Path) -> None:
    asked = ["check", str(scenario(tmp_path, 0.5)), "--baseline", "main.json", "--margin", "0"]
    assert CliRunner().invoke(app, asked).exit_code == 2
    assert CliRunner().invoke(app, asked[:-2]).exit_code == 2, "no such baseline"


def test_a_trial_has_the_time_that_it_has_in_a_whole_assessment(tmp_path: Path) -> None:
    config = 'suite = ["maximum"]\nnum_runs = 2\ntimeout_s = 100\ncontrols = ["silent"]\nseed = 7'
    described = read_scenario(scenario(tmp_path, 0.5, config))
    assert [task.id for task in tasks_of(described)] == ["maximum"]
    played = MappingProxyType(config_of(described, runs=10))
    assert played["trial_timeout_s"] == pytest.approx(9)
    assert (played["num_runs"], played["seed"]) == (10, 7)
    assert played.keys().isdisjoint({"timeout_s", "controls"})


def test_a_team_of_several_participants_that_the_stack_starts_has_tasks(tmp_path: Path) -> None:
    path = scenario(tmp_path, 0.5, 'suite = ["maximum"]')
    path.write_text('[[participants]]\nname = "b"\ncmd = "agent"\n' + path.read_text())
    assert [task.id for task in tasks_of(read_scenario(path))] == ["maximum"]


def results(folder: Path, name: str, score: float, tasks: int = 9, runs: int = 1, **changed: object) -> Path:
    """A results file of a team that scores the same in each trial."""
    trials = [
        trial(
            trial_id=f"t{task}-{run}", task_id=f"task-{task}", run=run, overall_score=score, instance_digest=f"p{task}"
        )
        for task in range(tasks)
        for run in range(1, runs + 1)
    ]
    scoring = scoring_of_one(score).model_copy(update={"ranking_parts": KIND, **changed})
    path = folder / name
    document = ResultsDocument(participants={}, results=[row(trials=trials, scoring=scoring)])
    path.write_text(document.model_dump_json())
    return path


@pytest.mark.parametrize(
    ("old", "new", "tasks", "code", "verdict"),
    [
        (0.0, 1.0, 9, 0, "better"),
        (1.0, 0.0, 9, 5, "worse"),
        (1.0, 0.0, 5, 3, "too few tasks"),
        (0.5, 0.5, 9, 3, "no difference shown"),
        (0.5, 0.5, 60, 0, "not worse"),
    ],
)
def test_finished_results_are_judged_as_compare_judges_them(
    tmp_path: Path, old: float, new: float, tasks: int, code: int, verdict: str
) -> None:
    before, after = results(tmp_path, "old.json", old, tasks, runs=3), results(tmp_path, "new.json", new, tasks, runs=3)
    told = tmp_path / "verdict.json"
    result = CliRunner().invoke(app, ["check", str(after), "--baseline", str(before), "--json", str(told)])
    assert (result.exit_code, json.loads(told.read_text())["verdict"]) == (code, verdict)
    compared = CliRunner().invoke(app, ["compare", str(before), str(after), "-o", str(told)])
    [pair] = json.loads(told.read_text())["pairs"]
    assert pair["verdict"] == ("no difference shown" if verdict == "not worse" else verdict)
    assert compared.exit_code == (3 if verdict == "not worse" else code)


def test_with_json_standard_output_is_the_verdict_alone(tmp_path: Path) -> None:
    before, after = results(tmp_path, "old.json", 0.5, 9), results(tmp_path, "new.json", 0.5, 9)
    result = CliRunner().invoke(app, ["gate", str(after), "--baseline", str(before), "--json"])
    assert json.loads(result.stdout)["verdict"] == "no difference shown"
    assert "No difference shown" in result.stderr


def test_what_nobody_scored_helps_no_finished_version(tmp_path: Path) -> None:
    before, after = results(tmp_path, "old.json", 0.0), results(tmp_path, "new.json", 1.0, unjudged=1)
    asked = ["check", str(after), "--baseline", str(before)]
    result = CliRunner().invoke(app, asked)
    assert (result.exit_code, "1 trial without a score may be worth anything" in result.output) == (3, True)


def test_finished_results_of_other_kinds_are_refused(tmp_path: Path) -> None:
    other = KIND.model_copy(update={"difficulty": (3,)})
    before, after = results(tmp_path, "old.json", 0.0), results(tmp_path, "new.json", 1.0, ranking_parts=other)
    result = CliRunner().invoke(app, ["check", str(after), "--baseline", str(before)])
    assert (result.exit_code, "differ by: difficulty" in result.output) == (2, True)


async def test_fewer_than_six_tasks_are_not_played(tmp_path: Path) -> None:
    teams, baseline = FakeTeams(), await baseline_of(tmp_path, 0.9, runs=9)
    asked = arguments(scenario(tmp_path, 0.1, 'suite = ["maximum", "count"]'), baseline=baseline)
    code, verdict = await checked(asked, teams)
    assert (code, verdict["verdict"], teams.played) == (3, "too few tasks", {})
