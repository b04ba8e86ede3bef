"""A row in words: the basis of its score, and the participants that could not be observed."""

import re

import pytest

from concord.assessment import Mode
from concord.assessment.result_row import Figure, ResultRow, Scoring
from concord.assessment.results import MetricStatus, ParticipantObservability, SeatContainers, SubScore, TraceIntegrity
from concord_cli.report.renderer import render
from concord_cli.row_view.flows import MAX_NAMES, coordination_label, no_calls_text, unobserved_text
from concord_cli.row_view.head import size_text
from concord_cli.row_view.score import (
    MAX_REASONS,
    rating_of,
    rating_of_trial,
    reasons_with_counts,
)
from tests.kit.rows import parts_of
from tests.kit.team_rows import ground_truth, half_judged, lone_participant, recorded, row_of, unjudged_and_unseen
from tests.kit.team_task_rows import flow_of, seat_names, team_task, trial_with, withholding_team
from tests.unit.cli.rows import on_structure, row, trial, unjudged

NUMBER = re.compile(r"\d")


def scored(**changes: object) -> Scoring:
    return row().detail.scoring.model_copy(update=changes)


class TestOutcome:
    """Scores that rest on the outcome."""

    def test_a_score_is_the_proven_outcome_and_names_the_judge(self) -> None:
        rating = rating_of(row(scoring=scored(sub_scores=parts_of(0.95, 0.8))))
        assert (rating.number, rating.rests_on) == ("80.0", "proven outcome 0.80 of 0.95 (by code)")

    def test_a_score_of_version_2_names_its_conduct(self) -> None:
        conduct = SubScore(id="conduct", value=0.92, weight=1, reason=None)
        rating = rating_of(row(scoring=scored(version="2", sub_scores=[*parts_of(0.75), conduct])))
        assert rating.rests_on == "outcome 0.75 (by code) x conduct 0.92"

    def test_an_outcome_without_receipts_says_nothing_about_teamwork(self) -> None:
        rating = rating_of(row(scoring=scored(basis="outcome_only")))
        assert rating.rests_on == "outcome 0.80 (by code); teamwork not measured"

    def test_the_figures_beside_the_score_are_a_note(self) -> None:
        beside = {"information": Figure(value=0.5, low=0.25, high=0.75, trials=3), "economy": None}
        assert "Information 0.50 (0.25 to 0.75)." in rating_of(row(scoring=scored(**beside))).notes

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

    def test_means_over_trials_come_with_a_note(self) -> None:
        assert rating_of(row(scoring=scored(judged_by_code=2))).notes == ("Means of 2 trials.",)
        assert rating_of(row()).notes == ()

    def test_without_any_judged_trial_the_reason_replaces_the_score(self) -> None:
        nobody = row(
            scoring=scored(judged_by_code=0, unjudged=1, score_high=95, sub_scores=parts_of(None)), trials=[unjudged()]
        )
        for each in (nobody, nobody.model_copy(update={"score": None})):
            rating = rating_of(each)
            assert rating.number is None
            assert rating.rests_on == "nobody judged the outcome (no scorer, and no key for a judge)"

    def test_a_lone_participants_score_is_its_outcome(self) -> None:
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


def test_each_reason_is_given_once_with_its_trials_and_excess_reasons_are_counted() -> None:
    assert reasons_with_counts(["a", "a"]) == ["a"]
    assert reasons_with_counts(["a", None, "b", "a"]) == ["a (2 of 4 trials)", "b (1 of 4 trials)"]
    many = reasons_with_counts([f"reason {number}" for number in range(MAX_REASONS + 2)])
    assert many[-1] == "and 2 more reasons"
    assert len(many) == MAX_REASONS + 1


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


def test_a_shared_process_is_said_beside_the_seats() -> None:
    assert size_text(withholding_team().detail) == "5 seats in one process"


def test_seats_are_said_to_be_isolated_only_where_the_row_names_their_containers() -> None:
    apart = team_task(flow_of()).model_copy(update={"shared_process": False})
    row = row_of(seat_names(5), trial_with(apart, outcome=1.0))
    assert size_text(row.detail) == "5 seats, not isolated"
    containers = SeatContainers(
        image="agent:<1>", image_id="sha256:1", image_digest="sha256:2", model_endpoints=("https://api.example.com",)
    )
    row = row.model_copy(update={"detail": row.detail.model_copy(update={"seat_containers": containers})})
    assert size_text(row.detail) == "5 seats, isolated but for 1 model endpoint"
    alone = containers.model_copy(update={"model_endpoints": ()})
    assert size_text(row.detail.model_copy(update={"seat_containers": alone})) == "5 seats, isolated"
    page = render(row)
    assert "agent:&lt;1&gt; (sha256:2)" in page
    assert "only https://api.example.com" in page
