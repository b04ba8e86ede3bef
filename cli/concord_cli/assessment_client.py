"""The client of an assessment, as on the AgentBeats platform: one request to the green agent, artifacts back."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing
from functools import partial
from time import monotonic

from pydantic import JsonValue

from concord.a2a import A2AClient, AgentTimeoutError, AgentUnreachableError, Answer, RemoteError, TaskState, fetch_card
from concord.trust.credentials import bearer
from concord.wire.platform import SILENCE_S
from concord_cli.errors import AssessmentError
from concord_cli.gateway_key import KEY_VARIABLE, shown_key

PROTOCOL_VERSION = "0.3"
"""The A2A version that the platform's clients use."""

CARDS_TIMEOUT_S = 80.0
"""How long the platform's client waits for an agent's card."""

CONNECTIONS_TIMEOUT_S = 10.0
"""How long a participant may refuse connections, as at the gateway: it may be starting up."""

CARD_INTERVAL_S = 0.5

RECONNECT_S = 60.0
"""How long a client whose stream broke looks for the task at the same address, where a restarted gateway answers."""

RECONNECT_INTERVAL_S = 1.0

MAX_BREAKS = 10
"""How often the stream of one assessment may break. A green agent that breaks more often does not end it."""

UNFINISHED = frozenset({TaskState.SUBMITTED, TaskState.WORKING})


LOG_AFTER_S = 2.0
LOG_INTERVAL_S = 10.0


class LostGreenAgentError(AssessmentError):
    """The green agent cannot be reached or broke off. Its output may say why."""


async def wait_for_cards(
    endpoints: Mapping[str, str], on_progress: Callable[[str], None], timeout_s: float = CARDS_TIMEOUT_S
) -> None:
    """Waits until every agent (base URL by role) serves its card; reports to `on_progress` for which it waits, and why.

    Raises AssessmentError with the first agent that does not serve one in time.
    """
    every = partial(_wait_for, on_progress, timeout_s, "serves no agent card", (), LOG_AFTER_S)
    await asyncio.gather(*(every(role, url) for role, url in endpoints.items()))


async def wait_for_connections(
    endpoints: Mapping[str, str], on_progress: Callable[[str], None], timeout_s: float = CONNECTIONS_TIMEOUT_S
) -> None:
    """Waits until every agent (base URL by role) accepts a connection, whatever it answers.

    Raises AssessmentError with the first agent that does not in time.
    """
    every = partial(_wait_for, on_progress, timeout_s, "cannot be reached", (AgentTimeoutError, RemoteError), 0.0)
    await asyncio.gather(*(every(role, url) for role, url in endpoints.items()))


async def _wait_for(
    on_progress: Callable[[str], None],
    timeout_s: float,
    lack: str,
    suffices: tuple[type[Exception], ...],
    log_after_s: float,
    role: str,
    url: str,
) -> None:
    """Waits for an agent's card, or for one of the errors that suffice. `lack`: what is wrong with one in vain."""
    began = monotonic()
    log_at = began + log_after_s
    while True:
        try:
            await fetch_card(url)
        except suffices:
            return
        except (AgentUnreachableError, RemoteError) as error:
            now = monotonic()
            if now > began + timeout_s:
                raise AssessmentError(f"{role} {lack} at {url}: {error}") from error
            if now >= log_at:
                on_progress(f"Waiting up to {timeout_s:.0f} s for {role} at {url}: {error}")
                log_at = now + LOG_INTERVAL_S
        else:
            return
        await asyncio.sleep(CARD_INTERVAL_S)


async def assess(
    green_agent: str,
    participants: Mapping[str, str],
    config: Mapping[str, JsonValue],
    on_progress: Callable[[str], None],
) -> list[JsonValue]:
    """Sends one request to the green agent and returns its results, at least one.

    `participants` maps role to base URL. `on_progress` gets the green agent's status messages.
    Raises LostGreenAgentError; AssessmentError if the agent rejects the request, fails, or completes without a result.
    """
    return results_of(await answered(green_agent, participants, config, on_progress))


async def answered(
    green_agent: str,
    participants: Mapping[str, str],
    config: Mapping[str, JsonValue],
    on_progress: Callable[[str], None],
) -> Answer:
    """As `assess`, with the green agent's answer. Raises LostGreenAgentError."""
    request = json.dumps({"participants": dict(participants), "config": dict(config)})
    try:
        client = await A2AClient.connect(
            green_agent,
            protocol_version=PROTOCOL_VERSION,
            timeout_s=SILENCE_S,
            credentials=bearer(green_agent, shown_key(green_agent)),
        )
        async with client:
            return await _stream_until_answer(client, request, on_progress)
    except AgentUnreachableError as error:
        raise LostGreenAgentError(f"the green agent at {green_agent} cannot be reached: {error}") from error
    except RemoteError as error:
        hint = f" (set {KEY_VARIABLE} to one of its keys)" if error.wants_credential else ""
        raise LostGreenAgentError(f"the green agent at {green_agent} answered with an error: {error}{hint}") from error


async def _stream_until_answer(client: A2AClient, request: str, on_progress: Callable[[str], None]) -> Answer:
    """The answer to a request, also where another gateway continues the task after the stream broke."""
    task_id = latest = ""
    events = client.stream(text=request)
    reconnect_until: float | None = None
    breaks = 0
    while True:
        try:
            async with aclosing(events):
                async for event in events:
                    reconnect_until = None
                    task_id = event.task_id
                    if isinstance(event, Answer):
                        if not client.card.streaming or event.state not in UNFINISHED:
                            return event
                    elif event.text and event.text != latest and not event.state.terminal:
                        latest = event.text
                        for line in latest.splitlines():
                            on_progress(line)
            lost = AgentUnreachableError("the stream ended before the task did")
        except AgentTimeoutError:
            raise
        except AgentUnreachableError as error:
            lost = error
        if not task_id:
            raise lost
        if reconnect_until is None:
            breaks += 1
            if breaks > MAX_BREAKS:
                raise AgentUnreachableError(f"the connection broke {breaks} times, last: {lost}") from lost
            reconnect_until = monotonic() + RECONNECT_S
            on_progress(f"the connection broke: asking for task {task_id} again, for up to {RECONNECT_S:.0f} s: {lost}")
        elif monotonic() > reconnect_until:
            raise lost
        await asyncio.sleep(RECONNECT_INTERVAL_S)
        events = client.follow(task_id)


def results_of(answer: Answer) -> list[JsonValue]:
    """The results in an answer, at least one. Raises AssessmentError."""
    if not answer.is_task:
        raise AssessmentError("the green agent answered with a message instead of a task")
    if answer.state is not TaskState.COMPLETED:
        raise AssessmentError(f"the green agent answered {answer.state}: {answer.status_text}")
    results = [*answer.data_parts, *_json_in(answer.text_parts)]
    if not results:
        raise AssessmentError("the assessment completed without a result")
    return results


def _json_in(texts: tuple[str, ...]) -> Iterator[JsonValue]:
    """The texts that are JSON, which the platform counts as results too."""
    for text in texts:
        try:
            yield json.loads(text)
        except json.JSONDecodeError:
            continue
