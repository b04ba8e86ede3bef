"""Fetches agent cards from URLs that strangers give: size and time are bounded, the address pinned, no redirects."""

import asyncio
import ssl
from functools import cache
from typing import Annotated, Final

import httpx
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from concord.trust.urls import PinnedUrl
from concord.wire.cards import CARD_PATH
from concord.wire.ids import Url

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
