"""The content of the report page: the parts of a row that it shows, and their words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.assessment.results import (
    CallRecord,
    Finding,
    LatencySummary,
    MetricParameter,
    MetricRecord,
    MetricStatus,
    TrialRecord,
)
from concord_cli.errors import UsageError
from concord_cli.report.calls import MAX_CALLS
from concord_cli.report.page import page_of
from concord_cli.report.renderer import render
from concord_cli.row_view.flows import REMEDY, flows_of
from concord_cli.row_view.verdict import warning_lines
from tests.kit.team_rows import (
    FIVE,
    ground_truth,
    half_judged,
    lone_participant,
    mesh_of_five,
    row_of,
    silent_team,
    star_of_five,
    troubled_six,
    unjudged_and_unseen,
    unseen,
)
from tests.unit.cli.report.calls import call, call_records
from tests.unit.cli.report.laws import law
from tests.unit.cli.report.pages import parse_page
from tests.unit.cli.rows import FAILURE, interaction, row, trial


def finding(*step_ids: str) -> Finding:
    return Finding(
        id="slow_link",
        agents=["a"],
        metric_id=None,
        measured="times the usual latency",
        value=2.0,
        threshold=1.5,
        step_ids=list(step_ids),
        advice="Hurry.",
    )


def metric(status: MetricStatus, value: float | None, agent: str | None = None) -> MetricRecord:
    return MetricRecord(
        id="load_balance",
        agent=agent,
        value=value,
        status=status,
        reason="there are no messages",
        n=3,
        definition_id="1-gini/messages_of_agent",
        engine="python",
    )


def trial_with(*calls: CallRecord) -> TrialRecord:
    return trial(calls=list(calls))


def test_the_head_shows_the_verdict_the_score_and_what_it_rests_on() -> None:
    head = page_of(star_of_five()).view.head

    assert (head.outcome, head.score, head.max_score) == ("Failed", "57.3", "100")
    assert head.rests_on == "outcome 0.57 (3 trials by code)"
    assert head.passed == "1 of 3 trials reached the mark of 66"
    assert [(part.title, part.value, round(part.share, 5)) for part in head.parts] == [("Outcome", "0.57", 0.57333)]
    assert {part.weight for part in head.parts} == {None}


def test_a_structure_score_is_labelled_as_one_and_lists_every_part_with_its_weight() -> None:
    head = page_of(ground_truth()).view.head

    assert head.rests_on == "rates the structure of a given pattern, without a live team"
    assert [part.title for part in head.parts] == ["Task", "Communication", "Distribution", "Reliability", "Efficiency"]
    assert (head.parts[0].value, head.parts[0].weight) == ("undefined", "0.35")
    assert head.parts[0].notes == ["nobody judged the outcome"]


def test_a_score_with_unjudged_trials_is_a_range() -> None:
    page = page_of(half_judged())

    assert page.view.head.score == "46.7 to 80.0"
    assert (page.view.head.outcome, page.view.head.passed) == ("Undecided", "1 of 3 trials reached the mark of 66")
    assert page_of(half_judged(), "trial-2").view.head.rests_on.startswith("outcome 0.50 (by the model)")


def test_an_unjudged_page_has_the_reason_in_place_of_a_score() -> None:
    for page in (render(unjudged_and_unseen()), render(half_judged(), "trial-3")):
        parsed = parse_page(page)
        title, [heading] = parsed.all("title")[0], parsed.all("span", "score")

        assert title.text.startswith("Coordination report: Not judged, no score, coordinator, researcher_1, ")
        assert heading.text == "No score"
        assert "nobody judged the outcome (the task has no scorer" in parsed.text
        assert not parsed.all("span", "of")
        assert "overall 0" not in parsed.text


def test_coordination_without_a_label_gives_the_reason() -> None:
    assert page_of(unseen()).view.head.coordination == "coordination: not observed"
    assert page_of(lone_participant()).view.head.coordination == "coordination: one participant"


def test_each_trial_shows_its_judge_its_grade_and_every_answer() -> None:
    trials = page_of(half_judged()).trials
    first, _, third = trials.in_full

    assert [tuple(cell.text for cell in line[1:4]) for line in trials.table.rows] == [
        ("passed", "0.90 by code", "0.90"),
        ("failed", "0.50 by the model", "0.50"),
        ("not judged", "by nobody", "–"),  # noqa: RUF001
    ]
    assert (first.outcome, first.reason) == ("0.90, judged by code (includes)", None)
    assert first.answers is not None
    assert [[cell.text for cell in line] for line in first.answers.rows] == [
        ["coordinator", "0.90", "names 3 of the 4 faults; the missing one is the claim on air quality"]
    ]
    assert (third.outcome, third.answers) == ("unjudged", None)
    assert third.reason == "the task has no scorer, and AGENTBEATS_LLM_API_KEY is not set"
    assert "Two of the report's four faults are named." in parse_page(render(half_judged())).text
    assert page_of(ground_truth()).trials.in_full[0].outcome is None


def test_participants_that_could_not_be_observed_are_named_with_the_remedy() -> None:
    trust = page_of(unjudged_and_unseen()).trust

    assert trust.unseen is not None
    assert trust.unseen.endswith(
        "could not be observed: researcher_2, reviewer. Calls to reviewer were not observed either."
    )
    assert dict(trust.seen) == {
        "coordinator": "its calls",
        "researcher_1": "its calls",
        "researcher_2": "calls to it, not its own",
        "synthesizer": "its calls",
        "reviewer": "nothing",
    }
    parsed = parse_page(render(unjudged_and_unseen()))
    assert parsed.text.count(trust.unseen) == 1
    assert all(line in parsed.text for line in REMEDY)
    assert page_of(mesh_of_five()).trust.unseen is None


def test_unseen_agents_are_not_described_as_silent() -> None:
    hidden, silent = parse_page(render(unseen())).text, parse_page(render(silent_team())).text

    assert "No call between agents was observed." in hidden
    assert "No observed exchange" in hidden
    assert "No agent called another." in silent
    assert "Exchanged no message" in silent


def test_findings_keep_the_order_of_the_row() -> None:
    contradicted = finding().model_copy(update={"id": "contradicted_reports"})

    assert [each.title for each in page_of(row(findings=[contradicted, finding()])).view.findings] == [
        "Contradicted reports",
        "Slow link",
    ]


def test_a_page_on_one_trial_shows_the_figures_of_that_trial() -> None:
    page = page_of(star_of_five(), "trial-2")

    assert page.view.head.score == "71.0"
    assert (page.view.head.outcome, page.view.head.passed) == ("Passed", None)
    assert [line[-1].text for line in page.trials.table.rows] == ["trial-2"]
    assert page.view.calls is not None
    assert {line[2].text for line in page.view.calls.rows} == {"1"}


def test_an_unknown_trial_is_refused_with_a_list_of_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"the result has no trial 'x', only: trial-1, trial-2, trial-3"):
        page_of(star_of_five(), "x")


def test_flows_are_summed_over_trials_and_latencies_weighted_by_calls() -> None:
    quick = interaction("a", "b", 3)
    slow = interaction("a", "b", 1, errors=1).model_copy(update={"latency_avg_ms": 5.0})
    (flow,) = flows_of([trial(quick), trial(slow)])

    assert (flow.calls, flow.errors, flow.latency_ms) == (4, 1, 2.0)


def test_calls_of_the_assessor_are_not_flows() -> None:
    assert flows_of([trial(interaction("green-agent", "a"))]) == []


def test_a_finding_links_to_the_bars_of_its_calls_in_order() -> None:
    page = page_of(
        row_of(FIVE, trial_with(call("x", "a", "b"), call("y", "b", "c")), findings=[finding("y", "x", "y")])
    )

    links, unlisted = page.links(page.view.findings[0].steps)
    assert [(step.name.text, step.anchor) for step in links] == [("1", "bar-1-1"), ("2", "bar-1-2")]
    assert unlisted == 0


def test_a_finding_links_to_table_rows_if_its_calls_have_no_time() -> None:
    page = page_of(row_of(FIVE, trial_with(call("x", "a", "b", None)), findings=[finding("x", "elsewhere")]))

    links, unlisted = page.links(page.view.findings[0].steps)
    assert [step.anchor for step in links] == ["call-1-1"]
    assert unlisted == 1


def test_names_of_calls_in_several_trials_include_the_trial_number() -> None:
    page = page_of(
        row_of(FIVE, trial_with(call("x", "a", "b")), trial_with(call("y", "a", "b")), findings=[finding("y")])
    )

    links, _ = page.links(page.view.findings[0].steps)
    assert [step.name.text for step in links] == ["2.1"]


def test_a_findings_figure_names_its_measure() -> None:
    in_words, of_a_metric = finding(), finding().model_copy(update={"metric_id": "load_balance", "measured": None})
    page = page_of(row_of(FIVE, trial_with(), findings=[in_words, of_a_metric]))
    assert [each.measured for each in page.view.findings] == ["times the usual latency", "load balance"]


def test_a_finding_in_several_trials_gives_their_number() -> None:
    found = finding().model_copy(update={"trials": 2})
    page = page_of(row_of(FIVE, trial_with(), trial_with(), trial_with(), findings=[found]))

    assert page.view.findings[0].trials == "in 2 of 3 trials"
    assert (page.view.findings[0].figure, page.view.findings[0].threshold) == ("2", "1.5")


def test_a_given_pattern_has_calls_but_no_timeline() -> None:
    (view,) = page_of(ground_truth()).trials.in_full

    assert view.timeline is None
    assert [line[1].text for line in view.calls.rows[:3]] == ["planner", "writer", "editor"]
    assert "Start" not in [each.title for each in view.calls.columns]


def test_trials_beyond_the_page_limit_are_listed_without_their_calls() -> None:
    calls = [call(str(i), "a", "b", 20.0 * i) for i in range(1000)]
    page = page_of(row_of(FIVE, *(trial_with(*calls) for _ in range(7))))

    assert len(page.trials.table.rows) == 7
    assert sum(len(view.calls.rows) for view in page.trials.in_full) == MAX_CALLS


def test_an_undefined_metric_has_a_reason_in_place_of_a_value() -> None:
    (shown,) = page_of(row(metrics=[metric(MetricStatus.UNDEFINED, None)])).view.metrics.team

    assert (shown.value, shown.doubt) == ("–", "undefined: there are no messages")  # noqa: RUF001


def test_metrics_of_agents_form_one_table_sorted_by_value() -> None:
    values = [metric(MetricStatus.OK, 0.25, "a"), metric(MetricStatus.APPROXIMATE, 0.5, "b")]
    metrics = page_of(row(metrics=values)).view.metrics

    assert metrics.agents is not None
    assert [(agent.text, cell.text) for agent, cell in metrics.agents.rows] == [("b", "0.5"), ("a", "0.25")]
    assert metrics.agents.rows[0][1].aside == "approximate: there are no messages"
    assert metrics.of_agents[0].source == "1-gini/messages_of_agent, n = 3, by python"


def test_parameters_shared_by_all_metrics_are_shown_once() -> None:
    mean, damping = (
        MetricParameter(name=name, value=value) for name, value in (("over", "trials"), ("damping", "0.85"))
    )
    records = [metric(MetricStatus.OK, 1.0).model_copy(update={"params": [mean, *own]}) for own in ([], [damping])]
    metrics = page_of(row(metrics=records)).view.metrics

    assert metrics.shared == "over = trials"
    assert [each.source.partition("python")[2] for each in metrics.team] == [
        ": there are no messages",
        ", damping = 0.85: there are no messages",
    ]


def test_a_metric_has_its_definition_in_words_if_it_is_known() -> None:
    foreign = metric(MetricStatus.OK, 1.0).model_copy(update={"definition_id": "acme/zeal"})
    words = {"1-gini/messages_of_agent": "How evenly the work is spread."}
    page = page_of(row(metrics=[metric(MetricStatus.OK, 1.0), foreign]), define=words.get)

    assert [each.definition for each in page.view.metrics.team] == ["How evenly the work is spread.", None]


def test_percentiles_of_few_calls_come_with_a_warning() -> None:
    latency = page_of(
        row(latency_metrics=LatencySummary(avg=1, p50=1, p95=2, p99=3, n=30, p95_reliable=True))
    ).view.latency

    assert latency is not None
    assert [note for *_, note in latency.figures] == ["", "", "", "too few calls to be reliable"]


def test_infrastructure_failures_and_warnings_are_shown() -> None:
    page = page_of(troubled_six())
    trust = page.trust

    assert trust.infrastructure == ["trial-3: evaluation failed: the worker was killed"]
    assert page.view.warnings == list(warning_lines(troubled_six().detail))
    assert len(page.view.warnings) == 3
    assert {count.name for count in trust.counts if count.doubtful} == {"Conflicting", "Late", "Dropped"}


def test_a_page_on_one_trial_shows_only_the_failures_of_that_trial() -> None:
    result = row(infrastructure=[FAILURE], trials=[trial(), trial(trial_id="trial-2")])

    assert page_of(result, "trial-1").trust.infrastructure == []
    assert page_of(result, "trial-2").trust.infrastructure == ["trial-2: evaluation failed: no worker"]


def test_a_silent_team_has_no_arrows_and_no_flows() -> None:
    page = page_of(silent_team())

    assert (page.graph.arrows, page.view.calls) == ((), None)
    assert len(page.graph.isolated) == 3


@law
@given(st.lists(call_records, max_size=20), st.lists(st.integers(0, 30).map(str), max_size=5))
def test_every_step_of_a_finding_is_either_linked_or_counted(calls: list[CallRecord], step_ids: list[str]) -> None:
    page = page_of(row_of(FIVE, trial_with(*calls), findings=[finding(*step_ids)]))
    links, unlisted = page.links(page.view.findings[0].steps)

    assert len(links) + unlisted == len(set(step_ids))


def test_the_first_failed_trial_is_open_and_in_full_however_many_calls_come_before_it() -> None:
    calls = [call(str(i), "a", "b", 20.0 * i) for i in range(1000)]
    passed = [trial_with(*calls).model_copy(update={"passed": True}) for _ in range(7)]
    trials = page_of(row_of(FIVE, *passed, trial_with(*calls).model_copy(update={"passed": False}))).trials

    assert trials.opened == 8
    assert [view.number for view in trials.in_full] == [1, 2, 3, 4, 8]
    assert [line[0].links[0][0] for line in trials.table.rows if line[0].links] == ["1", "2", "3", "4", "8"]
    assert trials.in_full[-1].calls.rows[0][0].text == "8.1"


def test_a_cause_links_to_the_calls_that_show_it_and_has_a_bar_in_proportion_to_its_points() -> None:
    page = page_of(troubled_six())
    assert page.view.verdict is not None
    shown = {each.subject: each for each in page.view.verdict.causes}

    assert shown["review:"].share == 1
    assert [step.name.text for step in page.links(shown["reviewer"].steps)[0]] == ["1.3", "1.6"]
    assert shown["reviewer"].share == 0


def test_a_page_on_one_trial_has_only_the_causes_of_that_trial() -> None:
    of_row, of_trial = page_of(troubled_six()).view.verdict, page_of(troubled_six(), "trial-2").view.verdict
    assert of_row is not None
    assert of_trial is not None
    assert {each.subject for each in of_trial.causes} < {each.subject for each in of_row.causes}


def test_a_row_of_an_earlier_version_is_said_to_have_no_verdict() -> None:
    row = star_of_five()
    old = row.model_copy(update={"detail": row.detail.model_copy(update={"verdict": None})})

    assert "An earlier version of Concord wrote this result, without a verdict." in parse_page(render(old)).text


def test_only_a_models_words_have_a_section_of_their_own() -> None:
    by_rules = mesh_of_five()
    assert by_rules.detail.judge is not None
    judge = by_rules.detail.judge.model_copy(update={"source": "llm", "reasoning": "They shared what they knew."})
    by_model = by_rules.model_copy(update={"detail": by_rules.detail.model_copy(update={"judge": judge})})

    assert "judge" not in parse_page(render(by_rules)).values("id")
    assert "They shared what they knew." in parse_page(render(by_model)).text
