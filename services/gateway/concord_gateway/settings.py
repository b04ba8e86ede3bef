"""The gateway's settings, from the environment."""

import os
import re
import secrets
import shlex
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field, SecretStr, field_validator
from pydantic_settings import NoDecode

from concord import retention
from concord.assessment.cost import PriceList, read_prices
from concord.assessment.plan import StartedContainers
from concord.service.settings import StatefulServiceSettings
from concord.storage import MAX_STEPS, MAX_TRACE_BYTES, TraceLimits
from concord.storage.job_policy import RESULT_S
from concord.suite.draw import SECRET_BYTES
from concord.trust.credentials import Credentials
from concord_gateway.proxy.limits import BODY_PAUSE_S, BUDGET_BYTES


def _paths(value: object) -> object:
    return tuple(filter(None, value.split(os.pathsep))) if isinstance(value, str) else value


def _words(value: object) -> object:
    return tuple(shlex.split(value)) if isinstance(value, str) else value


def _prices(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return read_prices(Path(value))
    except OSError as error:
        raise ValueError(f"{value}: {error.strerror}") from error


class GatewaySettings(StatefulServiceSettings):
    """`REDIS_URL` and `CONCORD_` variables. Times are in seconds."""

    collector_url: str | None = "http://127.0.0.1:9010"
    """The collector's URL for participants: it must be reachable for them. None: they report in their answers."""
    observe: bool = True
    """Whether participants reach each other through the gateway's proxy, which observes their calls."""
    proxy_url: str | None = None
    """The gateway's URL for participants; by default the URL in its card."""
    api_keys: SecretStr = SecretStr("")
    """Comma-separated keys of the clients that may start assessments. Without any, every client may."""
    participant_credentials: SecretStr = SecretStr("")
    """What participants are shown, by origin: a JSON object such as {"https://agent.example": "X-API-Key: KEY"}."""
    bundle_key: SecretStr = SecretStr("")
    """The key that fetches every bundle of this gateway."""
    card_key: Path | None = None
    """A file with the key that signs the agent card, which is made if it does not exist."""
    output_dir: Path = Path("output")
    max_assessments: Annotated[int, Field(ge=1)] = 16
    """Assessments that run at once; further ones wait."""
    evaluation_timeout_s: Annotated[float, Field(gt=0)] = RESULT_S
    """How long to wait for a trial's evaluation: long enough for another worker to take up a killed worker's job."""
    max_body_bytes: int = 4 * 1024 * 1024
    max_trace_bytes: Annotated[int, Field(gt=0)] = MAX_TRACE_BYTES
    max_steps: Annotated[int, Field(gt=0)] = MAX_STEPS
    """Limits on a participant's part of a trace: compressed bytes, and steps, in-band steps included."""

    max_waiting: Annotated[int, Field(ge=0)] = 200
    """Assessments that wait for a slot; further ones are rejected."""
    max_queued_trials: Annotated[int, Field(ge=1)] = 64
    """Trials of all assessments that may await evaluation; at the limit, the next trial waits."""
    keep_assessments: Annotated[int, Field(ge=1)] = retention.ENDED_ASSESSMENTS
    """The number of result files kept in `output_dir/assessments`."""
    keep_s: Annotated[int, Field(ge=1)] = retention.ENDED_ASSESSMENT_S
    """How long storage keeps an ended assessment."""
    lease_s: Annotated[int, Field(ge=1)] = 15
    """How long a gateway may be silent before other gateways take over its assessments."""
    body_budget_bytes: Annotated[int, Field(gt=0)] = BUDGET_BYTES
    """Bytes of request and answer bodies that the proxy holds at once; a participant gets a quarter."""
    body_idle_s: Annotated[float, Field(gt=0)] = BODY_PAUSE_S
    """How long a body that has begun may pause. Event streams are exempt."""

    scenario_folders: Annotated[tuple[Path, ...], NoDecode, BeforeValidator(_paths)] = (Path("scenarios/assistant"),)
    """Folders with scenarios for assistants as subfolders, separated by `:` (`;` on Windows)."""
    environment_url: str | None = None
    """The URL of this gateway for assistants, which reach their environments below it; by default `proxy_url`, or the
    URL in its card. It must lead to this process, not to another gateway."""
    environment_command: Annotated[tuple[str, ...] | None, NoDecode, BeforeValidator(_words)] = None
    """The command that starts an environment, by default Concord's own. It gets `--host` and `--port`."""
    record_replies: Path | None = None
    """A file in which the language model's replies of characters are recorded."""
    replay_replies: Path | None = None
    """Such a file, which takes the place of the language model."""
    environment_idle_s: Annotated[float, Field(gt=0)] = retention.IDLE_ENVIRONMENT_S
    """How long an environment without an assessment is kept for its A2A context."""

    started_containers: StartedContainers | None = None
    """The containers that the program which started this gateway started for the seats, as JSON. All participants are
    then reached at their declared addresses alone, whatever their cards say."""

    task_secret: SecretStr | None = None
    """The secret from which families generate tasks (64 hex digits), shared by shards and by paired runs. By default,
    each assessment draws its own."""

    prices: Annotated[PriceList, NoDecode, BeforeValidator(_prices)] = Field(default_factory=read_prices)
    """The prices of models for the cost in rows, from the file that the variable names (TOML)."""

    @field_validator("task_secret")
    @classmethod
    def _is_a_secret(cls, secret: SecretStr | None) -> SecretStr | None:
        if secret is not None and not re.fullmatch(r"[0-9a-f]{64}", secret.get_secret_value()):
            raise ValueError("is not 64 hexadecimal digits: make one with `openssl rand -hex 32`")
        return secret

    @field_validator("participant_credentials")
    @classmethod
    def _are_credentials(cls, text: SecretStr) -> SecretStr:
        Credentials.parse(text.get_secret_value())
        return text

    @property
    def credentials(self) -> Credentials:
        """`participant_credentials`."""
        return Credentials.parse(self.participant_credentials.get_secret_value()).learn()

    def secret_of_tasks(self) -> bytes:
        """The secret of an assessment that begins."""
        if self.task_secret is None:
            return secrets.token_bytes(SECRET_BYTES)
        return bytes.fromhex(self.task_secret.get_secret_value())

    @property
    def trace_limits(self) -> TraceLimits:
        """`max_trace_bytes` and `max_steps`."""
        return TraceLimits(self.max_trace_bytes, self.max_steps)
