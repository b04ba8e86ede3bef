"""One agent of a team over A2A: its card, its JSON-RPC endpoint, and its answers to each kind of request."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import httpx
from fastapi import FastAPI

from concord import retention
from concord.a2a import AgentProfile, IncomingMessage, Skill, TaskHandle
from concord.agent.messenger import Messenger
from concord.agent.peers import PeerDiscovery
from concord.agent.reporter import TraceReporter
from concord.llm import LLMSettings
from concord.version import VERSION
from concord.wire.assignment import TIMESTAMP_KEY, TIMESTAMP_URI, TRACEABILITY_KEY, TRACEABILITY_URI, Assignment
from concord.wire.roster import RosterEntry
from concord_purple.agent_app import agent_app
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

# What each function does for each kind of request. Whom it asks meanwhile is in its team's wiring.


def contribute(context: RequestContext, findings: Findings) -> Findings:
    """The findings with the part of the agent's function added.

    In a team that fills gaps, the agent first does what should have been done before its part.
    """
    request, function, by = context.request, context.member.function, context.member.agent_id
    fills_gaps = context.team.fills_gaps
    if fills_gaps or function is Function.RESEARCHER:
        findings = add_facts(request.text, request.aspects, findings, by)
    if function is Function.RESEARCHER:
        return add_fact_checks(request.text, findings, by)
    if fills_gaps or function is Function.SYNTHESIZER:
        findings = add_draft(request.text, findings, by)
    if function is Function.REVIEWER:
        return add_verdict(request.text, findings, by)
    if fills_gaps and function is Function.COORDINATOR:
        return add_missing_verdict(request.text, findings, by)
    return findings


def _cross_check(context: RequestContext, findings: Findings) -> Findings:
    return Findings(checks=cross_check(context.request.text, findings.facts, context.member.agent_id))


def _advise(context: RequestContext, findings: Findings) -> Findings:
    own = [fact for fact in findings.unrefuted_facts if fact.found_by == context.member.agent_id]
    return Findings(advice=advise(context.request.text, own))


def _evidence_from_text(context: RequestContext, findings: Findings) -> Findings:
    return Findings(checks=evidence_from_text(context.request.text, findings, context.member.agent_id))


def _evidence_from_draft(context: RequestContext, findings: Findings) -> Findings:
    return Findings(checks=evidence_from_draft(findings, context.member.agent_id))


@dataclass(frozen=True, slots=True)
class Service:
    """How an agent serves a request: the name of its work in the trace, the work, and whether it asks others after it.

    By default, it asks them before, and contributes the part of its function.
    """

    name: str
    work: Callable[[RequestContext, Findings], Findings] = contribute
    asks_after: bool = False

    async def __call__(self, context: RequestContext) -> Findings:
        """The findings to answer with."""
        findings = context.request.findings
        if not self.asks_after:
            findings = await context.consult(findings)
        findings = context.work(self.name, lambda: self.work(context, findings))
        return await context.consult(findings) if self.asks_after else findings


_PING: Final = {RequestKind.PING: Service("ping", lambda _context, _findings: Findings())}
_LINK: Final = _PING | {
    RequestKind.TASK: Service("contribute"),
    RequestKind.RELAY: Service("contribute", asks_after=True),
}
_SERVICES: Final[dict[Function, dict[RequestKind, Service]]] = {
    Function.COORDINATOR: _PING | {RequestKind.TASK: Service("compose")},
    Function.RESEARCHER: _LINK
    | {
        RequestKind.RESEARCH: Service("measure", asks_after=True),
        RequestKind.CROSS_CHECK: Service("cross_check", _cross_check),
        RequestKind.CLARIFY: Service("advise", _advise),
        RequestKind.EVIDENCE: Service("evidence", _evidence_from_text),
    },
    Function.SYNTHESIZER: _LINK
    | {
        RequestKind.SYNTHESIZE: Service("draft"),
        RequestKind.EVIDENCE: Service("evidence", _evidence_from_draft),
    },
    Function.REVIEWER: _LINK | {RequestKind.REVIEW: Service("verify")},
}


def handler_for(function: Function, kind: RequestKind) -> Service:
    """How this function serves requests of this kind. Raises BadRequestError if it does not."""
    if kind not in _SERVICES[function]:
        raise BadRequestError(f"a {function} does not {kind.verb}")
    return _SERVICES[function][kind]


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
        handler: Service,
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

    return agent_app(
        f"Concord {settings.function}",
        _profile(settings),
        PurpleAgent(settings, llm, discovery, reporter),
        discovery.close,
        partial(asyncio.to_thread, reporter.close),
        max_body_bytes=MAX_BODY_BYTES,
        meanwhile=partial(stay_registered, settings),
    )


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
