"""OpenAI, and all endpoints with OpenAI's protocol."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from openai import AsyncOpenAI, BadRequestError, OpenAIError, UnprocessableEntityError
from openai.types.chat import ChatCompletion

from concord.llm.completion import Completion, LLMSettings, ProviderError, TokenUsage, UnusableAnswerError, completion


class OpenAIProvider:
    """Chat completions at temperature 0.

    Endpoints without schema support are asked for JSON, and those without JSON mode only by the prompt.
    """

    def __init__(self, settings: LLMSettings, api_key: str, max_retries: int) -> None:
        self._model = settings.model
        self._client = AsyncOpenAI(
            api_key=api_key, base_url=settings.endpoint, timeout=settings.timeout_s, max_retries=max_retries
        )

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def complete(
        self, system: str, user: str, *, max_tokens: int, schema: Mapping[str, Any] | None
    ) -> Completion:
        """The model's answer. Raises LLMUnavailableError and ProviderError."""
        formats = [{}] if schema is None else [_json_schema(schema), {"response_format": {"type": "json_object"}}, {}]
        try:
            for wanted in formats[:-1]:
                with suppress(BadRequestError, UnprocessableEntityError):
                    return _completion(await self._ask(system, user, max_tokens, wanted))
            return _completion(await self._ask(system, user, max_tokens, formats[-1]))
        except OpenAIError as error:
            raise ProviderError(error) from error

    async def _ask(self, system: str, user: str, max_tokens: int, wanted: Mapping[str, Any]) -> object:
        answer: object = await self._client.chat.completions.create(
            model=self._model,
            messages=[{"role": "system", "content": system}, {"role": "user", "content": user}],
            temperature=0,
            max_tokens=max_tokens,
            **wanted,
        )
        return answer


def _json_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": dict(schema)},
        }
    }


def _completion(answer: object) -> Completion:
    """The completion in an answer, which the library does not check. Raises as `completion` does."""
    if not isinstance(answer, ChatCompletion):
        raise UnusableAnswerError(answer)
    if not isinstance(answer.choices, list):
        raise UnusableAnswerError(answer.model_dump_json(exclude_none=True, warnings=False))
    message = answer.choices[0].message if answer.choices else None
    told = answer.usage
    used = TokenUsage() if told is None else TokenUsage(told.total_tokens, told.prompt_tokens, told.completion_tokens)
    if message is None:
        return completion(None, used)
    return completion(message.content, used, message.refusal)
