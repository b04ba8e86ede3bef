"""A language model whose every failure its callers can handle."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from concord.llm import LLM, Completion, LLMUnavailableError
from concord_assistant.characters.recording import NotRecordedError, ReplayedModel


@dataclass(frozen=True, slots=True)
class GuardedModel:
    """A model of somebody else's. Whatever it raises or answers instead of a text, it counts as unavailable."""

    model: LLM

    async def complete(
        self, system: str, user: str, *, schema: Mapping[str, Any] | None = None, max_tokens: int = 1000
    ) -> Completion:
        """The model's answer. Raises LLMUnavailableError; NotRecordedError if a replayed model lacks it."""
        try:
            answer = await self.model.complete(system, user, schema=schema, max_tokens=max_tokens)
        except (LLMUnavailableError, NotRecordedError):
            raise
        except Exception as error:
            raise LLMUnavailableError(f"the model raised {type(error).__name__}") from error
        if not isinstance(getattr(answer, "text", None), str):
            raise LLMUnavailableError(f"the model answered {type(answer).__name__} without a text")
        return answer


def guarded(model: LLM | None) -> LLM | None:
    """The model, guarded. A replayed one raises nothing else than it should, and is told apart by its class."""
    return model if model is None or isinstance(model, ReplayedModel) else GuardedModel(model)
