"""Intake: turns a client's message into a validated assessment request, or into a reason for rejecting it."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

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
from concord.assessment.plan import DRIVING_S
from concord.assessment.scorers import PatternScorer, known_scorers, syntax_errors
from concord.assessment.suite_tasks import requested_tasks
from concord.files import did_you_mean, models_at, unknown_key
from concord.processes import Calls, LimitExceededError, ProcessDiedError
from concord.trust.urls import NoAddressError, PeerUrls, UrlRefusedError
from concord.wire.platform import SILENCE_S
from concord_gateway.assistants import NoScenarioError, Scenarios

# Requests in plain words: the URLs of the agents to assess, with their names if each has one.

_URL: Final = re.compile(r"https?://[^\s<>\"'`|]+", re.IGNORECASE)
_NAMED: Final = re.compile(r"([A-Za-z][\w.-]{0,63})\s*[:=]\s*[<\"'`]?$")
_AFTER_A_URL: Final = ".,;:!?)]}*"

MISSING: Final = (
    "Which agents shall I assess? Send the URL of each agent's A2A endpoint, for example "
    "`assess writer: http://writer:9009 and critic: http://critic:9009`, or the whole request as JSON: "
    '{"participants": {"writer": "http://writer:9009", "critic": "http://critic:9009"}, "config": {}}.'
)
"""What a message without JSON and without a URL is answered."""


class MissingInputError(Exception):
    """The message does not say which agents to assess; the text asks for that."""


def request_in_words(text: str) -> str:
    """The request, as JSON, of a text that names agents by their URLs. Raises MissingInputError if it has none.

    Agents are called by the words before their URLs (`writer: http://…`) if each has one of its own, else `agent_1`,
    `agent_2` and so on. The config is empty, so the standard tasks are played.
    """
    urls: dict[str, str] = {}
    for found in _URL.finditer(text):
        name = _NAMED.search(text[: found.start()])
        urls.setdefault(found[0].rstrip(_AFTER_A_URL), name[1] if name else "")
    if not urls:
        raise MissingInputError(MISSING)
    names = list(urls.values())
    if "" in names or len(set(names)) < len(names):
        names = [f"agent_{number}" for number in range(1, len(names) + 1)]
    return json.dumps({"participants": dict(zip(names, urls, strict=True)), "config": {}})


# Requests as JSON.

_SHOWN_ERRORS = 5

_JSON: Final = re.compile(r"""\s*(?:[\[{"]|```|(?:[\d.eE+-]+|null|true|false)\s*$)""")
"""What a text begins with that means to be JSON. Its errors are told as such."""

STANDARD_MANIFEST: Final = "standard-1"
"""The manifest for requests that name no tasks, such as the platform's minimal request, so that submissions compare."""

MAX_CALLS: Final = 1_000_000
"""Limit on the calls in the patterns of all trials together, which take a minute or two to evaluate."""


class NotAnAssessmentError(Exception):
    """The message does not request a valid assessment; the text tells the client why."""


def request_text(message: IncomingMessage) -> str:
    """The request in a message as JSON: exactly one text part, with JSON or with words that name the agents' URLs.

    Raises NotAnAssessmentError, and MissingInputError for words without a URL.
    """
    if len(message.text_parts) != 1 or message.data_parts or message.other_parts:
        raise NotAnAssessmentError("send exactly one text part with JSON: {participants: {role: url}, config: {}}")
    text = message.text_parts[0]
    return text if _JSON.match(text) else request_in_words(text)


def read_request(message: IncomingMessage) -> AssessmentRequest:
    """Parses the request in a message. Raises NotAnAssessmentError, MissingInputError."""
    try:
        document = json.loads(request_text(message), object_pairs_hook=_object)
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
    """The work of a request: the tasks of all shards (if this one has trials), its trials, and their time limits."""

    request: AssessmentRequest
    tasks: list[TaskSpec]
    trials: list[TrialSpec]
    limits: TimeLimits


def plan_work(request: AssessmentRequest, scenarios: Scenarios) -> Work:
    """Plans the trials of a request.

    Raises NotAnAssessmentError for too many trials, too little time, a scenario that the gateway does not have, or a
    misspelt scorer.
    """
    _check_scorers(request)
    try:
        tasks = [each for task in _tasks(request) for each in scenarios.tasks_of(task)]
        trials = plan_trials(request.config, tasks)
        # The turns of a scenario send updates, so its trials may take longer than the platform waits for one.
        longest_s = DRIVING_S if any(task.scenario for task in tasks) else SILENCE_S
        limits = time_limits(request.config, len(trials), longest_s)
    except (ValueError, NoScenarioError) as error:
        raise NotAnAssessmentError(str(error)) from error
    calls = {task.id: _calls(task.interaction_pattern) for task in tasks}
    if (n_calls := sum(calls[trial.task_id] for trial in trials)) > MAX_CALLS:
        raise NotAnAssessmentError(f"{n_calls} calls in the patterns of all trials exceed the limit of {MAX_CALLS}")
    return Work(request, tasks if trials else [], trials, limits)


def _tasks(request: AssessmentRequest) -> list[TaskSpec]:
    """The tasks that the config names, else those of the standard manifest. Raises ValueError for an unknown name."""
    config = request.config
    named = (config.task, config.tasks, config.interaction_pattern, config.suite, config.scenario)
    if all(source is None for source in named):
        config = config.model_copy(update={"suite": [STANDARD_MANIFEST]})
    return requested_tasks(config, request.participants)


def _calls(pattern: InteractionPattern | None) -> int:
    if pattern is None or not pattern.edges:
        return 0
    return len(pattern.edges) if pattern.steps_count is None else pattern.steps_count


async def check_patterns(request: AssessmentRequest, owner: str, calls: Calls) -> None:
    """Checks the regular expressions of the tasks' scorers for `owner`. Raises NotAnAssessmentError."""
    patterns = {
        f"config.tasks.{number}.scorer.pattern": task.scorer.pattern
        for number, task in enumerate(request.config.tasks or [])
        if isinstance(task.scorer, PatternScorer)
    }
    if not patterns:
        return
    try:
        errors = await calls.run(owner, syntax_errors, patterns)
    except (LimitExceededError, ProcessDiedError) as error:
        raise NotAnAssessmentError(f"the regular expressions of the scorers cannot be checked: {error}") from error
    if errors:
        raise NotAnAssessmentError(_joined([f"{name}: {error}" for name, error in errors.items()]))


async def check_hosts(request: AssessmentRequest, peer_urls: PeerUrls) -> None:
    """Checks the participants' hosts. Raises NotAnAssessmentError for one that is not allowed.

    A host that does not resolve yet passes here: it is resolved again on contact.
    """
    for name, url in request.participants.items():
        try:
            with suppress(NoAddressError):
                await peer_urls.pin_declared(str(url))
        except UrlRefusedError as error:
            raise NotAnAssessmentError(f"participant {name!r}: {error}") from error


def _check_scorers(request: AssessmentRequest) -> None:
    """Raises NotAnAssessmentError for a scorer whose name resembles that of another one, and that is not installed.

    One that resembles none may be installed where the evaluator runs.
    """
    known = known_scorers()
    for number, task in enumerate(request.config.tasks or []):
        name = None if task.scorer is None else task.scorer.name
        if name not in {None, *known} and (close := did_you_mean(str(name), known)):
            raise NotAnAssessmentError(f"config.tasks.{number}.scorer: no scorer is called {name!r}{close}")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of a document. Raises ValueError for a key that it has twice, of which one would be lost."""
    document = dict(pairs)
    if len(document) < len(pairs):
        [(twice, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return document


def _complaints(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_input=False)
    return _joined([f"{'.'.join(map(str, fault['loc'])) or 'request'}: {_complaint(fault)}" for fault in faults])


def _complaint(fault: ErrorDetails) -> str:
    if fault["type"] != "extra_forbidden":
        return fault["msg"]
    *above, key = fault["loc"]
    return unknown_key(str(key), models_at(AssessmentRequest, above))


def _joined(complaints: Sequence[str]) -> str:
    more = f" (and {len(complaints) - _SHOWN_ERRORS} more)" if len(complaints) > _SHOWN_ERRORS else ""
    return "; ".join(complaints[:_SHOWN_ERRORS]) + more
