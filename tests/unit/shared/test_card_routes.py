"""The card of an agent without a URL of its own: it has the address by which the request came."""

import httpx
import pytest
from fastapi import FastAPI

from concord.a2a import AgentProfile
from concord.a2a.cards import card_route
from concord.wire.roster import CARD_PATH


async def card(headers: list[tuple[str, str]], url: str | None = None) -> httpx.Response:
    """The response to a request for the card with these headers."""
    app = FastAPI()
    app.router.routes.append(card_route(AgentProfile("own", "Ours.", "1", url, ()), with_keys=False))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as client:
        return await client.get(f"http://placeholder{CARD_PATH}", headers=headers)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("green-agent:9009", "http://green-agent:9009/"),
        ("researcher_1", "http://researcher_1/"),
        ("127.0.0.1:8080", "http://127.0.0.1:8080/"),
        ("[::1]:9009", "http://[::1]:9009/"),
        # A client that asks an address of every interface means its own machine.
        ("0.0.0.0:9009", "http://127.0.0.1:9009/"),
        ("[::]:9009", "http://[::1]:9009/"),
    ],
)
async def test_the_card_names_the_host_of_the_request(host: str, url: str) -> None:
    response = await card([("host", host)])
    assert {each["url"] for each in response.json()["supportedInterfaces"]} == {url}
    assert response.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("host", ["", "a b", "a/b", "user@host", "host:0", "host:99999", "[12", "[:::]"])
async def test_a_host_header_that_names_no_host_is_refused(host: str) -> None:
    assert (await card([("host", host)])).status_code == 400


async def test_two_host_headers_are_refused() -> None:
    assert (await card([("host", "a"), ("host", "b")])).status_code == 400


async def test_an_agents_own_url_stands_whatever_the_request_says() -> None:
    response = await card([("host", "elsewhere")], url="http://own:9009")
    assert {each["url"] for each in response.json()["supportedInterfaces"]} == {"http://own:9009"}
