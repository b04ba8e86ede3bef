"""Scenarios: the participants and the config of an assessment, read from TOML.

There are two forms: the platform's (`role` and `endpoint` of running agents) and the local one (`name` and `function`,
`cmd` or `image` of agents that the local stack starts, wired as a `[team]`). The leaderboard's generator reads the
second form, too: it starts each agent's `image`.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    HttpUrl,
    JsonValue,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from concord.assessment import MAX_PARTICIPANTS, AssessmentConfig, AssessmentRequest
from concord.assessment.plan import DEFAULT_SEATS, MIN_SEATS
from concord.assessment.scorers import known_scorers
from concord.assessment.suite_tasks import requested_tasks
from concord.files import MAX_LISTED, did_you_mean, known_keys, nearest, unknown_key
from concord.wire.roster import RESERVED_IDS, ParticipantId
from concord_cli.errors import UsageError
from concord_cli.input_files import reasons, toml_of, validated
from concord_cli.isolation.model_endpoints import ModelEndpoint

Word = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]*$", max_length=64)]


def _as_text(env: object) -> object:
    """Numbers and booleans as text, in TOML's form."""
    if not isinstance(env, dict):
        return env
    texts = {True: "true", False: "false"}
    return {
        name: texts[value] if isinstance(value, bool) else str(value) if isinstance(value, int | float) else value
        for name, value in env.items()
    }


def _endpoint(url: object) -> ModelEndpoint:
    return ModelEndpoint.parse(str(url))


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", validate_by_name=True, validate_by_alias=True)


SAMPLE_AGENT: Final = "python -m concord_suites.agent"
"""The command line of the sample agent, which plays any team task."""

SAMPLE_IMAGE: Final = "concord-sample"
"""Its image, of `deploy/sample.Dockerfile`, for seats in containers."""

Variables = Annotated[dict[str, str], BeforeValidator(_as_text)]


REPLACED: Final = {"participants": "replaced by the sample agent"}
"""The context in which a participant need not say how it is reached or started."""


class _Agent(_Table):
    """An agent: its base URL, its image, or its id on the platform; and its environment variables."""

    endpoint: HttpUrl | None = None
    agentbeats_id: str | None = None
    image: Annotated[str, Field(max_length=512)] | None = None
    env: Variables = {}


class GreenAgent(_Agent):
    """The green agent. `concord` calls the agent at `endpoint`; other fields are for the leaderboard's generator."""


class Participant(_Agent):
    """An agent of the team: one that runs at `endpoint`, or one that the local stack starts.

    With `function` or `cmd`, the local stack needs no `image`.
    """

    role: ParticipantId = Field(validation_alias=AliasChoices("role", "name"))
    function: Word | None = None
    cmd: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    """A command line, to which `--host`, `--port` and `--card-url` are added; `python` is Concord's own."""
    credential: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    """What the gateway shows the agent: `X-API-Key: ${NAME}`, `Authorization: Bearer ${NAME}` or `?key=${NAME}`."""
    adapt: bool = False
    """Whether to start `cmd` behind a proxy that lets the gateway observe its calls. `{ROLE}` in it is an address."""

    @property
    def is_container(self) -> bool:
        """Whether the local stack starts its image."""
        return self.endpoint is None and self.function is None and self.cmd is None

    @model_validator(mode="after")
    def _runs_or_is_started(self, info: ValidationInfo) -> Self:
        if info.context is REPLACED:
            return self
        if self.adapt and self.cmd is None:
            raise ValueError("`adapt` is for an agent with `cmd`; start others with `concord adapt`")
        given = 3 - [self.endpoint, self.function, self.cmd].count(None)
        if given > 1 or not (given or self.image):
            raise ValueError(
                "give one of `endpoint` (it runs already), `function` and `cmd` (it is started here), or an `image`"
            )
        return self


MAX_ENDPOINTS = 16

Endpoint = Annotated[ModelEndpoint, PlainValidator(_endpoint)]


class Team(_Table):
    """How the agents of the local stack are wired to each other, and kept apart otherwise."""

    wiring: Word = "mesh"
    isolation: Literal["container"] | None = None
    """Whether each seat gets a container of its own, from the one `image` of all participants."""
    model_endpoints: Annotated[list[Endpoint], Field(max_length=MAX_ENDPOINTS)] = []
    """The servers that seats in containers may reach besides Concord: `https://api.example.com`."""

    @model_validator(mode="after")
    def _endpoints_are_of_containers(self) -> Self:
        if self.model_endpoints and self.isolation is None:
            raise ValueError('`model_endpoints` is for seats in containers: add `isolation = "container"`')
        return self


