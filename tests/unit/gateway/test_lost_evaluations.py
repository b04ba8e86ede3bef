"""Lost evaluations are made again once: all that the worker lost, and of the judge's only one while it stays away."""

import asyncio

import pytest

from concord.assessment.jobs import EvaluateTrial, JudgeInputs, TrialInputs, VerdictHead
from concord.assessment.result_row import InfrastructureFailure, Loss
from concord.assessment.results import Grading
from concord_gateway.evaluation import Evaluations, LostEvaluations
from tests.kit.graphs import mesh
from tests.kit.trials import judged, plan

NOBODY = Grading(value=None, source="nobody", scorer=None, reason="the endpoint refused")
JUDGED = VerdictHead.model_validate_json(judged(plan(mesh(2)[0]), mesh(2)).model_dump_json())
assert JUDGED.record is not None
UNJUDGED = JUDGED.model_copy(
    update={
        "record": JUDGED.record.model_copy(update={"grading": NOBODY, "overall_score": None}),
        "inputs": TrialInputs(judge=JudgeInputs(model="a model")),
    }
)


def failed(loss: Loss, cause: str) -> VerdictHead:
    failure = {"trial_id": "t", "stage": "evaluation", "message": "it died", "loss": loss, "caused_by": cause}
    return VerdictHead(failure=InfrastructureFailure.model_validate(failure))


def request(trial_id: str) -> EvaluateTrial:
    return EvaluateTrial(assessment_id="a", trial_id=trial_id, attempt=2)


async def asked_again(
    lost: LostEvaluations, evaluations: Evaluations, monkeypatch: pytest.MonkeyPatch, found: VerdictHead
) -> list[str]:
    """The trials that are evaluated again, each with this result."""
    asked = list[str]()

    async def evaluated(_: Evaluations, again: EvaluateTrial) -> VerdictHead:
        assert (again.again, again.attempt) == (True, 2)
        asked.append(again.trial_id)
        return found

    monkeypatch.setattr(Evaluations, "of_trial", evaluated)
    await lost.make_again(evaluations, asyncio.Semaphore(2))
    return asked


@pytest.fixture
def lost() -> LostEvaluations:
    """Evaluations of which worker and judge lost two each."""
    found = LostEvaluations()
    found.note(request("late"), None)
    found.note(request("killed"), failed(Loss.WORKER, "concord"))
    found.note(request("too long"), failed(Loss.LIMIT, "participants"))
    found.note(request("a fault"), failed(Loss.ERROR, "unknown"))
    found.note(request("judged"), JUDGED)
    found.note(request("unjudged"), UNJUDGED)
    found.note(request("unjudged too"), UNJUDGED)
    found.note(request("made again"), UNJUDGED.model_copy(update={"again": True}))
    return found


@pytest.fixture
def evaluations() -> Evaluations:
    return object.__new__(Evaluations)  # nothing here reads it


async def test_what_worker_and_judge_lost_is_evaluated_again(
    lost: LostEvaluations, evaluations: Evaluations, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await asked_again(lost, evaluations, monkeypatch, JUDGED) == ["late", "killed", "unjudged", "unjudged too"]


async def test_a_judge_that_is_still_away_is_asked_about_one_trial_only(
    lost: LostEvaluations, evaluations: Evaluations, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await asked_again(lost, evaluations, monkeypatch, UNJUDGED) == ["late", "killed", "unjudged"]


async def test_a_trial_that_is_played_again_is_not_evaluated_as_it_was(
    lost: LostEvaluations, evaluations: Evaluations, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost.forget("killed")
    lost.forget("unjudged")
    assert await asked_again(lost, evaluations, monkeypatch, JUDGED) == ["late", "unjudged too"]
