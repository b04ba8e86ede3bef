"""The language model client: one interface for all providers, with a TOOL step per call."""

from asyncio import CancelledError
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, Self

from concord.llm.completion import (
    Completion,
    LLMSettings,
    LLMUnavailableError,
    Provider,
    ProviderError,
    ProviderName,
    UnusableAnswerError,
)
from concord.llm.providers import check_installed, connect
from concord.trace.step import InteractionStep
from concord.trace.timing import StepClock, tool_step
from concord.trust.redaction import learn_secret, redact
from concord.wire.assignment import Assignment

MAX_ERROR: Final = 500
"""Characters kept of an endpoint's error message."""


MAX_RETRIES: Final = 2
"""Default number of retries for an endpoint that fails or is busy."""

OnStep = Callable[[InteractionStep, Assignment], None]


def llm_client(
    settings: LLMSettings,
    on_step: OnStep = lambda _step, _assignment: None,
    *,
    provider: ProviderName | None = None,
    model: str | None = None,
    max_retries: int = MAX_RETRIES,
) -> "LLMClient":
    """A client of the settings' model, or of another `model`, and of another `provider` with the same key.

    Another provider has its own endpoint, and needs a `model`. Raises ValueError without one, and LLMUnavailableError
    if the provider's library is not installed.
    """
    changes: dict[str, object] = {} if model is None else {"model": model}
    if provider is not None and provider != settings.provider:
        if model is None:
            raise ValueError(f"the provider {provider} needs the name of a model")
        changes |= {"provider": provider, "base_url": ""}
    chosen = settings.model_copy(update=changes)
    check_installed(chosen.provider)
    return LLMClient(chosen, on_step, max_retries=max_retries)


class LLMClient:
    """Completions from the configured provider.

    `on_step` gets the TOOL step of each call, failures included. Failed requests are retried with exponential backoff,
    or after `Retry-After`.
    """

    def __init__(
        self,
        settings: LLMSettings,
        on_step: OnStep,
        *,
        max_retries: int = MAX_RETRIES,
    ) -> None:
        """`max_retries` applies if the settings have none."""
        self.settings = settings
        self._on_step = on_step
        self._max_retries = max_retries if settings.max_retries is None else settings.max_retries
        self._provider: Provider | None = None
        if settings.api_key is not None:
            learn_secret(settings.api_key.get_secret_value())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections."""
        if self._provider is not None:
            await self._provider.close()

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

        With `schema`, the answer should be JSON of that schema. Endpoints without schema support are asked for JSON by
        other means: validate the answer in any case.
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
        except CancelledError:
            error = "cancelled"
            raise
        finally:
            if assignment is not None:
                step = tool_step(
                    f"llm:{self.settings.model}",
                    clock,
                    trace_id=assignment.trace_id,
                    parent_step_id=assignment.step_id,
                    error=error,
                    total_tokens=None if completion is None else completion.total_tokens,
                    attributes=_attributes(completion),
                )
                self._on_step(step, assignment)

    async def _complete(self, system: str, user: str, max_tokens: int, schema: Mapping[str, Any] | None) -> Completion:
        if self.settings.api_key is None:
            raise LLMUnavailableError("AGENTBEATS_LLM_API_KEY is not set")
        key = self.settings.api_key.get_secret_value()
        if self._provider is None:
            self._provider = connect(self.settings, key, self._max_retries)
        try:
            answer = await self._provider.complete(system, user, max_tokens=max_tokens, schema=schema)
        except (ProviderError, UnusableAnswerError) as error:
            raise LLMUnavailableError(_without_key(str(error), key)) from error.__cause__ or error
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:  # a library met another shape
            told = f"the model answered nothing usable: its library failed with {type(error).__name__}: {error}"
            raise LLMUnavailableError(_without_key(told, key)) from error
        return replace(answer, text=redact(answer.text))


def _attributes(completion: Completion | None) -> dict[str, str]:
    """What a step tells of a model call (OpenTelemetry's names): that it is one, even if it failed, and its tokens."""
    told: dict[str, str | int | None] = {"gen_ai.operation.name": "chat"}
    if completion is not None:
        told["gen_ai.usage.input_tokens"] = completion.input_tokens
        told["gen_ai.usage.output_tokens"] = completion.output_tokens
    return {name: str(value) for name, value in told.items() if value is not None}


def _without_key(text: str, key: str) -> str:
    """An endpoint's error message for the row: some quote the key that they refuse."""
    shown = redact(text.replace(key, "***") if key else text)
    return shown if len(shown) <= MAX_ERROR else f"{shown[:MAX_ERROR]}…"
