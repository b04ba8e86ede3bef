"""The leaderboard's query, run by DuckDB as on the platform, over every form of results file."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pydantic import TypeAdapter

from concord.assessment.result_row import AgentRecord
from concord.assessment.table import MAX_LISTED, Table
from concord_evaluator.aggregate import make_row as evaluators_row
from tests.kit.graphs import mesh, star
from tests.kit.rows import make_row
from tests.kit.trials import judged, outcome, plan

VERSION_1 = Path("tests/unit/cli/version_1")
QUERY = Path("deploy/leaderboard/query.sql").read_text(encoding="utf-8")

COLUMNS = [
    "id",
    "Pass Rate",
    "Score",
    "Domain",
    "Overall %",
    "Density %",
    "Coordination",
    "Quality",
    "Bottleneck",
    "Isolated",
    "Avg Latency (ms)",
    "P95 Latency (ms)",
    "Score 95 %",
    "Rank",
    "Assessed",
    "Basis",
    "Version",
    "Score High",
    "Usable",
    "Judged",
    "Unjudged",
    "Information",
    "Economy",
    "Ranking Kind",
    "Information 95 %",
    "Economy 95 %",
    "Lift",
    "Lift 95 %",
    "Lift Over",
    "Shards",
]

OF_TEAM_TASKS = ["Information", "Economy", "Information 95 %", "Economy 95 %"]
OF_CONTROLS = ["Lift", "Lift 95 %", "Lift Over"]

Line = dict[str, Any]

AGENTS: TypeAdapter[list[AgentRecord]] = TypeAdapter(Table[AgentRecord])


def row(overall_score: float = 0.8, **changes: object) -> Line:
    """A row as in a results file, with changed top-level keys."""
    return {**make_row(overall_score=overall_score).model_dump(mode="json"), **changes}


def scored(overall_score: float = 0.8, *, status: str = "ok", **scoring: object) -> Line:
    """A row with changed keys of `detail.scoring` and this coordination status."""
    document = row(overall_score)
    document["detail"]["scoring"] |= scoring
    document["detail"]["coordination_status"] = status
    return document


def in_seats(overall_score: float, *seats: str) -> Line:
    """A row of team tasks with these seats, in the ranking kind of a row without one."""
    document = row(overall_score)
    parts = {"seats": [len(seats)], "published": True}
    document["detail"]["scoring"] |= {"ranking_parts": parts}
    document["detail"]["agents"] = AGENTS.dump_python([_agent(seat) for seat in seats], mode="json")
    return document


def _agent(name: str) -> AgentRecord:
    return AgentRecord(
        id=name,
        url=None,
        agentbeats_id=None,
        functions=[],
        declared=True,
        calls_made=0,
        calls_received=0,
        errors_received=0,
        latency_avg_ms=None,
    )


def unjudged(usable: int = 1) -> Line:
    """A row of unjudged trials."""
    document = scored(usable_trials=usable, passed_trials=0, judged_by_code=0, unjudged=usable, score_high=None)
    document["task_rewards"]["overall_score"] = None
    return {**document, "score": None, "pass_rate": None}


def v1(agent: str, *rows: object) -> Line:
    """A results file in its first form; `v2` makes the second form."""
    return {"participants": {"agent": agent}, "results": list(rows)}


def v2(agent: str, *rows: object) -> Line:
    return {"status": "completed", "participants": {"green": "uuid-green", "agent": agent}, "results": list(rows)}


def leaderboard(folder: Path, *files: Line, query: str = QUERY) -> list[Line]:
    folder.mkdir(exist_ok=True)
    for number, document in enumerate(files):
        (folder / f"{number}.json").write_text(json.dumps(document), encoding="utf-8")
    with duckdb.connect() as connection:
        connection.execute(f"CREATE VIEW results AS SELECT * FROM read_json_auto('{folder}/*.json')")  # noqa: S608
        answer = connection.execute(query)
        names = [column[0] for column in answer.description or []]
        return [dict(zip(names, values, strict=True)) for values in answer.fetchall()]


def test_the_columns_are_the_platforms_followed_by_those_that_explain_the_score(tmp_path: Path) -> None:
    (line,) = leaderboard(tmp_path, v1("uuid-a", row()))
    assert list(line) == COLUMNS
    assert line["id"] == "uuid-a"
    assert (line["Score"], line["Overall %"], line["Density %"], line["Coordination"]) == (80, 80, 100, "High")
    assert (line["Domain"], line["Quality"], line["Bottleneck"], line["Isolated"]) == (
        "graph-assessment",
        "high",
        False,
        0,
    )
    assert (line["Rank"], line["Assessed"], line["Basis"], line["Version"]) == (1, "team", "outcome", "3")
    assert (line["Score High"], line["Usable"], line["Judged"], line["Unjudged"]) == (80, 1, 1, 0)


def test_files_of_both_forms_are_listed_together_by_score(tmp_path: Path) -> None:
    lines = leaderboard(tmp_path, v1("uuid-a", row(0.5)), v2("uuid-b", row(0.9)))
    assert [(line["id"], line["Score"]) for line in lines] == [("uuid-b", 90), ("uuid-a", 50)]


def test_the_id_is_that_of_the_named_role(tmp_path: Path) -> None:
    document = {"participants": {"aaa": "uuid-other", "agent": "uuid-a"}, "results": [row()]}
    assert [line["id"] for line in leaderboard(tmp_path, document)] == ["uuid-a"]


@pytest.mark.parametrize("role", ["researcher_2", "my-agent", "agent.v2", "an agent"])
def test_the_role_may_have_any_participants_name(tmp_path: Path, role: str) -> None:
    document = {"participants": {"agent": "uuid-other", role: "uuid-r"}, "results": [row()]}
    query = QUERY.replace("SELECT 'agent' AS role", f"SELECT '{role}' AS role")
    assert [line["id"] for line in leaderboard(tmp_path, document, query=query)] == ["uuid-r"]


def test_teams_of_different_participants_are_listed_together(tmp_path: Path) -> None:
    one = {"participants": {"agent": "uuid-a", "planner": "uuid-p"}, "results": [row(0.9)]}
    other = {"participants": {"writer": "uuid-w", "agent": "uuid-b", "reviewer": "uuid-r"}, "results": [row(0.4)]}
    assert [line["id"] for line in leaderboard(tmp_path, one, other)] == ["uuid-a", "uuid-b"]


@pytest.mark.parametrize("results", [[], None], ids=["no rows", "null"])
def test_a_submission_without_a_row_is_omitted_and_others_are_listed(
    tmp_path: Path, results: list[object] | None
) -> None:
    failed = {"status": "failed", "participants": {"agent": "uuid-f"}, "results": results}
    without = {"participants": {"agent": "uuid-g"}}
    lines = leaderboard(tmp_path, failed, without, v1("uuid-a", row()), {"results": [row()]})
    assert [line["id"] for line in lines] == ["uuid-a"]


def test_a_failed_submission_alone_gives_an_empty_leaderboard(tmp_path: Path) -> None:
    assert leaderboard(tmp_path, {"status": "failed", "participants": {"agent": "uuid-f"}, "results": []}) == []


def test_every_submission_of_an_agent_is_listed(tmp_path: Path) -> None:
    lines = leaderboard(tmp_path, v1("uuid-a", row(0.4)), v2("uuid-a", row(0.6)))
    assert [(line["id"], line["Score"]) for line in lines] == [("uuid-a", 60), ("uuid-a", 40)]


def test_a_team_without_the_role_is_credited_to_the_first_by_name_of_those_that_the_row_assesses(
    tmp_path: Path,
) -> None:
    assessed = in_seats(0.9, "writer/1", "planner/1")
    roles = {"concord": "uuid-green", "writer": "uuid-w", "planner": "uuid-p", "absent": "uuid-x", 'a"b': "uuid-q"}
    lines = leaderboard(
        tmp_path,
        {"participants": roles, "results": [assessed]},
        {"participants": {"concord": "uuid-green", "critic": "uuid-c"}, "results": [row(0.7)]},
        {"participants": {"planner": None}, "results": [row(0.6)]},
    )
    assert [(line["id"], line["Rank"]) for line in lines] == [("uuid-p", 1), ("uuid-c", 2)]


def test_shards_are_averaged_by_their_usable_trials(tmp_path: Path) -> None:
    large, small = row(0.9), row(0.3)
    large["detail"]["scoring"]["usable_trials"] = 3
    (line,) = leaderboard(tmp_path, v2("uuid-a", large, small))
    assert line["Score"] == pytest.approx((3 * 90 + 30) / 4)
    assert line["Score 95 %"] is None


def test_shards_without_a_usable_trial_do_not_change_the_figures(tmp_path: Path) -> None:
    none = row(pass_rate=None, score=None)
    none["task_rewards"] = dict.fromkeys(none["task_rewards"])
    none["detail"]["scoring"]["usable_trials"] = 0
    (line,) = leaderboard(tmp_path, v2("uuid-a", row(0.9), none))
    assert (line["Score"], line["Pass Rate"], line["Overall %"], line["Coordination"]) == (90, 100, 90, "High")


def test_a_row_without_trials_does_not_change_the_figures_and_is_not_listed(tmp_path: Path) -> None:
    """A shard without tasks, whose row does not even have the basis that a score would have."""
    empty = {**scored(version="1", basis="structure", usable_trials=0, judged_by_code=0), "score": None}
    wide = row(0.9)
    wide["detail"]["statistics"] |= {"score_low": 80, "score_high": 99}
    (line,) = leaderboard(tmp_path, v2("uuid-a", wide, empty), v2("uuid-b", empty))
    assert (line["id"], line["Score"], line["Rank"], line["Score 95 %"]) == ("uuid-a", 90, 1, "80.0 to 99.0")


def test_a_shard_without_an_evaluation_counts_as_unjudged(tmp_path: Path) -> None:
    lost = {**scored(usable_trials=0, judged_by_code=0, unjudged=3, score_high=None), "score": None}
    (line,) = leaderboard(tmp_path, v1("uuid-a", row(0.8), lost))
    assert (line["Score"], line["Score High"], line["Usable"], line["Unjudged"]) == (20, 95, 1, 3)


def test_unjudged_trials_are_counted_and_the_score_has_an_upper_bound(tmp_path: Path) -> None:
    partly = scored(0.4, usable_trials=4, judged_by_code=1, judged_by_model=1, unjudged=2, score_high=88.0)
    (line,) = leaderboard(tmp_path, v1("uuid-a", partly))
    assert (line["Usable"], line["Judged"], line["Unjudged"]) == (4, 2, 2)
    assert (line["Score"], line["Score High"]) == (40, 88)


def test_an_unjudged_shard_counts_as_0_beside_a_judged_one(tmp_path: Path) -> None:
    (line,) = leaderboard(tmp_path, v1("uuid-a", row(0.9), unjudged(usable=2)))
    assert (line["Score"], line["Score High"], line["Pass Rate"]) == (30, 96.7, 33.3)
    assert (line["Usable"], line["Judged"], line["Unjudged"]) == (3, 1, 2)


def test_a_submission_of_unjudged_trials_has_no_score_and_no_rank(tmp_path: Path) -> None:
    lines = leaderboard(tmp_path, v1("uuid-a", unjudged()), v1("uuid-b", row(0.1)))
    assert [(line["id"], line["Score"], line["Rank"]) for line in lines] == [("uuid-b", 10, 1), ("uuid-a", None, None)]
    assert {lines[1][name] for name in ("Score High", "Pass Rate", "Overall %")} == {None}
    assert (lines[1]["Usable"], lines[1]["Unjudged"]) == (1, 1)


def test_only_scores_based_on_the_outcome_are_ranked_and_others_are_listed_below(tmp_path: Path) -> None:
    lines = leaderboard(
        tmp_path,
        v1("uuid-pattern", scored(1.0, basis="structure")),
        v1("uuid-trace", scored(1.0, basis="recorded")),
        v1("uuid-a", row(0.3)),
        v1("uuid-b", row(0.6)),
    )
    ranked = [(line["id"], line["Rank"]) for line in lines]
    assert ranked[:2] == [("uuid-b", 1), ("uuid-a", 2)]
    assert sorted(ranked[2:]) == [("uuid-pattern", None), ("uuid-trace", None)]
    assert {line["id"]: line["Basis"] for line in lines[2:]} == {"uuid-pattern": "structure", "uuid-trace": "recorded"}


def test_rows_of_a_file_are_averaged_by_version_and_basis(tmp_path: Path) -> None:
    mixed = [row(0.9), row(0.7), scored(0.2, basis="structure"), scored(0.1, version="1", basis="structure")]
    lines = leaderboard(tmp_path, v2("uuid-a", *mixed))
    assert [(line["Version"], line["Basis"], line["Score"], line["Rank"]) for line in lines] == [
        ("3", "outcome", 80, None),
        ("3", "structure", 20, None),
        ("1", "structure", 10, None),
    ]


def test_versions_are_ranked_separately_with_the_latest_first(tmp_path: Path) -> None:
    later = [v1(f"uuid-{score}", scored(score, version="10")) for score in (0.2, 0.4)]
    lines = leaderboard(tmp_path, v1("uuid-old", row(0.9)), *later)
    assert [(line["id"], line["Version"], line["Rank"]) for line in lines] == [
        ("uuid-0.4", "10", 1),
        ("uuid-0.2", "10", 2),
        ("uuid-old", "3", 1),
    ]


def test_lone_participants_are_ranked_separately_from_teams(tmp_path: Path) -> None:
    lone = [v1(f"uuid-lone-{score}", scored(score, status="not_applicable")) for score in (0.95, 0.97)]
    lone += [v1("uuid-seats-0.96", in_seats(0.96, "agent/1", "agent/2"))]
    lone += [v1("uuid-crowd-0.94", in_seats(0.94, *_crowd("agent")))]
    unseen = v1("uuid-unseen", scored(0.2, status="undefined"))
    lines = leaderboard(tmp_path, *lone, v1("uuid-team", row(0.5)), unseen)
    assert [(line["id"], line["Assessed"], line["Rank"]) for line in lines] == [
        ("uuid-team", "team", 1),
        ("uuid-unseen", "team", 2),
        ("uuid-lone-0.97", "one participant", 1),
        ("uuid-seats-0.96", "one participant", 2),
        ("uuid-lone-0.95", "one participant", 3),
        ("uuid-crowd-0.94", "one participant", 4),
    ]


@pytest.mark.parametrize(
    ("participants", "assessed"),
    [(["agent"], "one participant"), (["agent", "agent2"], "team"), (["agent", "bee"], "team"), (["x", "y"], "team")],
)
def test_so_many_seats_that_they_are_columns_tell_whose_they_are(
    participants: list[str], assessed: str, tmp_path: Path
) -> None:
    (line,) = leaderboard(tmp_path, v1("uuid-crowd", in_seats(0.9, *_crowd(*participants))))
    assert line["Assessed"] == assessed


def _crowd(*participants: str) -> list[str]:
    """The names of more seats than a row lists one by one, of each participant one after the other."""
    return [f"{name}/{number}" for name in participants for number in range(MAX_LISTED + 1)]


def test_equal_scores_share_a_rank(tmp_path: Path) -> None:
    lines = leaderboard(tmp_path, *(v1(f"uuid-{score}", row(score)) for score in (0.5, 0.50001, 0.4)))
    assert [line["Rank"] for line in lines] == [1, 1, 3]


def test_original_rows_of_version_1_are_listed_below_ranked_ones(tmp_path: Path) -> None:
    old = [json.loads((VERSION_1 / f"{name}.json").read_text(encoding="utf-8")) for name in ("mesh", "hub_spoke")]
    for number, document in enumerate(old):
        document["participants"] = {"agent": f"uuid-old-{number}"}
    lines = leaderboard(tmp_path, *old, v1("uuid-new", row(0.1)))
    assert [(line["id"], line["Score"], line["Rank"], line["Version"], line["Basis"]) for line in lines] == [
        ("uuid-new", 10, 1, "3", "outcome"),
        ("uuid-old-0", 100, None, "1", "structure"),
        ("uuid-old-1", 59.2, None, "1", "structure"),
    ]
    assert [(line["Usable"], line["Judged"], line["Unjudged"]) for line in lines[1:]] == [(1, None, None)] * 2
    assert leaderboard(tmp_path / "alone", *old)[0]["Score"] == 100


def test_values_of_unexpected_types_do_not_remove_any_line(tmp_path: Path) -> None:
    odd = scored(usable_trials="many")
    odd |= {"score": "good", "pass_rate": {}}
    odd["detail"]["graph_metrics"]["has_bottleneck"] = "perhaps"
    lines = leaderboard(tmp_path, v1("uuid-odd", odd), v1("uuid-a", row()))
    assert [(line["id"], line["Score"]) for line in lines] == [("uuid-a", 80), ("uuid-odd", None)]


def test_shards_are_averaged_by_domain(tmp_path: Path) -> None:
    rows = [row(0.9), row(0.5, domain="personal-assistant"), row(0.7), row(0.1, domain="personal-assistant")]
    lines = leaderboard(tmp_path, v2("uuid-a", *rows))
    assert {line["Domain"]: line["Score"] for line in lines} == {"graph-assessment": 80, "personal-assistant": 30}


@pytest.mark.parametrize(
    ("value", "label"), [(1.0, "High"), (0.66, "High"), (0.65, "Medium"), (0.33, "Medium"), (0.32, "Low"), (0.0, "Low")]
)
def test_coordination_is_labelled_by_the_platforms_thresholds(tmp_path: Path, value: float, label: str) -> None:
    rated = row()
    rated["task_rewards"]["coordination_quality"] = value
    assert [line["Coordination"] for line in leaderboard(tmp_path, v1("uuid-a", rated))] == [label]


def test_a_row_by_the_evaluator_on_the_users_own_tasks_fills_every_cell_but_those_of_team_tasks(tmp_path: Path) -> None:
    teams = [mesh(4), star(4), mesh(4)]
    planned = plan(teams[0][0], trials=3, tasks=3)
    verdicts = [judged(planned, team, outcome(f"trial-{number}")) for number, team in enumerate(teams, 1)]
    document = evaluators_row(planned, verdicts, [])
    (line,) = leaderboard(tmp_path, v1("uuid-a", document.model_dump(mode="json")))
    assert [name for name, value in line.items() if value is None] == ["Rank", *OF_TEAM_TASKS, *OF_CONTROLS]
    assert line["Ranking Kind"] == document.detail.scoring.ranking_kind
    assert (line["Avg Latency (ms)"], line["P95 Latency (ms)"]) == (10, 10)
    assert line["Score"] == pytest.approx(document.score, abs=0.05)
    assert line["Density %"] == pytest.approx(100 * (document.task_rewards.graph_density or 0), abs=0.05)


def test_undefined_figures_are_empty_and_not_low(tmp_path: Path) -> None:
    empty = row(pass_rate=None, score=None)
    empty["task_rewards"] = {"overall_score": None, "graph_density": None, "coordination_quality": None}
    lines = leaderboard(tmp_path, v1("uuid-a", empty), v1("uuid-b", row()))
    assert [line["id"] for line in lines] == ["uuid-b", "uuid-a"]
    assert {lines[1][name] for name in ("Score", "Pass Rate", "Overall %", "Coordination", "Rank")} == {None}


def test_missing_keys_give_empty_cells(tmp_path: Path) -> None:
    (line,) = leaderboard(tmp_path, v1("uuid-a", {"score": 70.0, "domain": "graph-assessment"}))
    assert (line["Score"], line["Pass Rate"], line["Isolated"]) == (70, None, 0)


def test_each_domain_has_a_line_of_its_own(tmp_path: Path) -> None:
    assistant = row(0.6, domain="personal-assistant")
    lines = leaderboard(tmp_path, v1("uuid-a", row(), assistant))
    assert {line["Domain"]: line["Score"] for line in lines} == {"graph-assessment": 80, "personal-assistant": 60}


def test_a_bare_number_among_the_results_does_not_change_any_figures(tmp_path: Path) -> None:
    lines = leaderboard(tmp_path, v1("uuid-a", row(), 3), v1("uuid-b", row(0.4)))
    assert [(line["id"], line["Score"]) for line in lines] == [("uuid-a", 80), ("uuid-b", 40)]


def test_the_scores_interval_is_shown_where_the_row_has_one(tmp_path: Path) -> None:
    wide = row()
    wide["detail"]["statistics"] |= {"score_low": 71.23, "score_high": 88.88}
    (line,) = leaderboard(tmp_path, v1("uuid-a", wide))
    assert line["Score 95 %"] == "71.2 to 88.9"


def test_isolated_agents_are_counted(tmp_path: Path) -> None:
    isolated = row()
    isolated["detail"]["graph_metrics"]["isolated_agents"] = ["x", "y"]
    (line,) = leaderboard(tmp_path, v1("uuid-a", isolated))
    assert line["Isolated"] == 2


def team_row(overall_score: float, **scoring: object) -> Line:
    """A row of version 3 on the team tasks of a manifest."""
    document = scored(overall_score, ranking_kind="kind-a", ranking_parts={"seats": [5], "published": True})
    document["detail"]["scoring"] |= scoring
    return document


def figure(value: float, trials: int = 1) -> Line:
    return {"value": value, "low": None, "high": None, "trials": trials}


def test_each_ranking_kind_is_ranked_by_itself(tmp_path: Path) -> None:
    lines = leaderboard(
        tmp_path,
        v1("uuid-a", team_row(0.9)),
        v1("uuid-b", team_row(0.5)),
        v1("uuid-c", team_row(0.7, ranking_kind="kind-b")),
        v1("uuid-old", scored(0.1, version="2")),
    )
    assert [(line["id"], line["Ranking Kind"], line["Rank"]) for line in lines] == [
        ("uuid-a", "kind-a", 1),
        ("uuid-b", "kind-a", 2),
        ("uuid-c", "kind-b", 1),
        ("uuid-old", None, 1),
    ]


def test_equal_scores_are_ranked_by_information_and_then_by_economy(tmp_path: Path) -> None:
    figures = {
        "uuid-silent": (0.0, None),
        "uuid-talker": (0.8, 0.2),
        "uuid-brief": (0.8, 0.9),
        "uuid-half": (0.4, 1.0),
        "uuid-twin": (0.8, 0.2),
    }
    files = [
        v1(name, team_row(0.5, information=figure(known), economy=None if saved is None else figure(saved)))
        for name, (known, saved) in figures.items()
    ]
    assert [(line["id"], line["Rank"], line["Information"]) for line in leaderboard(tmp_path, *files)] == [
        ("uuid-brief", 1, 0.8),
        ("uuid-talker", 2, 0.8),
        ("uuid-twin", 2, 0.8),
        ("uuid-half", 4, 0.4),
        ("uuid-silent", 5, 0.0),
    ]


def test_figures_beside_the_score_are_averaged_over_shards_by_their_trials(tmp_path: Path) -> None:
    one, other = team_row(0.5, information=figure(1.0, 3)), team_row(0.5, information=figure(0.0, 1))
    [line] = leaderboard(tmp_path, v2("uuid-a", one, other))
    assert (line["Information"], line["Economy"]) == (0.75, None)


def test_a_submission_with_an_incomplete_shard_is_refused_as_a_whole(tmp_path: Path) -> None:
    lost = team_row(0.2, complete=False, ranking_kind="kind-lost")
    lines = leaderboard(tmp_path, v2("uuid-censor", team_row(1.0), lost), v1("uuid-a", team_row(0.4)))
    assert [(line["id"], line["Rank"]) for line in lines] == [("uuid-a", 1)]


def test_a_shard_that_lost_all_its_trials_is_refused_although_it_has_no_figures(tmp_path: Path) -> None:
    lost = {**team_row(0.0, complete=False, usable_trials=0, judged_by_code=0, unjudged=3), "score": None}
    assert leaderboard(tmp_path, v2("uuid-censor", team_row(1.0), lost)) == []


def test_team_tasks_that_are_no_published_manifest_have_no_rank(tmp_path: Path) -> None:
    chosen = team_row(1.0, ranking_kind="kind-b", ranking_parts={"seats": [5], "published": False})
    lines = leaderboard(tmp_path, v1("uuid-chosen", chosen), v1("uuid-a", team_row(0.4)))
    assert [(line["id"], line["Rank"]) for line in lines] == [("uuid-a", 1), ("uuid-chosen", None)]


def shard(index: int, of: int, plan: str = "plan-a", score: float = 0.5) -> Line:
    """A row that says which shard of which plan it is."""
    document = team_row(score)
    document["detail"]["shard"] = {"shard_index": index, "num_shards": of, "plan_sha256": plan}
    return document


@pytest.mark.parametrize(
    ("rows", "shards"),
    [
        ([shard(0, 1)], "1 of 1"),
        ([shard(2, 3), shard(0, 3), shard(1, 3)], "3 of 3"),
    ],
    ids=["one of one", "all in any order"],
)
def test_all_shards_of_one_plan_have_a_rank(tmp_path: Path, rows: list[Line], shards: str) -> None:
    (line,) = leaderboard(tmp_path, v2("uuid-a", *rows))
    assert (line["Rank"], line["Shards"]) == (1, shards)


def test_a_shard_without_tasks_is_one_of_the_shards(tmp_path: Path) -> None:
    played, empty = shard(0, 2, score=0.8), shard(1, 2)
    played["detail"]["task_secret_sha256"] = "5e"
    empty["detail"]["scoring"] |= {"usable_trials": 0, "judged_by_code": 0, "ranking_kind": "kind-empty"}
    whole, part = leaderboard(tmp_path, v2("uuid-whole", played, {**empty, "score": None}), v1("uuid-part", played))
    assert [(line["id"], line["Score"], line["Rank"]) for line in (whole, part)] == [
        ("uuid-whole", 80, 1),
        ("uuid-part", 80, None),
    ]


def with_secret(document: Line, commitment: str) -> Line:
    document["detail"]["task_secret_sha256"] = commitment
    return document


@pytest.mark.parametrize(
    "rows",
    [
        [shard(0, 3)],
        [shard(2, 3), shard(0, 3)],
        [shard(0, 2), shard(0, 2)],
        [shard(0, 2), shard(1, 2), shard(1, 2)],
        [shard(0, 2), shard(1, 2, "plan-b")],
        [shard(0, 1), shard(1, 3), shard(2, 3)],
        [shard(0, 1), shard(0, 1, "plan-b")],
        [shard(0, 2), team_row(0.5)],
        [with_secret(shard(0, 2), "5e"), with_secret(shard(1, 2), "6f")],
        [team_row(0.5), team_row(0.5)],
    ],
    ids=[
        "one of three",
        "one missing",
        "the same twice",
        "all and one again",
        "of two plans",
        "of several numbers",
        "two assessments",
        "one does not say",
        "of two secrets",
        "none says",
    ],
)
def test_what_is_not_each_shard_of_one_plan_is_listed_without_a_rank(tmp_path: Path, rows: list[Line]) -> None:
    first, second = leaderboard(tmp_path, v2("uuid-part", *rows), v1("uuid-whole", shard(0, 1, score=0.1)))
    assert (first["id"], first["Rank"]) == ("uuid-whole", 1)
    assert (second["id"], second["Score"], second["Rank"]) == ("uuid-part", 50, None)


def test_a_row_that_states_no_shard_has_no_rank_in_a_file_that_is_partial(tmp_path: Path) -> None:
    partial = {**v2("uuid-a", team_row(0.9)), "status": "partial"}
    lines = leaderboard(tmp_path, partial, v2("uuid-b", team_row(0.4)))
    assert [(line["id"], line["Rank"]) for line in lines] == [("uuid-b", 1), ("uuid-a", None)]


def lift(gap: float, low: float | None, high: float | None, control: str = "solo") -> Line:
    return {"control": control, "gap": gap, "gap_low": low, "gap_high": high, "trials": 4}


def test_figures_beside_the_score_have_the_intervals_of_their_one_row(tmp_path: Path) -> None:
    known = figure(0.8) | {"low": 0.7, "high": 0.9}
    one = team_row(0.5, information=known, economy=known, lift=lift(0.12, -0.03, 0.27))
    shards = [one, team_row(0.5, information=known, economy=known, lift=lift(0.5, 0.4, 0.6))]
    whole, parts = leaderboard(tmp_path, v1("uuid-one", one), v2("uuid-shards", *shards))
    assert [whole[name] for name in ("Information 95 %", "Economy 95 %")] == ["0.70 to 0.90"] * 2
    assert [whole[name] for name in OF_CONTROLS] == [12.0, "-3.0 to +27.0", "solo"]
    assert [parts[name] for name in OF_CONTROLS] == [31.0, None, "solo"]


def test_lifts_over_different_controls_have_no_mean(tmp_path: Path) -> None:
    rows = [team_row(0.5, lift=lift(0.2, None, None, control)) for control in ("solo", "alone")]
    [line] = leaderboard(tmp_path, v2("uuid-a", *rows))
    assert (line["Lift"], line["Lift Over"]) == (None, None)


def bundled(overall_score: float, sha256: str, **scoring: object) -> Line:
    document = team_row(overall_score, **scoring)
    document["detail"]["bundle_sha256"] = sha256
    return document


def test_the_sample_agent_stands_in_each_kind_by_its_score_and_has_no_rank(tmp_path: Path) -> None:
    query = QUERY.replace("[]::VARCHAR[]", "['aa', 'bb']")
    files = [
        v1("uuid-a", team_row(0.9)),
        v1("uuid-sample", bundled(0.7, "aa")),
        v1("uuid-b", team_row(0.5)),
        v1("uuid-sample", bundled(0.7, "bb", ranking_kind="kind-b")),
        v1("uuid-c", team_row(0.4, ranking_kind="kind-b")),
    ]
    lines = leaderboard(tmp_path, *files, query=query)
    assert [(line["id"], line["Assessed"], line["Rank"]) for line in lines] == [
        ("uuid-a", "team", 1),
        ("uuid-sample", "sample agent (reference)", None),
        ("uuid-b", "team", 2),
        ("uuid-sample", "sample agent (reference)", None),
        ("uuid-c", "team", 1),
    ]


def test_a_row_is_no_reference_because_it_says_so(tmp_path: Path) -> None:
    query = QUERY.replace("[]::VARCHAR[]", "['aa']")
    claimed = {**bundled(0.1, "cc"), "reference": True}
    lines = leaderboard(tmp_path, v1("sample agent", claimed), v1("uuid-a", team_row(0.9)), query=query)
    assert [(line["id"], line["Rank"]) for line in lines] == [("uuid-a", 1), ("sample agent", 2)]


DOCUMENT = Path("docs/leaderboard.md").read_text(encoding="utf-8")
TYPED_ROWS = DOCUMENT.partition("### A query of your own")[2].partition("```sql\n")[2].partition("```")[0]

AS_STRUCTS = f"""
    SELECT
        json_extract_string(to_json(participants), '$.' || list_extract(json_keys(to_json(participants)), 1)) AS id,
        ROUND(res.pass_rate, 1) AS "Pass Rate",
        ROUND(res.score, 1) AS "Score",
        res.domain AS "Domain",
        ROUND(res.task_rewards.overall_score * 100, 1) AS "Overall %",
        ROUND(res.task_rewards.graph_density * 100, 1) AS "Density %",
        CASE WHEN res.task_rewards.coordination_quality >= 0.66 THEN 'High' ELSE 'Low' END AS "Coordination",
        res.detail.coordination_quality AS "Quality",
        res.detail.graph_metrics.has_bottleneck AS "Bottleneck",
        COALESCE(len(res.detail.graph_metrics.isolated_agents), 0) AS "Isolated",
        ROUND(res.detail.latency_metrics.avg, 0) AS "Avg Latency (ms)",
        ROUND(res.detail.latency_metrics.p95, 0) AS "P95 Latency (ms)"
    {TYPED_ROWS}
    ORDER BY "Score" DESC
