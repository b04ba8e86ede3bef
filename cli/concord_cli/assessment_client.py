"""The client's side of an assessment, as the AgentBeats platform has it: one message out, artifacts back."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from time import monotonic

from pydantic import JsonValue

from concord.a2a import A2AClient, AgentUnreachableError, Answer, RemoteError, TaskState, fetch_card
from concord_cli.errors import AssessmentError

PROTOCOL_VERSION = "0.3"
"""The A2A version of every client of the platform."""

EVENT_TIMEOUT_S = 300.0
"""How long the platform's client waits between two events."""

CARDS_TIMEOUT_S = 80.0
"""How long the platform gives an agent to show its card."""

CARD_INTERVAL_S = 0.5

MAX_EXACT = 2**53 - 1
"""Up to here a double tells each whole number from its neighbours (RFC 8259, 6)."""


TELL_AFTER_S = 2.0
TELL_AGAIN_S = 10.0


class LostGreenAgentError(AssessmentError):
    """The green agent cannot be reached, or broke off; what it printed may say why."""


async def wait_for_cards(
    endpoints: Mapping[str, str], on_progress: Callable[[str], None], timeout_s: float = CARDS_TIMEOUT_S
) -> None:
    """Returns once every agent (base URL by role) shows its card; tells which one it waits for, and why.

    Raises AssessmentError, naming one that does not.
    """
    await asyncio.gather(*(_wait_for_card(role, url, on_progress, timeout_s) for role, url in endpoints.items()))


async def _wait_for_card(role: str, url: str, on_progress: Callable[[str], None], timeout_s: float) -> None:
    began = monotonic()
    tell_at = began + TELL_AFTER_S
    while True:
        try:
            await fetch_card(url)
        except (AgentUnreachableError, RemoteError) as error:
            now = monotonic()
            if now > began + timeout_s:
                raise AssessmentError(f"{role} shows no agent card at {url}: {error}") from error
            if now >= tell_at:
                on_progress(f"waiting for {role} at {url}, for up to {timeout_s:.0f} s: {error}")
                tell_at = now + TELL_AGAIN_S
        else:
            return
        await asyncio.sleep(CARD_INTERVAL_S)


async def assess(
    green_agent: str,
    participants: Mapping[str, str],
    config: Mapping[str, JsonValue],
    on_progress: Callable[[str], None],
) -> list[JsonValue]:
    """Sends one request to the green agent and returns the results that it completed with, at least one.

    `participants` maps role to base URL. `on_progress` gets what the green agent says while it works.
    Raises LostGreenAgentError; AssessmentError where it rejected the request, failed, or completed without a result.
    """
    request = json.dumps({"participants": dict(participants), "config": dict(config)})
    try:
        client = await A2AClient.connect(green_agent, protocol_version=PROTOCOL_VERSION, timeout_s=EVENT_TIMEOUT_S)
        async with client:
            answer = await _converse(client, request, on_progress)
    except AgentUnreachableError as error:
        raise LostGreenAgentError(f"the green agent at {green_agent} cannot be reached: {error}") from error
    except RemoteError as error:
        raise LostGreenAgentError(f"the green agent at {green_agent} answered with an error: {error}") from error
    return _results(answer)


async def _converse(client: A2AClient, request: str, on_progress: Callable[[str], None]) -> Answer:
    said = ""
    async for event in client.stream(text=request):
        if isinstance(event, Answer):
            return event
        if event.text and event.text != said and not event.state.terminal:
            said = event.text
            on_progress(said)
    raise RemoteError("the stream ended without an answer")


def _results(answer: Answer) -> list[JsonValue]:
    if not answer.is_task:
        raise AssessmentError("the green agent answered with a message instead of a task")
    if answer.state is not TaskState.COMPLETED:
        raise AssessmentError(f"the green agent answered {answer.state}: {answer.status_text}")
    results = [*map(_whole, answer.data_parts), *_parsed(answer.text_parts)]
    if not results:
        raise AssessmentError("the assessment completed without a result")
    return results


def _whole(value: JsonValue) -> JsonValue:
    """Data as it was before A2A made doubles of all its numbers: those that are whole become integers again."""
    if isinstance(value, dict):
        return {key: _whole(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_whole(each) for each in value]
    if isinstance(value, float) and value.is_integer() and abs(value) <= MAX_EXACT:
        return int(value)
    return value


def _parsed(texts: tuple[str, ...]) -> Iterator[JsonValue]:
    """The texts that happen to be JSON, which the platform takes for results too."""
    for text in texts:
        try:
            yield json.loads(text)
        except json.JSONDecodeError:
            continue
