"""Agent cards: a rewritten card leads callers only to the proxy, and the proxy only to the declared address."""

from typing import Any

import pytest

from concord_gateway.proxy.callees import UnusableCardError, rewritten, rpc_urls

DECLARED, PROXY = "http://agent:9009/", "http://gateway:9009/a2a/T/agent/"


def card_03(url: str = DECLARED, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    return {"name": "agent", "protocolVersion": "0.3.0", "url": url, "capabilities": {"streaming": True}} | more


def interface(url: str, binding: str = "JSONRPC", version: str = "1.0") -> dict[str, str]:
    return {"url": url, "protocolBinding": binding, "protocolVersion": version}


def test_a_card_of_version_0_3_leads_to_the_proxy_and_is_otherwise_unchanged() -> None:
    assert rewritten(card_03(), DECLARED, PROXY) == card_03(PROXY, preferredTransport="JSONRPC")


def test_a_card_of_version_1_0_leads_to_the_proxy_by_each_interface() -> None:
    card = {"name": "agent", "supportedInterfaces": [interface(DECLARED), interface(f"{DECLARED}old", version="0.3")]}
    assert rpc_urls(card, DECLARED) == [DECLARED, f"{DECLARED}old"]
    assert rewritten(card, DECLARED, PROXY)["supportedInterfaces"] == [
        interface(PROXY),
        interface(f"{PROXY}1/", version="0.3"),
    ]


def test_unsupported_transports_are_left_out() -> None:
    card = card_03(
        preferredTransport="GRPC",
        url="http://agent:50051",
        additionalInterfaces=[
            {"url": "http://agent:50051", "transport": "GRPC"},
            {"url": f"{DECLARED}rpc", "transport": "JSONRPC"},
            {"url": f"{DECLARED}rest", "transport": "HTTP+JSON"},
        ],
    )
    shown = rewritten(card, DECLARED, PROXY)
    assert rpc_urls(card, DECLARED) == [f"{DECLARED}rpc"]
    assert (shown["url"], shown["preferredTransport"]) == (PROXY, "JSONRPC")
    assert shown["additionalInterfaces"] == [{"url": PROXY, "transport": "JSONRPC"}]


def test_a_card_without_json_rpc_is_refused() -> None:
    for card in ({}, card_03(preferredTransport="GRPC"), {"supportedInterfaces": [interface(DECLARED, "GRPC")]}):
        with pytest.raises(UnusableCardError):
            rewritten(card, DECLARED, PROXY)


def test_signatures_and_links_to_the_agents_host_are_removed() -> None:
    card = card_03(
        signatures=[{"protected": "x"}],
        iconUrl="http://agent:9009/icon.png",
        documentationUrl="https://docs.test/agent",
        provider={"organization": "O", "url": "http://agent:8000/"},
    )
    shown = rewritten(card, DECLARED, PROXY)
    assert "agent:" not in str(shown)
    assert "signatures" not in shown
    assert shown["documentationUrl"] == "https://docs.test/agent"
    assert shown["provider"]["organization"] == "O"


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://redis:6379/",
        "http://agent:9010/",
        "https://agent:9009/",
        "http://agent:9009@evil.test/",
        "http://agent:90091/",
        "//evil.test/",
        "file:///etc/passwd",
        "http://[::1",
        "",
    ],
)
def test_a_card_cannot_lead_past_the_declared_address(url: str) -> None:
    assert rpc_urls(card_03(url), DECLARED) == [DECLARED]
    assert rewritten(card_03(url), DECLARED, PROXY)["url"] == PROXY


@pytest.mark.parametrize(
    "url",
    [
        "http://hub:80/agents/other/",
        "http://hub/agents/agentx",
        "http://hub/agents/agent/../other",
        "http://hub/agents/agent/%2e%2e/other",
    ],
)
def test_agents_on_a_shared_host_keep_to_their_own_paths(url: str) -> None:
    declared = "http://hub/agents/agent"
    assert rpc_urls(card_03(url), declared) == [declared]
    assert rpc_urls(card_03(f"{declared}/rpc"), declared) == [f"{declared}/rpc"]


@pytest.mark.parametrize("value", [None, 7, "text", [None, 7, {"url": 7}], {"url": "x"}])
def test_malformed_fields_of_a_card_are_ignored(value: object) -> None:
    card = card_03(supportedInterfaces=value, additionalInterfaces=value, provider=value, iconUrl=value)
    assert rpc_urls(card, DECLARED) == [DECLARED]
    assert rewritten(card, DECLARED, PROXY)["url"] == PROXY
