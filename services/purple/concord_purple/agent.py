"""One agent of a team over A2A: its card, its JSON-RPC endpoint, and its answers to each kind of request."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Any, Final

import httpx
from fastapi import FastAPI

from concord import retention
from concord.a2a import AgentProfile, IncomingMessage, Skill, TaskHandle, mount_agent
from concord.agent.messenger import Messenger
from concord.agent.peers import PeerDiscovery
from concord.agent.reporter import TraceReporter
from concord.llm import LLMSettings
from concord.service.middleware import BodyLimit
from concord.service.probes import probe_routes
from concord.version import VERSION
from concord.wire.assignment import TIMESTAMP_KEY, TIMESTAMP_URI, TRACEABILITY_KEY, TRACEABILITY_URI, Assignment
from concord.wire.roster import RosterEntry
from concord_purple.request_context import (
    RequestContext,
    StepRecorder,
    discard_step,
    forged_calls,
    reply_text,
    reword_review,
)
from concord_purple.settings import PurpleSettings, TeamMode
from concord_purple.teams import (
    TEAMS,
    BadRequestError,
    Function,
    RequestKind,
    TeamMember,
    TeamReply,
    TeamRequest,
    request_in,
    to_data,
)
from concord_purple.text_review.measure import Findings
from concord_purple.text_review.review import (
    add_draft,
    add_fact_checks,
    add_facts,
    add_missing_verdict,
    add_verdict,
    advise,
    answer_json,
    cross_check,
    evidence_from_draft,
    evidence_from_text,
)

# The answers of each function to each kind of request.

Handler = Callable[[RequestContext], Awaitable[Findings]]


def handler_for(function: Function, kind: RequestKind) -> Handler:
    """The handler for a request of this kind. Raises BadRequestError if this function does not serve the kind."""
    handler = _HANDLERS[function].get(kind)
    if handler is None:
        raise BadRequestError(f"a {function} does not {kind.verb}")
    return handler


async def _coordinate(context: RequestContext) -> Findings:
    """Has the team do the work, stage by stage, and composes the review."""
    findings = context.request.findings
    for kind in context.kinds_to_ask:
        findings |= await context.ask(kind, findings)
    return context.work("compose", lambda: contribute(context, findings))


async def _research(context: RequestContext) -> Findings:
    findings = context.work("measure", lambda: contribute(context, context.request.findings))
    return findings | await context.ask(RequestKind.CROSS_CHECK, findings)


async def _synthesize(context: RequestContext) -> Findings:
    findings = context.request.findings
    findings |= await context.ask(RequestKind.CLARIFY, findings)
    return context.work("draft", lambda: contribute(context, findings))


async def _review(context: RequestContext) -> Findings:
    findings = context.request.findings
    findings |= await context.ask(RequestKind.EVIDENCE, findings)
    return context.work("verify", lambda: contribute(context, findings))


async def _relay(context: RequestContext) -> Findings:
    """Adds the agent's own part and relays everything to the next member."""
    findings = context.work("contribute", lambda: contribute(context, context.request.findings))
    return findings | await context.ask(RequestKind.RELAY, findings)


async def _contribute_alone(context: RequestContext) -> Findings:
    """A task for a function that does not coordinate: the agent contributes its own part and asks nobody."""
    return context.work("contribute", lambda: contribute(context, context.request.findings))


async def _cross_check(context: RequestContext) -> Findings:
    request, own_id = context.request, context.member.agent_id
    return context.work(
        "cross_check", lambda: Findings(checks=cross_check(request.text, request.findings.facts, own_id))
    )


async def _clarify(context: RequestContext) -> Findings:
    request = context.request
    own = [fact for fact in request.findings.unrefuted_facts if fact.found_by == context.member.agent_id]
    return context.work("advise", lambda: Findings(advice=advise(request.text, own)))


async def _give_evidence_on_facts(context: RequestContext) -> Findings:
    request, own_id = context.request, context.member.agent_id
    return context.work("evidence", lambda: Findings(checks=evidence_from_text(request.text, request.findings, own_id)))


async def _give_evidence_on_draft(context: RequestContext) -> Findings:
    request, own_id = context.request, context.member.agent_id
    return context.work("evidence", lambda: Findings(checks=evidence_from_draft(request.findings, own_id)))


async def _answer_ping(context: RequestContext) -> Findings:
    return context.work("ping", Findings)


