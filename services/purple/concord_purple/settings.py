"""An agent's settings: `PURPLE_` variables, which command line options override."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, HttpUrl, SecretStr, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from concord.wire.roster import ParticipantId
from concord_purple.teams import Function, TeamName


class TeamMode(StrEnum):
    """Work in the team, or echo the message."""

    WORK = "work"
    ECHO = "echo"


class AssistantMode(StrEnum):
    """The personal assistants (docs/assistants.md)."""

    NULL = "null"
    DUMP = "dump"
    READ_ONLY = "read_only"
    ORACLE = "oracle"
    MODEL = "model"


def _peers(given: object) -> object:
    """Parses peers from JSON (`{"reviewer": "http://…"}`) or from comma-separated `id=url` pairs."""
    if not isinstance(given, str):
        return given
    if given.lstrip().startswith("{"):
        return json.loads(given)
    pairs = (pair.partition("=") for pair in given.split(",") if pair.strip())
    return {name.strip(): url.strip() for name, _, url in pairs}


class PurpleSettings(BaseSettings):
    """The settings of one agent. Those with a description are options of the command line, too."""

    model_config = SettingsConfigDict(env_prefix="PURPLE_", env_ignore_empty=True, extra="ignore")

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65535)] = 9009
    card_url: HttpUrl | None = Field(None, description="URL in the agent's card: where others reach it")
    agent_id: ParticipantId | None = Field(None, description="agent's id outside assessments (default: its function)")
    function: Function = Field(Function.COORDINATOR, description="agent's function in its team")
    team: TeamName = Field(TeamName.MESH, description="wiring of the team")
    mode: TeamMode = Field(TeamMode.WORK, description="work, or echo the text of the request")
    assistant: AssistantMode | None = Field(
        None, description="serve a personal assistant instead of an agent of a team"
    )
    oracle: Path | None = Field(None, description="the oracle.json that the assistant oracle performs")
    peers: Annotated[dict[ParticipantId, HttpUrl], NoDecode, BeforeValidator(_peers)] = {}
    collector_url: HttpUrl | None = None
    collector_token: SecretStr | None = None
    """For registration, from `python -m concord_collector --issue-token`. An open collector needs none."""
    call_timeout_s: Annotated[float, Field(gt=0, le=3600)] = 300

    @model_validator(mode="after")
    def _oracle_has_a_file(self) -> Self:
        if (self.assistant is AssistantMode.ORACLE) != (self.oracle is not None):
            raise ValueError("the assistant `oracle` needs an oracle file, and no other agent reads one")
        return self

    @property
    def own_url(self) -> str:
        """The URL in the agent's card: `card_url`, else the address on which it listens."""
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.host, self.host)  # nosec B104  # noqa: S104 - compared, not bound
        return str(self.card_url or f"http://{host}:{self.port}/")

    @property
    def own_id(self) -> str:
        """The agent's id outside of any assessment: `agent_id`, else its function, or that it is an assistant."""
        return self.agent_id or (self.function if self.assistant is None else "assistant")
