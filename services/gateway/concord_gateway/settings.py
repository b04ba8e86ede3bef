"""The gateway's settings, from the environment."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr

from concord.service import StatefulServiceSettings
from concord.storage import MAX_STEPS, MAX_TRACE_BYTES, TraceLimits
from concord_gateway.proxy.bodies import BUDGET_BYTES, IDLE_S


class GatewaySettings(StatefulServiceSettings):
    """`REDIS_URL`, and `CONCORD_` variables for the rest; times in seconds."""

    collector_url: str = "http://127.0.0.1:9010"
    """Where participants report to: it must be reachable for them."""
    observe: bool = True
    """Whether participants reach each other through the gateway's proxy, which sees what they say they do."""
    proxy_url: str | None = None
    """Where participants reach the gateway; without it, the URL in its card."""
    api_keys: SecretStr = SecretStr("")
    """Comma-separated: who has one may start assessments. Without any, whoever reaches the gateway may."""
    output_dir: Path = Path("output")
    max_assessments: Annotated[int, Field(ge=1)] = 16
    """Assessments at once; more wait for their turn."""
    evaluation_timeout_s: Annotated[float, Field(gt=0)] = 120
    """How long to wait for the evaluation of a closed trial: a killed worker's job is taken up again within it."""
    max_body_bytes: int = 4 * 1024 * 1024
    max_trace_bytes: Annotated[int, Field(gt=0)] = MAX_TRACE_BYTES
    max_steps: Annotated[int, Field(gt=0)] = MAX_STEPS
    """What a trace takes of one participant, compressed, and in steps; what it sends in band counts too."""

    max_waiting: Annotated[int, Field(ge=0)] = 200
    """Assessments that wait for their turn; more are rejected."""
    max_queued_trials: Annotated[int, Field(ge=1)] = 64
    """Trials of all assessments whose evaluation is awaited; the next trials end only when there is room."""
    keep_assessments: Annotated[int, Field(ge=1)] = 1000
    """Files in `output_dir/assessments`, the newest."""
    keep_s: Annotated[int, Field(ge=1)] = 3600
    """How long storage keeps an assessment that has ended."""
    lease_s: Annotated[int, Field(ge=1)] = 15
    """After how many seconds of silence a gateway counts as lost, and others go on with its assessments."""
    body_budget_bytes: Annotated[int, Field(gt=0)] = BUDGET_BYTES
    """Bytes of requests and answers that the proxy holds at once; of one participant, a quarter of it."""
    body_idle_s: Annotated[float, Field(gt=0)] = IDLE_S
    """How long a request, or an answer that is no stream, may pause once it has begun."""

    @property
    def trace_limits(self) -> TraceLimits:
        """`max_trace_bytes` and `max_steps`."""
        return TraceLimits(self.max_trace_bytes, self.max_steps)