_HANDLERS: Final[dict[Function, dict[RequestKind, Handler]]] = {
    Function.COORDINATOR: {RequestKind.TASK: _coordinate, RequestKind.PING: _answer_ping},
    Function.RESEARCHER: {
        RequestKind.TASK: _contribute_alone,
        RequestKind.RESEARCH: _research,
        RequestKind.RELAY: _relay,
        RequestKind.CROSS_CHECK: _cross_check,
        RequestKind.CLARIFY: _clarify,
        RequestKind.EVIDENCE: _give_evidence_on_facts,
        RequestKind.PING: _answer_ping,
    },
    Function.SYNTHESIZER: {
        RequestKind.TASK: _contribute_alone,
        RequestKind.SYNTHESIZE: _synthesize,
        RequestKind.RELAY: _relay,
        RequestKind.EVIDENCE: _give_evidence_on_draft,
        RequestKind.PING: _answer_ping,
    },
    Function.REVIEWER: {
        RequestKind.TASK: _contribute_alone,
        RequestKind.REVIEW: _review,
        RequestKind.RELAY: _relay,
        RequestKind.PING: _answer_ping,
    },
}


Stage = Callable[[RequestContext, Findings], Findings]


def contribute(context: RequestContext, findings: Findings) -> Findings:
    """The findings with the part of the agent's function added.

    In a team that fills gaps, the agent first does what should have been done before its part.
    """
    gap_stages, own = _PARTS[context.member.function]
    for stage in (*(gap_stages if context.team.fills_gaps else ()), *own):
        findings = stage(context, findings)
    return findings


def _facts(context: RequestContext, findings: Findings) -> Findings:
    return add_facts(context.request.text, context.request.aspects, findings, context.member.agent_id)


def _fact_checks(context: RequestContext, findings: Findings) -> Findings:
    return add_fact_checks(context.request.text, findings, context.member.agent_id)


def _draft(context: RequestContext, findings: Findings) -> Findings:
    return add_draft(context.request.text, findings, context.member.agent_id)


def _verdict(context: RequestContext, findings: Findings) -> Findings:
    return add_verdict(context.request.text, findings, context.member.agent_id)


def _missing_verdict(context: RequestContext, findings: Findings) -> Findings:
    return add_missing_verdict(context.request.text, findings, context.member.agent_id)


_PARTS: Final[dict[Function, tuple[tuple[Stage, ...], tuple[Stage, ...]]]] = {
    Function.COORDINATOR: ((_facts, _draft, _missing_verdict), ()),
    Function.RESEARCHER: ((), (_facts, _fact_checks)),
    Function.SYNTHESIZER: ((_facts,), (_draft,)),
    Function.REVIEWER: ((_facts, _draft), (_verdict,)),
}
"""By function: the stages with which it fills gaps, then those of its own part."""


# The A2A handler: runs the handler of a request, and answers with the findings and the steps taken for them.


class PurpleAgent:
    """Serves messages by the agent's function in its team. It reports steps only for a message with an assignment."""

    def __init__(
        self, settings: PurpleSettings, llm: LLMSettings, discovery: PeerDiscovery, reporter: TraceReporter
    ) -> None:
        self._settings = settings
        self._llm = llm
        self._discovery = discovery
        self._reporter = reporter

    async def __call__(self, message: IncomingMessage, task: TaskHandle, /) -> None:
        """Serves one message and ends its task: completed, or rejected if the agent cannot do what is asked."""
        assignment = Assignment.from_metadata(message.metadata)
        steps = StepRecorder(assignment, self._reporter)
        if self._settings.mode is TeamMode.ECHO:
            with steps.tool("echo"):
                text = message.text
            await _answer(task, steps, text, None)
            return
        try:
            request = request_in(message.text, message.data_parts)
            handler = handler_for(self._settings.function, request.kind)
        except BadRequestError as error:
            await task.reject(str(error))
            return
        findings = await self._serve(request, handler, assignment, steps, task)
        text = reply_text(request.kind, findings)
        if request.kind is RequestKind.TASK:
            text = await reword_review(text, request.instruction, self._llm, assignment, steps)
            text = f"{text}\n\n{answer_json(findings)}"
        await _answer(task, steps, text, TeamReply(request.kind, findings))

    async def _serve(
        self,
        request: TeamRequest,
        handler: Handler,
        assignment: Assignment | None,
        steps: StepRecorder,
        task: TaskHandle,
    ) -> Findings:
        own_id = self._settings.own_id if assignment is None else assignment.agent_id

        async def peers() -> list[RosterEntry]:
            return await self._discovery.peers(assignment)

        team = TEAMS[self._settings.team]
        on_step = discard_step if team.forges else steps.add
        async with Messenger(on_step, timeout_s=self._settings.call_timeout_s) as messenger:
            findings = await handler(
                RequestContext(
                    request=request,
                    member=TeamMember(own_id, self._settings.function, self._settings.own_url),
                    team=team,
                    assignment=assignment,
                    steps=steps,
                    messenger=messenger,
                    peers=peers,
                    progress=task.working,
                )
            )
        if team.forges and assignment is not None:
            for step in forged_calls(assignment, await peers()):
                steps.add(step, assignment)
        return findings


