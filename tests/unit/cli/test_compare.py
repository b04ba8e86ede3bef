"""Comparing teams: the document, the ranking, the output, and refusals on one line."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from concord.assessment import Mode
from concord.assessment.result_row import (
    ControlRecord,
    Figure,
    InfrastructureFailure,
    RankingKind,
    ResultRow,
    ResultsDocument,
    Shard,
)
from concord.assessment.results import Grading, Judgment, LatencySummary, TraceIntegrity
from concord.assessment.verdict import Cause, CauseKind, Estimate, Figures, Verdict
from concord_cli.compare.comparison import Comparison, compare_teams
from concord_cli.compare.teams import ScoreKind, Team
from concord_cli.main import app
from tests.kit.team_task_rows import team_task
from tests.unit.cli.report.laws import law
from tests.unit.cli.rows import FAILURE, on_structure, row, trial, unjudged

DOCUMENT = Path("docs/comparing.md").read_text(encoding="utf-8")

HARDNESS = [0.35, 0.5, 0.62, 0.41, 0.7, 0.55, 0.48, 0.66, 0.38, 0.52]
"""The scores that ten tasks allow; tasks differ more than teams."""


def team(shift: float = 0.0, tasks: int = 10, *, wobble: float = 0.01, **changes: object) -> ResultRow:
    """A row with a trial for each task, whose scores are about `shift` above what the task allows."""
    scores = [each + shift + wobble * (number % 3 - 1) for number, each in enumerate(HARDNESS[:tasks])]
    trials = [
        trial(
            trial_id=f"trial-{number}", task_id=f"task-{number}", seed=number, overall_score=score, passed=score > 0.66
        )
        for number, score in enumerate(scores)
    ]
    return row(**{"trials": trials, **changes})


def written(folder: Path, name: str, *given: ResultRow) -> str:
    path, rows = folder / name, [_of_assessment(row, number) for number, row in enumerate(given)]
    if path.suffix == ".jsonl":
        path.write_text("".join(f"{row.model_dump_json()}\n" for row in rows))
    else:
        path.write_text(ResultsDocument(participants={}, results=rows).model_dump_json())
    return str(path)


def _of_assessment(row: ResultRow, number: int) -> ResultRow:
    """The row of an assessment of its own; recorded traces have ids that identify them."""
    if row.detail.mode is Mode.RECORDED:
        return row
    return row.model_copy(update={"detail": row.detail.model_copy(update={"assessment_id": f"a{number}"})})


def concord(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["compare", *arguments])


def compared(folder: Path, **teams: ResultRow | Sequence[ResultRow]) -> Comparison:
    files = [
        written(folder, f"{name}.json", *([rows] if isinstance(rows, ResultRow) else rows))
        for name, rows in teams.items()
    ]
    result = concord(*files, "-o", str(folder / "out.json"))
    assert result.stderr == ""
    found = Comparison.model_validate_json((folder / "out.json").read_bytes())
    assert result.exit_code == found.exit_code
    return found


def test_a_steady_difference_is_found_although_tasks_differ_more_than_teams(tmp_path: Path) -> None:
    found = compared(tmp_path, star=team(), mesh=team(0.05, wobble=0.02))
    [pair] = found.pairs
    assert (pair.first, pair.second, pair.verdict) == ("star", "mesh", "better")
    assert (pair.shared_tasks, pair.paired_trials) == (10, 10)
    assert pair.difference == pytest.approx(5, abs=0.5)
    assert [(each.name, each.rank_best, each.rank_worst) for each in found.teams] == [("star", 2, 2), ("mesh", 1, 1)]
    star, mesh = found.teams
    assert mesh.score_low is not None
    assert star.score_high is not None
    assert mesh.score_low < star.score_high


def puzzles(row: ResultRow, secret: str) -> ResultRow:
    """The row with puzzles that follow from a secret."""
    trials = [each.model_copy(update={"instance_digest": f"{secret} {each.task_id}"}) for each in row.detail.trials]
    return row.model_copy(update={"detail": row.detail.model_copy(update={"trials": trials})})


def test_two_teams_stay_in_their_order_and_the_second_being_worse_is_an_exit_code(tmp_path: Path) -> None:
    found = compared(tmp_path, before=team(0.2), after=team(-0.2))
    assert [each.name for each in found.teams] == ["before", "after"]
    [pair] = found.pairs
    assert (pair.first, pair.second, pair.verdict) == ("before", "after", "worse")
    assert pair.difference == pytest.approx(-40)
    assert found.exit_code == 5
    assert compared(tmp_path, before=team(-0.2), after=team(0.2)).exit_code == 0
    assert compared(tmp_path, before=team(-0.2), after=team(0.2), other=team()).exit_code == 0
    assert compared(tmp_path, before=team(0.2, tasks=3), after=team(tasks=3)).exit_code == 3


def test_different_puzzles_are_not_paired_even_with_the_same_seeds(tmp_path: Path) -> None:
    same = compared(tmp_path, before=puzzles(team(), "one"), after=puzzles(team(0.2), "one"))
    assert [(pair.paired_trials, pair.verdict) for pair in same.pairs] == [(10, "better")]
    other = compared(tmp_path, before=puzzles(team(), "one"), after=puzzles(team(0.2), "another"))
    assert [(pair.shared_tasks, pair.paired_trials) for pair in other.pairs] == [(10, 0)]
    assert "before and after played different puzzles of the same tasks" in other.warnings[0]
    assert other.change is not None
    assert {task.pairs for task in other.change.tasks} == {0}
    assert "by mean" in concord(str(tmp_path / "before.json"), str(tmp_path / "after.json")).stdout


def test_older_rows_with_different_secrets_are_not_paired(tmp_path: Path) -> None:
    def of(secret: str, shift: float) -> ResultRow:
        found = team(shift)
        return found.model_copy(update={"detail": found.detail.model_copy(update={"task_secret_sha256": secret})})

    assert [pair.paired_trials for pair in compared(tmp_path, a=of("x", 0), b=of("x", 0.1)).pairs] == [10]
    assert [pair.paired_trials for pair in compared(tmp_path, a=of("x", 0), b=of("y", 0.1)).pairs] == [0]


def test_no_team_is_called_better_where_only_its_calls_could_be_seen(tmp_path: Path) -> None:
    seen, unseen = (TraceIntegrity(observability=each) for each in ("full", "none"))
    found = compared(tmp_path, a=team(0.2, trace_integrity=seen), b=team(-0.3, trace_integrity=unseen))
    assert [pair.verdict for pair in found.pairs] == ["observability differs"]
    assert found.groups == [["a", "b"]]
    assert found.exit_code == 3
    assert any("observed differently" in each for each in found.warnings)
    lone = compared(tmp_path, a=team(0.2, trace_integrity=seen), b=team(-0.3))
    assert [pair.verdict for pair in lone.pairs] == ["worse"], "a lone agent has no calls to observe"


def test_two_teams_show_the_tasks_and_causes_that_changed(tmp_path: Path) -> None:
    def blamed(kind: CauseKind) -> Verdict:
        cause = Cause(kind=kind, agents=("agent/2",), certainty="proven", count=3)
        return Verdict(
            passed=True, score=None, mark=66, trials=1, trials_passed=1, causes=[cause], changes=[], unknown=[],
            figures=Figures(),
        )  # fmt: skip

    before, after = team(0.1, verdict=blamed(CauseKind.NOT_SENT)), team(verdict=blamed(CauseKind.TOO_LATE))
    found = compared(tmp_path, before=before, after=after)
    assert found.change is not None
    assert {round(task.difference or 0) for task in found.change.tasks} == {-10}
    assert [(cause.kind, cause.old, cause.new) for cause in found.change.causes] == [
        (CauseKind.TOO_LATE, 0, 3),
        (CauseKind.NOT_SENT, 3, 0),
    ]
    shown = concord(str(tmp_path / "before.json"), str(tmp_path / "after.json")).stdout
    assert "agent/2 told too late (3 times)" in shown.partition("Came from the first to the second")[2]
    assert "agent/2 told nobody (3 times)" in shown.partition("Went from the first to the second")[2]
    assert re.search(r"task-0 +45\.0|task-0 +44\.0", shown)


def test_indistinguishable_teams_form_a_group_and_share_its_ranks(tmp_path: Path) -> None:
    found = compared(tmp_path, a=team(0.001, wobble=-0.02), b=team(wobble=0.02), c=team(-0.2))
    assert found.groups == [["a", "b"], ["c"]]
    assert [(each.rank_best, each.rank_worst) for each in found.teams] == [(1, 2), (1, 2), (3, 3)]
    assert found.pair_level == pytest.approx(1 - 0.05 / 3)


def test_a_large_difference_on_few_tasks_shows_nothing(tmp_path: Path) -> None:
    found = compared(tmp_path, good=team(0.2, tasks=3), bad=team(tasks=3))
    assert [pair.verdict for pair in found.pairs] == ["too few tasks"]
    assert found.groups == [["good", "bad"]]


def test_teams_without_a_shared_task_have_no_difference(tmp_path: Path) -> None:
    other = trial(task_id="another", overall_score=0.5)
    found = compared(tmp_path, a=team(), b=team(trials=[other]))
    [pair] = found.pairs
    assert (pair.difference, pair.shared_tasks, pair.verdict) == (None, 0, "too few tasks")
    assert any("The teams have different tasks" in each for each in found.warnings)


def shared(row: ResultRow, *, control: str | None = None) -> ResultRow:
    """The row with seats that share one process."""
    record = team_task(None, control=control)
    trials = [each.model_copy(update={"team_task": record}) for each in row.detail.trials]
    return row.model_copy(update={"detail": row.detail.model_copy(update={"trials": trials})})


def test_teams_whose_seats_share_a_process_are_ranked_apart_and_not_compared_with_others(tmp_path: Path) -> None:
    teams = {"a": team(), "b": team(-0.2), "lone": shared(team(0.2)), "other": shared(team(-0.1))}
    found = compared(tmp_path, **teams)
    assert [(each.name, each.shared_process, each.rank_best) for each in found.teams] == [
        ("a", False, 1),
        ("b", False, 2),
        ("lone", True, 1),
        ("other", True, 2),
    ]
    assert [(pair.first, pair.second) for pair in found.pairs] == [("a", "b"), ("lone", "other")]
    assert found.groups == [["a"], ["b"], ["lone"], ["other"]]
    assert found.pair_level == pytest.approx(1 - 0.05 / 2)
    printed = concord(*(str(tmp_path / f"{name}.json") for name in teams)).stdout
    assert "Teams whose seats share one process, ranked apart" in printed
    assert "ranked apart and not compared with others" in printed.partition("Warnings")[2]


QUICK = RankingKind(
    version="3",
    basis="outcome",
    tasks="quick",
    published=True,
    tasks_sha256="ab" * 32,
    seats=(5,),
    exchange=("rounds",),
    difficulty=(2,),
    topology=("complete",),
    isolation="not isolated",
    complete=True,
)


def of_kind(row: ResultRow, kind: RankingKind = QUICK, **scoring: object) -> ResultRow:
    """The row with this ranking kind."""
    changes = {"ranking_kind": kind.digest, "ranking_parts": kind, "complete": kind.complete, **scoring}
    changed = row.detail.scoring.model_copy(update=changes)
    return row.model_copy(update={"detail": row.detail.model_copy(update={"scoring": changed})})


def test_ranking_kinds_are_ranked_apart_and_the_fields_that_differ_are_named(tmp_path: Path) -> None:
    calls = QUICK.model_copy(update={"exchange": ("calls",), "seats": (3, 8)})
    teams = {
        "a": of_kind(team()),
        "b": of_kind(team(-0.2)),
        "c": of_kind(team(0.2), calls),
        "d": of_kind(team(-0.1), calls),
    }
    found = compared(tmp_path, **teams)
    assert {each.name: each.rank_best for each in found.teams} == {"a": 1, "b": 2, "c": 1, "d": 2}
    assert sorted((pair.first, pair.second) for pair in found.pairs) == [("a", "b"), ("c", "d")]
    [apart] = [each for each in found.warnings if "ranking kinds" in each]
    assert "seats (" in apart
    assert "exchange (" in apart
    assert "c: 3 and 8" in apart
    assert "difficulty" not in apart
    printed = concord(*(str(tmp_path / f"{name}.json") for name in teams)).stdout
    assert f"Ranking kind {QUICK.digest}" in printed
    assert f"Ranking kind {calls.digest}" in printed


def test_an_incomplete_team_is_compared_within_its_kind_and_named(tmp_path: Path) -> None:
    lost = QUICK.model_copy(update={"complete": False})
    found = compared(tmp_path, a=of_kind(team()), b=of_kind(team(-0.2), lost))
    assert len(found.pairs) == 1
    assert {each.name: each.complete for each in found.teams} == {"a": True, "b": False}
    assert "b: its row is not complete, and leaderboards refuse it." in found.warnings
    assert not any("ranking kinds" in each for each in found.warnings)


def test_rows_of_a_file_with_different_ranking_kinds_are_refused_with_the_field(tmp_path: Path) -> None:
    mixed = written(tmp_path, "mixed.json", of_kind(team()), of_kind(team(), QUICK.model_copy(update={"seats": (8,)})))
    result = concord(written(tmp_path, "a.json", of_kind(team())), mixed)
    assert result.exit_code == 2
    assert f"{mixed}: its rows are of different ranking kinds, by: seats" in result.stderr


def test_equal_scores_are_listed_by_information_and_then_by_economy(tmp_path: Path) -> None:
    def figures(information: float, economy: float | None) -> ResultRow:
        known = Figure(value=information, low=None, high=None, trials=10)
        saved = None if economy is None else known.model_copy(update={"value": economy})
        return of_kind(team(), information=known, economy=saved)

    found = compared(
        tmp_path, a=figures(0.2, 1.0), b=figures(0.8, None), c=figures(0.8, 0.3), d=figures(0.8, 0.9), e=of_kind(team())
    )
    assert [each.name for each in found.teams] == ["d", "c", "b", "a", "e"]
    first = found.teams[0]
    assert (first.information, first.economy) == (Estimate(value=0.8), Estimate(value=0.9))


def test_figures_beside_the_score_have_the_interval_of_their_one_row(tmp_path: Path) -> None:
    known = Figure(value=0.8, low=0.7, high=0.9, trials=10)
    lift = ControlRecord(control="solo", trials=10, tasks=10, team=0.9, value=0.5, gap=0.4, gap_low=0.3, gap_high=0.5)
    one = of_kind(team(), information=known, economy=known, lift=lift)
    found = compared(tmp_path, one=one, shards=[one, one])
    assert found.teams[0].lift == Estimate(value=0.4, low=0.3, high=0.5)
    assert found.teams[1].information == Estimate(value=0.8)
    printed = concord(str(tmp_path / "one.json"), str(tmp_path / "shards.json")).stdout
    assert re.search(
        r"^one .* 0\.80 \[0\.70, 0\.90\] +0\.80 \[0\.70, 0\.90\] +\+40 \[\+30, \+50\] ", printed, re.MULTILINE
    )


def test_the_sample_agent_stands_in_its_kind_without_a_rank(tmp_path: Path) -> None:
    files = {
        name: written(tmp_path, f"{name}.json", row)
        for name, row in {"a": of_kind(team(0.1)), "b": of_kind(team(-0.1)), "sample": of_kind(team())}.items()
    }
    result = concord(files["a"], files["b"], "--reference", files["sample"], "-o", str(tmp_path / "out.json"))
    assert result.exit_code == 0
    found = Comparison.model_validate_json((tmp_path / "out.json").read_bytes())
    assert [(each.name, each.reference, each.rank_best, each.rank_worst) for each in found.teams] == [
        ("a", False, 1, 1),
        ("sample", True, None, None),
        ("b", False, 2, 2),
    ]
    assert [(pair.first, pair.second) for pair in found.pairs] == [("a", "b")]
    assert found.groups == [["a"], ["b"]]
    assert re.search(r"^sample +reference +", result.stdout, re.MULTILINE)


def test_a_team_can_stand_beside_the_sample_agent_alone(tmp_path: Path) -> None:
    files = [written(tmp_path, name, of_kind(team())) for name in ("a.json", "sample.json")]
    result = concord(files[0], "--reference", files[1])
    assert (result.exit_code, "Differences" in result.stdout) == (0, False)


def test_a_name_makes_no_reference(tmp_path: Path) -> None:
    found = compared(tmp_path, **{"sample agent": of_kind(team(0.1)), "b": of_kind(team())})
    assert [(each.reference, each.rank_best) for each in found.teams] == [(False, 1), (False, 2)]


def test_rows_without_a_ranking_kind_have_no_word_on_kinds(tmp_path: Path) -> None:
    found = compared(tmp_path, a=team(), b=team(-0.2))
    assert [each.ranking_kind for each in found.teams] == [None, None]
    assert not any("kind" in each for each in found.warnings)


def test_one_team_of_each_kind_has_no_pair_and_no_difference(tmp_path: Path) -> None:
    found = compared(tmp_path, a=team(), lone=shared(team(0.2)))
    assert found.pairs == []
    assert [(each.rank_best, each.rank_worst) for each in found.teams] == [(1, 1), (1, 1)]
    assert "Differences" not in concord(str(tmp_path / "a.json"), str(tmp_path / "lone.json")).stdout


def test_teams_of_one_kind_alone_have_one_table_without_a_word_on_kinds(tmp_path: Path) -> None:
    compared(tmp_path, a=shared(team()), b=shared(team(-0.2)))
    assert "share" not in concord(str(tmp_path / "a.json"), str(tmp_path / "b.json")).stdout.replace("shared tasks", "")


def test_trials_of_controls_do_not_count(tmp_path: Path) -> None:
    whole = shared(team())
    silent = shared(team(-0.3, tasks=5), control="silent").detail.trials
    both = whole.model_copy(
        update={"detail": whole.detail.model_copy(update={"trials": [*whole.detail.trials, *silent]})}
    )
    assert [each.trials for each in compared(tmp_path, a=both, b=whole).teams] == [10, 10]


def test_trials_lost_to_infrastructure_are_left_out_and_warned_of(tmp_path: Path) -> None:
    failed = trial(task_id="task-0", overall_score=0.0, usable=False, passed=None)
    hurt = team()
    hurt = row(trials=[*hurt.detail.trials, failed], infrastructure=[FAILURE])
    found = compared(tmp_path, a=team(), b=hurt)
    assert [each.score for each in found.teams] == [found.teams[0].score] * 2
    assert {each.name: each.infrastructure_failures for each in found.teams} == {"a": 0, "b": 1}
    assert "b: 1 failure of the infrastructure." in found.warnings


def test_the_shards_of_a_team_are_compared_as_one_team(tmp_path: Path) -> None:
    whole = team()
    halves = [row(trials=whole.detail.trials[:5]), row(trials=whole.detail.trials[5:])]
    one, other = compared(tmp_path, whole=whole, halves=halves).teams
    assert (one.tasks, one.trials) == (other.tasks, other.trials)
    assert one.score == pytest.approx(other.score)


def test_missing_shards_cause_a_warning(tmp_path: Path) -> None:
    parts = [team(shard=Shard(shard_index=index, num_shards=3, plan_sha256="aa")) for index in range(3)]
    found = compared(tmp_path, whole=parts, part=parts[1])
    said = [each for each in found.warnings if "shards are missing" in each]
    assert said == ["part: shards are missing, so leaderboards do not rank it: 0, 2."]


def test_the_ids_of_recorded_traces_identify_their_tasks(tmp_path: Path) -> None:
    def traces(shift: float) -> list[ResultRow]:
        return [
            row(
                assessment_id=f"trace-{n}",
                mode=Mode.RECORDED,
                trials=[trial(task_id="trace", overall_score=each + shift)],
            )
            for n, each in enumerate(HARDNESS)
        ]

    files = [written(tmp_path, f"{name}.jsonl", *traces(shift)) for name, shift in (("a", 0.0), ("b", 0.1))]
    assert concord(*files, "-o", str(tmp_path / "out.json")).exit_code == 0
    [pair] = json.loads((tmp_path / "out.json").read_text())["pairs"]
    assert (pair["shared_tasks"], pair["verdict"]) == (10, "better")


def test_different_pass_marks_and_different_judges_cause_warnings(tmp_path: Path) -> None:
    ours = team()
    scoring = ours.detail.scoring.model_copy(update={"pass_threshold": 0.8})
    judge = Judgment(
        source="llm",
        reason=None,
        overall_score=None,
        task_success=None,
        coordination_quality=None,
        reasoning="",
        strengths=[],
        weaknesses=[],
        model="judge-1",
    )
    by_a_model = Grading(value=0.5, source="model", scorer="model", reason=None)
    judged = [each.model_copy(update={"judge": judge, "grading": by_a_model}) for each in ours.detail.trials]
    warnings = compared(tmp_path, a=team(trials=judged), b=team(scoring=scoring)).warnings
    assert any("different pass marks or weights" in each and "pass mark 0.8" in each for each in warnings)
    assert "The outcomes have different judges: code, judge-1." in warnings
    other = judge.model_copy(update={"model": "judge-2"})
    elsewhere = [each.model_copy(update={"judge": other}) for each in judged]
    warnings = compared(tmp_path, a=team(trials=judged), b=team(trials=elsewhere)).warnings
    assert "The outcomes have different judges: judge-1, judge-2." in warnings


def test_the_same_judges_cause_no_warning(tmp_path: Path) -> None:
    by_a_model = Grading(value=0.5, source="model", scorer="model", reason=None)
    first, *others = team().detail.trials
    mixed = team(trials=[first.model_copy(update={"grading": by_a_model}), *others])
    assert not any("judges" in each for each in compared(tmp_path, a=mixed, b=mixed).warnings)


@pytest.mark.parametrize(
    ("scoring", "described"),
    [
        ({"version": "1", "basis": "structure"}, "version 1 on structure"),
        ({"version": "2"}, "version 2 on outcome"),
        ({"basis": "recorded"}, "version 3 on recorded"),
    ],
)
def test_scores_of_different_versions_or_bases_are_refused_with_those_of_each_file(
    scoring: dict[str, str], described: str, tmp_path: Path
) -> None:
    ours = team()
    other = team(scoring=ours.detail.scoring.model_copy(update=scoring))
    files = [written(tmp_path, "a.json", ours), written(tmp_path, "b.json", other), written(tmp_path, "c.json", ours)]
    result = concord(*files)
    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (2, "", 1)
    a, b, c = files
    assert f"{a}: version 3 on outcome; {b}: {described}; {c}: version 3 on outcome" in result.stderr


def test_rows_with_planted_faults_are_never_ranked(tmp_path: Path) -> None:
    sound = team()
    harmed = sound.model_copy(update={"detail": sound.detail.model_copy(update={"planted_faults": 2})})
    named = written(tmp_path, "harmed.json", harmed)
    result = concord(written(tmp_path, "a.json", sound), named)
    assert result.exit_code == 2
    assert f"rows with planted faults are never ranked: {named}" in result.stderr


def test_a_file_that_mixes_kinds_of_scores_is_refused(tmp_path: Path) -> None:
    ours = team()
    other = team(scoring=ours.detail.scoring.model_copy(update={"basis": "recorded"}))
    mixed = written(tmp_path, "mixed.jsonl", ours, other)
    result = concord(written(tmp_path, "a.json", ours), mixed)
    assert result.exit_code == 2
    assert f"{mixed}: version 3 on outcome and version 3 on recorded" in result.stderr


def test_a_shard_without_trials_is_ignored_when_kinds_of_scores_are_compared(tmp_path: Path) -> None:
    empty = on_structure(version="1")
    empty = empty.model_copy(update={"detail": empty.detail.model_copy(update={"trials": []})})
    found = compared(tmp_path, a=[team(), empty], b=team())
    assert (found.scoring_version, found.basis) == ("3", "outcome")


def test_unjudged_trials_count_as_0_and_cause_a_warning(tmp_path: Path) -> None:
    ours = team()
    first, second, *others = ours.detail.trials
    nobody = [unjudged(task_id=each.task_id, seed=each.seed, trial_id=each.trial_id) for each in (first, second)]
    two, one = (ours.detail.scoring.model_copy(update={"unjudged": n}) for n in (2, 1))
    found = compared(
        tmp_path,
        a=ours,
        b=team(trials=[*nobody, *others], scoring=two),
        c=team(trials=[nobody[0], second, *others], scoring=one),
    )
    scores = {each.name: each.score for each in found.teams}
    assert scores["a"] - scores["c"] == pytest.approx(100 * (first.overall_score or 0) / 10)
    assert {each.name: (each.trials, each.unjudged) for each in found.teams} == {
        "a": (10, 0),
        "b": (10, 2),
        "c": (10, 1),
    }
    assert "b: 2 unjudged trials count as 0." in found.warnings
    assert "c: 1 unjudged trial counts as 0." in found.warnings


def test_a_wholly_unjudged_team_is_refused(tmp_path: Path) -> None:
    none_judged = team().detail.scoring.model_copy(update={"unjudged": 1})
    nobody = written(tmp_path, "nobody.json", team(trials=[unjudged()], scoring=none_judged))
    result = concord(written(tmp_path, "a.json", team()), nobody)
    assert (result.exit_code, result.stderr) == (1, f"concord: {nobody}: all of its trials are unjudged\n")


def test_a_version_1_trial_without_a_score_is_left_out(tmp_path: Path) -> None:
    """The own score of a version 1 row leaves such a trial out too."""
    old = team().detail.scoring.model_copy(update={"version": "1", "basis": "structure"})
    trials = team().detail.trials
    alone = trials[0].model_copy(update={"overall_score": None, "grading": None})
    found = compared(tmp_path, a=team(scoring=old), b=team(scoring=old, trials=[alone, *trials[1:]]))
    assert {each.name: (each.trials, each.unjudged) for each in found.teams} == {"a": (10, 0), "b": (9, 0)}


def test_trials_without_an_evaluation_are_warned_of_although_their_tasks_are_unknown(tmp_path: Path) -> None:
    some = team().detail.scoring.model_copy(update={"unjudged": 2})
    nobody = unjudged(task_id="task-0", seed=0)
    lost = team(scoring=some, trials=[nobody, *team().detail.trials[1:]])
    warnings = compared(tmp_path, a=team(), b=lost).warnings
    assert "b: 1 unjudged trial counts as 0." in warnings
    assert "b: 1 trial has no evaluation. It counts as 0 in the team's row, and not in this comparison." in warnings


@law
@given(
    st.lists(st.sampled_from([0.0, 1.0, 0.5]), min_size=2, max_size=8),
    st.lists(st.sampled_from([0.0, 1.0]), min_size=2, max_size=8),
)
def test_intervals_stay_within_the_scale(one: list[float], other: list[float]) -> None:
    teams = [_scored(name, scores) for name, scores in (("a", one), ("b", other))]
    found = compare_teams(teams)
    for team_line in found.teams:
        if team_line.score_low is not None and team_line.score_high is not None:
            assert 0 <= team_line.score_low <= team_line.score <= team_line.score_high <= 100
    for pair in found.pairs:
        if pair.difference_low is not None and pair.difference_high is not None and pair.difference is not None:
            assert -100 <= pair.difference_low <= pair.difference + 1e-9
            assert pair.difference - 1e-9 <= pair.difference_high <= 100


def test_an_interval_beyond_the_scale_is_cut_to_it() -> None:
    found = compare_teams([_scored("a", [1.0, 1.0, 0.0]), _scored("b", [0.0, 0.0, 1.0])])
    [pair] = found.pairs
    assert (pair.difference_low, pair.difference_high) == (-100, 100)
    assert (found.teams[0].score_high, found.teams[1].score_low) == (100, 0)


def _scored(name: str, scores: list[float]) -> Team:
    return Team(
        name=name,
        file=name,
        kind=ScoreKind("2", "outcome"),
        scores={f"task-{number}": {"puzzle": [score]} for number, score in enumerate(scores)},
        passed=tuple(score > 0.5 for score in scores),
        unjudged=0,
        lost=0,
        infrastructure_failures=0,
        latencies_ms=(),
        rules=frozenset(),
        judges=frozenset(),
    )


def test_latencies_come_with_a_warning_that_they_do_not_compare(tmp_path: Path) -> None:
    result = concord(written(tmp_path, "a.json", team()), written(tmp_path, "b.json", team()))
    assert LatencySummary().warning in result.stdout
    silent = team(latency_metrics=LatencySummary())
    result = concord(written(tmp_path, "a.json", silent), written(tmp_path, "b.json", silent))
    assert "Latency values" not in result.stdout


def test_the_table_shows_ranks_and_indistinguishable_teams(tmp_path: Path) -> None:
    files = [written(tmp_path, name, each) for name, each in (("a.json", team(0.1)), ("b.json", team()))]
    lines = concord(*files, written(tmp_path, "c.json", team(wobble=-0.01))).stdout.splitlines()
    assert lines[0].split() == [
        "team",
        "rank",
        "score",
        "95%",
        "passed",
        "tasks",
        "trials",
        "confidence",
        "latency",
        "ms",
    ]
    assert lines[1].split()[:2] == ["a", "1"]
    assert lines[2].split()[1] == lines[3].split()[1] == "2-3"
    assert any(line.rstrip().endswith("a is better") for line in lines)
    assert any(line.startswith("No difference shown: ") for line in lines)


def test_files_with_the_same_name_are_distinguished_by_their_folders(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
    files = [written(tmp_path / folder, "results.json", team()) for folder in ("x", "y")]
    assert all(file in concord(*files).stdout for file in files)


def test_invalid_arguments_are_refused_on_one_line(tmp_path: Path) -> None:
    good, empty = written(tmp_path, "good.json", team()), written(tmp_path, "empty.json", team(trials=[]))
    (tmp_path / "text.json").write_text("{}")
    (tmp_path / "folder").mkdir()
    refused = {
        (good,): (2, "expected 2 to 20 results files, got 1"),
        (good, good): (2, "a results file is given twice: give each file once"),
        (good, str(tmp_path / "none.json")): (2, f"{tmp_path / 'none.json'}: No such file or directory"),
        (good, str(tmp_path / "text.json")): (2, f"{tmp_path / 'text.json'}: not a results file of Concord: "),
        (good, empty): (1, f"{empty}: it contains no trial with a score"),
        (good, empty, "-o", str(tmp_path / "folder")): (2, f"{tmp_path / 'folder'}: cannot be written"),
    }
    for arguments, (code, reason) in refused.items():
        result = concord(*arguments)
        assert (result.exit_code, result.stdout) == (code, "")
        assert result.stderr.startswith(f"concord: {reason}")
        assert len(result.stderr.splitlines()) == 1


def test_control_characters_in_names_do_not_reach_the_terminal(tmp_path: Path) -> None:
    hostile = InfrastructureFailure(trial_id=None, stage="trial", message="x")
    files = [
        written(tmp_path, "\x1b[2J[red].json", team(infrastructure=[hostile])),
        written(tmp_path, "b.json", team()),
    ]
    result = concord(*files)
    assert result.exit_code == 3
    assert "\x1b" not in result.stdout
    assert "[red]" in result.stdout


def _document_row(shift: float, seed: int, runs: int, latency: float) -> ResultRow:
    """Twelve tasks of different difficulty, with runs that scatter around it."""
    draw, hard = Random(seed), Random(100)  # noqa: S311 - figures of an example
    hardness = [hard.uniform(0.3, 0.8) for _ in range(12)]
    scores = [
        (f"task-{task}", run * 12 + task, min(1.0, max(0.0, each + shift + draw.gauss(0, 0.03))))
        for run in range(runs)
        for task, each in enumerate(hardness)
    ]
    trials = [
        trial(trial_id=f"trial-{number}", task_id=task, seed=number, overall_score=score, passed=score >= 0.66)
        for task, number, score in scores
    ]
    return row(trials=trials, latency_metrics=LatencySummary(avg=latency, n=len(trials)))


def test_the_document_shows_the_real_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(Path(), "mesh.json", _document_row(0.15, 1, 1, 812))
    written(Path(), "star.json", _document_row(0.0, 2, 1, 655))
    written(Path(), "chain.json", _document_row(0.0, 3, 2, 1204))
    [commands] = re.findall(r"^```sh\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
    [table] = re.findall(r"^```text\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
    for line in commands.splitlines():
        assert concord(*line.split()[2:]).exit_code == 0
    shown = concord(*commands.splitlines()[0].split()[2:]).stdout
    assert "".join(f"{line.rstrip()}\n" for line in shown.splitlines()) == table
    Comparison.model_validate_json(Path("comparison.json").read_bytes())
