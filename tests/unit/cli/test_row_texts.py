"""A row in words: the basis of its score, the inputs of conduct, and the participants that could not be observed."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.assessment import Mode
from concord.assessment.result_row import ResultRow, Scoring
from concord.assessment.results import MetricParameter, MetricStatus, ParticipantObservability, SubScore, TraceIntegrity
from concord_cli.row_text.interactions import MAX_NAMES, coordination_label, no_calls_text, unobserved_text
from concord_cli.row_text.score import (
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

    def test_a_score_is_outcome_times_conduct_and_names_the_judge(self) -> None:
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
    def test_the_text_counts_the_trials_of_each_judge(self, counts: dict[str, float], words: str) -> None:
        assert words in rating_of(row(scoring=scored(usable_trials=3, **counts))).rests_on

    def test_with_unjudged_trials_the_score_is_a_range_whose_ends_are_explained(self) -> None:
        rating = rating_of(half_judged())
        assert rating.number == "46.7 to 80.0"
        assert "1 unjudged trial counts as failed in the lower figure and as perfect in the upper one." in rating.notes

    def test_factors_averaged_over_trials_come_with_a_note(self) -> None:
        several, single = rating_of(row(scoring=scored(judged_by_code=2))), rating_of(row())
        assert any("multiplied trial by trial" in note for note in several.notes)
        assert single.notes == ()

    def test_without_any_judged_trial_the_reason_replaces_the_score(self) -> None:
        nobody = row(
            scoring=scored(judged_by_code=0, unjudged=1, score_high=95, sub_scores=factors(None)), trials=[unjudged()]
        )
        for each in (nobody, nobody.model_copy(update={"score": None})):
            rating = rating_of(each)
            assert rating.number is None
            assert rating.rests_on == "nobody judged the outcome (no scorer, and no key for a judge)"

    def test_without_conduct_the_score_is_the_outcome(self) -> None:
        rating = rating_of(row(scoring=scored(sub_scores=factors(0.8, None))))
        assert (rating.number, rating.rests_on) == ("80.0", "outcome 0.80 (by code)")

    def test_a_lone_participants_conduct_of_1_is_not_a_factor_in_the_text(self) -> None:
        for rating in (
            rating_of(lone_participant()),
            rating_of_trial(lone_participant(), lone_participant().detail.trials[0]),
        ):
            assert (rating.number, rating.rests_on) == ("70.0", "outcome 0.70 (by code)")

    def test_trials_without_an_evaluation_count_as_unjudged(self) -> None:
        lost = row(trials=[], scoring=scored(usable_trials=0, judged_by_code=0, unjudged=2))
        assert rating_of(lost.model_copy(update={"score": None})).rests_on == "nobody judged the outcome"

    def test_a_trial_has_its_own_judge_and_its_own_score(self) -> None:
        half = half_judged()
        ratings = [rating_of_trial(half, each) for each in half.detail.trials]
        assert [each.number for each in ratings] == ["90.0", "50.0", None]
        assert "(by code)" in ratings[0].rests_on
        assert "(by the model)" in ratings[1].rests_on
        assert ratings[2].rests_on.startswith("nobody judged the outcome (the task has no scorer")

    def test_unusable_trials_are_not_called_unjudged(self) -> None:
        empty = row(scoring=scored(usable_trials=0, judged_by_code=0)).model_copy(update={"score": None})
        assert rating_of(empty).rests_on == "no trial was usable"


class TestOtherBases:
    """Scores of given patterns, of recorded traces, and of version 1."""

    def test_a_given_patterns_score_rates_its_structure(self) -> None:
        assert rating_of(ground_truth()).rests_on == "rates the structure of a given pattern, without a live team"

    def test_a_version_1_score_of_a_team_is_labelled_as_structure(self) -> None:
        text = rating_of(on_structure(version="1")).rests_on
        assert text == "rates structure, by version 1 of the rules; nobody judged the outcome"

    def test_a_version_1_score_names_the_weight_of_the_outcome(self) -> None:
        judged = [SubScore(id="task", value=0.5, weight=0.35, reason=None)]
        text = rating_of(row(scoring=scored(version="1", basis="structure", sub_scores=judged))).rests_on
        assert text == "rates structure, by version 1 of the rules, and with weight 0.35 the outcome"

    def test_a_recorded_score_is_labelled_as_the_files_outcome(self) -> None:
        assert rating_of(recorded()).rests_on.startswith("the outcome in the file; the team's work was not")

    def test_a_recorded_trace_judged_by_a_model_is_labelled_so(self) -> None:
        by_a_model = scored(basis="recorded", judged_by_code=0, judged_by_model=1)
        text = rating_of(row(mode=Mode.RECORDED, scoring=by_a_model)).rests_on
        assert text.startswith("the outcome of the recorded answers, judged by the model")


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({"usable_trials": 3, "passed_trials": 2}, "2 of 3 usable trials passed"),
        ({"usable_trials": 3, "passed_trials": 1, "unjudged": 1}, "1 of 3 usable trials passed, 1 unjudged"),
        ({"usable_trials": 1, "passed_trials": 1, "unjudged": 1}, "1 of 1 usable trial passed, 1 unjudged"),
    ],
)
def test_unjudged_trials_are_not_counted_as_failed(counts: dict[str, int], words: str) -> None:
    assert pass_count_text(row(scoring=scored(**counts))) == words


def test_a_row_without_judged_trials_counts_no_failed_ones() -> None:
    assert pass_count_text(unjudged_and_unseen()) == "1 usable trial, none judged"


def inputs_of(**values: object) -> list[MetricParameter]:
    return [MetricParameter(name=name, value=f"{value}") for name, value in values.items()]


def test_the_inputs_of_conduct_are_put_in_words() -> None:
    text = conduct_inputs([inputs_of(participants=3, k=5, carried=12, failed=1, bought_nothing=2, of_late="x")])
    assert text.startswith("12 calls between participants carried, 1 failed, 2 bought nothing, 3 participants, k = 5 (")
    assert text.endswith(", of late x")


def test_calls_not_read_whole_are_mentioned_if_any_trial_has_some() -> None:
    text = conduct_inputs([inputs_of(carried=3000, unread=1), inputs_of(carried=5)])
    assert text == "3,005 calls between participants carried, 1 not fully read"


def test_counts_are_summed_over_trials_and_settings_shown_only_if_all_trials_share_them() -> None:
    text = conduct_inputs([inputs_of(k=5, carried=3, participants=2), inputs_of(k=5, carried=4, participants=3)])
    assert text.startswith("7 calls between participants carried, k = 5 (")
    assert "participants," not in text


def test_without_carried_calls_the_reason_replaces_the_counts() -> None:
    [_, conduct] = unseen().detail.scoring.sub_scores
    assert (conduct.value, conduct.reason) == (0.5, None)
    assert factor_notes(conduct, unseen().detail.trials) == [
        "not observed: the gateway carried no call between participants"
    ]


def test_a_factor_has_the_rows_notes_if_no_trial_has_any() -> None:
    part = SubScore(id="conduct", value=0.9, weight=1, reason="told once", inputs=inputs_of(carried=2))
    assert factor_notes(part, []) == ["told once", "2 calls between participants carried"]


def test_each_reason_is_given_once_with_its_trials_and_excess_reasons_are_counted() -> None:
    assert reasons_with_counts(["a", "a"]) == ["a"]
    assert reasons_with_counts(["a", None, "b", "a"]) == ["a (2 of 4 trials)", "b (1 of 4 trials)"]
    many = reasons_with_counts([f"reason {number}" for number in range(MAX_REASONS + 2)])
    assert many[-1] == "and 2 more reasons"
    assert len(many) == MAX_REASONS + 1


@given(st.dictionaries(st.sampled_from(["participants", "k", "{}", "other"]), st.text(max_size=9)))
def test_no_setting_of_conduct_is_lost(inputs: dict[str, str]) -> None:
    text = conduct_inputs([inputs_of(**inputs)])
    assert all(value in text for value in inputs.values())


def test_coordination_without_a_label_gives_the_rows_reason() -> None:
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


def test_participants_whose_calls_could_not_be_observed_are_named() -> None:
    assert unobserved_text(seen(a="full", b="full")) is None
    assert unobserved_text(seen(a="full", b="partly")) == (
        "Calls by these participants, if any, could not be observed: b."
    )
    assert str(unobserved_text(seen(a="none", b="partly"))).endswith("a, b. Calls to a were not observed either.")
    assert str(unobserved_text(seen(a="none", b="none"))).endswith("a, b. Calls to them were not observed either.")


def test_unobserved_participants_beyond_the_limit_are_counted() -> None:
    text = unobserved_text(seen(**{f"agent_{number:02}": "partly" for number in range(MAX_NAMES + 3)}))
    assert str(text).endswith("agent_09 and 3 more.")


def test_silence_is_claimed_only_if_every_participant_could_be_observed() -> None:
    assert (
        no_calls_text(TraceIntegrity(observability="full"))
        == no_calls_text(TraceIntegrity())
        == "No agent called another."
    )
    assert no_calls_text(TraceIntegrity(observability="none")) == "No call between agents was observed."


@pytest.mark.parametrize(
    "nobody", [unjudged_and_unseen(), row(trials=[unjudged()], scoring=scored(unjudged=1, judged_by_code=0))]
)
def test_an_unjudged_rating_contains_no_figure(nobody: ResultRow) -> None:
    rating = rating_of(nobody)
    assert (rating.number, rating.notes) == (None, ())
    assert not NUMBER.search(rating.rests_on)


def test_a_trial_without_grading_can_be_rated() -> None:
    old = on_structure(version="1")
    assert rating_of_trial(old, trial(grading=None)).number == "80.0"
