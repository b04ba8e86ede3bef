"""A row in words: what its score rests on, the inputs of conduct, and whose calls could not be observed."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.assessment import Mode
from concord.assessment.results import (
    MetricParameter,
    MetricStatus,
    ParticipantObservability,
    ResultRow,
    Scoring,
    SubScore,
    TraceIntegrity,
)
from concord_cli.interaction_text import MAX_NAMES, coordination_label, no_calls_text, unobserved_text
from concord_cli.score_text import (
    MAX_REASONS,
    conduct_inputs,
    factor_notes,
    pass_count_text,
    rating_of,
    rating_of_trial,
    reasons_with_counts,
)
from tests.rows import factors
from tests.team_rows import ground_truth, half_judged, lone_participant, recorded, unjudged_and_unseen, unseen
from tests.unit.cli.rows import on_structure, row, trial, unjudged

NUMBER = re.compile(r"\d")


def scored(**changes: object) -> Scoring:
    return row().detail.scoring.model_copy(update=changes)


class TestOutcome:
    """Scores that rest on the outcome."""

    def test_a_score_is_outcome_times_conduct_and_says_who_judged(self) -> None:
        rating = rating_of(row(scoring=scored(sub_scores=factors(0.75, 0.92))))
        assert (rating.number, rating.rests_on) == ("80.0", "outcome 0.75 (by code) x conduct 0.92")

    @pytest.mark.parametrize(
        ("counts", "words"),
        [
            ({"judged_by_code": 3}, "(3 trials by code)"),
            ({"judged_by_code": 0, "judged_by_model": 1}, "(by the model)"),
            ({"judged_by_code": 2, "judged_by_model": 1}, "(2 trials by code, 1 by the model)"),
            ({"judged_by_code": 1, "unjudged": 2, "score_high": 90}, "(1 trial by code, 2 by nobody)"),
        ],
    )
    def test_it_counts_the_trials_that_each_judged(self, counts: dict[str, float], words: str) -> None:
        assert words in rating_of(row(scoring=scored(usable_trials=3, **counts))).rests_on

    def test_where_some_trials_are_unjudged_it_is_a_range_and_says_what_its_ends_are(self) -> None:
        rating = rating_of(half_judged())
        assert rating.number == "46.7 to 80.0"
        assert "1 unjudged trial counts as failed in the lower figure and as perfect in the upper one." in rating.notes

    def test_means_over_trials_do_not_claim_to_be_factors_of_the_score(self) -> None:
        several, single = rating_of(row(scoring=scored(judged_by_code=2))), rating_of(row())
        assert any("multiplied trial by trial" in note for note in several.notes)
        assert single.notes == ()

    def test_where_nobody_judged_any_trial_there_is_no_number_but_the_reason(self) -> None:
        nobody = row(
            scoring=scored(judged_by_code=0, unjudged=1, score_high=95, sub_scores=factors(None)), trials=[unjudged()]
        )
        for each in (nobody, nobody.model_copy(update={"score": None})):
            rating = rating_of(each)
            assert rating.number is None
            assert rating.rests_on == "nobody judged the outcome (no scorer, and no key for a judge)"

    def test_without_conduct_the_outcome_stands_alone(self) -> None:
        rating = rating_of(lone_participant())
        assert (rating.number, rating.rests_on) == ("70.0", "outcome 0.70 (by code)")

    def test_trials_of_which_no_evaluation_came_are_unjudged(self) -> None:
        lost = row(trials=[], scoring=scored(usable_trials=0, judged_by_code=0, unjudged=2))
        assert rating_of(lost.model_copy(update={"score": None})).rests_on == "nobody judged the outcome"

    def test_a_trial_has_its_own_judge_and_its_own_score(self) -> None:
        half = half_judged()
        ratings = [rating_of_trial(half, each) for each in half.detail.trials]
        assert [each.number for each in ratings] == ["90.0", "50.0", None]
        assert "(by code)" in ratings[0].rests_on
        assert "(by the model)" in ratings[1].rests_on
        assert ratings[2].rests_on.startswith("nobody judged the outcome (the task has no scorer")

    def test_what_could_not_be_used_is_not_called_unjudged(self) -> None:
        empty = row(scoring=scored(usable_trials=0, judged_by_code=0)).model_copy(update={"score": None})
        assert rating_of(empty).rests_on == "no trial was usable"


class TestOtherBases:
    """Scores of given patterns, of recorded traces, and of version 1."""

    def test_a_given_patterns_score_rates_its_structure(self) -> None:
        assert rating_of(ground_truth()).rests_on == "rates the structure of a given pattern, without a live team"

    def test_version_1_rated_structure_where_a_team_was_at_work(self) -> None:
        told = rating_of(on_structure(version="1")).rests_on
        assert told == "rates structure, by version 1 of the rules; nobody judged the outcome"

    def test_version_1_says_what_say_the_outcome_had(self) -> None:
        judged = [SubScore(id="task", value=0.5, weight=0.35, reason=None)]
        told = rating_of(row(scoring=scored(version="1", basis="structure", sub_scores=judged))).rests_on
        assert told == "rates structure, by version 1 of the rules, and with weight 0.35 the outcome"

    def test_a_recorded_traces_score_is_the_outcome_that_the_file_tells(self) -> None:
        assert rating_of(recorded()).rests_on.startswith("the outcome in the file; the team's work was not")

    def test_a_recorded_trace_that_a_model_judged_says_so(self) -> None:
        by_a_model = scored(basis="recorded", judged_by_code=0, judged_by_model=1)
        told = rating_of(row(mode=Mode.RECORDED, scoring=by_a_model)).rests_on
        assert told.startswith("the outcome of the recorded answers, judged by the model")


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({"usable_trials": 3, "passed_trials": 2}, "2 of 3 usable trials passed"),
        ({"usable_trials": 3, "passed_trials": 1, "unjudged": 1}, "1 of 3 usable trials passed, 1 unjudged"),
        ({"usable_trials": 1, "passed_trials": 1, "unjudged": 1}, "1 of 1 usable trial passed, 1 unjudged"),
    ],
)
def test_trials_that_nobody_judged_are_not_told_as_failed(counts: dict[str, int], words: str) -> None:
    assert pass_count_text(row(scoring=scored(**counts))) == words


def test_where_nobody_judged_any_trial_none_is_told_as_failed() -> None:
    assert pass_count_text(unjudged_and_unseen()) == "1 usable trial, none judged"


def inputs_of(**values: object) -> list[MetricParameter]:
    return [MetricParameter(name=name, value=f"{value}") for name, value in values.items()]


def test_what_conduct_was_counted_from_is_told_in_words() -> None:
    told = conduct_inputs([inputs_of(participants=3, k=5, carried=12, failed=1, bought_nothing=2, of_late="x")])
    assert told.startswith("12 calls between participants carried, 1 failed, 2 bought nothing, 3 participants, k = 5 (")
    assert told.endswith(", of late x")


def test_calls_that_were_not_read_whole_are_told_where_any_trial_has_some() -> None:
    told = conduct_inputs([inputs_of(carried=3000, unread=1), inputs_of(carried=5)])
    assert told == "3,005 calls between participants carried, 1 not fully read"


def test_counts_are_summed_over_trials_and_settings_told_where_all_share_them() -> None:
    told = conduct_inputs([inputs_of(k=5, carried=3, participants=2), inputs_of(k=5, carried=4, participants=3)])
    assert told.startswith("7 calls between participants carried, k = 5 (")
    assert "participants," not in told


def test_where_no_call_was_carried_the_reason_is_told_and_no_count_of_failures() -> None:
    [_, conduct] = unseen().detail.scoring.sub_scores
    assert (conduct.value, conduct.reason) == (0.5, None)
    assert factor_notes(conduct, unseen().detail.trials) == [
        "not observed: the gateway carried no call between participants"
    ]


def test_a_factor_has_its_row_s_own_notes_where_the_trials_have_none() -> None:
    part = SubScore(id="conduct", value=0.9, weight=1, reason="told once", inputs=inputs_of(carried=2))
    assert factor_notes(part, []) == ["told once", "2 calls between participants carried"]


def test_each_reason_is_told_once_with_its_trials_and_many_are_counted() -> None:
    assert reasons_with_counts(["a", "a"]) == ["a"]
    assert reasons_with_counts(["a", None, "b", "a"]) == ["a (2 of 4 trials)", "b (1 of 4 trials)"]
    many = reasons_with_counts([f"reason {number}" for number in range(MAX_REASONS + 2)])
    assert many[-1] == "and 2 more reasons"
    assert len(many) == MAX_REASONS + 1


@given(st.dictionaries(st.sampled_from(["participants", "k", "{}", "other"]), st.text(max_size=9)))
def test_no_setting_of_conduct_is_lost_whatever_it_says(inputs: dict[str, str]) -> None:
    told = conduct_inputs([inputs_of(**inputs)])
    assert all(value in told for value in inputs.values())


def test_coordination_without_a_label_says_why_if_the_row_does() -> None:
    assert coordination_label("high", MetricStatus.OK) == "high"
    assert coordination_label(None, MetricStatus.UNDEFINED) == "not observed"
    assert coordination_label(None, MetricStatus.NOT_APPLICABLE) == "one participant"
    assert coordination_label(None, MetricStatus.OK) is None


def seen(**observability: str) -> TraceIntegrity:
    participants = [
        ParticipantObservability.model_validate({"agent": agent, "observability": how})
        for agent, how in observability.items()
    ]
    return TraceIntegrity(observability="partly", participants=participants)


def test_whoever_could_not_be_seen_calling_is_named_and_whoever_was_not_called_either() -> None:
    assert unobserved_text(seen(a="full", b="full")) is None
    assert unobserved_text(seen(a="full", b="partly")) == (
        "Calls by these participants, if any, could not be observed: b."
    )
    assert str(unobserved_text(seen(a="none", b="partly"))).endswith("a, b. Calls to a were not observed either.")
    assert str(unobserved_text(seen(a="none", b="none"))).endswith("a, b. Calls to them were not observed either.")


def test_many_who_could_not_be_seen_are_counted() -> None:
    told = unobserved_text(seen(**{f"agent_{number:02}": "partly" for number in range(MAX_NAMES + 3)}))
    assert str(told).endswith("agent_09 and 3 more.")


def test_silence_is_told_as_such_only_where_everybody_could_be_seen() -> None:
    assert (
        no_calls_text(TraceIntegrity(observability="full"))
        == no_calls_text(TraceIntegrity())
        == "No agent called another."
    )
    assert no_calls_text(TraceIntegrity(observability="none")) == "No call between agents was observed."


@pytest.mark.parametrize(
    "nobody", [unjudged_and_unseen(), row(trials=[unjudged()], scoring=scored(unjudged=1, judged_by_code=0))]
)
def test_no_rating_without_a_judge_has_a_figure(nobody: ResultRow) -> None:
    rating = rating_of(nobody)
    assert (rating.number, rating.notes) == (None, ())
    assert not NUMBER.search(rating.rests_on)


def test_a_trial_on_its_own_needs_no_grading() -> None:
    old = on_structure(version="1")
    assert rating_of_trial(old, trial(grading=None)).number == "80.0"