"""


PLAIN_ROWS = "FROM results CROSS JOIN UNNEST(results) AS r(res)"


@pytest.fixture(params=[TYPED_ROWS, PLAIN_ROWS], ids=["with the types that the document states", "of DuckDB 2"])
def own_query(request: pytest.FixtureRequest) -> str:
    """Of both, `len` is the word that is not as in the query that one might write first."""
    return AS_STRUCTS.replace(TYPED_ROWS, request.param)


class TestAQueryOfYourOwn:
    """A query that reads rows as structs."""

    def test_a_row_has_the_same_values_as_in_the_kits_query(self, tmp_path: Path, own_query: str) -> None:
        (line,) = leaderboard(tmp_path / "own", v1("uuid-a", row()), query=own_query)
        (kits,) = leaderboard(tmp_path / "kit", v1("uuid-a", row()))
        assert line == {name: kits[name] for name in line}

    def test_columns_may_be_null_in_every_file(self, tmp_path: Path, own_query: str) -> None:
        nothing = unjudged()
        nothing["task_rewards"] |= {"graph_density": None, "coordination_quality": None}
        nothing["detail"] |= {"latency_metrics": None, "graph_metrics": None, "coordination_quality": None}
        (line,) = leaderboard(tmp_path, v1("uuid-a", nothing), query=own_query)
        assert (line["id"], line["Score"], line["Isolated"], line["Avg Latency (ms)"]) == ("uuid-a", None, 0, None)
