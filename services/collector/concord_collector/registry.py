"""`POST /register` and `GET /peers`: which agents there are, and where each can be reached."""

import asyncio
import ssl
from functools import cache
from typing import Annotated, Final

import httpx
from fastapi import APIRouter, HTTPException, Query, Request
from pydantic import BaseModel, ConfigDict, Field, HttpUrl, SecretStr, ValidationError
from pydantic.alias_generators import to_camel

from concord.agent.peers import PeerList
from concord.storage import OPEN_SCOPE, AgentRegistry, RegistryFullError
from concord.trace.step import AttributeName
from concord.trust.proxy_urls import peers_for, peers_scope
from concord.trust.redaction import REDACTED
from concord.trust.tokens import Claims, TokenKeys
from concord.trust.urls import PeerUrls, PinnedUrl, UrlRefusedError
from concord.wire.roster import CARD_PATH, RESERVED_IDS, Id, ParticipantId, RosterEntry, Url
from concord_collector.admission import (
    ERROR_RESPONSES,
    Authenticator,
    Caller,
    RateLimiter,
    too_many_requests,
)

# Fetches agent cards from URLs that strangers give: size and time are bounded, the address pinned, no redirects.

_MAX_BYTES: Final = 256 * 1024
_TIMEOUT_S: Final = 5.0
_MAX_ENTRIES: Final = 64


class CardError(Exception):
    """The card cannot be fetched or parsed; the message says why."""


class _CardObject(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, validate_by_alias=True, validate_by_name=True)


class _Interface(_CardObject):
    url: Url


class _Skill(_CardObject):
    id: Annotated[str, Field(max_length=256)]


class AgentCard(_CardObject):
    """The fields of an A2A 0.3 or 1.0 card that registration uses."""

    url: Url | None = None
    additional_interfaces: Annotated[list[_Interface], Field(max_length=_MAX_ENTRIES)] = []
    supported_interfaces: Annotated[list[_Interface], Field(max_length=_MAX_ENTRIES)] = []
    skills: Annotated[list[_Skill], Field(max_length=_MAX_ENTRIES)] = []

    @property
    def urls(self) -> list[str]:
        """Every URL in the card, each once."""
        own = [self.url] if self.url else []
        listed = [each.url for each in (*self.supported_interfaces, *self.additional_interfaces)]
        return list(dict.fromkeys((*own, *listed)))


async def fetch_card(pinned: PinnedUrl) -> AgentCard:
    """The card of the agent at a checked URL. Raises CardError."""
    try:
        async with (
            asyncio.timeout(_TIMEOUT_S),
            httpx.AsyncClient(follow_redirects=False, trust_env=False, verify=_tls_context()) as http,
            http.stream("GET", **pinned.request(CARD_PATH)) as response,
        ):
            if response.status_code != httpx.codes.OK:
                raise CardError(f"the agent answered {response.status_code} to the request for its card")
            return AgentCard.model_validate_json(await _read_bounded(response))
    except (httpx.HTTPError, TimeoutError) as error:
        raise CardError(f"the agent's card cannot be fetched: {type(error).__name__}") from error
    except ValidationError as error:
        raise CardError("the agent's card cannot be read") from error


@cache
def _tls_context() -> ssl.SSLContext:
    """One context for all requests: loading the CA certificates takes longer than fetching a card."""
    return httpx.create_ssl_context()


async def _read_bounded(response: httpx.Response) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > _MAX_BYTES:
            raise CardError("the agent's card is too large")
    return bytes(body)


_FULL_RETRY_S: Final = 60
_DAY_S: Final = 24 * 3600


class Registration(BaseModel):
    """An agent that registers itself outside of any assessment. (Within one, the client declares the agents.)

    Without `functions`, the ids of the skills in the agent's card count as its functions.
    """

    model_config = ConfigDict(extra="forbid")

    id: ParticipantId
    url: HttpUrl
    functions: Annotated[list[AttributeName], Field(max_length=16)] | None = None


class Registered(RosterEntry):
    """The registry's entry, and after how many seconds it expires unless the agent registers again."""

    expires_in_s: float


