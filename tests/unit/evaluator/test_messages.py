"""Laws of the reader of messages, over generated traces with reports of any step in anybody's name."""

from hypothesis import given, settings
from hypothesis import strategies as st

from concord.trace.decoding import StoredReports, steps_of_batch
from concord_evaluator.information.exchanges import by_calls, by_rounds
from concord_evaluator.messages import observed_requests, request_in, trust_in
from concord_evaluator.observations import acts_of
from concord_evaluator.own_tasks.exchange import messages_of, observed_calls
from tests.kit.told_trials import ToldTrial, claims, told_trials

TRIALS = told_trials()


@settings(max_examples=60)
@given(st.data())
def test_added_reports_add_change_and_reorder_no_observed_message(data: st.DataObject) -> None:
    trial = data.draw(TRIALS)
    added = trial.batches(data.draw(claims(trial)))
    found = list(observed_requests(added, trial.roster))
    assert found == list(observed_requests(trial.batches(), trial.roster))
    assert all(each.provenance.observed for each in found)


@given(st.data())
def test_no_report_of_an_agent_is_observed_whatever_it_names_and_holds(data: st.DataObject) -> None:
    trial = data.draw(TRIALS)
    claimed = [each for each in trial.batches(data.draw(claims(trial))) if not each.is_observed]
    for report in StoredReports(claimed):
        call = report.step.agent_call
        assert call is not None
        request = request_in(report.step, call, "agent/1", "agent/2", trust_in(report, "agent/1"))
        assert not request.provenance.observed
        assert request.answer is None or not request.answer.provenance.observed


@given(TRIALS)
def test_every_message_between_known_senders_is_read_once_with_its_words_and_its_end(trial: ToldTrial) -> None:
    steps = {each.step_id: each for batch in trial.batches() for each in steps_of_batch(batch)}
    found = list(observed_requests(trial.batches(), trial.roster))
    assert [each.step_id for each in found] == [
        f"seen-{number}" for number, each in enumerate(trial.carried) if each.sender != "nobody"
    ]
    for each in found:
        said = trial.carried[int(each.step_id.removeprefix("seen-"))]
        assert (each.sender, each.whole or each.text) == (said.sender, said.text[: len(each.whole or each.text)])
        assert each.error == steps[each.step_id].failure


@given(told_trials("calls"))
def test_by_calls_a_failed_call_has_no_answer_and_only_what_was_not_carried_was_not_delivered(trial: ToldTrial) -> None:
    found = by_calls(trial.batches(), trial.roster, trial.outcome.replies)
    fates = {f"seen-{number}": each.fate for number, each in enumerate(trial.carried)}
    assert {each.step_id for each in found.messages if each.is_answer} == {
        step_id
        for step_id, fate in fates.items()
        if fate in {"answered", "blank"} and trial.carried[int(step_id[5:])].sender != "nobody"
    }
    assert {fates[each.step_id] for each in found.messages if not each.delivered} <= {"refused", "not carried"}
    assert [each.time for each in found.messages] == list(range(1, len(found.messages) + 1))
    assert [each.at for each in found.messages] == sorted(each.at for each in found.messages)


@given(told_trials("rounds"))
def test_in_rounds_a_message_is_delivered_if_its_wire_carried_it_and_a_round_followed(trial: ToldTrial) -> None:
    record = trial.outcome.rounds
    assert record is not None
    for each in by_rounds(trial.batches(), trial.roster, record).messages:
        said = trial.carried[int(each.step_id.removeprefix("seen-"))]
        assert each.delivered is (each.error is None and 1 + said.number % (record.rounds + 1) < record.rounds)
        assert each.is_cut is said.is_cut


@given(told_trials("own"))
def test_of_an_own_task_what_a_limit_refused_reached_nobody_and_no_answer_comes_after_what_follows_it(
    trial: ToldTrial,
) -> None:
    requests = observed_calls(trial.batches(), trial.roster)
    told = messages_of(requests)
    refused = {each.step_id for each in requests if each.is_refused}
    assert {each.step_id for each in told if not each.is_answer} == {each.step_id for each in requests} - refused
    assert all(each.at <= each.ended for each in told if each.is_answer)


@settings(max_examples=30)
@given(st.data())
def test_observations_read_an_observed_step_as_the_gateway_saw_it_whoever_reports_it_too(data: st.DataObject) -> None:
    trial = data.draw(told_trials("calls", "own"))
    added = [each for each in data.draw(claims(trial)) if each.reporter != "green-agent"]
    alone = acts_of(StoredReports(trial.batches()), trial.roster)
    together = acts_of(StoredReports(trial.batches(added)), trial.roster)
    assert [each for each in together if each.step_id.startswith("seen-")] == alone
