"""The configuration of a green agent, and the settings of one assessment."""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from concord_assistant.environment.server import ENVIRONMENT_COMMAND, START_TIMEOUT_S

MAX_TURNS: Final = 1000

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Turns = Annotated[int, Field(ge=1, le=MAX_TURNS)]


class GreenAgentConfig(BaseModel):
    """The settings of a green agent. Times are in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    default_max_turns: Turns = 100
    """Turns of a scenario that sets no `max_turns`."""
    default_turn_timeout_s: Seconds = 300
    start_timeout_s: Seconds = START_TIMEOUT_S
    """How long the environment process may take to start."""
    max_error_turns: Annotated[int, Field(ge=1)] = 3
    """Turns in a row that may fail: one may be an accident, three mean that the assistant does not take part."""
    notify_timeout_s: Seconds = 10
    """How long the assistant may take to accept the message that the assessment is complete."""
    environment_command: tuple[str, ...] = ENVIRONMENT_COMMAND
    """Starts the environment; gets `--host` and `--port`."""
    advertised_url: str | None = None
    """The environment's URL for the assistant; by default the process's own, on the loopback interface."""


class AssessmentSettings(BaseModel):
    """The settings of one assessment. Unknown keys are ignored. Times are in seconds."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    max_turns: Turns | None = None
    """By default the scenario's, else the green agent's."""
    turn_timeout_s: Seconds | None = None
    limit_s: Seconds | None = None
    """How long all turns together may take."""
    seed: int = 0
    """Of the characters' delays."""