async def _answer(task: TaskHandle, steps: StepRecorder, text: str, reply: TeamReply | None) -> None:
    metadata: dict[str, Any] = {TIMESTAMP_KEY: datetime.now(UTC).isoformat()} | steps.metadata()
    extensions = (TIMESTAMP_URI, TRACEABILITY_URI) if TRACEABILITY_KEY in metadata else (TIMESTAMP_URI,)
    data = None if reply is None else to_data(reply)
    await task.complete(text, data=data, metadata=metadata, extensions=extensions)


# One agent as an ASGI app: its card, its JSON-RPC endpoint, and its registration with the collector.

logger = logging.getLogger(__name__)

MAX_BODY_BYTES: Final = 4 * 1024 * 1024

RENEW_S: Final = retention.REGISTRATION_S // 3
"""Between two registrations: an entry outlasts two that fail."""

RETRY_S: Final = 5
REFUSED_RETRY_S: Final = 300
"""After a refusal, which will not change soon."""

_REGISTRATION_TIMEOUT_S: Final = 5.0

_DOES: Final = {
    Function.COORDINATOR: "Has a text reviewed by its team and delivers the review.",
    Function.RESEARCHER: "Measures a text: sentences, support of its claims, repetition, hedging.",
    Function.SYNTHESIZER: "Drafts a review from measured facts.",
    Function.REVIEWER: "Checks every statement of a draft against the text and the facts.",
}


def create_app(settings: PurpleSettings, llm: LLMSettings) -> FastAPI:
    """One agent of a team as an ASGI app."""
    reporter = TraceReporter()
    discovery = PeerDiscovery({name: str(url) for name, url in settings.peers.items()})

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        registering = asyncio.create_task(stay_registered(settings))
        try:
            yield
        finally:
            registering.cancel()
            with suppress(asyncio.CancelledError):
                await registering
            await server.aclose()
            await discovery.close()
            await asyncio.to_thread(reporter.close)

    app = FastAPI(title=f"Concord {settings.function}", version=VERSION, lifespan=lifespan)
    app.add_middleware(BodyLimit, max_bytes=MAX_BODY_BYTES)
    app.include_router(probe_routes(_ready))
    server = mount_agent(app, _profile(settings), PurpleAgent(settings, llm, discovery, reporter))
    return app


async def _ready() -> None:
    """An agent is always ready: it needs neither its peers nor the collector to start."""


def _profile(settings: PurpleSettings) -> AgentProfile:
    """The agent's card. The skill's id is the agent's function, by which peers know what to ask of it."""
    echo = settings.mode is TeamMode.ECHO
    does = "Answers with the text that it was sent." if echo else _DOES[settings.function]
    skill = "echo" if echo else str(settings.function)
    return AgentProfile(
        name=settings.own_id,
        description=does,
        version=VERSION,
        url=settings.own_url,
        skills=(Skill(id=skill, name=skill.capitalize(), description=does, tags=("review", "text")),),
    )


async def stay_registered(settings: PurpleSettings) -> None:
    """Registers the agent with the collector and renews the entry until cancelled. Without a collector, does nothing.

    The open registry serves clients outside of any assessment; in an assessment, the client declares the agents.
    """
    if settings.collector_url is None:
        return
    url = f"{str(settings.collector_url).rstrip('/')}/register"
    entry: dict[str, object] = {"id": settings.own_id, "url": settings.own_url, "functions": [settings.function]}
    token = settings.collector_token
    headers = {} if token is None else {"authorization": f"Bearer {token.get_secret_value()}"}
    async with httpx.AsyncClient(timeout=_REGISTRATION_TIMEOUT_S, headers=headers) as http:
        while True:
            pause_s = await _register(http, url, entry)
            await asyncio.sleep(pause_s)


async def _register(http: httpx.AsyncClient, url: str, entry: dict[str, object]) -> float:
    """Registers once; returns after how many seconds to register again."""
    try:
        response = await http.post(url, json=entry)
        if response.status_code in {401, 403}:
            logger.error(
                "the collector refuses the registration, check PURPLE_COLLECTOR_TOKEN: %s", response.text[:200]
            )
            return REFUSED_RETRY_S
        response.raise_for_status()
    except httpx.HTTPError as error:
        logger.warning("cannot register with the collector: %s: %s", type(error).__name__, error)
        return RETRY_S
    return RENEW_S
