"""Team tasks on the page: failures of a trial, the flow of facts, messages against the fewest, and controls."""

from concord.assessment.result_row import ResultRow
from concord.assessment.team_results import PartFailure, TeamTaskRecord
from concord_cli.report.journey import MAX_FACTS, MAX_SEATS, Journey, Knowledge, draw_journey, knowledge_of
from concord_cli.report.journey import MAX_LINES as MAX_ROUTES
from concord_cli.report.renderer import render
from concord_cli.report.work import MAX_LINES, failures_in
from concord_cli.row_view.table import Cell
from concord_cli.row_view.team_tasks import TeamSection, section_of
from concord_cli.row_view.view import view_of
from tests.kit.team_rows import mesh_of_five
from tests.kit.team_task_rows import (
    clean_team,
    failure,
    flow_of,
    team_by_calls,
    team_of_twenty,
    team_task,
    trial_with,
    withholding_team,
)
from tests.unit.cli.report.pages import parse_page


def record_of(row: ResultRow) -> TeamTaskRecord:
    record = row.detail.trials[0].team_task
    assert record is not None
    return record


def journey_of(row: ResultRow) -> Journey:
    trial = row.detail.trials[0]
    drawn = draw_journey(record_of(row), trial.calls)
    assert drawn is not None
    return drawn


def matrix(record: TeamTaskRecord) -> Knowledge:
    made = knowledge_of(record)
    assert made is not None
    return made


def cells_of(known: Knowledge, fact: str) -> list[Cell]:
    """The cells of a fact, in the order of the seats."""
    [cells] = [list(row[1:]) for row in known.table.rows if row[0].text == fact]
    return cells


def section(row: ResultRow) -> TeamSection:
    made = section_of(row.detail.trials)
    assert made is not None
    return made


def test_the_section_on_team_tasks_follows_the_verdict_and_the_trials_where_there_are_some() -> None:
    ids = parse_page(render(withholding_team())).values("id")
    assert ids.index("verdict") < ids.index("trials") < ids.index("economy") < ids.index("controls")
    assert "team" not in parse_page(render(mesh_of_five())).values("id")


def test_the_message_that_shows_a_failure_is_a_link_to_its_call() -> None:
    record = team_task(flow_of(), [failure("agent/3", cause="changed", step_id="0100020000")])
    row = withholding_team()
    shown = row.model_copy(update={"detail": row.detail.model_copy(update={"trials": [trial_with(record)]})})
    parsed = parse_page(render(shown))
    [call] = [place for place, each in enumerate(trial_with(record).calls, 1) if each.step_id == "0100020000"]
    assert parsed.values("href").count(f"#call-1-{call}") >= 2
    [lost] = [each for each in journey_of(shown).lines if each.kind == "lost"]
    assert lost.title.startswith("agent/3 → agent/1, round 1")


def test_a_trial_of_a_control_counts_in_no_task() -> None:
    silent = trial_with(team_task(None, [failure()], control="silent"), task_id="maximum.silent", trial_id="trial-2")
    made = section_of([*withholding_team().detail.trials, silent])
    assert made is not None
    assert len(made.tasks.rows) == 1


def test_what_a_table_of_failures_does_not_list_is_counted() -> None:
    many: list[PartFailure] = [failure(facts=[f"fact {number}"]) for number in range(MAX_LINES + 3)]
    rows = failures_in(team_task(flow_of(), many, failures_omitted=7), {})
    assert (len(rows.rows), rows.left_out) == (MAX_LINES, "10 further failures are not listed.")


def test_failures_of_a_trial_with_the_same_cause_seat_and_facts_share_a_line() -> None:
    rows = failures_in(team_task(flow_of(), [failure(part=f"part {number}") for number in range(6)]), {})
    assert [line[0].text for line in rows.rows] == ["part 0, part 1, part 2, part 3, and 2 more"]


def test_the_table_says_who_knew_what_from_when_and_what_a_seat_lacked() -> None:
    table = matrix(record_of(withholding_team()))
    assert (table.prefix, [each.title for each in table.table.columns[1:]]) == ("agent", ["1", "2", "3", "4", "5"])
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in (*table.table.rows, *table.table.foot)}
    assert rows["reading of agent/1"] == ["●", "2", "2", "2", "2"]
    assert rows["reading of agent/2"] == ["✕", "●", "·", "·", "·"]
    assert rows["of them redundant"] == ["0", "0", "4", "0", "0"]


