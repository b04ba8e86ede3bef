"""Google's Gemini API, by its own library."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from google.genai import Client
from google.genai.errors import APIError, ClientError
from google.genai.types import GenerateContentConfig, GenerateContentResponse, HttpOptions, HttpRetryOptions
from httpx2 import HTTPError

from concord.llm.completion import Completion, LLMSettings, ProviderError, TokenUsage, UnusableAnswerError, completion

_BAD_REQUEST: Final = 400


class GoogleProvider:
    """Generated content at temperature 0, with a JSON schema for the answer.

    Models without schema support are asked for JSON only by the prompt.
    """

    def __init__(self, settings: LLMSettings, api_key: str, max_retries: int) -> None:
        self._model = settings.model
        options = HttpOptions(
            base_url=settings.endpoint,
            timeout=round(settings.timeout_s * 1000),
            retry_options=HttpRetryOptions(attempts=max_retries + 1, initial_delay=0.5),
        )
        # Without `vertexai`, an environment variable could choose another service.
        self._client = Client(api_key=api_key, vertexai=False, http_options=options)

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.aio.aclose()
        self._client.close()

    async def complete(
        self, system: str, user: str, *, max_tokens: int, schema: Mapping[str, Any] | None
    ) -> Completion:
        """The model's answer. Raises LLMUnavailableError and ProviderError."""
        config = GenerateContentConfig(system_instruction=system, temperature=0, max_output_tokens=max_tokens)
        try:
            if schema is not None:
                wanted = {"response_mime_type": "application/json", "response_json_schema": dict(schema)}
                with suppress(_BadRequestError):
                    return _completion(await self._ask(user, config.model_copy(update=wanted)))
            return _completion(await self._ask(user, config))
        except _BadRequestError as error:
            raise ProviderError(error.error) from error.error
        except (APIError, HTTPError) as error:
            raise ProviderError(error) from error

    async def _ask(self, user: str, config: GenerateContentConfig) -> GenerateContentResponse:
        try:
            return await self._client.aio.models.generate_content(model=self._model, contents=user, config=config)
        except ClientError as error:
            if error.code == _BAD_REQUEST:
                raise _BadRequestError(error) from error
            raise


class _BadRequestError(Exception):
    """A request that the endpoint refuses with 400. The library has one class for all 4xx."""

    def __init__(self, error: ClientError) -> None:
        super().__init__(str(error))
        self.error = error


def _completion(answer: object) -> Completion:
    if not isinstance(answer, GenerateContentResponse):
        raise UnusableAnswerError(answer)
    candidate = answer.candidates[0] if answer.candidates else None
    parts = candidate.content.parts if candidate and candidate.content else None
    text = "".join(part.text for part in parts or () if part.text and not part.thought)
    return completion(text, _used(answer), _refusal(answer))


def _used(answer: GenerateContentResponse) -> TokenUsage:
    """The tokens used. Those of thoughts are written too, and are in the total only."""
    told = answer.usage_metadata
    total, read = (None, None) if told is None else (told.total_token_count, told.prompt_token_count)
    return TokenUsage(total, read, None if total is None or read is None else total - read)


def _refusal(answer: GenerateContentResponse) -> str | None:
    """The reason why there is no text, if the endpoint gives one."""
    if answer.prompt_feedback and answer.prompt_feedback.block_reason:
        return f"block_reason {answer.prompt_feedback.block_reason.value}"
    reason = answer.candidates[0].finish_reason if answer.candidates else None
    return None if reason is None or reason.value in {"STOP", "MAX_TOKENS"} else f"finish_reason {reason.value}"
