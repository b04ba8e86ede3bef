"""The page on trials that were played: the worst one is open, with its task, conversation, waterfall and cost."""

from concord.assessment.cost import ModelUse
from concord.assessment.result_row import ResultRow
from concord_cli.report.page import page_of
from concord_cli.report.renderer import render
from concord_evaluator.aggregate import make_row
from concord_evaluator.judge import judge_by_rules
from concord_evaluator.pipeline import evaluate_trial, verdict_on
from tests.kit.judged_trials import TEAM, conversation
from tests.kit.team_rows import row_of
from tests.kit.team_task_rows import failure, flow_of, seat_names, team_task, trial_with
from tests.kit.trials import batch, outcome, plan

LONG = "Count the trees. " * 3000


def played(request: str = "Count the trees.", *uses: ModelUse) -> ResultRow:
    planned = plan(TEAM)
    evaluation = evaluate_trial(planned, outcome(), [batch(n, [each]) for n, each in enumerate(conversation(request))])
    judged = verdict_on(planned, evaluation, judge_by_rules(evaluation, planned.mode, "no model"))
    judged = judged.model_copy(update={"record": judged.record.model_copy(update={"uses": uses})})
    return make_row(planned, [judged], [])


def test_a_page_shows_the_task_and_what_was_said() -> None:
    page = render(played())
    for text in ("Count the trees.", "There are 12.", "Is 12 right?", "Yes, it is.", plan(TEAM).tasks[0].text):
        assert text in page


def test_a_step_of_the_conversation_links_to_its_call() -> None:
    page = render(played())
    assert '<a href="#call-1-1">1</a> <bdi>anton → bertha</bdi>' in page
    assert 'id="call-1-1"' in page


def test_a_cut_text_has_a_mark_and_the_bundle_has_it_whole() -> None:
    page = render(played(LONG))
    assert "[...]" in page
    assert "The bundle of the assessment has them whole." in page
    assert "The bundle of the assessment" not in render(played())


def test_a_page_shows_the_model_calls_and_tokens_that_agents_claim() -> None:
    use = ModelUse(
        agent="anton", model="m", calls=2, untold=0, unsplit=0, tokens=1200, input_tokens=1000, output_tokens=200
    )
    assert "The agents claim 2 model calls, 1,200 tokens (1,000 read, 200 written)." in render(played("Count.", use))
    assert "The agents claim" not in render(played())


def test_the_trial_that_lost_most_by_the_worst_cause_is_open() -> None:
    lost = ("agent/3", 0.3), ("agent/2", 0.8), ("agent/2", 0.2), ("agent/3", 0.9)
    trials = [
        trial_with(team_task(flow_of(5), [failure(seat)]), outcome=score, trial_id=f"trial-{n}", task_id=f"task-{n}")
        for n, (seat, score) in enumerate(lost, 1)
    ]
    row = row_of(seat_names(5), *trials)
    assert row.detail.verdict is not None
    assert row.detail.verdict.causes[0].agents == ("agent/2",)
    assert page_of(row).trials.opened == 3