def test_a_fact_that_came_after_the_answer_is_late() -> None:
    flow = flow_of()
    late = flow.model_copy(update={"known_from": [[0, 3, 2, 2, 2], *flow.known_from[1:]]})
    cell = cells_of(matrix(team_task(late)), "reading of agent/2")[0]
    assert (cell.kind.split()[0], cell.text) == ("late", "3")


def test_the_curve_of_coverage_rises_to_the_share_that_the_answering_seats_could_know() -> None:
    drawn = journey_of(withholding_team())
    assert [each.title for each in drawn.curve] == [
        "20% of the needed facts from round 1 on",
        "80% of the needed facts from round 2 on",
    ]
    assert drawn.last_coverage == "80%"


def test_messages_with_news_and_without_are_told_apart_and_the_blamed_seat_is_marked() -> None:
    drawn = journey_of(withholding_team())
    kinds = [each.kind for each in drawn.lines]
    assert (kinds.count("news"), kinds.count("stale")) == (16, 4)
    assert [lane.name for lane in drawn.lanes if lane.blamed] == ["agent/2"]


def test_a_trial_by_calls_is_drawn_in_the_order_of_its_messages_with_their_times() -> None:
    drawn = journey_of(team_by_calls())
    assert not drawn.in_rounds
    assert len(drawn.lines) == 20
    assert drawn.ticks[0].text == "100 ms"
    assert drawn.curve[0].title == "20% of the needed facts from message 1 on"
    assert cells_of(matrix(record_of(team_by_calls())), "reading of agent/2")[0].text == "✕"


def test_a_large_team_has_a_bounded_drawing_and_table_that_count_what_they_leave_out() -> None:
    assert (len(journey_of(team_of_twenty()).lines), journey_of(team_of_twenty()).undrawn) == (MAX_ROUTES, 220)
    record = team_task(flow_of(100), [failure("agent/99")])
    table = matrix(record).table
    assert (len(table.rows), len(table.columns)) == (MAX_FACTS, 1 + MAX_SEATS)
    assert table.left_out == "60 further facts are not listed. 60 further seats are not listed."
    assert "agent/99" in [each.about for each in table.columns]


def test_a_flow_whose_lists_do_not_fit_together_is_not_drawn() -> None:
    flow = flow_of()
    wrong_lists: list[dict[str, object]] = [
        {"end": 0},
        {"sent": []},
        {"needs": [[9]] * 5},
        {"known_from": [[0]] * 5},
        {"messages": [flow.messages[0].model_copy(update={"receiver": -1})]},
    ]
    for wrong in wrong_lists:
        record = team_task(flow.model_copy(update=wrong))
        assert draw_journey(record) is None
        assert knowledge_of(record) is None


def test_messages_are_shown_against_the_fewest_and_a_repeating_seat_is_named() -> None:
    made = section(withholding_team())
    [task] = made.tasks.rows
    assert [each.text for each in task[5:8]] == ["20", "4", "4"]
    assert task[8].bars == (("stale", 0.0, 1.0), ("fill", 0.0, 0.8), ("fewest", 0.2, 0.0))
    [(name, text)] = made.repeating
    assert (name, text.partition(" messages")[0]) == ("agent/3", "sent 4 of its 8")
    assert section(clean_team()).repeating == []


def test_a_control_has_bars_and_its_gap_an_interval_where_there_is_one() -> None:
    solo, silent = view_of(withholding_team()).controls
    assert (solo.against, solo.team, solo.control, solo.gap) == ("one agent with all briefs", 0.25, 1.0, -0.75)
    assert (solo.interval, silent.interval) == ("-0.90 to -0.60", None)
    shown = parse_page(render(withholding_team()))
    [gap] = shown.all("rect", "worse")
    assert (gap.attributes["x"], gap.attributes["width"]) == ("12.5%", "37.5%")
    assert [each.attributes["x1"] for each in shown.all("line", "whisker")] == ["5%", "5%", "20%"]


def test_rounds_have_a_column_only_if_a_task_was_played_in_rounds() -> None:
    def headings(row: ResultRow) -> list[str]:
        return [each.text for each in parse_page(render(row)).all("bdi")]

    assert "Rounds" in headings(withholding_team())
    assert "Rounds" not in headings(team_by_calls())
