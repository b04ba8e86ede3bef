"""The table in docs/scoring.md: every example team is in it, with the score that its behaviour should get."""

from pathlib import Path

import pytest

from benchmarks.score_table import COLUMNS, SECTION
from examples.teams.catalogue import TEAMS

JUDGED, MODEL_DOWN = ("code scorer", "fake model"), "model down"
SCORES = (*JUDGED, MODEL_DOWN)
WORKING = ["good", "hub", "chain", "tree", "mesh"]


def _lines() -> list[dict[str, str]]:
    text = Path("docs/scoring.md").read_text(encoding="utf-8")
    section = text.partition(f"<!-- {SECTION} -->")[2].partition(f"<!-- /{SECTION} -->")[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]
    return [dict(zip(cells[0], line, strict=True)) for line in cells[2:]]


TABLE = {line["team"]: line for line in _lines()}


def score(team: str, setting: str) -> float:
    return float(TABLE[team][setting])


def counts(team: str) -> tuple[int, int, int]:
    """The numbers of carried, failed and useless calls."""
    carried, failed, bought_nothing = map(int, TABLE[team]["carried / failed / bought nothing"].split(" / "))
    return carried, failed, bought_nothing


def is_unjudged(team: str, setting: str) -> bool:
    return TABLE[team][setting] == "- (1 unjudged)"


def test_every_team_is_in_the_table_with_all_columns() -> None:
    assert TABLE.keys() == TEAMS.keys()
    assert all(tuple(line) == COLUMNS and all(line.values()) for line in TABLE.values())


def test_all_settings_agree_on_everything_but_the_score() -> None:
    assert not [team for team, line in TABLE.items() if any(" or " in cell for cell in line.values())]


@pytest.mark.parametrize("setting", JUDGED)
@pytest.mark.parametrize("team", WORKING)
def test_a_working_team_scores_at_least_90_in_every_topology(team: str, setting: str) -> None:
    assert score(team, setting) >= 90
    assert counts(team)[1:] == (0, 0)


@pytest.mark.parametrize("setting", JUDGED)
def test_garbage_answers_score_at_most_20(setting: str) -> None:
    assert score("garbage", setting) <= 20
    assert counts("garbage") == (4, 0, 4)


@pytest.mark.parametrize("team", sorted(TEAMS.keys() - {"empty"}))
def test_an_unjudged_team_has_no_score(team: str) -> None:
    assert is_unjudged(team, MODEL_DOWN)


@pytest.mark.parametrize("setting", SCORES)
def test_an_empty_answer_scores_0_with_every_judge(setting: str) -> None:
    assert score("empty", setting) == 0


@pytest.mark.parametrize("setting", JUDGED)
def test_unseen_calls_earn_at_most_half_and_yield_neither_label_nor_finding(setting: str) -> None:
    assert score("direct", setting) <= 50
    assert counts("direct") == (0, 0, 0)
    assert TABLE["direct"]["observability"] == "none seen"
    assert (TABLE["direct"]["label"], TABLE["direct"]["first finding"]) == ("-", "none")


@pytest.mark.parametrize("setting", JUDGED)
def test_an_answer_known_before_the_calls_scores_at_most_50(setting: str) -> None:
    assert score("knowing", setting) <= 50


@pytest.mark.parametrize("setting", JUDGED)
@pytest.mark.parametrize("team", ["pings", "numbered-pings"])
def test_pings_cost_points_even_if_they_are_numbered(team: str, setting: str) -> None:
    assert score(team, setting) < score("good", setting)
    assert counts(team) == (54, 0, 50)


@pytest.mark.parametrize("team", ["crash", "dropped-stream"])
def test_a_failing_member_lowers_the_teams_conduct_and_outcome(team: str) -> None:
    assert counts(team)[1] == 1
    assert float(TABLE[team]["conduct"]) < float(TABLE["good"]["conduct"])
    assert all(score(team, setting) == 0 for setting in JUDGED), "a part of the trees is missing"


def test_no_failure_is_charged_to_the_infrastructure() -> None:
    assert {line["infrastructure"] for line in TABLE.values()} == {"0"}


@pytest.mark.parametrize("setting", JUDGED)
def test_a_lone_participant_is_judged_by_its_answer_and_has_full_conduct(setting: str) -> None:
    assert score("alone", setting) == 100
    assert (TABLE["alone"]["conduct"], TABLE["alone"]["label"]) == ("1.000", "-")
