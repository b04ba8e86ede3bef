"""The tables in docs/scoring.md: every team is in them, with the score that its behaviour should get."""

from pathlib import Path

import pytest

from benchmarks.scores.alone import TEAMS as ALONE_TEAMS
from benchmarks.scores.pretending_teams import PRETENDING
from benchmarks.scores.score_table import COLUMNS, SECTION
from examples.teams.catalogue import TEAMS

JUDGED, MODEL_DOWN = ("code scorer", "fake model"), "model down"
SCORES = (*JUDGED, MODEL_DOWN)
WORKING = ["good", "hub", "chain", "tree", "mesh"]


def _tables() -> list[dict[str, dict[str, str]]]:
    """The tables of the section, each by team and column."""
    text = Path("docs/scoring.md").read_text(encoding="utf-8")
    section = text.partition(f"<!-- {SECTION} -->")[2].partition(f"<!-- /{SECTION} -->")[0]
    found = []
    for part in section.split("### ")[1:]:
        cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if line[:1] == "|"]
        found.append({line[0]: dict(zip(cells[0], line, strict=True)) for line in cells[2:]})
    return found


TABLE, TEAM_TASKS, HIDING, ALONE = _tables()


def score(team: str, setting: str) -> float:
    return float(TABLE[team][setting])


def calls_of(team: str) -> tuple[int, int]:
    """The numbers of observed and failed calls between the team's members."""
    observed, failed = map(int, TABLE[team]["calls observed / failed"].split(" / "))
    return observed, failed


def is_unjudged(team: str, setting: str) -> bool:
    return TABLE[team][setting] == "- (1 unjudged)"


def first_figure(team: str, column: str) -> float:
    """A figure of a team in team tasks, without its interval."""
    return float(TEAM_TASKS[team][column].partition(" ")[0])


def of(kind: str) -> list[str]:
    """The teams of a kind in team tasks."""
    return [team for team in TEAM_TASKS if team.partition(":")[0] == kind]


def test_every_team_is_in_the_table_with_all_columns() -> None:
    assert TABLE.keys() == TEAMS.keys()
    assert all(tuple(line) == COLUMNS and all(line.values()) for line in TABLE.values())
    assert TEAM_TASKS.keys() == PRETENDING.keys()
    assert ALONE.keys() == ALONE_TEAMS.keys()


def test_all_settings_agree_on_everything_but_the_score() -> None:
    assert not [team for team, line in TABLE.items() if any(" or " in cell for cell in line.values())]


@pytest.mark.parametrize("setting", JUDGED)
@pytest.mark.parametrize("team", WORKING)
def test_a_working_team_scores_at_least_90_in_every_topology(team: str, setting: str) -> None:
    assert score(team, setting) >= 90
    assert calls_of(team)[1] == 0


@pytest.mark.parametrize("setting", JUDGED)
def test_garbage_answers_score_at_most_20(setting: str) -> None:
    assert score("garbage", setting) <= 20
    assert calls_of("garbage") == (4, 0)


@pytest.mark.parametrize("team", sorted(TEAMS.keys() - {"empty"}))
def test_an_unjudged_team_has_no_score(team: str) -> None:
    assert is_unjudged(team, MODEL_DOWN)


@pytest.mark.parametrize("setting", SCORES)
def test_an_empty_answer_scores_0_with_every_judge(setting: str) -> None:
    assert score("empty", setting) == 0


@pytest.mark.parametrize("setting", JUDGED)
@pytest.mark.parametrize("team", ["direct", "knowing", "pings", "numbered-pings", "alone"])
def test_calls_describe_a_team_and_change_no_score(team: str, setting: str) -> None:
    assert score(team, setting) == score("good", setting) == 100


def test_unseen_calls_yield_neither_label_nor_finding() -> None:
    assert calls_of("direct") == (0, 0)
    assert TABLE["direct"]["observability"] == "none seen"
    assert (TABLE["direct"]["label"], TABLE["direct"]["first finding"]) == ("-", "none")


@pytest.mark.parametrize("team", ["crash", "dropped-stream"])
def test_a_failing_member_is_counted_and_costs_what_its_part_was_worth(team: str) -> None:
    assert calls_of(team)[1] == 1
    assert all(score(team, setting) == 0 for setting in JUDGED), "a part of the trees is missing"


def test_no_failure_is_charged_to_the_infrastructure() -> None:
    assert {line["infrastructure"] for line in TABLE.values()} == {"0"}


@pytest.mark.parametrize("team", [*of("honest"), *of("talkative")])
def test_a_right_team_passes_every_trial_however_much_it_talks(team: str) -> None:
    assert first_figure(team, "score") == 100
    assert TEAM_TASKS[team]["passed"] == "8 of 8"


def test_talk_costs_economy() -> None:
    [honest], [talkative] = of("honest"), of("talkative")
    assert first_figure(talkative, "economy") < first_figure(honest, "economy")


@pytest.mark.parametrize("kind", ["forgetful", "silent", "lying"])
def test_a_faulty_member_costs_points_and_is_named(kind: str) -> None:
    [team] = of(kind)
    assert first_figure(team, "score") < 75
    assert "(agent/2)" in TEAM_TASKS[team]["cause"]


@pytest.mark.parametrize("team", of("colluding"))
def test_a_shared_memory_gives_right_answers_and_passes_no_trial(team: str) -> None:
    assert first_figure(team, "outcome") == 1
    assert first_figure(team, "score") <= 25
    assert TEAM_TASKS[team]["passed"] == "0 of 8"


def test_hidden_calls_and_members_change_no_score() -> None:
    scores = [line["score"] for team, line in HIDING.items() if team.startswith(("honest: calls", "unobserved"))]
    assert scores == ["100.0"] * 3


def test_a_censored_trial_counts_as_a_wrong_one() -> None:
    honest, censoring = (
        [line["score"], line["score high"], line["passed"]]
        for team, line in HIDING.items()
        if team.startswith(("honest: one", "censoring"))
    )
    assert honest == censoring == ["50.0", "50.0", "1 of 2"]


def test_lift_says_whether_the_team_was_needed() -> None:
    lifts = {team: line["lift"].partition(" ")[0] for team, line in ALONE.items()}
    assert lifts["the agent needs its helper"] == "+100"
    assert lifts["the agent needs nobody"] == "+0"
    assert lifts["the helper is wrong, and the agent believes it"] == "-100"


def test_an_agent_with_addresses_of_its_own_is_not_known_to_be_alone() -> None:
    unknown = [team for team, line in ALONE.items() if line["cut off"] != "yes"]
    assert unknown == ["the same, with the helper's address of its own"]
