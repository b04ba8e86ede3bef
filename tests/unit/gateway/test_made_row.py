"""The gateway hands a row on as the evaluator made it, and reads little of it and of the verdicts."""

from collections.abc import Callable

import pytest

from concord.assessment.jobs import TrialVerdict, VerdictHead
from concord.assessment.result_row import ResultRow
from concord_gateway.evaluation import MadeRow
from tests.kit.graphs import mesh
from tests.kit.team_rows import ground_truth, half_judged, mesh_of_five, recorded, troubled_six, unjudged_and_unseen
from tests.kit.trials import judged, plan
from tests.unit.gateway.test_lost_evaluations import JUDGED, UNJUDGED

TEAMS = [mesh_of_five, troubled_six, ground_truth, half_judged, unjudged_and_unseen, recorded]


@pytest.mark.parametrize("team", TEAMS)
class TestRows:
    def test_a_row_is_handed_on_as_a_validated_one_would_be(self, team: Callable[[], ResultRow]) -> None:
        row = team()
        changed = {"bundle_sha256": "ab", "warnings": [*row.detail.warnings, "no bundle"]}
        validated = row.model_copy(update={"detail": row.detail.model_copy(update=changed)})
        made = MadeRow.read(row.model_dump_json()).with_bundle("ab").with_warning("no bundle")
        assert list(made.document.items()) == list(validated.model_dump(mode="json").items())

    def test_what_is_read_of_a_row_is_what_the_row_says(self, team: Callable[[], ResultRow]) -> None:
        detail, head = (row := team()).detail, MadeRow.read(row.model_dump_json()).head
        assert (head.verdict, head.infrastructure) == (detail.verdict, detail.infrastructure)
        assert head.scoring.usable_trials == detail.scoring.usable_trials
        assert [(each.usable, each.overall_score, each.judge and each.judge.source) for each in head.trials] == [
            (each.usable, each.overall_score, each.judge and each.judge.source) for each in detail.trials
        ]


@pytest.mark.parametrize("verdict", [JUDGED, UNJUDGED, UNJUDGED.model_copy(update={"again": True})])
def test_the_head_of_a_verdict_says_as_much_of_a_loss_as_the_whole(verdict: VerdictHead) -> None:
    record = judged(plan(mesh(2)[0]), mesh(2)).record
    grading = {} if verdict.record is None else {"grading": verdict.record.grading}
    whole = TrialVerdict(record=record.model_copy(update=grading), inputs=verdict.inputs, again=verdict.again)
    head = VerdictHead.model_validate_json(whole.model_dump_json())
    assert (head.is_lost, head.lost_by_judge) == (whole.is_lost, whole.lost_by_judge)
