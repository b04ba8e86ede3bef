"""Models of embedders: whatever they raise, an assessment goes on."""

from typing import Any

import pytest

from concord.llm import Completion, LLMUnavailableError
from concord_assistant.guarded_model import guarded


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
