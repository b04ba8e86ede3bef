"""Results that would be too large lose texts and actions, and never a score."""

import pytest

from concord_assistant.results import OtherEvent
from concord_evaluator.criteria import shortened_results
from tests.unit.evaluator.criteria.results import NOON, criterion, results


def test_results_that_fit_are_unchanged() -> None:
    found = results(criterion("a", 10), actions=3, text="x" * 1000)
    assert shortened_results(found, 100_000) is found


@pytest.mark.parametrize("limit", [100_000, 20_000, 2000])
def test_larger_results_are_shortened_to_the_limit_and_count_what_they_lost(limit: int) -> None:
    found = results(criterion("a", 7, details={"long": "x" * 50_000}), actions=2000, text="x" * 10_000)
    short = shortened_results(found, limit)
    assert len(short.model_dump_json()) <= limit
    assert short.scores == found.scores
    assert [(each.score, each.explanation) for each in short.criteria_results] == [(7, "because")]
    assert short.actions_taken == 2000 == len(short.action_log) + short.actions_omitted


def test_texts_are_cut_before_actions_are_left_out() -> None:
    short = shortened_results(results(criterion("a", 10), actions=10, text="x" * 10_000), 50_000)
    assert len(short.action_log) == 10
    assert len(short.action_log[0].parameters["body_text"]) == 2001


def test_events_of_others_are_counted_as_they_are_left_out() -> None:
    events = [OtherEvent(turn=1, timestamp=NOON, event="email.receive", text="x" * 600)] * 300
    short = shortened_results(results(criterion("a", 10), other_events=events, other_events_omitted=7), 60_000)
    assert (len(short.other_events), short.other_events_omitted) == (50, 257)
