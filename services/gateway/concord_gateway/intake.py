"""From a client's message to an assessment request, or the reason why it is none."""

import json
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from pydantic import TypeAdapter, ValidationError

from concord.a2a import IncomingMessage
from concord.assessment import (
    AssessmentRequest,
    InteractionPattern,
    TaskSpec,
    TimeLimits,
    TrialSpec,
    plan_trials,
    time_limits,
)
from concord.trust.urls import NoAddressError, PeerUrls, UrlRefusedError

_SHOWN_ERRORS = 5

MAX_CALLS: Final = 1_000_000
"""Of the patterns of all trials together, evaluated in a minute or two: some kilobytes could ask for ten times that."""


class NotAnAssessmentError(Exception):
    """The message cannot be assessed; the text tells its sender why."""


def read_request(message: IncomingMessage) -> AssessmentRequest:
    """The request in a message: exactly one text part, whose text is a JSON object. Raises NotAnAssessmentError."""
    if len(message.text_parts) != 1 or message.data_parts or message.other_parts:
        raise NotAnAssessmentError("send exactly one text part, holding JSON: {participants: {role: url}, config: {}}")
    try:
        document = json.loads(message.text_parts[0])
    except (ValueError, RecursionError) as error:
        raise NotAnAssessmentError(f"the text is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise NotAnAssessmentError("the JSON must be an object: {participants: {role: url}, config: {}}")
    try:
        return AssessmentRequest.model_validate(document)
    except ValidationError as error:
        raise NotAnAssessmentError(_complaints(error)) from error


@dataclass(frozen=True, slots=True)
class Work:
    """What a request asks for: the tasks that have trials in this shard, the trials, and how long they may take."""

    tasks: list[TaskSpec]
    trials: list[TrialSpec]
    limits: TimeLimits


def plan_work(request: AssessmentRequest) -> Work:
    """Plans the trials of a request. Raises NotAnAssessmentError for too many, or too little time for them."""
    tasks = request.config.chosen_tasks(default_tasks())
    try:
        trials = plan_trials(request.config, tasks)
        limits = time_limits(request.config, len(trials))
    except ValueError as error:
        raise NotAnAssessmentError(str(error)) from error
    used = {trial.task_id for trial in trials}
    calls = {task.id: _calls(task.interaction_pattern) for task in tasks}
    if (n_calls := sum(calls[trial.task_id] for trial in trials)) > MAX_CALLS:
        raise NotAnAssessmentError(f"{n_calls} calls in the patterns of all trials are more than {MAX_CALLS}")
    return Work([task for task in tasks if task.id in used], trials, limits)


@cache
def default_tasks() -> list[TaskSpec]:
    """The shipped tasks, for requests that bring none: the platform's bare request works."""
    return TypeAdapter(list[TaskSpec]).validate_json(files(__package__).joinpath("default_tasks.json").read_bytes())


def _calls(pattern: InteractionPattern | None) -> int:
    if pattern is None or not pattern.edges:
        return 0
    return len(pattern.edges) if pattern.steps_count is None else pattern.steps_count


async def check_hosts(request: AssessmentRequest, peer_urls: PeerUrls) -> None:
    """Checks where the participants are. Raises NotAnAssessmentError for one that nobody may name.

    One whose host has no address may be about to get one: it is looked for when the participants are contacted.
    """
    for name, url in request.participants.items():
        try:
            with suppress(NoAddressError):
                await peer_urls.pin_declared(str(url))
        except UrlRefusedError as error:
            raise NotAnAssessmentError(f"participant {name!r}: {error}") from error


def _complaints(error: ValidationError) -> str:
    complaints = [
        f"{'.'.join(str(part) for part in fault['loc']) or 'request'}: {fault['msg']}"
        for fault in error.errors(include_url=False, include_input=False)
    ]
    more = f" (and {len(complaints) - _SHOWN_ERRORS} more)" if len(complaints) > _SHOWN_ERRORS else ""
    return "; ".join(complaints[:_SHOWN_ERRORS]) + more