class ScenarioFile(_Table):
    """A team and the config of its assessment, which is passed on unchanged."""

    green_agent: GreenAgent | None = None
    participants: Annotated[list[Participant], Field(max_length=MAX_PARTICIPANTS)] = []
    team: Team = Team()
    config: dict[str, JsonValue] = {}

    @model_validator(mode="after")
    def _roles_are_distinct(self) -> Self:
        roles = [participant.role for participant in self.participants]
        if repeated := sorted({role for role in roles if roles.count(role) > 1}):
            raise ValueError(f"role used twice: {', '.join(repeated)}")
        if reserved := sorted(RESERVED_IDS & set(roles)):
            raise ValueError(f"reserved role: {', '.join(reserved)}")
        return self

    @model_validator(mode="after")
    def _isolated_seats_have_one_image(self) -> Self:
        if self.team.isolation is None:
            return self
        if not self.participants:
            raise ValueError("isolation needs participants with an `image`")
        for each in self.participants:
            if each.image is None or not each.is_container:
                raise ValueError(
                    f"isolation starts only images: give {each.role} an `image`, and nothing else to start"
                )
        if len(images := {each.image for each in self.participants}) > 1:
            raise ValueError(f"isolation needs one image for all seats, not {len(images)}")
        return self

    def with_seats(self) -> Self:
        """The scenario with a participant for each seat, where a lone one is to be isolated; else the same one.

        Raises ValueError if some container would take more than one seat, or if there is but one.
        """
        if self.team.isolation is None:
            return self
        config = {key: value for key, value in self.config.items() if key != "seats"}
        seats = self.config.get("seats")
        if isinstance(seats, dict) or (len(self.participants) > 1 and seats not in (None, 1)):
            raise ValueError("config.seats: isolated participants take one seat each: list one for each seat")
        if len(self.participants) > 1:
            return self.model_copy(update={"config": config})
        [lone] = self.participants
        count = seats if isinstance(seats, int) else DEFAULT_SEATS
        if count < MIN_SEATS:
            raise ValueError("isolation needs at least two seats")
        each = [lone.model_copy(update={"role": f"{lone.role}_{number}"}) for number in range(1, count + 1)]
        return self.model_copy(update={"participants": each, "config": config})

    @property
    def images(self) -> dict[str, str]:
        """The images that the local stack starts, by participant."""
        return {each.role: each.image for each in self.participants if each.is_container and each.image}

    @property
    def local(self) -> list[Participant]:
        """The participants that the local stack starts."""
        return [participant for participant in self.participants if participant.endpoint is None]

    @property
    def endpoints(self) -> dict[str, str]:
        """The base URLs of the running participants, by role."""
        return {p.role: str(p.endpoint) for p in self.participants if p.endpoint is not None}

    @property
    def request(self) -> AssessmentRequest:
        """Its request, with addresses that stand for those of participants that do not run yet. Raises
        ValidationError."""
        addresses = {
            each.role: str(each.endpoint or f"http://127.0.0.1:{number}/")
            for number, each in enumerate(self.participants, start=1)
        }
        return AssessmentRequest.model_validate({"participants": addresses, "config": self.config})

    @property
    def agentbeats_ids(self) -> dict[str, str]:
        """The platform's ids of the participants that have one, by role."""
        return {p.role: p.agentbeats_id for p in self.participants if p.agentbeats_id}


def read_scenario(path: Path, *, sample: bool = False) -> ScenarioFile:
    """Reads a scenario from a file. Raises UsageError: one line with the file and every reason.

    `sample`: the sample agent will take the place of each participant, which need not be one that can be started here.
    """
    return validated(path, toml_of(path), ScenarioFile, REPLACED if sample else None)


def check_config(path: Path, scenario: ScenarioFile) -> None:
    """Checks the config of a scenario against Concord's request. Raises UsageError, also for unknown keys."""
    try:
        request = scenario.request
    except ValidationError as error:
        raise UsageError(f"{path}: {reasons(error, AssessmentRequest)}") from error
    unknown = (f"config.{key}: {unknown_key(key, [AssessmentConfig])}" for key in request.config.unknown_keys)
    if faults := [*unknown, *_unknown_names(request.config)]:
        raise UsageError(f"{path}: {'; '.join(faults)}")


def _unknown_names(config: AssessmentConfig) -> Iterator[str]:
    """The suites, scorers, evaluators and metrics that are not installed, which the stack would not have either."""
    try:
        requested_tasks(config)
    except ValueError as error:
        yield f"config: {error}"
    known = known_scorers()
    for number, task in enumerate(config.tasks or []):
        if task.scorer is not None and task.scorer.name not in known:
            yield f"config.tasks[{number}].scorer: {_unknown('scorer', task.scorer.name, known)}"
    if config.evaluators or config.metrics:  # importing these takes as long as the start of a worker
        from concord_evaluator.metrics import METRICS
        from concord_evaluator.pipeline import EVALUATORS, JUDGE

        for key, chosen, known_ids in (
            ("evaluator", config.chosen_evaluators(()), [*EVALUATORS.installed, JUDGE]),
            ("metric", config.chosen_metrics(()), list(METRICS.installed)),
        ):
            yield from (f"config.{key}s: {_unknown(key, name, known_ids)}" for name in chosen if name not in known_ids)


def _unknown(kind: str, name: str, known: Sequence[str]) -> str:
    listed = f"; there are {', '.join(known)}" if len(known) <= MAX_LISTED else ""
    return f"no {kind} is called {name!r}{did_you_mean(name, known) or listed}"


def with_sample_agent(path: Path, scenario: ScenarioFile) -> ScenarioFile:
    """The scenario with the sample agent in place of each participant. Raises UsageError for tasks of other kinds."""
    config = AssessmentConfig.model_validate(scenario.config)
    if not scenario.participants or any(task.family is None for task in config.chosen_tasks()):
        raise UsageError(f"{path}: the sample agent plays team tasks only, those of a `suite` or of a `family`")
    isolated = scenario.team.isolation is not None
    replaced: dict[str, object] = {
        "endpoint": None,
        "image": SAMPLE_IMAGE if isolated else None,
        "env": {},
        "function": None,
        "cmd": None if isolated else SAMPLE_AGENT,
        "adapt": False,
    }
    players = [each.model_copy(update=replaced) for each in scenario.participants]
    return scenario.model_copy(update={"participants": players})


def check_spelling(path: Path, scenario: ScenarioFile) -> None:
    """Refuses config keys that resemble a key of Concord. Another green agent may have keys of its own.

    Raises UsageError.
    """
    known = known_keys([AssessmentConfig])
    unknown = [key for key in scenario.config if key not in known and nearest(key, known)]
    if unknown:
        messages = (f"config.{key}: {unknown_key(key, [AssessmentConfig])}" for key in unknown)
        raise UsageError(f"{path}: {'; '.join(messages)}")
