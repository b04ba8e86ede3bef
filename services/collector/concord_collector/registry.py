"""`POST /register` and `GET /peers`: who can be reached."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Request
from pydantic import BaseModel, ConfigDict, Field, HttpUrl

from concord.agent.peers import PeerList
from concord.assessment.roster import RESERVED_IDS, ParticipantId, RosterEntry
from concord.storage import OPEN_SCOPE, AgentRegistry, RegistryFullError, StorageUnavailableError
from concord.trace.step import AttributeName, Id
from concord.trust.proxy_urls import peers_for
from concord.trust.redaction import REDACTED
from concord.trust.urls import PeerUrls, UrlRefusedError
from concord_collector.answers import REFUSALS, storage_is_away, too_many
from concord_collector.callers import Caller, Callers
from concord_collector.cards import CardError, fetch_card
from concord_collector.rates import Rate

_FULL_RETRY_S = 60


class Registration(BaseModel):
    """An agent that makes itself known, outside any assessment: there, the gateway's roster is the only word.

    Without `functions`, they are read from the agent's card: the ids of its skills.
    """

    model_config = ConfigDict(extra="forbid")

    id: ParticipantId
    url: HttpUrl
    functions: Annotated[list[AttributeName], Field(max_length=16)] | None = None


class Registered(RosterEntry):
    """The entry, and after how long it is forgotten unless the agent registers again: well before that, it should."""

    expires_in_s: float


def registry_routes(registry: AgentRegistry, callers: Callers, peer_urls: PeerUrls, rate: Rate) -> APIRouter:
    """The routes of the agent registry."""
    router = APIRouter(tags=["registry"])

    @router.post("/register", status_code=201, responses=REFUSALS)
    async def register(registration: Registration, request: Request) -> Registered:
        """Adds an agent to the open registry, or renews it. A token for that is one that the collector's owner gave."""
        caller = await callers.identify_at_work(request)
        if (wait_s := await rate.take(caller.name, 1)) > 0:
            raise too_many("too many registrations", wait_s)
        _check_id(registration.id, caller)
        entry = await _entry(registration, peer_urls)
        try:
            expires_in_s = await registry.register(OPEN_SCOPE, [entry], by=caller.name)
        except RegistryFullError as error:
            raise too_many("the registry is full", _FULL_RETRY_S) from error
        except StorageUnavailableError as error:
            raise storage_is_away() from error
        return Registered(**dict(entry), expires_in_s=expires_in_s)

    @router.get("/peers", responses={code: REFUSALS[code] for code in (401, 403, 503)})
    async def peers(request: Request, assessment_id: Annotated[Id | None, Query()] = None) -> PeerList:
        """The agents of an assessment, or those that registered themselves; empty where nobody did.

        A token is for its own assessment, which is also what is meant where none is named. Its holder gets addresses
        of its own, at which its calls are observed.
        """
        caller = await callers.identify_at_work(request)
        try:
            entries = await registry.agents(_scope(assessment_id, caller))
        except StorageUnavailableError as error:
            raise storage_is_away() from error
        return PeerList(peers=peers_for(entries, caller.token or REDACTED))

    return router


def _check_id(agent_id: str, caller: Caller) -> None:
    if agent_id in RESERVED_IDS:
        raise HTTPException(400, f"id: {agent_id!r} is reserved")
    if caller.claims is None:
        return
    if caller.claims.assessment_id != OPEN_SCOPE:
        raise HTTPException(403, "the token is for an assessment, whose agents its client declares")
    if agent_id != caller.claims.agent_id:
        raise HTTPException(403, "the token is another agent's")


def _scope(assessment_id: str | None, caller: Caller) -> str:
    if caller.claims is None:
        return assessment_id or OPEN_SCOPE
    if assessment_id not in (None, caller.claims.assessment_id):
        raise HTTPException(403, "the token is for another assessment")
    return caller.claims.assessment_id


async def _entry(registration: Registration, peer_urls: PeerUrls) -> RosterEntry:
    """The registry's entry for an agent: its URL, and those in its card, must be ones that may be handed on."""
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
