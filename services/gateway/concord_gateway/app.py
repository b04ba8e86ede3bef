"""The gateway's app: A2A agent, proxy and probes over one storage connection."""

import logging
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Final

from fastapi import FastAPI

from concord.a2a import AgentProfile, Skill, Webhooks, mount_agent
from concord.a2a.card_signing import read_card_key
from concord.llm import LLMSettings
from concord.loopback import LOOPBACK
from concord.processes import ProcessPool
from concord.service.middleware import BodyLimit, OneLeadingSlash, TokenPathLimit
from concord.service.probes import probe_routes
from concord.storage import node_urls
from concord.storage.connection import WORK_RETRY_S, connect
from concord.trust.credentials import ApiKeys
from concord.trust.proxy_urls import PROXY_PATH
from concord.trust.tokens import ClosedTrials, TokenKeys
from concord.trust.urls import DeclaredHosts, PeerUrls, host_and_port, is_every_interface, is_loopback
from concord.version import VERSION
from concord_gateway.assignments import Assignments, OpenCalls
from concord_gateway.assistants import AssistantContexts, characters_model, environment_routes
from concord_gateway.bundles import bundle_routes
from concord_gateway.evaluation import check_workers
from concord_gateway.handler import AssessmentHandler
from concord_gateway.instruments import Instruments
from concord_gateway.plan import Participants
from concord_gateway.proxy import ByteBudget, CallRecorder, Carrier, Upstream, proxy_routes
from concord_gateway.settings import GatewaySettings

logger = logging.getLogger(__name__)


CHECK_CPU_S: Final = 2.0
"""CPU time for the check of a request's regular expressions. Some take a second for each thousand characters."""

CHECK_S: Final = 60.0
"""How long the check may take in all."""

SHARE_OF_ONE_KEY: Final = 0.5
"""The part of the running and of the waiting assessments that one of several API keys may have."""

POOL_BYTES: Final = 256 * 1024 * 1024
"""Bytes of data that a process of the gateway's own pool may allocate."""


def create_app(
    settings: GatewaySettings, card_url: str | None, bound_to: str = "", pool: ProcessPool | None = None
) -> FastAPI:
    """Creates the gateway's ASGI app.

    `card_url` is the URL that clients and participants use; None: the card names the address by which it is requested,
    and participants call each other directly, unless `proxy_url` is set. `bound_to` is the address that the server
    listens on, if known. `pool` runs what clients make costly; by default, the app has one of its own. Raises
    ValueError for a key that is too short or no key of a card, and for an allowed host that is not a host.
    """
    keys = ApiKeys(settings.api_keys)
    card_key = read_card_key(settings.card_key) if settings.card_key is not None and card_url is not None else None
    peer_urls = _peer_urls(settings, card_url, bound_to)
    instruments = Instruments()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with (
            connect(settings.redis_url, settings.queue_redis_url, retry_s=WORK_RETRY_S) as storage,
            Upstream(peer_urls, settings.body_idle_s, settings.credentials) as upstream,
            characters_model(LLMSettings(), settings.record_replies, settings.replay_replies) as response_llm,
            AssistantContexts(
                settings.environment_url or settings.proxy_url or card_url,
                max_environments=settings.max_assessments,
                idle_s=settings.environment_idle_s,
                environment_command=settings.environment_command,
                response_llm=response_llm,
                instruments=instruments,
            ) as contexts,
            environment_routes(contexts) as routes,
            nullcontext(pool)
            if pool is not None
            else ProcessPool(max(2, os.cpu_count() or 1), memory_bytes=POOL_BYTES) as checking,
        ):
            app.router.routes.extend(routes)
            token_keys = TokenKeys(settings.token_secret, storage.secrets.token_secret, storage.now)
            assignments, open_calls = Assignments(token_keys, settings.collector_url), OpenCalls()
            budget = ByteBudget(settings.body_budget_bytes, settings.body_idle_s)
            calls = CallRecorder(storage.traces, settings.trace_limits, open_calls, instruments, budget)
            carrier = Carrier(upstream, assignments, instruments, calls, budget)
            closed = ClosedTrials(storage.traces.is_closed)
            proxy_base = (settings.proxy_url or card_url) if settings.observe else None
            if proxy_base is not None:
                app.router.routes.extend(proxy_routes(token_keys, storage, upstream, carrier, closed, proxy_base))
            participants = Participants(
                assignments=assignments,
                open_calls=open_calls,
                carrier=carrier,
                proxy_base=proxy_base,
                peer_urls=peer_urls,
                traces=storage.traces,
                closed=closed,
                credentials=settings.credentials,
            )
            checks = checking.calls(cpu_s=CHECK_CPU_S, limit_s=CHECK_S)
            share = SHARE_OF_ONE_KEY if keys.several else 1.0
            handler = AssessmentHandler(storage, settings, instruments, participants, contexts, checks, share=share)
            records = storage.tasks(lease_s=settings.lease_s, keep_s=settings.keep_s)
            webhooks = Webhooks(storage.webhooks(), peer_urls.pin_webhook)
            agent = mount_agent(
                *(app, _profile(card_url), handler), keys=keys, records=records, webhooks=webhooks, card_key=card_key
            )
            app.include_router(probe_routes(lambda: check_workers(storage), instruments.registry))
            _log_who_may_assess(keys, bound_to or card_url or "")
            agent.take_over()
            try:
                yield
            finally:
                await agent.aclose()
                await calls.written()

    app = FastAPI(title="Concord gateway", version=VERSION, lifespan=lifespan)
    shared_secret = settings.task_secret is not None
    app.include_router(bundle_routes(settings.output_dir, keys, settings.bundle_key, shared_secret=shared_secret))
    app.state.metrics = instruments.registry
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes)
    app.add_middleware(TokenPathLimit, accepts=lambda path: path.startswith(f"{PROXY_PATH}/"))
    app.add_middleware(OneLeadingSlash)
    return app


