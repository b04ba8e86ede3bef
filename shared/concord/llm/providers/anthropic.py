"""Anthropic, by its own library."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from anthropic import AnthropicError, AsyncAnthropic, BadRequestError
from anthropic.types import Message

from concord.llm.completion import Completion, LLMSettings, ProviderError, TokenUsage, UnusableAnswerError, completion


class AnthropicProvider:
    """Messages, with structured outputs for a schema. The library has no temperature.

    Models without structured outputs are asked for JSON only by the prompt.
    """

    def __init__(self, settings: LLMSettings, api_key: str, max_retries: int) -> None:
        self._model = settings.model
        self._client = AsyncAnthropic(
            api_key=api_key, base_url=settings.endpoint, timeout=settings.timeout_s, max_retries=max_retries
        )

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def complete(
        self, system: str, user: str, *, max_tokens: int, schema: Mapping[str, Any] | None
    ) -> Completion:
        """The model's answer. Raises LLMUnavailableError and ProviderError."""
        try:
            if schema is not None:
                with suppress(BadRequestError):
                    wanted = {"output_config": {"format": {"type": "json_schema", "schema": dict(schema)}}}
                    return _completion(await self._ask(system, user, max_tokens, wanted))
            return _completion(await self._ask(system, user, max_tokens, {}))
        except AnthropicError as error:
            raise ProviderError(error) from error

    async def _ask(self, system: str, user: str, max_tokens: int, wanted: Mapping[str, Any]) -> Message:
        answer: Message = await self._client.messages.create(
            model=self._model,
            system=system,
            messages=[{"role": "user", "content": user}],
            max_tokens=max_tokens,
            **wanted,
        )
        return answer


def _completion(answer: object) -> Completion:
    if not isinstance(answer, Message):
        raise UnusableAnswerError(answer)
    text = "".join(block.text for block in answer.content if block.type == "text")
    refusal = "stop_reason refusal" if answer.stop_reason == "refusal" else None
    read, written = answer.usage.input_tokens, answer.usage.output_tokens
    return completion(text, TokenUsage(read + written, read, written), refusal)
