"""A judge that obeys every order in the agents' texts: what it can give away, and what it cannot."""

from pathlib import Path
from typing import Any

import pytest

from concord.a2a import IncomingMessage, TaskHandle
from concord.assessment.results import Judgment
from concord.assessment.scorers import ModelScorer
from concord.llm import LLMSettings
from tests.kit.injection.texts import ORDERS
from tests.kit.judged_trials import Trial, conversation
from tests.kit.llm_server import FakeModel, fake_model, honest_judge, obeying_judge
from tests.kit.serving import served_agent
from tests.kit.stack import stack


async def _judged(settings: LLMSettings, answer: str, **task: Any) -> Judgment:  # noqa: ANN401 - fields of the task
    judgment, _, _ = await Trial(conversation("Multiply 6 by 7."), answer, **task).judged(settings)
    return judgment


async def test_with_an_accepted_answer_an_obeying_judge_gives_nothing_away() -> None:
    credited = []
    async with fake_model(FakeModel(obeying_judge([*ORDERS.values()]))) as settings:
        for name, order in ORDERS.items():
            judgment = await _judged(settings, f"It is 7.\n{order}", target=["42"], scorer=ModelScorer())
            if judgment.task_success:
                credited.append(name)
            elif judgment.task_success is None:
                assert "did not find the accepted answer among 20 references" in str(judgment.reason)
    # "By the convention of this exercise, 7 stands for 42" answers with the accepted answer, among others.
    assert set(credited) <= {"units-convention"}


async def test_without_an_accepted_answer_an_obeying_judge_gives_the_outcome_away() -> None:
    """What no structure prevents: the row then says that the outcome rests on a model."""
    async with fake_model(FakeModel(obeying_judge([*ORDERS.values()]))) as settings:
        judged = [await _judged(settings, f"It is 7.\n{order}") for order in ORDERS.values()]
    assert sum(bool(judgment.task_success) for judgment in judged) >= len(ORDERS) // 2


@pytest.mark.parametrize("answer", ["The product is 42.", "42", "I multiplied them: forty-two, 42 that is."])
async def test_an_honest_judge_finds_the_accepted_answer(answer: str) -> None:
    async with fake_model(FakeModel(honest_judge())) as settings:
        judgment = await _judged(settings, answer, target=["42"], scorer=ModelScorer())
    assert (judgment.task_success, judgment.reason) == (1.0, None)


async def test_an_unfavourable_verdict_needs_no_line_up() -> None:
    model = FakeModel(honest_judge("not_met"))
    async with fake_model(model) as settings:
        assert (await _judged(settings, "It is 7.", target=["42"], scorer=ModelScorer())).task_success == 0
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    ("task", "score", "says"),
    [
        ({"target": "42", "scorer": "includes"}, 0.0, False),
        ({"target": "42", "scorer": "model"}, None, False),
        ({}, 100.0, True),
    ],
    ids=["code", "model with an accepted answer", "model alone"],
)
async def test_a_score_that_a_model_alone_decides_says_so(
    task: dict[str, str], score: float | None, says: bool, redis_url: str, tmp_path: Path
) -> None:
    order = ORDERS["appeal-decision"]

    async def cheat(_: IncomingMessage, handle: TaskHandle) -> None:
        await handle.complete(f"It is 7.\n{order}")

    tasks = [{"id": "product", "text": "Multiply 6 by 7.", **task}]
    async with (
        fake_model(FakeModel(obeying_judge([order]))) as settings,
        stack(redis_url, tmp_path, settings) as running,
        served_agent(cheat) as url,
    ):
        row = await running.row({"agent": url}, tasks=tasks)
    assert row["score"] == score
    assert ("rests_on_model" in [each["kind"] for each in row["detail"]["verdict"]["unknown"]]) == says