def _peer_urls(settings: GatewaySettings, card_url: str | None, bound_to: str) -> PeerUrls:
    listening = host_and_port(f"http://{bound_to}" if bound_to else card_url or "") or ("", 0)
    loopback = is_loopback(listening[0])
    redis_urls = (*node_urls(settings.redis_url), settings.queue_redis_url)
    urls = (card_url, settings.proxy_url, settings.collector_url, *redis_urls)
    own = {host_and_port(url) for url in urls if url is not None}
    if is_every_interface(listening[0]):
        own.add((socket.gethostname(), listening[1]))
    declared = DeclaredHosts(
        settings.hosts,
        own=frozenset(place for place in (*own, (LOOPBACK, listening[1])) if place is not None),
        on_loopback=loopback,
    )
    only_declared = settings.started_containers is not None
    return PeerUrls(settings.hosts.networks, exact=settings.hosts, declared=declared, only_declared=only_declared)


def _log_who_may_assess(keys: ApiKeys, where: str) -> None:
    if keys:
        logger.info("%s: only clients with one of CONCORD_API_KEYS may start assessments", where)
    else:
        logger.warning("%s: CONCORD_API_KEYS is not set, so anybody who reaches this port may start assessments", where)


def _profile(url: str | None) -> AgentProfile:
    """The gateway's agent card."""
    return AgentProfile(
        name="Concord",
        description=(
            "Assesses how well a team of agents works together: drives the team over A2A, gathers its interactions "
            "as traces, and answers with a score, its parts and the evidence for them."
        ),
        version=VERSION,
        url=url,
        rest=True,
        skills=(
            Skill(
                id="assess_coordination",
                name="Assess coordination",
                description=(
                    "Send one text part with JSON: {participants: {role: url}, config: {...}}. The answer is one "
                    "artifact with one result row."
                ),
                tags=("assessment", "coordination", "multi-agent", "green-agent"),
            ),
            Skill(
                id="assess_assistant",
                name="Assess a personal assistant",
                description=(
                    "As above with config.scenario: the participant assists a simulated user with email, text "
                    "messages, calendar and chat, turn by turn."
                ),
                tags=("assessment", "assistant", "green-agent"),
            ),
            Skill(
                id="assess_pattern",
                name="Assess a given pattern of interactions",
                description="As above with config.interaction_pattern {agents, edges}; needs no participants.",
                tags=("assessment", "ground-truth"),
            ),
        ),
    )
