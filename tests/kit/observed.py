"""A gateway over real HTTP, and an assessment whose participants may call each other through its proxy."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from pydantic import SecretStr

from concord.assessment import AssessmentConfig, AssessmentPlan, Mode, TaskSpec, plan_trials
from concord.storage.connection import Storage, connect
from concord.trace.decoding import reports_of
from concord.trace.report import Channel, Report
from concord.trust.proxy_urls import proxy_url
from concord.trust.tokens import Claims, TokenIssuer
from concord.wire.assignment import Assignment
from concord.wire.roster import RosterEntry, new_step_id, new_trace_id
from concord_gateway.app import create_app
from concord_gateway.settings import GatewaySettings
from tests.kit.serving import reserved, served, url_of

SECRET = SecretStr("what-signs-tokens-in-these-tests-only")

MAX_BODY_BYTES = 200_000


@dataclass(frozen=True, slots=True)
class TrialParticipant:
    """A participant of a trial, with the token by which the gateway knows it."""

    claims: Claims
    token: str
    gateway: str

    def url_of(self, callee_id: str) -> str:
        """The proxy URL at which this participant reaches another."""
        return proxy_url(self.gateway, callee_id, self.token)

    def assignment(self) -> Assignment:
        """The assignment that this participant gets with its task."""
        return Assignment(
            assessment_id=self.claims.assessment_id,
            trace_id=self.claims.trace_id,
            step_id=new_step_id(),
            agent_id=self.claims.agent_id,
            token=SecretStr(self.token),
        )


@dataclass(frozen=True, slots=True)
class RunningGateway:
    """A gateway that runs, with its storage."""

    url: str
    storage: Storage

    async def trial(self, roster: dict[str, str], *, ttl_s: float = 60) -> dict[str, TrialParticipant]:
        """Plans an assessment of these agents (id: URL) with one trial; returns its participants by id."""
        tasks = [TaskSpec(id="t", text="count the trees")]
        plan = AssessmentPlan(
            assessment_id=new_trace_id(),
            mode=Mode.LIVE,
            config=AssessmentConfig(),
            tasks=tasks,
            roster=[RosterEntry(id=name, url=url) for name, url in roster.items()],
            trials=plan_trials(AssessmentConfig(), tasks),
            observed=True,
        )
        await self.storage.assessments.save_plan(plan)
        (trial,) = plan.trials
        return {name: self.participant(plan.assessment_id, trial.trace_id, name, ttl_s=ttl_s) for name in roster}

    def participant(self, assessment_id: str, trace_id: str, agent_id: str, *, ttl_s: float = 60) -> TrialParticipant:
        """A participant with a token for this trace."""
        claims = Claims(assessment_id, trace_id, agent_id, float(int(time.time() + ttl_s)))
        return TrialParticipant(claims, TokenIssuer([SECRET]).issue(claims).get_secret_value(), self.url)

    async def reports(self, trace_id: str, at_least: int = 0, channel: Channel = Channel.OBSERVED) -> list[Report]:
        """The reports in a trace from one channel, once there are `at_least` so many. The gateway records a call only
        after it has answered it."""
        async with asyncio.timeout(60):
            while True:
                batches = [batch async for batch in self.storage.traces.batches(trace_id) if batch.channel is channel]
                found = [report for batch in batches for report in reports_of(batch)]
                if len(found) >= at_least:
                    return found
                await asyncio.sleep(0.02)


@asynccontextmanager
async def running_gateway(
    redis_url: str,
    output_dir: Path,
    token_secret: SecretStr = SECRET,
    **limits: Any,  # noqa: ANN401 - any setting
) -> AsyncIterator[RunningGateway]:
    """A gateway in this process."""
    holder = reserved()
    settings = GatewaySettings(
        redis_url=redis_url,
        token_secret=token_secret,
        output_dir=output_dir,
        **{"max_body_bytes": MAX_BODY_BYTES} | limits,
    )
    async with connect(redis_url) as storage, served(create_app(settings, f"{url_of(holder)}/"), holder) as url:
        yield RunningGateway(url, storage)


@asynccontextmanager
async def agent_answering(response: Response | Callable[[Request], Awaitable[Response]]) -> AsyncIterator[str]:
    """An agent without a card that gives this answer to every POST; yields its URL."""

    async def answer(request: Request) -> Response:
        return response if isinstance(response, Response) else await response(request)

    app = FastAPI()
    app.add_route("/{path:path}", answer, methods=["POST"])
    async with served(app) as url:
        yield f"{url}/"


def send(method: str, text: str = "hello", metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    """A request as a plain JSON-RPC client of A2A 0.3 writes it."""
    parts = [{"kind": "text", "text": text}]
    message: dict[str, Any] = {"kind": "message", "role": "user", "messageId": new_step_id(), "parts": parts}
    if metadata is not None:
        message["metadata"] = metadata
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}}
