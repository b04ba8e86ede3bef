"""Peer URLs: only addresses in the public internet or in allowed networks are accepted."""

import asyncio
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import NoReturn

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.trust.urls import NoAddressError, PeerUrls, Resolver, UrlRefusedError, check_form, is_allowed
from tests.kit.ports import free_port


def resolver(*addresses: str) -> Resolver:
    async def resolve(_: str, __: int) -> Sequence[str]:
        return addresses

    return resolve


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd", "gopher://x/", "ftp://x/", "//x/", "x", "", "http://", "http://:80/", "http://x:0/",
        "http://user:password@x/", "http://user@x/", "http://x:99999/", "http://[::1/", "javascript:alert(1)",
    ],
)  # fmt: skip
def test_only_http_urls_with_a_host_and_no_credentials_are_valid(url: str) -> None:
    with pytest.raises(UrlRefusedError):
        check_form(url)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "0.0.0.1", "10.0.0.1", "172.17.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "224.0.0.1",
        "255.255.255.255", "240.0.0.1", "::", "::1", "fe80::1", "fd00::1", "ff02::1", "::ffff:127.0.0.1",
        "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "::ffff:169.254.169.254",
    ],
)  # fmt: skip
def test_non_public_addresses_are_refused(address: str) -> None:
    assert not is_allowed(ip_address(address), [])


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "64:ff9b::808:808"])
def test_public_addresses_are_allowed(address: str) -> None:
    assert is_allowed(ip_address(address), [])


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_treated_the_same_in_every_ipv6_form(address: IPv4Address) -> None:
    number = int(address)
    forms = [(0xFFFF << 32) + number, (0x64FF9B << 96) + number, (0x2002 << 112) + (number << 80)]
    for networks in ([], [ip_network("10.0.0.0/8")]):
        judged = {is_allowed(IPv6Address(form), networks) for form in forms}
        assert judged == {is_allowed(address, networks)}


async def test_a_private_address_is_allowed_only_in_an_allowed_network() -> None:
    urls = PeerUrls([ip_network("172.16.0.0/12")], resolver("172.17.0.5"))
    assert str((await urls.pin("http://writer:9009/")).address) == "172.17.0.5"
    with pytest.raises(UrlRefusedError):
        await PeerUrls([ip_network("10.0.0.0/8")], resolver("172.17.0.5")).pin("http://writer:9009/")


async def test_a_host_with_one_forbidden_address_is_refused() -> None:
    with pytest.raises(UrlRefusedError):
        await PeerUrls([], resolver("8.8.8.8", "127.0.0.1")).pin("http://two-faced.example/")


@pytest.mark.parametrize("host", ["localhost", "127.1", "2130706433", "0x7f.0.0.1", "[::1]", "0"])
async def test_every_spelling_of_the_local_host_is_refused(host: str) -> None:
    with pytest.raises(UrlRefusedError):
        await PeerUrls([]).pin(f"http://{host}/")


async def test_a_host_without_an_address_is_refused() -> None:
    with pytest.raises(UrlRefusedError):
        await PeerUrls([], resolver()).pin("http://nowhere.example/")


async def test_a_host_that_is_not_found_in_time_is_refused_for_that_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    async def hang(_: str, __: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    monkeypatch.setattr("concord.trust.urls._RESOLVE_S", 0.01)
    with pytest.raises(NoAddressError, match=r"was not found within 0\.01 s"):
        await PeerUrls([], hang).pin("http://slow.example/")


@pytest.mark.parametrize("host", ["8.8.8.8", "[2606:4700:4700::1111]"])
async def test_a_literal_address_is_not_looked_up(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def look_up(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a lookup")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", look_up)
    assert str((await PeerUrls([]).pin(f"http://{host}/")).address) == host.strip("[]")


async def test_the_zone_of_a_literal_address_does_not_change_how_it_is_judged() -> None:
    with pytest.raises(UrlRefusedError):
        await PeerUrls([]).pin("http://[::1%25eth0]/")


async def test_a_pinned_url_is_requested_from_its_checked_address() -> None:
    pinned = await PeerUrls([], resolver("8.8.8.8")).pin(f"https://agent.example:{free_port()}/base/")
    request = httpx.Request("GET", **pinned.request("/card.json"))
    assert (request.url.host, request.url.port, request.url.path) == ("8.8.8.8", pinned.port, "/base/card.json")
    assert request.headers["host"] == f"agent.example:{pinned.port}"
    assert request.extensions["sni_hostname"] == "agent.example"
