"""Models of embedders: whatever they raise, an assessment goes on."""

from typing import Any

import pytest

from concord.llm import Completion, LLMUnavailableError
from concord_assistant.emitter import TaskUpdateEmitter
from concord_assistant.guarded_model import guarded
from concord_assistant.updates import TurnStarted, Update


class Model:
    def __init__(self, answer: object) -> None:
        self.answer = answer

    async def complete(self, *_: object, **__: object) -> Any:  # noqa: ANN401 - anything
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


@pytest.mark.parametrize("answer", [ValueError("x"), RuntimeError(), KeyError("text"), TimeoutError(), None, "text", 7])
async def test_a_model_that_raises_or_answers_no_text_is_unavailable(answer: object) -> None:
    model = guarded(Model(answer))
    assert model is not None
    with pytest.raises(LLMUnavailableError):
        await model.complete("system", "user")


async def test_a_model_that_answers_is_not_changed() -> None:
    completion = Completion("yes", 3)
    model = guarded(Model(completion))
    assert model is not None
    assert await model.complete("system", "user") is completion
    assert guarded(None) is None


async def test_an_emitter_sends_each_update_by_a_method_of_its_name() -> None:
    sent: list[Update] = []

    async def send(update: Update) -> None:
        sent.append(update)

    emitter = TaskUpdateEmitter(send)
    made = await emitter.turn_started(turn_number=1, current_time="2026-01-28T12:00:00Z", events_pending=0)
    assert sent == [made]
    assert isinstance(made, TurnStarted)
    kinds = [each.model_fields["message_type"].default.removeprefix("update_") for each in Update.__subclasses__()]
    assert all(callable(getattr(emitter, name)) for name in kinds)
    with pytest.raises(ValueError, match="turn_number"):
        await emitter.turn_started(current_time="2026-01-28T12:00:00Z")
