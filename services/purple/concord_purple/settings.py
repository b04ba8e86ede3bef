"""What an agent of a team is told at its start: `PURPLE_` variables, and the command line over them."""

import json
from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator, Field, HttpUrl, SecretStr
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from concord.assessment.roster import ParticipantId
from concord_purple.teams import Function, TeamName


class Mode(StrEnum):
    """Work in the team, or answer with what was said."""

    WORK = "work"
    ECHO = "echo"


def _peers(given: object) -> object:
    """Peers as JSON (`{"reviewer": "http://…"}`) or as `id=url` pairs with commas between."""
    if not isinstance(given, str):
        return given
    if given.lstrip().startswith("{"):
        return json.loads(given)
    pairs = (pair.partition("=") for pair in given.split(",") if pair.strip())
    return {name.strip(): url.strip() for name, _, url in pairs}


class PurpleSettings(BaseSettings):
    """One agent: where it listens, who it is, whom it works with, and how long it waits for them."""

    model_config = SettingsConfigDict(env_prefix="PURPLE_", env_ignore_empty=True, extra="ignore")

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65535)] = 9009
    card_url: HttpUrl | None = None
    agent_id: ParticipantId | None = None
    function: Function = Function.COORDINATOR
    team: TeamName = TeamName.MESH
    mode: Mode = Mode.WORK
    peers: Annotated[dict[ParticipantId, HttpUrl], NoDecode, BeforeValidator(_peers)] = {}
    collector_url: HttpUrl | None = None
    collector_token: SecretStr | None = None
    """For its registry: what `python -m concord_collector --issue-token` gives. An open collector wants none."""
    call_timeout_s: Annotated[float, Field(gt=0, le=3600)] = 300

    @property
    def own_url(self) -> str:
        """The URL in the agent's card: as given, else where it listens."""
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.host, self.host)  # nosec B104  # noqa: S104 - compared, not bound
        return str(self.card_url or f"http://{host}:{self.port}/")

    @property
    def own_id(self) -> str:
        """The agent's id outside any assessment: as given, else its function."""
        return self.agent_id or self.function
