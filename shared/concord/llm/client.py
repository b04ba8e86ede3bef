"""The language model client: any OpenAI-compatible endpoint, temperature 0, and a TOOL step per call."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self

from concord.agent.assignment import Assignment
from concord.llm.settings import LLMSettings
from concord.trace.step import InteractionStep
from concord.trace.timed_steps import tool_step
from concord.trace.timing import StepClock
from concord.trust.redaction import learn_secret, redact

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletion

MAX_ERROR: Final = 500
"""Characters kept of an endpoint's error message."""


MAX_RETRIES: Final = 2
"""Default number of retries for an endpoint that fails or is busy."""


class LLMUnavailableError(Exception):
    """No key, no connection, a refusal or an empty answer: the caller has to do without the model."""


class EmptyCompletionError(LLMUnavailableError):
    """The model's answer was empty."""


@dataclass(frozen=True, slots=True)
class Completion:
    """The model's text, and the tokens used."""

    text: str
    total_tokens: int | None


class LLMClient:
    """Completions from the configured endpoint.

    `on_step` gets the TOOL step of each call, failures included. Failed requests are retried with exponential backoff,
    or after `Retry-After`.
    """

    def __init__(
        self,
        settings: LLMSettings,
        on_step: Callable[[InteractionStep, Assignment], None],
        *,
        max_retries: int = MAX_RETRIES,
    ) -> None:
        """`max_retries` applies if the settings have none."""
        self._settings = settings
        self._on_step = on_step
        self._max_retries = max_retries if settings.max_retries is None else settings.max_retries
        self._openai: AsyncOpenAI | None = None
        if settings.api_key is not None:
            learn_secret(settings.api_key.get_secret_value())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections."""
        if self._openai is not None:
            await self._openai.close()

    async def complete(
        self,
        system: str,
        user: str,
        *,
        assignment: Assignment | None = None,
        max_tokens: int = 1000,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion:
        """The model's answer. Raises LLMUnavailableError for any failure.

        With `schema`, the answer should be JSON of that schema. Endpoints without schema support are asked for JSON,
        and those without JSON mode only by the prompt: validate the answer in any case.
        """
        clock = StepClock()
        completion: Completion | None = None
        error: str | None = None
        try:
            completion = await self._complete(system, user, max_tokens, schema)
            return completion
        except LLMUnavailableError as fault:
            error = str(fault)
            raise
        finally:
            if assignment is not None:
                step = tool_step(
                    f"llm:{self._settings.model}",
                    clock,
                    trace_id=assignment.trace_id,
                    parent_step_id=assignment.step_id,
                    error=error,
                    total_tokens=None if completion is None else completion.total_tokens,
                )
                self._on_step(step, assignment)

    async def _complete(self, system: str, user: str, max_tokens: int, schema: Mapping[str, Any] | None) -> Completion:
        # The import takes most of a second, and few processes need it.
        from openai import BadRequestError, OpenAIError, UnprocessableEntityError

        formats = [{}] if schema is None else [_json_schema(schema), {"response_format": {"type": "json_object"}}, {}]
        try:
            for wanted in formats[:-1]:
                with suppress(BadRequestError, UnprocessableEntityError):
                    return _completion(await self._ask(system, user, max_tokens, wanted))
            return _completion(await self._ask(system, user, max_tokens, formats[-1]))
        except OpenAIError as error:
            raise LLMUnavailableError(f"{type(error).__name__}: {self._without_key(str(error))}") from error

    async def _ask(self, system: str, user: str, max_tokens: int, wanted: Mapping[str, Any]) -> "ChatCompletion":
        answer: ChatCompletion = await self._client().chat.completions.create(
            model=self._settings.model,
            messages=[{"role": "system", "content": system}, {"role": "user", "content": user}],
            temperature=0,
            max_tokens=max_tokens,
            **wanted,
        )
        return answer

    def _without_key(self, text: str) -> str:
        """An endpoint's error message for the row: some quote the key that they refuse."""
        key = "" if self._settings.api_key is None else self._settings.api_key.get_secret_value()
        shown = redact(text.replace(key, "***") if key else text)
        return shown if len(shown) <= MAX_ERROR else f"{shown[:MAX_ERROR]}…"

    def _client(self) -> "AsyncOpenAI":
        from openai import AsyncOpenAI

        if self._settings.api_key is None:
            raise LLMUnavailableError("AGENTBEATS_LLM_API_KEY is not set")
        if self._openai is None:
            self._openai = AsyncOpenAI(
                api_key=self._settings.api_key.get_secret_value(),
                base_url=self._settings.base_url,
                timeout=self._settings.timeout_s,
                max_retries=self._max_retries,
            )
        return self._openai


def _json_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": dict(schema)},
        }
    }


def _completion(answer: "ChatCompletion") -> Completion:
    text = answer.choices[0].message.content if answer.choices else None
    if not text or not text.strip():
        if refusal := answer.choices[0].message.refusal if answer.choices else None:
            raise LLMUnavailableError(f"the model refused: {refusal}")
        raise EmptyCompletionError("the model's answer is empty")
    return Completion(redact(text), None if answer.usage is None else answer.usage.total_tokens)