def registry_router(
    registry: AgentRegistry, authenticator: Authenticator, peer_urls: PeerUrls, rate_limiter: RateLimiter
) -> APIRouter:
    """The routes of the agent registry."""
    router = APIRouter(tags=["registry"])

    @router.post("/register", status_code=201, responses=ERROR_RESPONSES)
    async def register(registration: Registration, request: Request) -> Registered:
        """Adds an agent to the open registry, or renews its entry. The collector's owner issues the tokens for this."""
        caller = await authenticator.authenticate_in_open_trial(request)
        if (wait_s := await rate_limiter.take(caller.name, 1)) > 0:
            raise too_many_requests("too many registrations", wait_s)
        _check_id(registration.id, caller)
        entry = await _entry(registration, peer_urls)
        try:
            expires_in_s = await registry.register(OPEN_SCOPE, [entry], by=caller.name)
        except RegistryFullError as error:
            raise too_many_requests("the registry is full", _FULL_RETRY_S) from error
        return Registered(**dict(entry), expires_in_s=expires_in_s)

    @router.get("/peers", responses={code: ERROR_RESPONSES[code] for code in (401, 403, 503)})
    async def peers(request: Request, assessment_id: Annotated[Id | None, Query()] = None) -> PeerList:
        """The agents of an assessment, or of the open registry.

        A token gives access to its own assessment, which is the default. Its holder gets URLs of the gateway's proxy,
        which observes the calls to them. In a trial with seats, the holder sees only itself and its neighbours.
        """
        caller = await authenticator.authenticate_in_open_trial(request)
        scope = _scope(assessment_id, caller)
        entries = await _neighbours(registry, caller) or await registry.agents(scope)
        return PeerList(peers=peers_for(entries, caller.token or REDACTED))

    return router


async def registration_token(token_keys: TokenKeys, agent_id: str, days: float) -> SecretStr:
    """A token with which an agent registers itself and reads the open registry, and nothing else.

    Raises StorageUnavailableError.
    """
    claims = Claims(OPEN_SCOPE, OPEN_SCOPE, agent_id, await token_keys.now() + days * _DAY_S)
    return (await token_keys.issuer()).issue(claims)


def _check_id(agent_id: str, caller: Caller) -> None:
    if agent_id in RESERVED_IDS:
        raise HTTPException(400, f"id: {agent_id!r} is reserved")
    if caller.claims is None:
        return
    if caller.claims.assessment_id != OPEN_SCOPE:
        raise HTTPException(403, "the token of an assessment cannot register an agent")
    if agent_id != caller.claims.agent_id:
        raise HTTPException(403, "the token is another agent's")


def _scope(assessment_id: str | None, caller: Caller) -> str:
    if caller.claims is None:
        return assessment_id or OPEN_SCOPE
    if assessment_id not in (None, caller.claims.assessment_id):
        raise HTTPException(403, "the token is for another assessment")
    return caller.claims.assessment_id


async def _neighbours(registry: AgentRegistry, caller: Caller) -> list[RosterEntry]:
    """The agents that a seat may see in its trial; empty for callers without a seat."""
    if caller.claims is None:
        return []
    return await registry.agents(peers_scope(caller.claims.trace_id, caller.claims.agent_id))


async def _entry(registration: Registration, peer_urls: PeerUrls) -> RosterEntry:
    """The registry's entry for an agent. Raises 400 if its URL, or one in its card, must not be given to others."""
    url = str(registration.url)
    try:
        pinned = await peer_urls.pin(url)
        if registration.functions is not None:
            return RosterEntry(id=registration.id, url=url, functions=tuple(registration.functions))
        card = await fetch_card(pinned)
        for named in card.urls:
            await peer_urls.pin(named)
    except UrlRefusedError as error:
        raise HTTPException(400, f"url: {error}") from error
    except CardError as error:
        raise HTTPException(400, f"url: {error}") from error
    aliases = tuple(named for named in card.urls if named != url)
    return RosterEntry(id=registration.id, url=url, aliases=aliases, functions=tuple(each.id for each in card.skills))
