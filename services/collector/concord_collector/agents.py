"""`POST /register` and `GET /peers`: who can be reached."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Query
from pydantic import BaseModel, ConfigDict, Field, HttpUrl

from concord.identity import RESERVED_IDS, ParticipantId, RosterEntry
from concord.peers import PeerList
from concord.steps import AttributeName, Id
from concord.storage import OPEN_SCOPE, AgentRegistry, RegistryFullError, StorageUnavailableError
from concord_collector.traces import RETRY_AFTER_S


class Registration(BaseModel):
    """An agent that makes itself known, outside any assessment: there, the gateway's roster is the only word."""

    model_config = ConfigDict(extra="forbid")

    id: ParticipantId
    url: HttpUrl
    functions: Annotated[list[AttributeName], Field(max_length=16)] = []


def agent_routes(registry: AgentRegistry) -> APIRouter:
    """The routes of the agent registry."""
    router = APIRouter(tags=["registry"])

    @router.post("/register", status_code=201)
    async def register(registration: Registration) -> RosterEntry:
        """Adds an agent to the open registry, or renews it; it is forgotten after an hour without."""
        if registration.id in RESERVED_IDS:
            raise HTTPException(400, f"id: {registration.id!r} is reserved")
        entry = RosterEntry(id=registration.id, url=str(registration.url), functions=tuple(registration.functions))
        try:
            await registry.register(OPEN_SCOPE, [entry])
        except RegistryFullError as error:
            raise HTTPException(429, "the registry is full", {"Retry-After": "60"}) from error
        except StorageUnavailableError as error:
            raise HTTPException(503, "storage is away", {"Retry-After": str(RETRY_AFTER_S)}) from error
        return entry

    @router.get("/peers")
    async def peers(assessment_id: Annotated[Id, Query()] = OPEN_SCOPE) -> PeerList:
        """The agents of an assessment, or those that registered themselves; empty where nobody did."""
        try:
            return PeerList(peers=await registry.agents(assessment_id))
        except StorageUnavailableError as error:
            raise HTTPException(503, "storage is away", {"Retry-After": str(RETRY_AFTER_S)}) from error

    return router
